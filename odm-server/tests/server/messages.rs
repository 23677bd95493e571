use std::time::Duration;

use mongodb::bson::{doc, rawdoc};
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
            (true, 21)
        );
        assert!(!reply.contains_key("setName"));
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
