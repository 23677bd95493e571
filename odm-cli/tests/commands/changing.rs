//! The commands that change a file, or make one.

use serde_json::json;

use crate::support::Folder;

#[test]
fn demo_makes_a_shop_and_says_what_to_try() {
    let folder = Folder::new();
    let text = folder.table(&["demo", "shop.odm"]);
    assert!(text.contains("odm find shop.odm products"), "{text}");
    assert_eq!(folder.names(), ["shop.odm"]);
    let again = folder.run(&["demo", "shop.odm"]).fails(6);
    assert!(again.contains("`shop.odm` is there already"), "{again}");
}

#[test]
fn a_repair_corrects_what_an_audit_finds() {
    let folder = Folder::with_wrong_shop();
    let text = folder.table(&["repair", "shop.odm"]);
    assert!(
        text.starts_with("repaired: wrong count: `products.review_count`"),
        "{text}"
    );
    assert!(
        text.ends_with("17 documents checked, 0 findings, 1 repaired\n"),
        "{text}"
    );
    folder.run(&["audit", "shop.odm"]).done();
    assert_eq!(
        folder.run(&["show", "shop.odm", "products", "2"]).json()[0]["review_count"],
        1
    );
    assert_eq!(folder.run(&["repair", "shop.odm"]).done(), "");
}

#[test]
fn a_backfill_without_pending_fields_does_nothing() {
    let folder = Folder::with_shop();
    assert_eq!(
        folder.table(&["backfill", "shop.odm"]),
        "No field is pending.\n"
    );
}

#[test]
fn check_compact_and_backup_leave_sound_stores() {
    let folder = Folder::with_shop();
    assert_eq!(
        folder.table(&["check", "shop.odm"]),
        "shop.odm is sound: 17 documents\n"
    );
    let compacted = &folder.run(&["compact", "shop.odm"]).json()[0];
    assert!(
        compacted["before"].as_i64() >= compacted["after"].as_i64(),
        "{compacted}"
    );
    let backup = folder.table(&["backup", "shop.odm", "copy.odm"]);
    assert!(backup.starts_with("copy.odm: "), "{backup}");
    let check = folder.run(&["check", "copy.odm"]).json();
    assert_eq!(
        check,
        [json!({ "file": "copy.odm", "sound": true, "checksums": true, "documents": 17 })]
    );
    assert_eq!(folder.names(), ["copy.odm", "shop.odm"]);
    let again = folder.run(&["backup", "shop.odm", "copy.odm"]).fails(6);
    assert!(again.contains("`copy.odm` is there already"), "{again}");
}

#[test]
fn salvage_says_that_nothing_was_damaged() {
    let folder = Folder::with_shop();
    let text = folder.table(&["salvage", "shop.odm"]);
    assert_eq!(
        text,
        "shop.odm: its log was sound, and nothing is left out\n"
    );
}

#[test]
fn users_are_added_changed_listed_and_removed() {
    let folder = Folder::with_shop();
    let add = [
        "users",
        "add",
        "shop.odm",
        "ann",
        "--read",
        "orders,products",
        "--write",
        "reviews",
    ];
    folder.run_with_input(&add, "correct horse\n").done();
    let list = folder.table(&["users", "list", "shop.odm"]);
    assert_eq!(
        list,
        "user  rights\nann   read orders, read products, readWrite reviews\n"
    );
    folder
        .run(&["users", "rights", "shop.odm", "ann", "--read-all"])
        .done();
    let list = folder.run(&["users", "list", "shop.odm"]).json();
    assert_eq!(list, [json!({ "user": "ann", "rights": "read (all)" })]);
    folder.write("password", "battery staple\n");
    folder
        .run(&[
            "users",
            "password",
            "shop.odm",
            "ann",
            "--password-file",
            "password",
        ])
        .done();
    folder.run(&["users", "remove", "shop.odm", "ann"]).done();
    assert_eq!(folder.table(&["users", "list", "shop.odm"]), "No users.\n");

    let twice = folder.run(&["users", "remove", "shop.odm", "ann"]).fails(3);
    assert!(twice.contains("there is no user `ann`"), "{twice}");
    let unknown = folder
        .run(&["users", "rights", "shop.odm", "ben", "--read-all"])
        .fails(3);
    assert!(unknown.contains("`ben`"), "{unknown}");
    let none = folder
        .run_with_input(&["users", "add", "shop.odm", "ben"], "secret\n")
        .fails(2);
    assert!(none.contains("without rights"), "{none}");
    let empty = folder
        .run(&["users", "add", "shop.odm", "ben", "--read-all"])
        .fails(2);
    assert!(empty.contains("the password is empty"), "{empty}");
}

#[test]
fn an_interrupted_command_leaves_nothing() {
    let folder = Folder::new();
    folder.shell("mkfifo notes.json").done();
    // It waits for somebody who writes into the pipe, with a new store in a temporary folder.
    let import = [
        "import",
        "new.odm",
        "notes.json",
        "--into",
        "notes",
        "--create",
    ];
    let running = folder.start(&import, "notes.json");
    crate::support::wait_until(|| folder.names().len() > 1);
    let answer = running.interrupt();
    assert_eq!(
        (answer.code, answer.err.as_str()),
        (130, "error: interrupted\n")
    );
    assert_eq!(folder.names(), ["notes.json"]);
}

#[test]
fn an_interrupted_backup_leaves_nothing() {
    let folder = Folder::new();
    let text = "x".repeat(100_000);
    let notes: Vec<String> = (0..600)
        .map(|id| format!("{{\"_id\":{id},\"text\":\"{text}\"}}"))
        .collect();
    folder.write("notes.json", notes.join("\n"));
    folder
        .run(&["import", "notes.odm", "notes.json", "--create"])
        .done();
    let running = folder.start(&["backup", "notes.odm", "copy.odm"], "notes.odm");
    crate::support::wait_until(|| {
        folder
            .names()
            .iter()
            .any(|name| name.starts_with("copy.odm"))
    });
    let answer = running.interrupt();
    assert_eq!(
        (answer.code, answer.err.as_str()),
        (130, "error: interrupted\n"),
        "it was not interrupted in time"
    );
    assert_eq!(folder.names(), ["notes.json", "notes.odm"]);
}

#[test]
fn a_store_after_a_crash_is_read_with_its_log() {
    let folder = Folder::with_shop();
    let server = folder.start(&["serve", "shop.odm"], "shop.odm.sock");
    server.end("KILL");
    let info = folder.run(&["find", "shop.odm", "orders", "--count"]);
    assert_eq!(
        (info.code, info.out.as_str()),
        (0, "{\"count\":4}\n"),
        "{info:?}"
    );
    folder.run(&["check", "shop.odm"]).done();
    assert!(
        !folder.names().contains(&"shop.odm.log".to_owned()),
        "it is closed again"
    );
}
