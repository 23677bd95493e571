//! What is wrong is named, with the file and what to do, and each kind has its exit code.

use std::fs;

use crate::support::Folder;

#[test]
fn what_is_not_there_is_named() {
    let folder = Folder::with_shop();
    for (arguments, named) in [
        (
            &["import", "shop.odm", "none.json"][..],
            "cannot read `none.json`",
        ),
        (
            &["find", "shop.odm", "order"],
            "no collection `order`\n  There are: customers, orders",
        ),
        (&["explain", "shop.odm", "order"], "no collection `order`"),
        (&["audit", "shop.odm", "order"], "no collection `order`"),
        (&["stats", "shop.odm", "order"], "no collection `order`"),
        (
            &["show", "shop.odm", "orders", "77"],
            "no document with `_id` = 77 in `orders`",
        ),
        (
            &["find", "shop.odm", "orders", "--socket", "none.sock"],
            "cannot connect to `none.sock`",
        ),
    ] {
        let message = folder.run(arguments).fails(3);
        assert!(
            message.starts_with("error: ") && message.contains(named),
            "{arguments:?}: {message}"
        );
    }
    assert_eq!(folder.names(), ["shop.odm"]);
}

#[test]
fn wrong_arguments_are_explained() {
    let folder = Folder::with_shop();
    for (arguments, named) in [
        (
            &["find", "shop.odm", "orders", "total"][..],
            "`total` is no condition",
        ),
        (
            &["find", "shop.odm", "orders", "{total: 5}"],
            "no document in extended JSON",
        ),
        (&["find", "shop.odm", "orders", "{\"$or\": 5}"], "$or"),
        (&["find", "shop.odm"], "COLLECTION"),
        (
            &["find", "shop.odm", "orders", "--json", "--table"],
            "cannot be used with",
        ),
        (&["fnd", "shop.odm"], "find"),
        (&["info", "."], "`.` is a folder"),
        (&["info", "mongodb://"], "error: invalid server address"),
        (
            &["compact", "mongodb://localhost/shop"],
            "is done to a file",
        ),
        (&["users", "add", "shop.odm"], "USER"),
        (&["completions", "tcl"], "tcl"),
    ] {
        let answer = folder.run(arguments);
        assert_eq!(answer.code, 2, "{arguments:?}: {answer:?}");
        assert!(answer.err.contains(named), "{arguments:?}: {answer:?}");
    }
}

#[test]
fn a_flipped_bit_is_found() {
    let folder = Folder::with_shop();
    let mut bytes = fs::read(folder.path("shop.odm")).unwrap();
    let name = bytes
        .windows(10)
        .position(|window| window == b"Kim Cooper")
        .expect("a name");
    bytes[name] ^= 1;
    folder.write("shop.odm", bytes);
    let message = folder.run(&["check", "shop.odm"]).fails(5);
    assert!(
        message.contains("`shop.odm`") && message.contains("restored from a backup"),
        "{message}"
    );
}

#[test]
fn a_store_with_a_damaged_log_is_salvaged() {
    let folder = Folder::with_shop();
    let server = folder.start(&["serve", "shop.odm"], "shop.odm.sock");
    let uri = format!(
        "mongodb://{}/shop",
        folder
            .path("shop.odm.sock")
            .display()
            .to_string()
            .replace('/', "%2F")
    );
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = mongodb::Client::with_uri_str(uri).await.unwrap();
        let notes = client.database("shop").collection("notes");
        for id in 0..20 {
            notes
                .insert_one(mongodb::bson::doc! { "_id": id, "text": "a note" })
                .await
                .unwrap();
        }
    });
    server.end("KILL");
    let mut log = fs::read(folder.path("shop.odm.log")).unwrap();
    let first = log
        .windows(6)
        .position(|window| window == b"a note")
        .expect("a note");
    log[first] ^= 1;
    folder.write("shop.odm.log", log);
    for command in ["info", "audit", "compact", "export", "check"] {
        let message = folder.run(&[command, "shop.odm"]);
        assert_eq!(
            (message.code, message.err.contains("`odm salvage`")),
            (5, true),
            "{command}: {message:?}"
        );
    }
    let salvaged = &folder.run(&["salvage", "shop.odm"]).json()[0];
    assert!(
        salvaged["left_out"].as_i64() > Some(0) && salvaged["damage"].is_string(),
        "{salvaged}"
    );
    let kept = salvaged["log"].as_str().expect("a copy of the log");
    assert!(kept.contains("shop.odm.log.damaged-"), "{kept}");
    folder.run(&["audit", "shop.odm"]).done();
}

#[test]
fn a_failing_disk_is_told_from_a_reader_that_leaves() {
    let folder = Folder::with_shop();
    let full = folder.shell("odm find shop.odm orders > /dev/full");
    assert_eq!(full.code, 7, "{full:?}");
    assert!(full.err.contains("No space left on device"), "{full:?}");
    let full = folder.shell("odm export shop.odm > /dev/full");
    assert_eq!(full.code, 7, "{full:?}");
    for command in [
        "find shop.odm orders",
        "export shop.odm",
        "stats shop.odm",
        "completions bash",
    ] {
        let left = folder.shell(&format!(
            "odm {command} | head -c 1 > /dev/null; echo ${{PIPESTATUS[0]}}"
        ));
        assert_eq!(
            (left.out.as_str(), left.err.contains("error")),
            ("0\n", false),
            "{command}: {left:?}"
        );
    }
}

#[test]
fn a_file_that_cannot_grow_leaves_nothing_half_done() {
    for command in [
        "backup shop.odm copy.odm",
        "copy shop.odm copy.odm",
        "demo new.odm",
        "export shop.odm shop.jsonl",
    ] {
        let folder = Folder::with_shop();
        // Writes beyond 4 KiB fail, as on a full disk.
        let answer = folder.shell(&format!("trap '' XFSZ; ulimit -f 4; odm {command}"));
        assert_eq!(answer.code, 7, "{command}: {answer:?}");
        assert!(
            answer.err.contains("File too large"),
            "{command}: {answer:?}"
        );
        let names = folder.names();
        let is_left = |name: &&String| !name.starts_with("shop.odm");
        assert_eq!(names.iter().find(is_left), None, "{names:?}");
    }
}

#[test]
fn a_server_that_does_not_answer_is_named() {
    let folder = Folder::new();
    // Nobody listens at the port of a listener that is gone.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let uri = format!("mongodb://127.0.0.1:{port}/shop?serverSelectionTimeoutMS=200");
    let message = folder.run(&["info", &uri]).fails(8);
    assert!(
        message.contains("the server cannot be reached"),
        "{message}"
    );
}
