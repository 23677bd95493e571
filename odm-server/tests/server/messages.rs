use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use mongodb::bson::{Document, doc, rawdoc};
use odm::derive::examples::example;
use tokio::{io::AsyncWriteExt, time::timeout};

use crate::{
    Fields, Served,
    raw::{OP_MSG, RawClient, body, message},
};

const OP_QUERY: i32 = 2004;
const OP_COMPRESSED: i32 = 2012;

#[test]
fn a_malformed_message_ends_its_connection_and_no_other() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let ping = doc! { "ping": 1, "$db": "shop" };
        let mut unknown_kind = body(0, &ping);
        unknown_kind[4] = 7;
        let with_length = |length: i32| {
            let mut message = message(OP_MSG, &body(0, &ping));
            message[..4].copy_from_slice(&length.to_le_bytes());
            message
        };
        let cases = [
            b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
            with_length(-1),
            with_length(i32::MIN),
            with_length(i32::MAX),
            with_length(48_000_001),
            with_length(15),
            vec![0xff; 64],
            message(OP_COMPRESSED, &body(0, &ping)),
            message(12_345, &[]),
            message(OP_MSG, &[]),
            message(OP_MSG, &body(1 << 2, &ping)),
            message(OP_MSG, &body(1, &ping)),
            message(OP_MSG, &unknown_kind),
            message(OP_QUERY, &[0; 7]),
        ];
        for bytes in cases {
            let mut client = RawClient::new(&served.server).await;
            client.stream.write_all(&bytes).await.unwrap();
            let reply = timeout(Duration::from_secs(20), client.receive())
                .await
                .unwrap();
            assert_eq!(reply, None, "{bytes:?}");
        }
        assert!(RawClient::new(&served.server).await.is_served().await);
        Ok(())
    });
}

#[test]
fn a_command_that_is_no_well_formed_document_has_an_error() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let ping = doc! { "ping": 1, "$db": "shop" };
        let whole = body(0, &ping);
        let mut longer = whole.clone();
        longer[5..9].copy_from_slice(&1_000_i32.to_le_bytes());
        let mut open = whole.clone();
        *open.last_mut().unwrap() = 1;
        let mut two = whole.clone();
        two.extend(&whole[4..]);
        // The length of a text in it leads out of it.
        let mut inside = body(0, &doc! { "find": "parts", "$db": "shop" });
        let text = 4 + 1 + 4 + 1 + 5;
        inside[text..text + 4].copy_from_slice(&i32::MAX.to_le_bytes());
        let mut nested = rawdoc! {};
        for _ in 0..20_000 {
            nested = rawdoc! { "a": nested };
        }
        let deep = rawdoc! { "find": "parts", "filter": nested, "$db": "shop" };
        let deep = [&[0; 5], deep.as_bytes()].concat();
        let no_database = body(0, &doc! { "ping": 1 });
        for (content, code) in [
            (0_u32.to_le_bytes().to_vec(), 17),
            (longer, 22),
            (open, 22),
            (two, 40_430),
            (inside, 22),
            (deep, 15),
            (no_database, 40_414),
            (body(0, &doc! {}), 59),
        ] {
            client.send(OP_MSG, &content).await;
            let reply = client.receive().await.unwrap();
            assert_eq!(reply.number("code"), i64::from(code), "{reply}");
        }
        assert!(client.is_served().await);
        Ok(())
    });
}

#[test]
fn a_checksum_is_compared() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let mut content = body(1, &doc! { "ping": 1, "$db": "shop" });
        content.extend([0; 4]);
        let mut message = message(OP_MSG, &content);
        let end = message.len() - 4;
        let checksum = crc32c::crc32c(&message[..end]);
        message[end..].copy_from_slice(&checksum.to_le_bytes());
        client.stream.write_all(&message).await.unwrap();
        assert!(client.receive().await.unwrap().contains_key("ok"));
        message[end] ^= 1;
        client.stream.write_all(&message).await.unwrap();
        assert_eq!(client.receive().await, None);
        Ok(())
    });
}

#[test]
fn the_old_message_serves_handshakes_alone() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let query = |command: mongodb::bson::Document| {
            let mut content = vec![0; 4];
            content.extend(b"admin.$cmd\0");
            content.extend([0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
            content.extend(command.to_vec().unwrap());
            content
        };
        client
            .send(
                OP_QUERY,
                &query(doc! { "isMaster": 1, "helloOk": true, "client": {} }),
            )
            .await;
        let reply = client.receive().await.unwrap();
        assert_eq!(
            (reply.flag("ismaster"), reply.number("maxWireVersion")),
            (true, 25)
        );
        assert_eq!(reply.get_str("setName").unwrap(), "odm");
        client
            .send(OP_QUERY, &query(doc! { "find": "parts" }))
            .await;
        assert_eq!(client.receive().await.unwrap().number("code"), 352);
        assert!(client.is_served().await);
        Ok(())
    });
}

#[test]
fn documents_beside_the_body_belong_to_the_command() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let sequence = |name: &str, documents: &[mongodb::bson::Document]| {
            let mut section = name.as_bytes().to_vec();
            section.push(0);
            documents
                .iter()
                .for_each(|document| section.extend(document.to_vec().unwrap()));
            let length = i32::try_from(section.len() + 4).unwrap();
            [&[1][..], &length.to_le_bytes(), &section].concat()
        };
        let mut content = body(0, &doc! { "insert": "notes", "$db": "shop" });
        content.extend(sequence(
            "documents",
            &[doc! { "_id": 1 }, doc! { "_id": 2 }],
        ));
        client.send(OP_MSG, &content).await;
        assert_eq!(client.receive().await.unwrap().number("n"), 2);
        // The body may come last.
        let mut content = 0_u32.to_le_bytes().to_vec();
        content.extend(sequence("documents", &[doc! { "_id": 3 }]));
        content.extend(&body(0, &doc! { "insert": "notes", "$db": "shop" })[4..]);
        client.send(OP_MSG, &content).await;
        assert_eq!(client.receive().await.unwrap().number("n"), 1);

        let mut content = body(0, &doc! { "insert": "notes", "$db": "shop" });
        content.extend(sequence("documents", &[doc! { "_id": 4 }]));
        content.extend(sequence("others", &[doc! {}]));
        client.send(OP_MSG, &content).await;
        assert_eq!(client.receive().await.unwrap().number("code"), 40_415);
        Ok(())
    });
}

#[test]
fn messages_that_come_in_pieces_or_at_once_are_answered_in_their_order() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        let count = |id: i64| {
            message(
                OP_MSG,
                &body(
                    0,
                    &doc! { "count": "parts", "query": { "_id": id }, "$db": "shop" },
                ),
            )
        };
        let both = [count(1), count(77)].concat();
        for piece in both.chunks(7) {
            client.stream.write_all(piece).await.unwrap();
            client.stream.flush().await.unwrap();
            tokio::task::yield_now().await;
        }
        client
            .stream
            .write_all(&[count(1), count(77), count(2)].concat())
            .await
            .unwrap();
        let mut counts = Vec::new();
        for _ in 0..5 {
            counts.push(client.receive().await.unwrap().number("n"));
        }
        assert_eq!(counts, [1, 0, 1, 0, 1]);
        Ok(())
    });
}

/// Commands of all kinds.
fn commands() -> Vec<Document> {
    let find = doc! { "find": "parts", "filter": { "qty": { "$gt": 1 } }, "sort": { "name": 1 }, "limit": 2, "projection": { "name": 1 } };
    let update = doc! { "q": { "name": "nut" }, "u": { "$set": { "tags.$[x]": "a" } }, "arrayFilters": [{ "x": "steel" }], "multi": true };
    let group = doc! { "$group": { "_id": null, "n": { "$sum": 1 } } };
    let mut commands = vec![
        find.clone(),
        doc! { "explain": find, "verbosity": "executionStats" },
        doc! { "insert": "notes", "documents": [{ "a": [1, "x", { "b": null }] }, { "_id": 7 }], "ordered": false },
        doc! { "update": "parts", "updates": [update] },
        doc! { "delete": "notes", "deletes": [{ "q": { "a": 1 }, "limit": 1 }] },
        doc! { "findAndModify": "notes", "query": { "_id": 7 }, "update": { "a": 5 }, "upsert": true, "new": true, "fields": { "a": 1 } },
        doc! { "count": "parts", "query": { "tags": "new" }, "skip": 1 },
        doc! { "distinct": "parts", "key": "tags", "query": {} },
        doc! { "aggregate": "parts", "pipeline": [{ "$match": { "qty": 5 } }, group], "cursor": {} },
        doc! { "createIndexes": "notes", "indexes": [{ "key": { "a": 1 }, "name": "a_1", "partialFilterExpression": { "a": { "$gt": 1 } } }] },
        doc! { "listIndexes": "notes", "cursor": { "batchSize": 1 } },
        doc! { "dropIndexes": "notes", "index": ["a_1"] },
        doc! { "listCollections": 1, "filter": { "name": "parts" }, "nameOnly": true },
        doc! { "getMore": 5_i64, "collection": "parts" },
        doc! { "killCursors": "parts", "cursors": [5_i64] },
        doc! { "endSessions": [{ "id": mongodb::bson::Uuid::new() }] },
        doc! { "hello": 1, "client": { "driver": {} } },
    ];
    let session = doc! { "id": mongodb::bson::Uuid::new() };
    for command in &mut commands {
        command.insert("$db", "shop");
        command.insert("lsid", session.clone());
        command.insert("maxTimeMS", 1_000);
        command.insert("readConcern", doc! { "level": "local" });
        command.insert("writeConcern", doc! { "w": 1 });
    }
    commands
}

#[test]
fn changed_commands_have_a_reply_or_end_their_connection() {
    let rounds = std::env::var("ROUNDS").map_or(3_000, |rounds| rounds.parse().unwrap());
    let seed = std::env::var("SEED").map_or(1, |seed| seed.parse().unwrap());
    example(async |shop| {
        let served = Served::new(&shop).await;
        let commands: Vec<Vec<u8>> = commands().iter().map(|command| body(0, command)).collect();
        let panics = count_panics();
        let mut random = fastrand::Rng::with_seed(seed);
        let mut client = RawClient::new(&served.server).await;
        let mut replies = 0;
        for round in 0..rounds {
            let mut content = commands[random.usize(..commands.len())].clone();
            for _ in 0..random.usize(..4) {
                // The flags are left, since one of them says that there is no reply.
                let at = random.usize(4..content.len());
                content[at] = match random.bool() {
                    true => random.u8(..),
                    false => content[random.usize(4..content.len())],
                };
            }
            client.send(OP_MSG, &content).await;
            let reply = timeout(Duration::from_secs(20), client.receive()).await;
            match reply.unwrap_or_else(|_| panic!("no reply in round {round}: {content:?}")) {
                Some(_) => replies += 1,
                None => client = RawClient::new(&served.server).await,
            }
        }
        assert!(replies > rounds / 2, "{replies} replies");
        assert!(client.is_served().await);
        assert_eq!(panics.load(Ordering::Relaxed), 0);
        crate::assert_right(&shop).await;
        Ok(())
    });
}

/// The number of panics from now on. One in a command ends its connection only.
fn count_panics() -> Arc<AtomicUsize> {
    let panics = Arc::new(AtomicUsize::new(0));
    let (counted, before) = (panics.clone(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| {
        counted.fetch_add(1, Ordering::Relaxed);
        before(panic);
    }));
    panics
}
