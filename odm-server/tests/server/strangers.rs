//! What clients can do that have not authenticated.

use std::time::Duration;

use mongodb::bson::doc;
use odm::{Collections, Embedded, bson::rawdoc, derive::examples::example};
use odm_server::{Limits, Right, Server, Users};

use crate::{
    Fields, Secured,
    raw::RawClient,
    sasl::{binary, payload, proof},
};

#[test]
fn an_unknown_user_is_answered_as_a_wrong_password_is() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        secured
            .users
            .create("ann", "secret", [Right::read_all()])
            .await?;
        let mut salts = Vec::new();
        for name in ["ann", "nobody", "ann", "nobody"] {
            let mut client = secured.raw().await;
            let (first, reply) = client.challenge(name).await;
            let message = payload(&reply);
            let parts: Vec<&str> = message.split(',').collect();
            assert_eq!((parts.len(), parts[2]), (3, "i=15000"));
            salts.push(parts[1].to_owned());
            let wrong = proof("wrong", &first, &message);
            let go_on = doc! { "saslContinue": 1, "conversationId": 1, "payload": binary(wrong) };
            let mut failed = client.run(go_on).await.unwrap();
            failed.remove("ok");
            let expected = doc! { "errmsg": "Authentication failed.", "code": 18, "codeName": "AuthenticationFailed" };
            assert_eq!(failed, expected);
        }
        assert_eq!(salts[..2], salts[2..]);
        assert_ne!(salts[0], salts[1]);
        assert_eq!(salts[0].len(), salts[1].len());
        Ok(())
    });
}

#[test]
fn a_connection_with_many_failed_attempts_and_a_silent_stranger_are_closed() {
    example(async |shop| {
        let limits = Limits::default().unauthenticated(Duration::from_millis(300));
        let secured = Secured::with_limits(&shop, limits).await;
        secured
            .users
            .create("ann", "secret", [Right::read_all()])
            .await?;
        let mut guessing = secured.raw().await;
        for _ in 0..5 {
            assert_eq!(guessing.log_in("ann", "guess").await.number("code"), 18);
        }
        assert!(!guessing.is_served().await);

        let (mut stranger, mut ann) = (secured.raw().await, secured.raw().await);
        assert!(ann.log_in("ann", "secret").await.flag("done"));
        assert!(stranger.is_served().await);
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert!(ann.is_served().await);
        assert!(stranger.receive().await.is_none());

        // Nor does a stranger send much.
        let mut long = secured.raw().await;
        let text = "x".repeat(100_000);
        assert!(
            long.run(doc! { "ping": 1, "comment": text.clone() })
                .await
                .is_none()
        );
        assert!(ann.run(doc! { "ping": 1, "comment": text }).await.is_some());
        Ok(())
    });
}

#[test]
fn a_stranger_neither_learns_nor_advances_the_cluster_time() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let all = [Right::read_all()];
        secured.users.create("ann", "x", all).await?;
        let mut client = secured.raw().await;
        // A time that nobody can have given, which is refused where times count.
        let far = mongodb::bson::Timestamp {
            time: u32::MAX,
            increment: 1,
        };
        let hello = doc! { "hello": 1, "$clusterTime": { "clusterTime": far } };
        let reply = client.run(hello.clone()).await.unwrap();
        assert!(reply.flag("isWritablePrimary"));
        assert!(!reply.contains_key("$clusterTime") && !reply.contains_key("operationTime"));
        client.log_in("ann", "x").await;
        let reply = client.run(doc! { "ping": 1 }).await.unwrap();
        assert!(reply.contains_key("$clusterTime") && reply.contains_key("operationTime"));
        assert_eq!(client.run(hello).await.unwrap().number("code"), 206);
        Ok(())
    });
}

/// The salt in the challenge of a name.
async fn salt(server: &Server, name: &str) -> String {
    let (_, reply) = RawClient::new(server).await.challenge(name).await;
    let message = payload(&reply);
    message.split(',').nth(1).unwrap().to_owned()
}

#[test]
fn the_challenges_of_all_names_are_the_same_after_a_restart() {
    example(async |_| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.odm");
        let mut salts = Vec::new();
        for creates in [true, false] {
            let collections = Collections::open(Embedded::open(&path).await?).await?;
            let users = Users::of(&collections);
            if creates {
                users.create("ann", "secret", []).await?;
            }
            let builder = Server::builder().database("shop", collections.clone());
            let server = builder.require_users().listen("127.0.0.1:0").await?;
            salts.push([salt(&server, "ann").await, salt(&server, "nobody").await]);
            assert_eq!(users.list().await?.len(), 1);
            server.shutdown().await;
            collections.close().await?;
        }
        assert_eq!(salts[0], salts[1]);
        Ok(())
    });
}

#[test]
fn a_user_of_a_newer_version_is_answered_as_nobody() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let newer = rawdoc! { "_id": "ann", "format": 2 };
        let collections = Collections::of(&shop);
        let change = move |_: Option<&odm::bson::RawDocument>| Ok(Some(newer.clone()));
        collections.change_user("ann", change).await?;
        let failed = secured.raw().await.log_in("ann", "secret").await;
        assert_eq!(failed.number("code"), 18, "{failed}");
        assert_eq!(failed, secured.raw().await.log_in("nobody", "x").await);
        Ok(())
    });
}

#[test]
fn strangers_take_at_most_half_of_the_connections() {
    example(async |shop| {
        let secured = Secured::with_limits(&shop, Limits::default().connections(4)).await;
        let users = &secured.users;
        users.create("ann", "secret", [Right::read_all()]).await?;
        let mut inside = Vec::new();
        for _ in 0..2 {
            let mut ann = secured.raw().await;
            assert!(ann.log_in("ann", "secret").await.flag("done"));
            inside.push(ann);
        }
        let mut strangers = [secured.raw().await, secured.raw().await];
        for stranger in &mut strangers {
            assert!(stranger.is_served().await);
        }
        drop(inside);
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(secured.raw().await.receive().await.is_none());
        let [mut ann, _still] = strangers;
        assert!(ann.log_in("ann", "secret").await.flag("done"));
        assert!(secured.raw().await.is_served().await);
        Ok(())
    });
}
