//! The side of a client of SCRAM-SHA-256, for sockets.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use hmac::{Hmac, KeyInit, Mac};
use odm::bson::{Binary, Document, doc, spec::BinarySubtype};
use sha2::{Digest, Sha256};

use crate::{Fields, raw::RawClient};

pub(crate) fn binary(bytes: impl AsRef<[u8]>) -> Binary {
    Binary {
        subtype: BinarySubtype::Generic,
        bytes: bytes.as_ref().to_vec(),
    }
}

pub(crate) fn payload(reply: &Document) -> String {
    let payload = reply.get_binary_generic("payload").unwrap();
    String::from_utf8(payload.clone()).unwrap()
}

fn hmac(key: &[u8], text: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

/// The proof of a password, for the first messages of the client and of the server.
pub(crate) fn proof(password: &str, first: &str, server_first: &str) -> String {
    let mut parts = server_first.split(',').map(|part| &part[2..]);
    let (nonce, salt) = (parts.next().unwrap(), parts.next().unwrap());
    let iterations = parts.next().unwrap().parse().unwrap();
    let salt = BASE64.decode(salt).unwrap();
    let salted = pbkdf2::pbkdf2_hmac_array::<Sha256, 32>(password.as_bytes(), &salt, iterations);
    let client_key = hmac(&salted, b"Client Key");
    let without_proof = format!("c=biws,r={nonce}");
    let signed = format!("{},{server_first},{without_proof}", &first[3..]);
    let signature = hmac(&Sha256::digest(&client_key), signed.as_bytes());
    let proof: Vec<u8> = client_key
        .iter()
        .zip(signature)
        .map(|(a, b)| a ^ b)
        .collect();
    format!("{without_proof},p={}", BASE64.encode(proof))
}

impl RawClient {
    /// The first step of an attempt: the message of the client, and the reply.
    pub(crate) async fn challenge(&mut self, user: &str) -> (String, Document) {
        let first = format!("n,,n={user},r=aNonceOfAClient");
        let start = doc! {
            "saslStart": 1, "mechanism": "SCRAM-SHA-256", "payload": binary(&first),
            "options": { "skipEmptyExchange": true },
        };
        let reply = self.run(start).await.unwrap();
        (first, reply)
    }

    /// Proves the password of a user, and returns the last reply.
    pub(crate) async fn log_in(&mut self, user: &str, password: &str) -> Document {
        let (first, reply) = self.challenge(user).await;
        let proof = proof(password, &first, &payload(&reply));
        let go_on = doc! { "saslContinue": 1, "conversationId": reply.number("conversationId"), "payload": binary(proof) };
        self.run(go_on).await.unwrap()
    }
}
