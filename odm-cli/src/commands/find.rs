//! `find`: the documents that match conditions.

use mongodb::bson::{Document, doc};

use super::{BATCH, check_collection};
use crate::{
    arguments::Find,
    error::{Exit, Result},
    filter,
    output::Output,
    source::Source,
};

pub(super) async fn run(source: &Source<'_>, find: &Find, output: &mut Output) -> Result<Exit> {
    let query = &find.query;
    let conditions = filter::conditions(&query.conditions)?;
    let sort = query.sort.as_deref().map(filter::sort).transpose()?;
    let projection = find
        .project
        .as_deref()
        .map(filter::projection)
        .transpose()?;
    let opened = source.look().await?;
    check_collection(&opened, &query.collection).await?;
    let collection = opened
        .database()
        .await?
        .collection::<Document>(&query.collection);
    if find.count {
        let mut count = collection.count_documents(conditions);
        if let Some(limit) = query.limit {
            count = count.limit(limit.into());
        }
        let count = count.await?;
        if output.is_json() {
            output.json(&doc! { "count": count as i64 })?;
        } else {
            output.text(&count.to_string())?;
        }
        return Ok(Exit::Done);
    }
    let mut found = collection.find(conditions).batch_size(BATCH);
    if let Some(sort) = sort {
        found = found.sort(sort);
    }
    if let Some(projection) = projection {
        found = found.projection(projection);
    }
    if let Some(limit) = query.limit {
        found = found.limit(limit.into());
    }
    let mut found = found.await?;
    let mut is_empty = true;
    while found.advance().await? {
        output.document(found.deserialize_current()?)?;
        is_empty = false;
    }
    if is_empty {
        output.note("No documents.")?;
    }
    Ok(Exit::Done)
}
