//! Sessions of clients: their numbers, and the transactions in them.

mod transaction;

pub(crate) use transaction::Sessions;

use odm::{
    bson::{
        Binary, RawBson, RawBsonRef, RawDocumentBuf, Uuid, raw::cstr, rawdoc, spec::BinarySubtype,
    },
    collections::Retryable,
};
use sha2::{Digest, Sha256};

use crate::{
    arguments::Arguments,
    auth::{Caller, UserDigest},
    error::{CommandError, Result, code},
};

/// The number that a client has given its session, and whose session it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SessionId {
    id: Uuid,
    /// The user whose session it is: others cannot reach it by its number.
    user: Option<UserDigest>,
}

impl SessionId {
    pub(crate) fn new(user: Option<UserDigest>) -> Self {
        SessionId {
            id: Uuid::new(),
            user,
        }
    }

    /// Its value in BSON.
    pub(crate) fn to_binary(self) -> Binary {
        self.id.into()
    }

    /// Its value as a key of the documents that are stored for it.
    fn to_key(self) -> RawBson {
        let id = self.to_binary();
        let Some(UserDigest(digest)) = self.user else {
            return RawBson::Binary(id);
        };
        let mut key = rawdoc! { "id": id };
        let user = Binary {
            subtype: BinarySubtype::Generic,
            bytes: digest.to_vec(),
        };
        key.append(cstr!("uid"), user);
        RawBson::Document(key)
    }

    /// Its value as MongoDB shows it: with the hash of the user, which is that of an empty name where there are no users.
    pub(crate) fn describe(self) -> RawDocumentBuf {
        let bytes = match self.user {
            Some(UserDigest(digest)) => digest.to_vec(),
            None => Sha256::digest([]).to_vec(),
        };
        let user = Binary {
            subtype: BinarySubtype::Generic,
            bytes,
        };
        let mut id = rawdoc! { "id": self.to_binary() };
        id.append(cstr!("uid"), user);
        id
    }

    /// Reads `{ id: UUID }`.
    pub(crate) fn parse(mut session: Arguments<'_>, caller: Option<&Caller>) -> Result<Self> {
        let id = match session.required("id")? {
            RawBsonRef::Binary(id) if id.subtype == BinarySubtype::Uuid => id.bytes,
            other => return Err(session.wrong_type("id", other, "binData")),
        };
        // Only servers among themselves send the hash of a user.
        session.ignore("uid");
        session.end()?;
        let id = <[u8; 16]>::try_from(id).map_err(|_| {
            let message = format!("uuid must be a 16-byte binary field with UUID (4) subtype, and this one has {} bytes", id.len());
            CommandError::new(code::FAILED_TO_PARSE, message)
        })?;
        Ok(SessionId {
            id: Uuid::from_bytes(id),
            user: caller.map(|caller| caller.user.digest),
        })
    }
}

/// The session of a command, and the role of the command in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionUse {
    pub(crate) id: SessionId,
    /// The number of its transaction, or of a write that is sent again if its answer is lost.
    pub(crate) number: Option<i64>,
    /// Whether the command is part of a transaction, and then whether it begins it.
    pub(crate) starts: Option<bool>,
}

impl SessionUse {
    /// Ignores the session in the arguments of a command that is in none, as MongoDB does where a command needs no user.
    pub(crate) fn ignore(arguments: &mut Arguments<'_>) {
        for name in ["lsid", "txnNumber", "autocommit", "startTransaction"] {
            arguments.ignore(name);
        }
    }

    /// Takes the session from the arguments of a command.
    pub(crate) fn take(
        arguments: &mut Arguments<'_>,
        caller: Option<&Caller>,
    ) -> Result<Option<Self>> {
        let id = arguments.nested("lsid")?;
        let id = id.map(|id| SessionId::parse(id, caller)).transpose()?;
        let number = arguments.optional::<i64>("txnNumber")?;
        let is_committed_alone = arguments.optional::<bool>("autocommit")?;
        let starts = arguments.optional::<bool>("startTransaction")?;
        let invalid = |message: &str| Err(CommandError::new(code::INVALID_OPTIONS, message));
        match (is_committed_alone, starts) {
            (Some(true), _) => return invalid("autocommit must be false in a transaction"),
            (None, Some(_)) => return invalid("'startTransaction' needs 'autocommit'"),
            (_, Some(false)) => return invalid("'startTransaction' can only be true"),
            _ => {}
        }
        let Some(id) = id else {
            if number.is_some() || is_committed_alone.is_some() {
                return invalid("Transaction number requires a session ID to also be specified");
            }
            return Ok(None);
        };
        if is_committed_alone.is_some() && number.is_none() {
            return invalid("'autocommit' needs 'txnNumber'");
        }
        Ok(Some(SessionUse {
            id,
            number,
            starts: is_committed_alone.map(|_| starts.is_some()),
        }))
    }

    /// A part of the write that the command is, if it may be sent again.
    pub(crate) fn retryable(self, begin: i32, end: i32) -> Option<Retryable> {
        let command = self.number.filter(|_| self.starts.is_none())?;
        Some(self.part(command, begin, end))
    }

    /// The transaction that the command is in, as a part of the client's command.
    pub(crate) fn part(self, command: i64, begin: i32, end: i32) -> Retryable {
        let caller = self.id.to_key();
        Retryable {
            caller,
            command,
            begin,
            end,
        }
    }
}
