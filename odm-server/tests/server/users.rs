use std::time::Duration;

use futures_util::StreamExt;
use mongodb::{
    Client,
    bson::{Document, doc},
};
use odm::{Collections, Embedded, derive::examples::example};
use odm_server::{Right, Server, Users};
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, TestRunner},
};

use crate::{
    Fields, Secured, error_of,
    raw::RawClient,
    sasl::{binary, payload, proof},
};

/// The code of the error of a driver that could not authenticate.
fn authentication_failed(error: &mongodb::error::Error) -> bool {
    matches!(
        &*error.kind,
        mongodb::error::ErrorKind::Authentication { .. }
    )
}

#[test]
fn a_driver_with_the_password_reads_and_writes_and_others_do_not() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        secured
            .users
            .create("änn%:", "pass,word=ß", [Right::read_write_all()])
            .await?;
        let ann = secured.client("änn%:", "pass,word=ß").await;
        let parts = ann.database("shop").collection::<Document>("parts");
        assert_eq!(parts.count_documents(doc! {}).await.unwrap(), 3);
        parts.insert_one(crate::part(9, "pin")).await.unwrap();

        for (name, password) in [("änn%:", "wrong"), ("nobody", "pass,word=ß"), ("änn%:", "")] {
            let client = secured.client(name, password).await;
            let error = client.list_database_names().await.unwrap_err();
            if !password.is_empty() {
                assert!(authentication_failed(&error), "{error}");
            }
        }

        let nobody = secured.anonymous().await;
        let parts = nobody.database("shop").collection::<Document>("parts");
        let (code, message) = error_of(parts.find_one(doc! {}).await.unwrap_err());
        assert_eq!(
            (code, &*message),
            (13, "Command find requires authentication")
        );
        Ok(())
    });
}

#[test]
fn a_user_of_another_database_is_nobody_in_this_one() {
    example(async |shop| {
        let collections = Collections::of(&shop);
        let other = Collections::open(Embedded::memory().await?).await?;
        other.collection("notes").create().await?;
        Users::of(&other)
            .create("ann", "secret", [Right::read_write_all()])
            .await?;
        Users::of(&collections)
            .create("ben", "secret", [Right::read_write_all()])
            .await?;
        let server = Server::builder()
            .database("shop", collections)
            .database("other", other)
            .require_users()
            .listen("127.0.0.1:0")
            .await?;
        let address = server.local_addr().unwrap();
        let of = async |name: &str, database: &str| {
            let uri = format!("mongodb://{name}:secret@{address}/{database}");
            Client::with_uri_str(uri).await.unwrap()
        };
        let wrong = of("ann", "shop").await.list_database_names().await;
        assert!(authentication_failed(&wrong.unwrap_err()));
        let wrong = of("ann", "").await.list_database_names().await;
        assert!(authentication_failed(&wrong.unwrap_err()));

        let ann = of("ann", "other").await;
        assert_eq!(ann.list_database_names().await.unwrap(), ["other"]);
        let parts = ann.database("shop").collection::<Document>("parts");
        let (code, message) = error_of(parts.find_one(doc! {}).await.unwrap_err());
        assert_eq!(code, 13);
        assert_eq!(
            message,
            "not authorized on shop to execute command { find: \"parts\" }"
        );
        let refused = parts.insert_one(crate::part(9, "pin")).await.unwrap_err();
        assert_eq!(error_of(refused).0, 13);
        Ok(())
    });
}

#[test]
fn a_changed_password_holds_for_new_connections_and_a_removed_user_for_open_ones() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        let users = &secured.users;
        users.create("ann", "old", [Right::read_all()]).await?;
        let mut open = secured.raw().await;
        assert!(open.log_in("ann", "old").await.flag("done"));
        let find = || doc! { "find": "parts" };
        assert!(open.run(find()).await.unwrap().contains_key("cursor"));

        users.set_password("ann", "new").await?;
        assert!(open.run(find()).await.unwrap().contains_key("cursor"));
        let mut late = secured.raw().await;
        assert_eq!(late.log_in("ann", "old").await.number("code"), 18);
        assert!(late.log_in("ann", "new").await.flag("done"));

        users.set_rights("ann", [Right::read("reviews")]).await?;
        for connection in [&mut open, &mut late] {
            assert_eq!(connection.run(find()).await.unwrap().number("code"), 13);
        }
        users.set_rights("ann", [Right::read("parts")]).await?;
        assert!(open.run(find()).await.unwrap().contains_key("cursor"));

        // Another user of the same name is somebody else.
        assert!(users.remove("ann").await?);
        let removed = open.run(find()).await.unwrap();
        assert_eq!(
            removed.text("errmsg"),
            "Command find requires authentication"
        );
        users.create("ann", "new", [Right::read_all()]).await?;
        assert_eq!(open.run(find()).await.unwrap().number("code"), 13);
        assert!(open.log_in("ann", "new").await.flag("done"));
        assert!(open.run(find()).await.unwrap().contains_key("cursor"));
        Ok(())
    });
}

#[test]
fn users_are_stored_and_named_well() {
    example(async |_| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.odm");
        let collections = Collections::open(Embedded::open(&path).await?).await?;
        let users = Users::of(&collections);
        let rights = [Right::read("parts"), Right::read_write("reviews")];
        users.create("ann", "secret", rights.clone()).await?;
        assert!(
            users
                .create("ann", "x", [])
                .await
                .unwrap_err()
                .is_duplicate_key()
        );
        assert!(
            users
                .set_rights("ben", [])
                .await
                .unwrap_err()
                .is_not_found()
        );
        assert!(
            users
                .set_password("ben", "x")
                .await
                .unwrap_err()
                .is_not_found()
        );
        let long = "x".repeat(257);
        for (name, password) in [
            ("", "x"),
            ("a\nb", "x"),
            (&long, "x"),
            ("ben", ""),
            ("ben", "\u{7}"),
        ] {
            let refused = users.create(name, password, []).await.unwrap_err();
            assert_eq!(
                refused.kind(),
                odm::ErrorKind::InvalidQuery,
                "{name:?} {password:?}"
            );
        }
        for right in [
            Right::read(""),
            Right::read_write("a$b"),
            Right::read("_odm_users"),
            Right::read_write("_odm_retries"),
            Right::read("_odm_relations"),
        ] {
            assert!(users.create("ben", "x", [right]).await.is_err());
        }
        collections.close().await?;

        let collections = Collections::open(Embedded::open(&path).await?).await?;
        let stored = Users::of(&collections).list().await?;
        assert_eq!((stored.len(), &*stored[0].name), (1, "ann"));
        assert_eq!(stored[0].rights, rights);
        let server = Server::builder()
            .database("shop", collections)
            .require_users()
            .listen("127.0.0.1:0")
            .await?;
        let mut client = RawClient::new(&server).await;
        assert!(client.log_in("ann", "secret").await.flag("done"));
        Ok(())
    });
}

#[test]
fn hello_begins_an_attempt_that_the_client_goes_on_with() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        secured
            .users
            .create("ann", "secret", [Right::read_all()])
            .await?;
        for name in ["hello", "isMaster"] {
            for skips_empty in [true, false] {
                let mut client = secured.raw().await;
                let first = "n,,n=ann,r=aNonce";
                let mut hello = doc! { name: 1, "saslSupportedMechs": "shop.ann" };
                hello.insert(
                    "speculativeAuthenticate",
                    doc! {
                        "saslStart": 1, "mechanism": "SCRAM-SHA-256", "payload": binary(first), "db": "shop",
                        "options": { "skipEmptyExchange": skips_empty },
                    },
                );
                let reply = client.run(hello).await.unwrap();
                assert_eq!(reply.list("saslSupportedMechs").len(), 1);
                let begun = reply.inner("speculativeAuthenticate");
                assert!(!begun.flag("done"));
                let proof = proof("secret", first, &payload(begun));
                let go_on = |bytes: &str| doc! { "saslContinue": 1, "conversationId": 1, "payload": binary(bytes) };
                let last = client.run(go_on(&proof)).await.unwrap();
                assert!(payload(&last).starts_with("v="));
                assert_eq!(last.flag("done"), skips_empty);
                if !skips_empty {
                    let early = client.run(doc! { "find": "parts" }).await.unwrap();
                    assert_eq!(early.number("code"), 13);
                    assert!(client.run(go_on("")).await.unwrap().flag("done"));
                }
                assert!(
                    client
                        .run(doc! { "find": "parts" })
                        .await
                        .unwrap()
                        .contains_key("cursor")
                );

                let status = client
                    .run(doc! { "connectionStatus": 1, "showPrivileges": true })
                    .await
                    .unwrap();
                let info = status.inner("authInfo");
                assert_eq!(
                    info.list("authenticatedUsers")[0],
                    doc! { "user": "ann", "db": "shop" }.into()
                );
                assert_eq!(
                    info.list("authenticatedUserRoles")[0],
                    doc! { "role": "read", "db": "shop" }.into()
                );
                assert_eq!(info.list("authenticatedUserPrivileges").len(), 1);
                client.run(doc! { "logout": 1 }).await.unwrap();
                let status = client.run(doc! { "connectionStatus": 1 }).await.unwrap();
                assert!(
                    status
                        .inner("authInfo")
                        .list("authenticatedUsers")
                        .is_empty()
                );
                assert_eq!(
                    client
                        .run(doc! { "find": "parts" })
                        .await
                        .unwrap()
                        .number("code"),
                    13
                );
            }
        }
        Ok(())
    });
}

#[test]
fn attempts_out_of_order_or_by_other_mechanisms_are_refused() {
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        secured.users.create("ann", "secret", []).await?;
        secured.users.create("ben", "secret", []).await?;
        let mut client = secured.raw().await;
        let go_on =
            |id: i32| doc! { "saslContinue": 1, "conversationId": id, "payload": binary("") };
        for (command, code) in [
            (go_on(1), 17),
            (
                doc! { "saslStart": 1, "mechanism": "PLAIN", "payload": binary("") },
                334,
            ),
            (
                doc! { "saslStart": 1, "mechanism": "SCRAM-SHA-1", "payload": binary("") },
                334,
            ),
            (doc! { "authenticate": 1, "mechanism": "MONGODB-X509" }, 334),
            (
                doc! { "saslStart": 1, "mechanism": "SCRAM-SHA-256" },
                40_414,
            ),
            (
                doc! { "saslStart": 1, "mechanism": 5, "payload": binary("") },
                14,
            ),
            (
                doc! { "saslStart": 1, "mechanism": "SCRAM-SHA-256", "payload": "n,,n=ann,r=x" },
                14,
            ),
        ] {
            let reply = client.run(command.clone()).await.unwrap();
            assert_eq!(reply.number("code"), code, "{command}: {reply}");
        }
        client.challenge("ann").await;
        assert_eq!(client.run(go_on(2)).await.unwrap().number("code"), 17);
        assert!(client.log_in("ann", "secret").await.flag("done"));
        assert!(client.log_in("ann", "secret").await.flag("done"));
        let (_, other) = client.challenge("ben").await;
        assert!(
            other.text("errmsg").contains("only be authenticated once"),
            "{other}"
        );
        // An attempt is over with its end.
        assert_eq!(client.run(go_on(1)).await.unwrap().number("code"), 17);
        Ok(())
    });
}

#[test]
fn a_server_beyond_the_loopback_needs_users() {
    example(async |shop| {
        let builder = Server::builder().database("shop", Collections::of(&shop));
        let refused = builder.clone().listen("0.0.0.0:0").await.unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("can be reached by other machines")
        );
        let server = builder.clone().require_users().listen("0.0.0.0:0").await?;
        let port = server.local_addr().unwrap().port();
        let stream = tokio::net::TcpStream::connect(("127.0.0.1", port))
            .await
            .unwrap();
        let hello = RawClient { stream }.run(doc! { "hello": 1 }).await.unwrap();
        assert_eq!(hello.text("me"), format!("127.0.0.1:{port}"));

        let named = builder
            .host("DB.example.com:27017")
            .listen("127.0.0.1:0")
            .await?;
        let hello = RawClient::new(&named)
            .await
            .run(doc! { "hello": 1 })
            .await
            .unwrap();
        assert_eq!(hello.text("primary"), "db.example.com:27017");
        Ok(())
    });
}

#[test]
fn a_server_at_all_interfaces_is_a_replica_set_for_each_command() {
    example(async |shop| {
        let collections = Collections::of(&shop);
        let users = Users::of(&collections);
        users.create("ann", "x", [Right::read_write_all()]).await?;
        let builder = Server::builder().database("shop", collections);
        for address in ["0.0.0.0:0", "[::]:0"] {
            let server = builder.clone().require_users().listen(address).await?;
            let port = server.local_addr().unwrap().port();
            let uri = format!("mongodb://ann:x@127.0.0.1:{port}/shop?replicaSet=odm");
            let client = Client::with_uri_str(uri).await.unwrap();
            let parts = client.database("shop").collection::<Document>("parts");
            let mut changes = parts.watch().await.unwrap();
            let id = i64::from(port);
            let name = format!("pin {id}");
            parts.insert_one(crate::part(id, &name)).await.unwrap();
            let event = tokio::time::timeout(Duration::from_secs(20), changes.next()).await;
            let event = event.expect("an event in time").unwrap().unwrap();
            assert_eq!(event.document_key, Some(doc! { "_id": id }));
            // Causally consistent reads, and the codes of replica sets.
            let mut session = client.start_session().await.unwrap();
            let found = parts.find_one(doc! { "_id": id }).session(&mut session);
            assert!(found.await.unwrap().is_some());
            assert!(session.operation_time().is_some());
            let unmet = doc! {
                "insert": "parts", "documents": [crate::part(id + 1, &format!("clip {id}"))], "writeConcern": { "w": 2 },
            };
            let reply = client.database("shop").run_command(unmet).await.unwrap();
            assert_eq!(reply.inner("writeConcernError").number("code"), 100);
        }
        Ok(())
    });
}

#[test]
fn a_server_without_required_users_asks_for_no_password_and_shows_no_users() {
    example(async |shop| {
        let collections = Collections::of(&shop);
        Users::of(&collections).create("ann", "secret", []).await?;
        let served = crate::Served::new(&shop).await;
        for secret in ["_odm_users", "_odm_retries"] {
            let lookup = doc! { "$lookup": { "from": secret, "pipeline": [], "as": "found" } };
            for command in [
                doc! { "find": secret },
                doc! { "count": secret },
                doc! { "aggregate": "parts", "pipeline": [lookup], "cursor": {} },
            ] {
                assert_eq!(served.refused(command).await.0, 13);
            }
        }
        let mut client = RawClient::new(&served.server).await;
        let (_, refused) = client.challenge("ann").await;
        assert_eq!(refused.number("code"), 18);
        Ok(())
    });
}

#[test]
fn no_random_messages_authenticate_or_end_the_server() {
    let payloads = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..80),
        "[npy]?,[a=x,]{0,6}(n=ann)?,(r=[a-z]{0,5})?,?[a-z=,]{0,8}".prop_map(String::into_bytes),
        "c=(biws|eSws|[a-zA-Z=]{0,4}),r=[ -~]{0,30},p=[A-Za-z0-9+/]{0,43}="
            .prop_map(String::into_bytes),
    ];
    let steps = proptest::collection::vec((any::<bool>(), payloads), 1..8);
    example(async |shop| {
        let secured = Secured::new(&shop).await;
        secured
            .users
            .create("ann", "secret", [Right::read_all()])
            .await?;
        let config = Config::with_cases(60);
        let mut runner = TestRunner::new(config);
        for _ in 0..60 {
            let steps = steps.new_tree(&mut runner).unwrap().current();
            let mut client = secured.raw().await;
            let mut is_open = true;
            for (starts, payload) in steps {
                let command = if starts {
                    doc! { "saslStart": 1, "mechanism": "SCRAM-SHA-256", "payload": binary(payload) }
                } else {
                    doc! { "saslContinue": 1, "conversationId": 1, "payload": binary(payload) }
                };
                // After several that fail, the connection is closed.
                let Some(reply) = client.run(command).await else {
                    is_open = false;
                    break;
                };
                assert!(!reply.get_bool("done").unwrap_or(false), "{reply}");
            }
            if is_open && let Some(reply) = client.run(doc! { "find": "parts" }).await {
                assert_eq!(reply.number("code"), 13);
            }
        }
        assert!(secured.raw().await.is_served().await);
        Ok(())
    });
}
