//! Exports, imports and copies.

use std::fs;

use serde_json::json;

use crate::support::Folder;

#[test]
fn an_export_is_imported_into_a_store_of_the_same_version() {
    let folder = Folder::with_shop();
    assert_eq!(
        folder.table(&["export", "shop.odm", "shop.jsonl"]),
        "shop.jsonl: 17 documents\n"
    );
    assert_eq!(folder.names(), ["shop.jsonl", "shop.odm"]);
    let printed = folder.run(&["export", "shop.odm"]).done();
    assert_eq!(
        printed,
        fs::read_to_string(folder.path("shop.jsonl")).unwrap()
    );

    let refused = folder.run(&["import", "shop.odm", "shop.jsonl"]).fails(6);
    assert!(
        refused.starts_with("error: `shop.jsonl`: line 2: duplicate key"),
        "{refused}"
    );
    let unknown = folder
        .run(&["import", "new.odm", "shop.jsonl", "--create"])
        .fails(2);
    assert!(unknown.contains("open it once by a program"), "{unknown}");
    assert_eq!(folder.names(), ["shop.jsonl", "shop.odm"]);
    let again = folder.run(&["export", "shop.odm", "shop.jsonl"]).fails(6);
    assert!(again.contains("`shop.jsonl` is there already"), "{again}");
}

#[test]
fn files_of_mongoexport_and_folders_of_mongodump_are_imported() {
    let folder = Folder::with_shop();
    let note = r#"{"_id":{"$oid":"65f0c0ffee65f0c0ffee65f0"},"text":"one"}"#;
    folder.write(
        "notes.json",
        format!("[{note}, {{\"_id\":2,\"text\":\"two\"}}]"),
    );
    assert_eq!(
        folder.table(&["import", "shop.odm", "notes.json"]),
        "2 documents imported\n"
    );
    assert_eq!(
        folder
            .run(&["show", "shop.odm", "notes", "65f0c0ffee65f0c0ffee65f0"])
            .json()[0]["text"],
        "one"
    );

    fs::create_dir(folder.path("dump")).unwrap();
    let review = mongodb::bson::rawdoc! {
        "_id": 9_i64, "product": 5_i64, "stars": 4, "text": "Soft", "published": mongodb::bson::DateTime::from_millis(0),
    };
    folder.write("dump/reviews.bson", review.as_bytes());
    folder.write("dump/reviews.metadata.json", "{}");
    assert_eq!(
        folder.run(&["import", "shop.odm", "dump"]).json(),
        [json!({ "imported": 1 })]
    );
    assert_eq!(
        folder.run(&["show", "shop.odm", "products", "5"]).json()[0]["review_count"],
        1
    );
    folder.run(&["audit", "shop.odm"]).done();

    let new = folder
        .run(&[
            "import",
            "new.odm",
            "notes.json",
            "--create",
            "--into",
            "memos",
        ])
        .json();
    assert_eq!(new, [json!({ "imported": 2 })]);
    assert_eq!(
        folder.table(&["find", "new.odm", "memos", "--count"]),
        "2\n"
    );
    let there = folder
        .run(&["import", "new.odm", "notes.json", "--create"])
        .fails(6);
    assert!(there.contains("`new.odm` is there already"), "{there}");
}

#[test]
fn an_import_names_the_line_of_a_mistake() {
    let folder = Folder::with_shop();
    folder.write("notes.json", "{\"_id\":1}\n{\"_id\":");
    let broken = folder.run(&["import", "shop.odm", "notes.json"]).fails(2);
    assert!(
        broken.starts_with("error: `notes.json`: line 2: "),
        "{broken}"
    );
    fs::create_dir(folder.path("empty")).unwrap();
    let empty = folder.run(&["import", "shop.odm", "empty"]).fails(3);
    assert!(empty.contains("no files of BSON"), "{empty}");
}

#[test]
fn a_copy_has_the_documents_and_the_relations() {
    let folder = Folder::with_shop();
    assert_eq!(
        folder.table(&["copy", "shop.odm", "copy.odm"]),
        "17 documents copied\n"
    );
    assert_eq!(
        folder.table(&["audit", "copy.odm"]),
        "17 documents checked, 0 findings\n"
    );
    assert_eq!(
        folder.table(&["collections", "copy.odm"]),
        folder.table(&["collections", "shop.odm"])
    );
    let again = folder.run(&["copy", "shop.odm", "copy.odm"]).json();
    assert_eq!(again, [json!({ "copied": 0, "found": 17 })]);
    assert_eq!(folder.names(), ["copy.odm", "shop.odm"]);
}
