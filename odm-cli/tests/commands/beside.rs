//! The commands beside a process that has the file open.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use mongodb::bson::doc;
use odm::{Collections, Embedded, bson::rawdoc, store::contract::Store as _};
use odm_server::Server;
use serde_json::json;

use crate::support::{Folder, free_address, wait_until};

#[test]
fn a_watch_with_conditions_shows_the_changes_after_which_a_document_meets_them() {
    let folder = Folder::with_shop();
    // Lower case, as drivers want it for change streams.
    let mut place = tempfile::Builder::new();
    let suffix = std::process::id().to_string();
    let place = place
        .prefix("odm-watch-")
        .rand_bytes(0)
        .suffix(&suffix)
        .tempdir();
    let place = place.unwrap();
    let socket = place.path().join("live.sock");
    let socket = socket.to_str().unwrap();
    let server = folder.start(&["serve", "shop.odm", "--socket", socket], socket);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let uri = format!("mongodb://{}/shop", socket.replace('/', "%2F"));
    let insert = |note: mongodb::bson::Document| {
        runtime.block_on(async {
            let client = mongodb::Client::with_uri_str(&uri).await.unwrap();
            let notes = client.database("shop").collection("notes");
            notes.insert_one(note).await.unwrap();
        });
    };
    insert(doc! { "_id": 0 });
    let by = r#"{"$or": [{"by": "ann"}, {"by": "bob"}]}"#;
    let watch = [
        "watch", "shop.odm", "notes", "stars>=4", by, "--limit", "2", "--socket", socket,
    ];
    let watching = folder.spawn(&watch);
    // Changes are made until the watch, which begins at some time, has ended.
    let mut id = 0;
    wait_until(|| {
        id += 3;
        for (at, stars, by) in [(1, 3, "ann"), (2, 5, "cid"), (3, 5, "bob")] {
            insert(doc! { "_id": id + at, "stars": stars, "by": by });
        }
        watching.has_ended()
    });
    let lines = watching.wait().json();
    assert_eq!(lines.len(), 2);
    for line in &lines {
        let document = &line["document"];
        assert_eq!(
            (&document["stars"], &document["by"]),
            (&json!(5), &json!("bob"))
        );
    }
    let refused = ["watch", "shop.odm", "notes", r#"{"$expr": true}"#];
    let refused = folder.run(&refused).fails(2);
    assert!(
        refused.contains("`$expr` is no condition on a field"),
        "{refused}"
    );
    server.interrupt();
    // A path with capital letters.
    let _server = folder.start(&["serve", "shop.odm", "--socket", "Live.sock"], "Live.sock");
    let refused = ["watch", "shop.odm", "notes", "--socket", "Live.sock"];
    let refused = folder.run(&refused).fails(2);
    assert!(refused.contains("capital letters"), "{refused}");
}

#[test]
fn the_indexes_that_nobody_uses_are_told_beside_a_service() {
    let folder = Folder::with_shop();
    let _server = folder.start(&["serve", "shop.odm"], "shop.odm.sock");
    let index = |name: &str| {
        let rows = folder.run(&["stats", "shop.odm"]).json();
        let found = rows.into_iter().find(|row| row["index"] == name);
        found.expect("the index is there")
    };
    let before = index("orders.customer_1");
    assert_eq!(before["uses"], 0);
    assert!(before["unused_since"]["$date"].is_string(), "{before}");
    folder
        .run(&["find", "shop.odm", "orders", "customer=ann"])
        .done();
    folder
        .run(&["find", "shop.odm", "orders", "customer=bob", "--count"])
        .done();
    let after = index("orders.customer_1");
    assert_eq!(after["uses"], 2);
    assert!(after.get("unused_since").is_none(), "{after}");
    let others = index("reviews.product_1_published_-1");
    assert_eq!(others["uses"], 0);
    let table = folder.table(&["stats", "shop.odm"]);
    assert!(table.contains("unused since"), "{table}");
}

#[test]
fn a_served_file_is_read_and_watched_through_its_socket() {
    let folder = Folder::with_wrong_shop();
    let server = folder.start(&["serve", "shop.odm"], "shop.odm.sock");
    let info = &folder.run(&["info", "shop.odm"]).json()[0];
    assert_eq!(
        (&info["served_by"], &info["database"]),
        (&json!("odm-server"), &json!("shop"))
    );
    for arguments in [
        &["collections", "shop.odm"][..],
        &["show", "shop.odm", "orders", "1"],
        &["find", "shop.odm", "orders", "total>50"],
        &["explain", "shop.odm", "orders", "customer=ann"],
        &["stats", "shop.odm"],
        &["diagram", "shop.odm"],
        &["export", "shop.odm"],
        &["users", "list", "shop.odm"],
    ] {
        folder.run(arguments).done();
    }
    let audit = folder.run(&["audit", "shop.odm", "--table"]);
    assert_eq!(audit.code, 1, "{audit:?}");
    assert!(
        audit.out.ends_with("4 collections checked, 1 finding\n"),
        "{audit:?}"
    );
    let uri = format!(
        "mongodb://{}/shop",
        folder
            .path("shop.odm.sock")
            .display()
            .to_string()
            .replace('/', "%2F")
    );
    assert_eq!(
        folder.run(&["find", &uri, "orders", "--count"]).json(),
        [json!({ "count": 4 })]
    );
    let answer = server.interrupt();
    assert_eq!((answer.code, answer.err.as_str()), (0, ""));
    assert!(
        answer.out.starts_with("{\"serving\":\"mongodb://"),
        "{answer:?}"
    );
    assert_eq!(folder.names(), ["shop.odm"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_a_running_program_are_seen() {
    let folder = Folder::with_shop();
    let store = Embedded::open(folder.path("shop.odm")).await.unwrap();
    let collections = Collections::open(store).await.unwrap();
    let server = Server::builder().database("shop", collections.clone());
    // Lower case, as drivers want it for change streams.
    let socket = tempfile::Builder::new()
        .prefix("odm-")
        .rand_bytes(0)
        .suffix(&std::process::id().to_string())
        .tempdir()
        .unwrap();
    let path = socket.path().join("live.sock");
    let server = server.listen_unix(&path).await.unwrap();
    let socket = path.to_str().unwrap();
    let watch = folder.start(
        &[
            "watch", "shop.odm", "reviews", "--limit", "1", "--socket", socket,
        ],
        "shop.odm",
    );
    let reviews = collections.collection("reviews");
    let done = tokio::task::spawn_blocking(move || watch.wait());
    let mut id = 100_i64;
    while !done.is_finished() {
        let published = odm::bson::DateTime::from_millis(0);
        let review = rawdoc! { "_id": id, "product": 5_i64, "stars": 4, "text": "Soft", "published": published };
        reviews.insert([review]).await.unwrap();
        id += 1;
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let change = done.await.unwrap().json().remove(0);
    assert_eq!(
        (&change["change"], &change["collection"]),
        (&json!("insert"), &json!("reviews"))
    );
    assert_eq!(change["document"]["text"], "Soft");
    server.shutdown().await;
    collections.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_without_a_socket_is_read_as_of_its_last_checkpoint() {
    let folder = Folder::with_shop();
    let store = Embedded::open(folder.path("shop.odm")).await.unwrap();
    let collections = Collections::open(store.clone()).await.unwrap();
    collections
        .collection("notes")
        .insert([rawdoc! { "_id": 1 }])
        .await
        .unwrap();
    store.check().await.unwrap();
    collections
        .collection("notes")
        .insert([rawdoc! { "_id": 2 }])
        .await
        .unwrap();

    let found = folder.run(&["find", "shop.odm", "notes"]);
    assert_eq!(found.out, "{\"_id\":1}\n");
    let holder = format!(
        "note: `shop.odm` is open in the process {} (",
        std::process::id()
    );
    if cfg!(target_os = "linux") {
        assert!(found.err.starts_with(&holder), "{found:?}");
        assert!(
            found.err.contains("this is its last checkpoint, of 20"),
            "{found:?}"
        );
    }
    let refused = folder.run(&["repair", "shop.odm"]).fails(4);
    assert!(
        refused.contains("`shop.odm` is open in ") && refused.contains("Stop that process"),
        "{refused}"
    );
    for arguments in [
        &["compact", "shop.odm"][..],
        &["backfill", "shop.odm"],
        &["salvage", "shop.odm"],
        &["users", "remove", "shop.odm", "ann"],
        &["serve", "shop.odm"],
    ] {
        folder.run(arguments).fails(4);
    }
    let watch = folder.run(&["watch", "shop.odm"]).fails(8);
    assert!(watch.contains("no process serves `shop.odm`"), "{watch}");
    let backup = folder.run(&["backup", "shop.odm", "copy.odm"]);
    assert_eq!(backup.code, 0, "{backup:?}");
    assert_eq!(
        folder.run(&["find", "copy.odm", "notes", "--count"]).json(),
        [json!({ "count": 1 })]
    );
    let check = folder.run(&["check", "shop.odm"]).json();
    assert_eq!(check[0]["checksums"], false);
    store.close().await.unwrap();
    assert_eq!(
        folder.run(&["find", "shop.odm", "notes", "--count"]).json(),
        [json!({ "count": 2 })]
    );
}

#[test]
fn a_server_beyond_the_loopback_requires_users() {
    let folder = Folder::with_shop();
    let refused = folder.run(&["serve", "shop.odm", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("add --users"), "{refused:?}");
    let add = ["users", "add", "shop.odm", "ann", "--read", "orders"];
    folder.run_with_input(&add, "correct horse\n").done();
    let address = free_address();
    let _server = folder.start(
        &["serve", "shop.odm", "--listen", &address, "--users"],
        "shop.odm.sock",
    );
    wait_until(|| TcpStream::connect(&address).is_ok());
    let of = |user: &str| format!("mongodb://{user}{address}/shop");
    let ann = of("ann:correct%20horse@");
    assert_eq!(
        folder.run(&["find", &ann, "orders", "--count"]).json(),
        [json!({ "count": 4 })]
    );
    folder.run(&["find", &ann, "reviews"]).fails(3);
    folder.run(&["find", &of("ann:wrong@"), "orders"]).fails(6);
    folder.run(&["find", &of(""), "orders"]).fails(6);
}

/// Sends a command to a page, and returns the whole answer.
fn ask(address: &str, command: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /api/command HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        command.len()
    );
    stream.write_all((head + command).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_page_in_the_browser_looks_at_the_file_and_writes_only_if_it_may() {
    let folder = Folder::with_shop();
    let refused = folder.run(&["serve", "shop.odm", "--http", "0.0.0.0:0"]);
    assert_eq!(refused.code, 6, "{refused:?}");
    assert!(
        refused.err.contains("can be reached by other machines"),
        "{refused:?}"
    );
    let count = r#"{"count": "orders", "$db": "shop"}"#;
    let insert = r#"{"insert": "notes", "documents": [{"_id": 1}], "$db": "shop"}"#;
    for is_writable in [false, true] {
        let address = free_address();
        let mut arguments = vec!["serve", "shop.odm", "--http", &address];
        arguments.extend(is_writable.then_some("--writable"));
        let server = folder.start(&arguments, "shop.odm.sock");
        wait_until(|| TcpStream::connect(&address).is_ok());
        assert!(ask(&address, count).contains(r#""n":{"$numberInt":"4"}"#));
        let answer = ask(&address, insert);
        assert_eq!(
            answer.contains(r#""n":{"$numberInt":"1"}"#),
            is_writable,
            "{answer}"
        );
        let answer = server.interrupt();
        assert!(
            answer.out.contains(&format!("http://{address}/")),
            "{answer:?}"
        );
    }
}
