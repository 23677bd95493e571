//! What the commands show that change nothing.

use std::{fs, time::SystemTime};

use serde_json::json;

use crate::support::Folder;

#[test]
fn info_says_what_a_store_is() {
    let folder = Folder::with_shop();
    let info = &folder.run(&["info", "shop.odm"]).json()[0];
    assert_eq!(
        (&info["documents"], &info["collections"]),
        (&json!(17), &json!(4))
    );
    assert_eq!(info["database shop"], "version 1");
    let table = folder.table(&["info", "shop.odm"]);
    assert!(
        table.starts_with("file                shop.odm\nbytes               "),
        "{table}"
    );
    assert!(
        table.contains(" KiB\n") && table.contains("documents           17\n"),
        "{table}"
    );
}

#[test]
fn collections_lists_documents_models_and_indexes() {
    let folder = Folder::with_shop();
    let expected = "\
collection  documents  model     indexes
customers           3  Customer
orders              4  Order     customer_1, lines.product_1
products            5  Product   name_1
reviews             5  Review    product_1_published_-1
";
    assert_eq!(folder.table(&["collections", "shop.odm"]), expected);
    let json = folder.run(&["collections", "shop.odm"]).json();
    let customers =
        json!({ "collection": "customers", "documents": 3, "model": "Customer", "indexes": "" });
    assert_eq!(json[0], customers);
}

#[test]
fn show_finds_one_document_by_its_id() {
    let folder = Folder::with_shop();
    let json = folder.run(&["show", "shop.odm", "orders", "3"]).json();
    assert_eq!(
        (json.len(), &json[0]["customer_name"]),
        (1, &json!("Ben Baker"))
    );
    let table = folder.table(&["show", "shop.odm", "customers", "ann"]);
    assert_eq!(
        table,
        "{\n  \"_id\": \"ann\",\n  \"name\": \"Ann Archer\",\n  \"city\": \"Leeds\",\n  \"orders\": 2\n}\n"
    );
}

#[test]
fn find_has_conditions_sorts_limits_and_projections() {
    let folder = Folder::with_shop();
    let sorted = [
        "find",
        "shop.odm",
        "products",
        "price<50",
        "--sort",
        "-price",
        "--project",
        "name,price",
    ];
    let expected = "name   price\nshelf     49\nchair     45\nlamp    19.5\n";
    assert_eq!(folder.table(&sorted), expected);
    let filter = r#"{"tags": "wood", "price": {"$gte": 49}}"#;
    let json = folder
        .run(&[
            "find",
            "shop.odm",
            "products",
            filter,
            "review_count=0",
            "--limit",
            "1",
        ])
        .json();
    assert_eq!(json.len(), 1);
    assert_eq!(json[0]["name"], "table");
    assert_eq!(
        folder.table(&["find", "shop.odm", "products", "--count"]),
        "5\n"
    );
    let count = folder
        .run(&["find", "shop.odm", "products", "price>1000", "--count"])
        .json();
    assert_eq!(count, [json!({ "count": 0 })]);
    assert_eq!(
        folder.table(&["find", "shop.odm", "products", "price>1000"]),
        "No documents.\n"
    );
}

#[test]
fn explain_tells_an_index_from_a_scan() {
    let folder = Folder::with_shop();
    let indexed = folder.table(&["explain", "shop.odm", "orders", "customer=ann"]);
    assert!(
        indexed.starts_with(
            "access           index customer_1\nbounds           `customer` = \"ann\"\n"
        ),
        "{indexed}"
    );
    let scan = folder.table(&[
        "explain",
        "shop.odm",
        "orders",
        "total>100",
        "--sort",
        "total",
    ]);
    assert!(
        scan.starts_with("access           all documents\n") || scan.contains("sort "),
        "{scan}"
    );
    assert!(
        scan.contains("documents read   4\n") && scan.contains("in memory"),
        "{scan}"
    );
    let json = folder
        .run(&["explain", "shop.odm", "orders", "customer=ann"])
        .json();
    assert_eq!(json[0]["executionStats"]["totalDocsExamined"], 2);
}

#[test]
fn an_audit_ends_with_a_code_of_its_own_if_it_has_findings() {
    let folder = Folder::with_wrong_shop();
    let audit = folder.run(&["audit", "shop.odm", "--table"]);
    let expected = "wrong count: `products.review_count` of the document with `_id` = 2\n17 documents checked, 1 finding\n";
    assert_eq!((audit.code, audit.out.as_str()), (1, expected));
    let audit = folder.run(&["audit", "shop.odm", "products"]);
    let finding: serde_json::Value = serde_json::from_str(&audit.out).unwrap();
    assert_eq!(
        (audit.code, &finding["_id"], &finding["path"]),
        (1, &json!(2), &json!("review_count"))
    );
    assert_eq!(
        folder.table(&["audit", "shop.odm", "orders"]),
        "4 documents checked, 0 findings\n"
    );
    assert_eq!(
        folder.table(&["validate", "shop.odm"]),
        "17 documents checked, 0 findings\n"
    );
}

#[test]
fn stats_names_the_large_and_the_long() {
    let folder = Folder::with_shop();
    let rows = folder.run(&["stats", "shop.odm"]).json();
    let of = |section: &str| {
        rows.iter()
            .filter(|row| row["section"] == section)
            .collect::<Vec<_>>()
    };
    assert_eq!(of("collections").len(), 4);
    assert_eq!(of("largest documents")[0]["_id"], 4);
    let longest = of("longest lists")[0];
    assert_eq!(
        (&longest["list"], &longest["longest"]),
        (&json!("lines"), &json!(3))
    );
    let copy = of("copies")[1];
    assert_eq!(
        (&copy["copy"], &copy["of"], &copy["values"]),
        (
            &json!("orders.lines.product_name"),
            &json!("products.name"),
            &json!(7)
        )
    );
    let entries = of("indexes")
        .iter()
        .map(|row| row["entries"].as_i64().unwrap())
        .collect::<Vec<_>>();
    assert_eq!(entries, [4, 7, 5, 5]);
    // Nobody but this process has the file, so that it tells no uses.
    for row in of("indexes") {
        assert!(row["bytes"].as_i64() > Some(0), "{row}");
        assert!(row.get("uses").is_none(), "{row}");
    }
    let one = folder.table(&["stats", "shop.odm", "reviews"]);
    assert!(
        one.contains("\ncollections\ncollection  documents") && !one.contains("products.name_1"),
        "{one}"
    );
}

#[test]
fn a_large_demo_is_right_and_always_the_same() {
    let folder = Folder::new();
    for name in ["one.odm", "other.odm"] {
        folder.run(&["demo", name, "--documents", "4321"]).done();
    }
    let audit = folder.table(&["audit", "one.odm"]);
    let checked = 10 * 432 + 17;
    assert_eq!(audit, format!("{checked} documents checked, 0 findings\n"));
    let export = |name: &str| folder.run(&["export", name]).done();
    assert_eq!(export("one.odm"), export("other.odm"));
    let count = folder.run(&["find", "one.odm", "reviews", "--count"]);
    assert_eq!(count.json()[0]["count"], 4 * 432 + 5);
}

#[test]
fn the_diagram_has_all_relations() {
    let folder = Folder::with_shop();
    let diagram = folder.run(&["diagram", "shop.odm"]).done();
    assert!(diagram.starts_with("flowchart LR\n"), "{diagram}");
    assert!(diagram.contains("|\"name to customer_name\"|"), "{diagram}");
    let svg = folder.run(&["diagram", "shop.odm", "--format", "svg"]);
    let svg = svg.done();
    assert!(
        svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
        "{svg}"
    );
    assert!(svg.contains("customer_name ƒ customers.name"), "{svg}");
    assert_eq!(svg.matches("<g ").count(), 4, "{svg}");
}

#[test]
fn looking_changes_nothing() {
    let folder = Folder::with_wrong_shop();
    let state = || {
        let metadata = fs::metadata(folder.path("shop.odm")).unwrap();
        (
            fs::read(folder.path("shop.odm")).unwrap(),
            metadata.modified().unwrap(),
            folder.names(),
        )
    };
    let before: (Vec<u8>, SystemTime, Vec<String>) = state();
    for arguments in [
        &["info", "shop.odm"][..],
        &["collections", "shop.odm"],
        &["show", "shop.odm", "orders", "1"],
        &["find", "shop.odm", "orders"],
        &["explain", "shop.odm", "orders"],
        &["stats", "shop.odm"],
        &["diagram", "shop.odm"],
        &["audit", "shop.odm"],
        &["validate", "shop.odm"],
        &["export", "shop.odm"],
        &["users", "list", "shop.odm"],
    ] {
        let answer = folder.run(arguments);
        assert!(answer.code < 2, "{arguments:?}: {answer:?}");
        assert!(state() == before, "{arguments:?}");
    }
}

#[test]
fn completions_and_the_manual_name_all_commands() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.run(&["completions", shell]).done();
        assert!(
            script.contains("salvage") && script.contains("watch"),
            "{shell}"
        );
    }
    let page = folder.run(&["man"]).done();
    assert!(
        page.contains("odm\\-salvage") && page.contains("Exit codes"),
        "{page}"
    );
    folder.run(&["man", "pages"]).done();
    assert!(folder.path("pages/odm-find.1").exists());
}
