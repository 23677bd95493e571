//! Passwords that come with each request, and are checked against what SCRAM keeps of them.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use odm::bson::oid::ObjectId;
use tokio::sync::Semaphore;

use super::{
    ProvenUser, account,
    scram::{Credentials, hmac, random},
};
use crate::{
    error::{CommandError, Result, code},
    server::ServerState,
};

/// How many attempts of an address may fail in a time, until it must wait.
const MAX_FAILURES: u32 = 5;
const TIME: Duration = Duration::from_secs(60);

/// How many passwords are hashed at a time.
const AT_A_TIME: usize = 2;

/// How many proven passwords, and addresses whose attempts have failed, are known at a time.
const KNOWN: usize = 1_000;

/// The proven passwords, and the failed attempts.
pub(crate) struct Passwords {
    /// The key of the hashes of passwords, which nobody else knows.
    key: [u8; 32],
    /// The proven passwords, by the hash of the user and of the password.
    proven: Mutex<HashMap<[u8; 32], ProvenPassword>>,
    /// The attempts of each address that have failed since a time.
    failures: Mutex<HashMap<Option<IpAddr>, (u32, Instant)>>,
    hashing: Semaphore,
}

/// The account that a password was right for, as it was stored then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProvenPassword {
    account: ObjectId,
    stored_key: [u8; 32],
}

/// The result of a login by a password.
#[derive(Debug)]
pub(crate) enum Login {
    User(Arc<ProvenUser>),
    /// There is no such user, or it is not the password.
    Wrong,
    /// So many attempts have failed that this one was not looked at.
    Exhausted,
}

fn with<T, R>(of: &Mutex<T>, run: impl FnOnce(&mut T) -> R) -> R {
    run(&mut of.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Passwords {
    pub(crate) fn new() -> odm::Result<Self> {
        Ok(Passwords {
            key: random()?,
            proven: Mutex::default(),
            failures: Mutex::default(),
            hashing: Semaphore::new(AT_A_TIME),
        })
    }

    /// Checks the password of a user of a database, which has come from an address. One that was right before, and was not changed, is not
    /// hashed again.
    pub(crate) async fn check(
        &self,
        state: &ServerState,
        address: Option<IpAddr>,
        (database, name, password): (&str, &str, &str),
    ) -> Result<Login> {
        let account = account(state, database, name).await?;
        // No name of a database has the separator, and the length tells the name from the password.
        let length = name.len().to_le_bytes();
        let parts = [
            database.as_bytes(),
            b"\0",
            &length,
            name.as_bytes(),
            password.as_bytes(),
        ];
        let digest = hmac(&self.key, &parts);
        let is_known = account.as_ref().is_some_and(|account| {
            let known = with(&self.proven, |proven| proven.get(&digest).copied());
            let stored = ProvenPassword {
                account: account.id,
                stored_key: account.credentials.stored_key,
            };
            known == Some(stored)
        });
        if !is_known && !self.begin_attempt(address) {
            return Ok(Login::Exhausted);
        }
        // The time of the answer tells little of whether there is a user.
        let nobody = Credentials::of_nobody(&state.secret, database, name)?;
        let (account, credentials) = match account {
            Some(account) => (Some(account.id), account.credentials),
            None => (None, nobody),
        };
        let stored_key = credentials.stored_key;
        if !is_known && !self.fits(credentials, password).await? {
            return Ok(Login::Wrong);
        }
        let Some(account) = account else {
            return Ok(Login::Wrong);
        };
        if !is_known {
            self.end_attempt(address);
            with(&self.proven, |proven| {
                if proven.len() >= KNOWN {
                    proven.clear();
                }
                proven.insert(
                    digest,
                    ProvenPassword {
                        account,
                        stored_key,
                    },
                );
            });
        }
        let user = ProvenUser::new(database, name, account);
        Ok(Login::User(Arc::new(user)))
    }

    async fn fits(&self, credentials: Credentials, password: &str) -> Result<bool> {
        let failed = |_| CommandError::new(code::UNKNOWN_ERROR, "a password was not checked");
        let _turn = self.hashing.acquire().await;
        let password = password.to_owned();
        let hashing = tokio::task::spawn_blocking(move || credentials.fit(&password));
        hashing.await.map_err(failed)
    }

    /// Counts a failed attempt. Returns false if there are too many of the address.
    fn begin_attempt(&self, address: Option<IpAddr>) -> bool {
        with(&self.failures, |failures| {
            let now = Instant::now();
            if failures.len() >= KNOWN {
                failures.retain(|_, (_, since)| now.duration_since(*since) < TIME);
            }
            if failures.len() >= KNOWN && !failures.contains_key(&address) {
                return false;
            }
            let (number, since) = failures.entry(address).or_insert((0, now));
            if now.duration_since(*since) >= TIME {
                (*number, *since) = (0, now);
            }
            *number = number.saturating_add(1);
            *number <= MAX_FAILURES
        })
    }

    fn end_attempt(&self, address: Option<IpAddr>) {
        with(&self.failures, |failures| failures.remove(&address));
    }
}
