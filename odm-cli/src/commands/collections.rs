//! `collections`: their documents and indexes.

use mongodb::bson::{Bson, Document, doc};

use super::{declared, names};
use crate::{
    error::{Exit, Result},
    output::Output,
    source::Source,
};

pub(super) async fn run(source: &Source<'_>, output: &mut Output) -> Result<Exit> {
    let opened = source.look().await?;
    let database = opened.database().await?;
    let declared = declared(database).await?;
    let mut rows = Vec::new();
    for name in names(&opened, None).await? {
        let collection = database.collection::<Document>(&name);
        let documents = collection.estimated_document_count().await? as i64;
        let mut indexes = collection.list_index_names().await?;
        indexes.retain(|index| index != "_id_");
        let model = declared
            .iter()
            .find_map(|database| model_of(database, &name));
        rows.push(doc! {
            "collection": name,
            "documents": documents,
            "model": model.unwrap_or_default(),
            "indexes": indexes.join(", "),
        });
    }
    if rows.is_empty() {
        output.note("No collections.")?;
    }
    output.section("", &rows)?;
    Ok(Exit::Done)
}

/// The type that a database declares for a collection.
fn model_of(declared: &Document, name: &str) -> Option<String> {
    let relations = declared.get_document("relations").ok()?;
    let mut collections = relations
        .get_array("collections")
        .ok()?
        .iter()
        .filter_map(Bson::as_document);
    let collection = collections.find(|of| of.get_str("name").is_ok_and(|of| of == name))?;
    collection.get_str("model").ok().map(str::to_owned)
}
