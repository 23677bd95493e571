use mongodb::{
    Client, Database,
    bson::{Bson, Document, doc},
    error::{Error, ErrorKind, WriteFailure},
};

use super::comparison;

/// The outcome of a write by the driver: whether a document was there, or the code and the message of an error.
async fn outcome(database: &Database, request: &Document) -> String {
    let collection = database.collection::<Document>(request.get_str("collection").unwrap());
    let filter = doc! { "_id": request.get("id").unwrap_or(&Bson::Null) };
    let with = request.get_document("with").unwrap().clone();
    let found = match request.get_str("do").unwrap() {
        "insert" => collection.insert_one(with).await.map(|_| true),
        "replace" => collection
            .replace_one(filter, with)
            .await
            .map(|done| done.matched_count == 1),
        "upsert" => collection
            .replace_one(filter, with)
            .upsert(true)
            .await
            .map(|_| true),
        "update" => collection
            .update_one(filter, with)
            .await
            .map(|done| done.matched_count == 1),
        "delete" => collection
            .delete_one(filter)
            .await
            .map(|done| done.deleted_count == 1),
        other => panic!("{other}"),
    };
    match found {
        Ok(true) => "done".to_owned(),
        Ok(false) => "missing".to_owned(),
        Err(error) => refusal(error),
    }
}

fn refusal(error: Error) -> String {
    match *error.kind {
        ErrorKind::Command(error) => format!("{} {}", error.code, error.message),
        ErrorKind::Write(WriteFailure::WriteError(error)) => {
            format!("{} {}", error.code, error.message)
        }
        other => panic!("{other}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_driver_and_repositories_write_the_same_in_all_systems_of_the_guides() {
    let comparison = comparison().await.unwrap();
    let client = Client::with_uri_str(comparison.uri()).await.unwrap();
    let mut outcomes = Vec::new();
    for request in comparison.requests() {
        let database = client.database(request.get_str("database").unwrap());
        outcomes.push(outcome(&database, &request).await);
    }
    let counts = comparison
        .check(&outcomes)
        .await
        .unwrap_or_else(|failure| panic!("{failure}"));
    println!("{counts}");
    // Of a history that refuses all, or that nobody refuses, the comparison says little.
    let writes = outcomes.len();
    for (outcome, least) in [
        ("done", writes / 4),
        ("missing", writes / 50),
        ("121", writes / 50),
        ("11000", 1),
        ("2", writes / 50),
    ] {
        assert!(counts.of(outcome) >= least, "{outcome}: {counts}");
    }
}
