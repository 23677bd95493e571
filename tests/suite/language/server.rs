//! The answers of a server.

use futures_util::TryStreamExt;
use odm::bson::{Bson, Document, RawDocumentBuf, doc};
use tests::TestDatabase;

use super::case::{Answer, Case, Statement, id_of};

/// Stores documents in a collection, which is emptied before.
pub(crate) async fn store(server: &TestDatabase, name: &str, documents: &[RawDocumentBuf]) {
    let collection = server.database.collection::<RawDocumentBuf>(name);
    collection.delete_many(Document::new()).await.expect("the collection is emptied");
    if !documents.is_empty() {
        let inserted = collection.insert_many(documents).await;
        inserted.expect("the documents are inserted");
    }
}

/// All documents of a collection, in the order of their `_id`s.
pub(crate) async fn stored(server: &TestDatabase, name: &str) -> Vec<RawDocumentBuf> {
    let all = find(server, name, &Document::new(), &doc! { "_id": 1 }, &Document::new()).await;
    all.expect("the documents are read")
}

/// Runs a query.
pub(crate) async fn find(
    server: &TestDatabase,
    name: &str,
    filter: &Document,
    sort: &Document,
    projection: &Document,
) -> Answer {
    let collection = server.database.collection::<RawDocumentBuf>(name);
    let find = collection.find(filter.clone()).sort(sort.clone());
    let found = async { find.projection(projection.clone()).await?.try_collect().await };
    found.await.map_err(|error: mongodb::error::Error| error.to_string())
}

/// Runs updates as one message. Returns the message of each refused update, or the message about all of them.
pub(crate) async fn update(
    server: &TestDatabase,
    name: &str,
    statements: &[&Statement],
) -> Result<Vec<Option<String>>, String> {
    let updates: Vec<Document> = statements.iter().map(|one| statement(one)).collect();
    let command = doc! { "update": name, "updates": updates, "ordered": false };
    let reply = server.database.run_command(command).await;
    let reply = reply.map_err(|error| error.to_string())?;
    let mut refused = vec![None; statements.len()];
    let errors = reply.get_array("writeErrors");
    for error in errors.into_iter().flatten().filter_map(Bson::as_document) {
        let at = error.get_i32("index").expect("an error has an index");
        refused[at as usize] = Some(error.get_str("errmsg").unwrap_or_default().to_owned());
    }
    Ok(refused)
}

fn statement(statement: &Statement) -> Document {
    let Statement::Update { filter, update, array_filters, upsert } = statement else {
        panic!("a query is no update");
    };
    let mut statement = doc! { "q": filter, "u": update, "upsert": *upsert };
    if !array_filters.is_empty() {
        statement.insert("arrayFilters", array_filters.clone());
    }
    statement
}

/// The server's answer to one case in a collection of its own.
pub(crate) async fn answer(server: &TestDatabase, case: &Case) -> Answer {
    const NAME: &str = "alone";
    store(server, NAME, &case.documents).await;
    match &case.statement {
        Statement::Find { filter, sort, projection } => {
            find(server, NAME, filter, sort, projection).await
        }
        update @ Statement::Update { .. } => {
            let refused = self::update(server, NAME, &[update]).await?;
            match refused.into_iter().flatten().next() {
                Some(refused) => Err(refused),
                None => Ok(stored(server, NAME).await),
            }
        }
    }
}

/// Whether the server stores the document unchanged.
pub(crate) fn is_among(document: &RawDocumentBuf, stored: &[RawDocumentBuf]) -> bool {
    let found = stored.iter().find(|other| id_of(other) == id_of(document));
    found.is_some_and(|other| other.as_bytes() == document.as_bytes())
}
