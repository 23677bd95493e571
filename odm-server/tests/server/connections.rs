use std::time::{Duration, Instant};

use mongodb::bson::doc;
use odm::{Collections, ErrorKind, derive::examples::example};
use odm_server::{Limits, Server};
use tokio::{io::AsyncWriteExt, time::sleep};

use crate::{
    Fields, Served, assert_right,
    raw::{OP_MSG, RawClient, body},
    review,
};

#[test]
fn a_server_without_passwords_listens_only_where_no_other_machine_can_connect() {
    example(async |shop| {
        let builder = Server::builder().database("shop", Collections::of(&shop));
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
            let error = builder.clone().listen(address).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQuery);
            assert!(error.to_string().contains("password"), "{error}");
        }
        let error = builder.clone().listen("127.0.0.1").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        for name in ["admin", "a.b", "", "shop"] {
            let other = builder.clone().database(name, Collections::of(&shop));
            let error = other.listen("127.0.0.1:0").await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{name}");
        }
        Ok(())
    });
}

#[test]
fn a_thousand_connections_are_served_and_one_more_is_closed() {
    example(async |shop| {
        let limits = Limits::default().connections(1_000);
        let server = Server::builder()
            .database("shop", Collections::of(&shop))
            .limits(limits)
            .listen("127.0.0.1:0")
            .await?;
        let mut clients = Vec::new();
        for _ in 0..1_000 {
            let mut client = RawClient::new(&server).await;
            assert!(client.is_served().await);
            clients.push(client);
        }
        let mut more = RawClient::new(&server).await;
        assert_eq!(more.receive().await, None);
        for client in &mut clients {
            assert!(client.is_served().await);
        }
        let status = clients[0].run(doc! { "serverStatus": 1 }).await.unwrap();
        let connections = status.inner("connections");
        assert_eq!(connections.number("current"), 1_000);

        clients.truncate(1);
        while !RawClient::new(&server).await.is_served().await {
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    });
}

#[test]
fn a_client_that_goes_in_the_middle_of_a_write_leaves_it_whole_or_not_done() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        for round in 0..20_u64 {
            let mut client = RawClient::new(&served.server).await;
            let first = i64::try_from(round).unwrap() * 1_000 + 100;
            let documents: Vec<_> = (first..first + 200).map(|id| review(id, 2)).collect();
            let insert = doc! { "insert": "reviews", "documents": documents, "$db": "shop" };
            client.send(OP_MSG, &body(0, &insert)).await;
            sleep(Duration::from_micros(round * 300)).await;
            drop(client);
        }
        // A half message, too.
        let mut client = RawClient::new(&served.server).await;
        client.stream.write_all(&[40, 0, 0, 0, 1]).await.unwrap();
        drop(client);
        sleep(Duration::from_millis(200)).await;
        assert_right(&shop).await;
        let counted = shop.reviews.all().count().await?;
        assert_eq!((counted - 4) % 200, 0);
        Ok(())
    });
}

#[test]
fn a_client_that_reads_no_replies_does_not_hold_up_others() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let blobs = served.collection("blobs");
        blobs
            .insert_one(doc! { "text": "x".repeat(8 << 20) })
            .await
            .unwrap();
        let mut slow = RawClient::new(&served.server).await;
        for _ in 0..200 {
            // It is read no further than the replies are taken.
            let find = body(0, &doc! { "find": "blobs", "$db": "shop" });
            let sent = tokio::time::timeout(Duration::from_millis(50), slow.send(OP_MSG, &find));
            if sent.await.is_err() {
                break;
            }
        }
        assert!(RawClient::new(&served.server).await.is_served().await);
        drop(slow);
        Ok(())
    });
}

#[test]
fn a_shutdown_lets_commands_end_and_takes_no_more() {
    example(async |shop| {
        let served = Served::new(&shop).await;
        let mut idle = RawClient::new(&served.server).await;
        assert!(idle.is_served().await);
        let mut busy = RawClient::new(&served.server).await;
        let documents: Vec<_> = (100..2_100).map(|id| review(id, 2)).collect();
        let insert = doc! { "insert": "reviews", "documents": documents, "$db": "shop" };
        busy.send(OP_MSG, &body(0, &insert)).await;
        let status = doc! { "serverStatus": 1 };
        while idle
            .run(status.clone())
            .await
            .unwrap()
            .inner("opcounters")
            .number("insert")
            == 0
        {
            sleep(Duration::from_millis(5)).await;
        }
        let address = served.server.local_addr().unwrap();
        let ((), reply) = tokio::join!(served.server.shutdown(), busy.receive());
        assert_eq!(reply.unwrap().number("n"), 2_000);
        assert_eq!(idle.receive().await, None);
        assert!(tokio::net::TcpStream::connect(address).await.is_err());
        assert_right(&shop).await;
        Ok(())
    });
}

#[test]
fn a_shutdown_cuts_what_does_not_end_and_a_drop_cuts_at_once() {
    example(async |shop| {
        let limits = Limits::default().shutdown(Duration::from_millis(100));
        let served = Served::with_limits(&shop, limits).await;
        let blobs = served.collection("blobs");
        blobs
            .insert_one(doc! { "text": "x".repeat(15 << 20) })
            .await
            .unwrap();
        let mut stuck = RawClient::new(&served.server).await;
        // Its reply is not read, and is longer than the buffers of the sockets.
        stuck
            .send(OP_MSG, &body(0, &doc! { "find": "blobs", "$db": "shop" }))
            .await;
        sleep(Duration::from_millis(300)).await;
        let begun = Instant::now();
        served.server.shutdown().await;
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "{:?}",
            begun.elapsed()
        );
        assert_eq!(stuck.receive().await, None);

        let served = Served::new(&shop).await;
        let mut client = RawClient::new(&served.server).await;
        assert!(client.is_served().await);
        drop(served);
        assert_eq!(client.receive().await, None);
        Ok(())
    });
}

#[cfg(unix)]
#[test]
fn a_unix_socket_is_served_to_its_user_alone_and_removed_in_the_end() {
    use std::os::unix::fs::PermissionsExt;

    example(async |shop| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.sock");
        let builder = Server::builder().database("shop", Collections::of(&shop));
        let server = builder.clone().listen_unix(&path).await?;
        assert_eq!(server.local_addr(), None);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let refused = builder.clone().listen_unix(&path).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Io);

        let uri = path.to_str().unwrap().replace('/', "%2F");
        let client = mongodb::Client::with_uri_str(format!("mongodb://{uri}"))
            .await
            .unwrap();
        let parts = client
            .database("shop")
            .collection::<mongodb::bson::Document>("parts");
        assert_eq!(parts.count_documents(doc! {}).await.unwrap(), 3);

        server.shutdown().await;
        assert!(!path.exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        // That of a process that was killed is replaced.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        builder.listen_unix(&path).await?.shutdown().await;
        Ok(())
    });
}
