//! The commands on a MongoDB server.

use serde_json::json;

use crate::support::Folder;

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_store_goes_to_a_server_and_back() {
    let server =
        std::env::var("ODM_TEST_MONGODB_URI").expect("ODM_TEST_MONGODB_URI names a MongoDB server");
    let folder = Folder::with_shop();
    let uri = format!("{server}odm_cli_{}", std::process::id());
    assert_eq!(
        folder.table(&["copy", "shop.odm", &uri]),
        "17 documents copied\n"
    );
    assert_eq!(
        folder.table(&["collections", &uri]),
        folder.table(&["collections", "shop.odm"])
    );
    assert_eq!(
        folder
            .run(&["find", &uri, "orders", "customer=ann", "--count"])
            .json(),
        [json!({ "count": 2 })]
    );
    let plan = folder.table(&["explain", &uri, "orders", "customer=ann"]);
    assert!(
        plan.starts_with("access           index customer_1\n"),
        "{plan}"
    );
    let stats = folder.run(&["stats", &uri]).json();
    assert!(
        stats
            .iter()
            .any(|row| row["index"] == "orders.customer_1" && row["uses"].is_number()),
        "{stats:?}"
    );
    folder.write(
        "reviews.json",
        r#"{"_id":9,"product":5,"stars":4,"text":"Soft","published":{"$date":0}}"#,
    );
    folder.run(&["import", &uri, "reviews.json"]).done();
    assert_eq!(
        folder.run(&["show", &uri, "products", "5"]).json()[0]["review_count"],
        1
    );
    for command in ["audit", "validate", "repair", "backfill", "info", "diagram"] {
        folder.run(&[command, &uri]).done();
    }
    assert_eq!(
        folder.table(&["copy", &uri, "back.odm"]),
        "18 documents copied\n"
    );
    assert_eq!(
        folder.table(&["audit", "back.odm"]),
        "18 documents checked, 0 findings\n"
    );

    let drop = async {
        let client = mongodb::Client::with_uri_str(&uri).await?;
        client
            .default_database()
            .expect("the URI names it")
            .drop()
            .await
    };
    tokio::runtime::Runtime::new()
        .unwrap()
        .block_on(drop)
        .unwrap();
}
