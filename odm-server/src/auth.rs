//! Authentication: users, their passwords, and the proofs that a connection has given.

#[cfg(feature = "http")]
mod passwords;
mod rights;
mod scram;
mod users;

use std::sync::{Arc, Mutex, PoisonError};

use odm::{ErrorKind, bson::oid::ObjectId, collections::CollectionRights};
use sha2::{Digest, Sha256};
use tokio::sync::OwnedSemaphorePermit;

#[cfg(feature = "http")]
pub(crate) use self::passwords::{Login, Passwords};
pub(crate) use self::users::secret;
pub use self::{
    rights::Right,
    users::{User, Users},
};
pub(crate) use self::{
    rights::{UserRights, is_secret},
    scram::{MECHANISM, random},
};
use self::{
    scram::{Challenge, ClientFirst, Credentials},
    users::Account,
};
use crate::{
    error::{CommandError, Result, code},
    server::ServerState,
};

/// After so many attempts that fail, a connection is closed.
const MAX_FAILURES: u32 = 5;

/// The hash of a user, as MongoDB has it in the keys of sessions. That of a user who is created again is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct UserDigest(pub(crate) [u8; 32]);

/// A user whose password a connection has proved to know.
#[derive(Debug)]
pub(crate) struct ProvenUser {
    pub(crate) database: String,
    pub(crate) name: String,
    account: ObjectId,
    pub(crate) digest: UserDigest,
}

/// The user of a command, with their current rights.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) user: Arc<ProvenUser>,
    pub(crate) rights: Arc<UserRights>,
}

impl Caller {
    /// Whether they may read a collection of a database.
    pub(crate) fn can_read(&self, database: &str, collection: &str) -> bool {
        self.user.database == database && self.rights.can_read(collection)
    }

    /// Whether they may change a collection of a database.
    pub(crate) fn can_write(&self, database: &str, collection: &str) -> bool {
        self.user.database == database && self.rights.can_write(collection)
    }
}

/// The proofs that a connection has given.
#[derive(Debug, Default)]
pub(crate) struct Authentication(Mutex<Proofs>);

#[derive(Debug, Default)]
struct Proofs {
    user: Option<Arc<ProvenUser>>,
    /// The place of the connection among the ones that have never authenticated.
    place: Option<OwnedSemaphorePermit>,
    /// The attempt that has begun, of which a connection has one.
    attempt: Option<Attempt>,
    failures: u32,
}

/// An attempt of a client to prove that it is a user.
#[derive(Debug)]
struct Attempt {
    database: String,
    name: String,
    /// `None` if there is no such user, and the attempt fails in the end.
    account: Option<ObjectId>,
    step: Step,
    /// The client wants no empty message after the last one.
    skips_empty: bool,
}

#[derive(Debug)]
enum Step {
    /// A proof that fits the challenge must come.
    Challenged(Box<Challenge>),
    /// The proof was right, and an empty message must come.
    Proven,
}

/// The next message of the server in an attempt.
#[derive(Debug)]
pub(crate) struct SaslReply {
    pub(crate) payload: Vec<u8>,
    pub(crate) is_done: bool,
}

/// The error of all attempts that fail, which does not tell why.
fn failed() -> CommandError {
    CommandError::new(code::AUTHENTICATION_FAILED, "Authentication failed.")
}

/// The account that a client says it has, if there is one.
async fn account(state: &ServerState, database: &str, name: &str) -> Result<Option<Account>> {
    let Some(collections) = state.databases.get(database) else {
        return Ok(None);
    };
    match Account::of(collections, name).await {
        // The error would tell that there is such a user.
        Err(error) if error.kind() == ErrorKind::Schema => {
            tracing::error!(target: "odm", database, user = name, %error, "user not let in");
            Ok(None)
        }
        account => Ok(account?),
    }
}

impl Authentication {
    /// That of a client whose password was checked.
    #[cfg(feature = "http")]
    pub(crate) fn of_user(user: Arc<ProvenUser>) -> Self {
        Authentication(Mutex::new(Proofs {
            user: Some(user),
            ..Proofs::default()
        }))
    }

    /// The authentication of a new connection, which has a place among the strangers until it succeeds.
    pub(crate) fn of_stranger(place: OwnedSemaphorePermit) -> Self {
        Authentication(Mutex::new(Proofs {
            place: Some(place),
            ..Proofs::default()
        }))
    }

    fn with<T>(&self, of: impl FnOnce(&mut Proofs) -> T) -> T {
        of(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The user, as of the proof.
    pub(crate) fn user(&self) -> Option<Arc<ProvenUser>> {
        self.with(|proofs| proofs.user.clone())
    }

    /// Forgets the user and all authentications that have begun.
    pub(crate) fn log_out(&self) {
        self.with(|proofs| {
            proofs.user = None;
            proofs.attempt = None;
        });
    }

    /// Whether so many attempts have failed that the connection is closed.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.with(|proofs| proofs.failures >= MAX_FAILURES)
    }

    fn fail(&self) -> CommandError {
        self.with(|proofs| {
            proofs.attempt = None;
            proofs.failures = proofs.failures.saturating_add(1);
        });
        failed()
    }

    /// Begins an attempt with the first message of the client, in the place of an earlier one.
    pub(crate) async fn begin(
        &self,
        state: &ServerState,
        database: &str,
        payload: &[u8],
        skips_empty: bool,
    ) -> Result<SaslReply> {
        let Some(first) = ClientFirst::parse(payload) else {
            return Err(self.fail());
        };
        let name = first.user.clone();
        if let Some(proven) = self.user()
            && (proven.database != database || proven.name != name)
        {
            let message = format!(
                "Each client connection may only be authenticated once. Previously authenticated as: {}@{}",
                proven.name, proven.database
            );
            return Err(CommandError::new(code::AUTHENTICATED_BEFORE, message));
        }
        let account = account(state, database, &name).await?;
        // They are made for every name, so that the time of the reply tells little of whether there is a user.
        let nobody = Credentials::of_nobody(&state.secret, database, &name)?;
        let (account, credentials) = match account {
            Some(account) => (Some(account.id), account.credentials),
            None => (None, nobody),
        };
        let (challenge, message) = Challenge::new(&first, credentials)?;
        let attempt = Attempt {
            database: database.to_owned(),
            name,
            account,
            step: Step::Challenged(Box::new(challenge)),
            skips_empty,
        };
        self.with(|proofs| proofs.attempt = Some(attempt));
        Ok(SaslReply {
            payload: message.into_bytes(),
            is_done: false,
        })
    }

    /// Goes on with an attempt by the next message of the client.
    pub(crate) fn go_on(&self, database: &str, payload: &[u8]) -> Result<SaslReply> {
        let protocol_error = |message: &str| CommandError::new(code::PROTOCOL_ERROR, message);
        let Some(attempt) = self.with(|proofs| proofs.attempt.take()) else {
            return Err(protocol_error("No SASL session state found"));
        };
        if attempt.database != database {
            let message = "Attempt to switch database target during SASL authentication.";
            return Err(protocol_error(message));
        }
        let (account, answer) = match &attempt.step {
            Step::Proven if payload.is_empty() => (attempt.account, Vec::new()),
            Step::Challenged(challenge) => match (attempt.account, challenge.answer(payload)) {
                (Some(account), Some(answer)) => (Some(account), answer.into_bytes()),
                (_, _) => return Err(self.fail()),
            },
            Step::Proven => return Err(self.fail()),
        };
        let Some(account) = account else {
            return Err(self.fail());
        };
        let is_done = attempt.skips_empty || matches!(attempt.step, Step::Proven);
        if is_done {
            let user = ProvenUser::new(&attempt.database, &attempt.name, account);
            self.with(|proofs| {
                proofs.user = Some(Arc::new(user));
                proofs.place = None;
            });
        } else {
            let attempt = Attempt {
                step: Step::Proven,
                ..attempt
            };
            self.with(|proofs| proofs.attempt = Some(attempt));
        }
        Ok(SaslReply {
            payload: answer,
            is_done,
        })
    }

    /// The user of a command with their current rights; `None` before a client has proved which user it is, and once the user is removed.
    pub(crate) async fn caller(&self, state: &ServerState) -> Result<Option<Caller>> {
        let Some(user) = self.user() else {
            return Ok(None);
        };
        let account = match state.databases.get(&user.database) {
            Some(collections) => Account::of(collections, &user.name).await?,
            None => None,
        };
        // Another user of the same name is somebody else.
        let account = account.filter(|account| account.id == user.account);
        if account.is_none() {
            self.with(|proofs| proofs.user = None);
        }
        Ok(account.map(|account| Caller {
            user,
            rights: Arc::new(account.rights),
        }))
    }
}

impl ProvenUser {
    fn new(database: &str, name: &str, account: ObjectId) -> Self {
        // An account has a fixed length, and no name of a database has the separator.
        let parts = [
            &account.bytes(),
            database.as_bytes(),
            b"\0",
            name.as_bytes(),
        ];
        let digest = parts.into_iter().fold(Sha256::new(), Sha256::chain_update);
        ProvenUser {
            database: database.to_owned(),
            name: name.to_owned(),
            account,
            digest: UserDigest(digest.finalize().into()),
        }
    }
}
