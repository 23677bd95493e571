//! Sessions of clients, as far as a server without transactions knows them.

use odm::bson::{Binary, RawBsonRef, Uuid, spec::BinarySubtype};

use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
};

/// The number that a client has given its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SessionId(Uuid);

impl SessionId {
    pub(crate) fn new() -> Self {
        SessionId(Uuid::new())
    }

    /// Its value in BSON.
    pub(crate) fn to_binary(self) -> Binary {
        self.0.into()
    }

    /// Reads `{ id: UUID }`.
    pub(crate) fn parse(mut session: Arguments<'_>) -> Result<Self> {
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
        Ok(SessionId(Uuid::from_bytes(id)))
    }
}

/// Takes the session from the arguments of a command. All that belongs to transactions, and to writes that are sent again, is refused.
pub(crate) fn take(arguments: &mut Arguments<'_>) -> Result<Option<SessionId>> {
    let id = arguments
        .nested("lsid")?
        .map(SessionId::parse)
        .transpose()?;
    for name in ["txnNumber", "startTransaction", "autocommit"] {
        if arguments.optional::<RawBsonRef<'_>>(name)?.is_some() {
            let message = "Transaction numbers are only allowed on a replica set member or mongos";
            return Err(CommandError::new(code::ILLEGAL_OPERATION, message));
        }
    }
    Ok(id)
}
