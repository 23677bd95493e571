//! Passwords and tokens, and who makes a request.

use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
};

use argon2::{
    Argon2, PasswordHash, PasswordHasher, PasswordVerifier,
    password_hash::{SaltString, rand_core::OsRng},
};
use axum::{
    extract::FromRequestParts,
    http::{StatusCode, header, request::Parts},
};
use chrono::Duration;
use jwt_compact::{
    AlgorithmExt, Claims, Header, TimeOptions, Token, UntrustedToken,
    alg::{Hs256, Hs256Key},
};
use odm::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::{
    App,
    failure::{Answer, Failure},
    models::{Author, User},
};

/// How long a token is valid.
pub const LIFETIME: Duration = Duration::days(30);

/// The lengths of passwords, in characters. The upper one bounds the work of a request.
const PASSWORD: std::ops::RangeInclusive<usize> = 8..=128;

/// Hashes passwords, and makes and reads tokens.
#[derive(Debug, Clone)]
pub struct Auth {
    key: Hs256Key,
    /// The work of the threads that hash passwords. There are as many as cores, since each takes a core and 19 MiB, and they are always the
    /// same ones, since an allocator keeps that memory for each thread that has had it.
    work: mpsc::Sender<Work>,
    /// A hash for the password check of an unknown user, so that the answer takes as long.
    decoy: Arc<str>,
}

/// The hashing of a password, whose result somebody waits for.
type Work = Box<dyn FnOnce() + Send>;

/// The content of a token.
#[derive(Debug, Serialize, Deserialize)]
struct Subject {
    sub: ObjectId,
    /// The number of the password with which the user has signed in.
    #[serde(default)]
    password: i64,
}

impl Auth {
    /// Takes the secret that signs tokens.
    pub fn new(secret: &[u8]) -> Answer<Self> {
        let (work, queue) = mpsc::channel::<Work>();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                while let Some(work) = next(&queue) {
                    work();
                }
            });
        }
        Ok(Auth {
            key: Hs256Key::new(secret),
            work,
            decoy: hash("a password that nobody has")?.into(),
        })
    }

    /// Hashes a new password.
    pub async fn hash(&self, password: String) -> Answer<String> {
        if !PASSWORD.contains(&password.chars().count()) {
            return Err(Failure::invalid("password must have 8 to 128 characters"));
        }
        self.in_turn(move || hash(&password)).await?
    }

    /// Returns the user if the password is right.
    pub async fn verify(&self, user: Option<User>, password: String) -> Answer<User> {
        let decoy = Arc::clone(&self.decoy);
        let is_right = self.in_turn(move || {
            let hash = user.as_ref().map_or(&*decoy, |user| &user.password_hash);
            let is_right = password.chars().count() <= *PASSWORD.end()
                && PasswordHash::new(hash).is_ok_and(|hash| {
                    let verified = Argon2::default().verify_password(password.as_bytes(), &hash);
                    verified.is_ok()
                });
            user.filter(|_| is_right)
        });
        let user = is_right.await?;
        user.ok_or_else(|| Failure::unauthorized("email or password is wrong"))
    }

    /// Runs work that takes a core, off the threads that answer requests.
    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Answer<T> {
        let (done, result) = oneshot::channel();
        let work = move || {
            // If the request was dropped meanwhile, nobody waits for it.
            let _ = done.send(work());
        };
        self.work.send(Box::new(work)).map_err(internal)?;
        result.await.map_err(internal)
    }

    /// Makes a token for a user.
    pub fn token(&self, user: &User) -> Answer<String> {
        let (sub, password) = (user.id, user.password_number);
        let claims = Claims::new(Subject { sub, password });
        let claims = claims.set_duration_and_issuance(&TimeOptions::default(), LIFETIME);
        let token = Hs256.token(&Header::empty(), &claims, &self.key);
        token.map_err(internal)
    }

    /// The content of a token that has not expired.
    fn read(&self, token: &str) -> Option<Subject> {
        let token = UntrustedToken::new(token).ok()?;
        let token: Token<Subject> = Hs256.validator(&self.key).validate(&token).ok()?;
        let (_, claims) = token.into_parts();
        let valid = claims.validate_expiration(&TimeOptions::default());
        valid.is_ok().then_some(claims.custom)
    }
}

/// Waits for work, until the last `Auth` is dropped.
fn next(queue: &Mutex<mpsc::Receiver<Work>>) -> Option<Work> {
    queue.lock().ok()?.recv().ok()
}

fn hash(password: &str) -> Answer<String> {
    let salt = SaltString::generate(&mut OsRng);
    let hash = Argon2::default().hash_password(password.as_bytes(), &salt);
    Ok(hash.map_err(internal)?.to_string())
}

fn internal(error: impl std::fmt::Display) -> Failure {
    tracing::error!(%error, "request failed");
    Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "something went wrong")
}

impl User {
    /// Refuses a change of what another user has written.
    pub fn must_be(&self, author: &Author, what: &str) -> Answer<()> {
        if author.id == Ref::from(self) {
            return Ok(());
        }
        Err(Failure::forbidden(what))
    }
}

impl App {
    /// The user of a valid token, if there still is one, with the same password.
    pub async fn user_of(&self, token: &str) -> Answer<Option<User>> {
        let Some(Subject { sub, password }) = self.auth.read(token) else {
            return Ok(None);
        };
        let user = self.db.users.get(sub).optional().await?;
        Ok(user.filter(|user| user.password_number == password))
    }
}

/// The client of an API request: nobody, or the user of its token.
#[derive(Debug)]
pub struct Reader(pub Option<User>);

/// The signed-in user of an API request.
#[derive(Debug)]
pub struct Me(pub User);

impl FromRequestParts<App> for Reader {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Answer<Self> {
        let Some(header) = parts.headers.get(header::AUTHORIZATION) else {
            return Ok(Reader(None));
        };
        let refused = || Failure::unauthorized("token is not valid");
        let (scheme, token) = header
            .to_str()
            .ok()
            .and_then(|header| header.split_once(' '))
            .ok_or_else(refused)?;
        // The specification has `Token`, but most clients send `Bearer`.
        if !["token", "bearer"].contains(&scheme.to_ascii_lowercase().as_str()) {
            return Err(refused());
        }
        let user = app.user_of(token.trim()).await?;
        Ok(Reader(Some(user.ok_or_else(refused)?)))
    }
}

impl FromRequestParts<App> for Me {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Answer<Self> {
        let Reader(user) = Reader::from_request_parts(parts, app).await?;
        let refused = || Failure::unauthorized("sign in first: the request has no token");
        user.map(Me).ok_or_else(refused)
    }
}
