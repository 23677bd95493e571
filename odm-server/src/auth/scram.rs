//! SCRAM-SHA-256 of RFC 5802 and 7677: a client proves that it knows a password, and the server that it knows keys made of the password.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use hmac::{Hmac, KeyInit, Mac};
use odm::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The name of the mechanism.
pub(crate) const MECHANISM: &str = "SCRAM-SHA-256";

/// How often a password is hashed, as MongoDB does by default.
pub(crate) const ITERATIONS: i32 = 15_000;

/// The bytes of a salt, as MongoDB's.
const SALT: usize = 28;

/// The random bytes of the server in a nonce.
const NONCE: usize = 24;

/// The longest nonce of a client.
const MAX_NONCE: usize = 1 << 10;

type Key = [u8; 32];

/// The values that the server stores in place of a password.
#[derive(Clone)]
pub(crate) struct Credentials {
    pub(crate) salt: Vec<u8>,
    pub(crate) iterations: i32,
    pub(crate) stored_key: Key,
    pub(crate) server_key: Key,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// Fills bytes that nobody can guess.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        let message = format!("the operating system has no random bytes: {error}");
        Error::new(ErrorKind::Io, message)
    })?;
    Ok(bytes)
}

pub(crate) fn hmac(key: &[u8], parts: &[&[u8]]) -> Key {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

fn hash(bytes: &[u8]) -> Key {
    Sha256::digest(bytes).into()
}

impl Credentials {
    /// The credentials of a new password, with a random salt.
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if it is empty, or has characters that SASLprep prohibits.
    pub(crate) fn of_password(password: &str) -> Result<Self> {
        Self::with_salt(password, &random::<SALT>()?, ITERATIONS)
    }

    fn with_salt(password: &str, salt: &[u8], iterations: i32) -> Result<Self> {
        let invalid = |why| Error::new(ErrorKind::InvalidQuery, why);
        let prepared = stringprep::saslprep(password)
            .map_err(|_| invalid("invalid password: it has characters that SASLprep prohibits"))?;
        if prepared.is_empty() {
            return Err(invalid("invalid password: it is empty"));
        }
        let salted: Key = pbkdf2::pbkdf2_hmac_array::<Sha256, 32>(
            prepared.as_bytes(),
            salt,
            iterations.unsigned_abs(),
        );
        Ok(Credentials {
            salt: salt.to_vec(),
            iterations,
            stored_key: hash(&hmac(&salted, &[b"Client Key"])),
            server_key: hmac(&salted, &[b"Server Key"]),
        })
    }

    /// Whether they were made of a password. It takes as long as the password is hashed.
    #[cfg(feature = "http")]
    pub(crate) fn fit(&self, password: &str) -> bool {
        Self::with_salt(password, &self.salt, self.iterations)
            .is_ok_and(|given| bool::from(given.stored_key.ct_eq(&self.stored_key)))
    }

    /// Credentials that no password fits, of a user who does not exist. Their salt is always the same for a name, as that of a user is.
    pub(crate) fn of_nobody(secret: &[u8], database: &str, name: &str) -> Result<Self> {
        let salt = hmac(secret, &[database.as_bytes(), b".", name.as_bytes()]);
        Ok(Credentials {
            salt: salt[..SALT].to_vec(),
            iterations: ITERATIONS,
            stored_key: random()?,
            server_key: random()?,
        })
    }
}

/// The first message of a client.
#[derive(Debug)]
pub(crate) struct ClientFirst<'a> {
    pub(crate) user: String,
    nonce: &'a str,
    /// The head, which says that no channel is bound.
    head: &'a str,
    /// The message without it.
    bare: &'a str,
}

impl<'a> ClientFirst<'a> {
    /// Reads a message; `None` if it is malformed, or requests an unsupported extension.
    pub(crate) fn parse(payload: &'a [u8]) -> Option<Self> {
        let message = std::str::from_utf8(payload).ok()?;
        // `p=..` would bind the channel, and `y` says that the client could.
        let rest = message.strip_prefix("n,").or(message.strip_prefix("y,"))?;
        let (acts_as, bare) = rest.split_once(',')?;
        let head = message.strip_suffix(bare)?;
        // A mandatory extension `m=..` would come first.
        let (user, rest) = bare.strip_prefix("n=")?.split_once(",r=")?;
        let nonce = rest.split(',').next()?;
        let is_printable = |byte: u8| byte.is_ascii_graphic() && byte != b',';
        if nonce.is_empty() || nonce.len() > MAX_NONCE || !nonce.bytes().all(is_printable) {
            return None;
        }
        let user = unescaped(user)?;
        if !acts_as.is_empty() && unescaped(acts_as.strip_prefix("a=")?)? != user {
            return None;
        }
        Some(ClientFirst {
            user,
            nonce,
            head,
            bare,
        })
    }
}

/// A name in which `,` and `=` are escaped.
fn unescaped(name: &str) -> Option<String> {
    let mut parts = name.split('=');
    let mut unescaped = parts.next()?.to_owned();
    for part in parts {
        let (character, rest) = match (part.strip_prefix("2C"), part.strip_prefix("3D")) {
            (Some(rest), _) => (',', rest),
            (_, Some(rest)) => ('=', rest),
            _ => return None,
        };
        unescaped.push(character);
        unescaped.push_str(rest);
    }
    (!unescaped.is_empty()).then_some(unescaped)
}

/// The state of an exchange after the server's first message.
#[derive(Debug)]
pub(crate) struct Challenge {
    credentials: Credentials,
    nonce: String,
    head: String,
    /// The messages so far, as they are signed.
    signed: String,
}

impl Challenge {
    /// Makes the first message of the server.
    pub(crate) fn new(first: &ClientFirst<'_>, credentials: Credentials) -> Result<(Self, String)> {
        let nonce = format!("{}{}", first.nonce, BASE64.encode(random::<NONCE>()?));
        let salt = BASE64.encode(&credentials.salt);
        let message = format!("r={nonce},s={salt},i={}", credentials.iterations);
        let challenge = Challenge {
            signed: format!("{},{message}", first.bare),
            head: BASE64.encode(first.head),
            credentials,
            nonce,
        };
        Ok((challenge, message))
    }

    /// Checks the proof in the last message of a client, and makes that of the server. `None` if it is not right.
    pub(crate) fn answer(&self, payload: &[u8]) -> Option<String> {
        let message = std::str::from_utf8(payload).ok()?;
        let (without_proof, proof) = message.rsplit_once(",p=")?;
        let rest = without_proof
            .strip_prefix("c=")?
            .strip_prefix(&*self.head)?;
        let rest = rest.strip_prefix(",r=")?;
        // Extensions, which are optional, may follow.
        if rest.split(',').next()? != self.nonce {
            return None;
        }
        let proof: Key = BASE64.decode(proof).ok()?.try_into().ok()?;
        let signed: [&[u8]; 3] = [self.signed.as_bytes(), b",", without_proof.as_bytes()];
        let Credentials {
            stored_key,
            server_key,
            ..
        } = &self.credentials;
        let mut client_key = hmac(stored_key, &signed);
        for (byte, proof) in client_key.iter_mut().zip(proof) {
            *byte ^= proof;
        }
        let is_right = bool::from(hash(&client_key).ct_eq(stored_key));
        is_right.then(|| format!("v={}", BASE64.encode(hmac(server_key, &signed))))
    }
}

#[cfg(test)]
mod tests;
