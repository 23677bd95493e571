//! `show`: one document by its `_id`.

use mongodb::bson::Document;

use super::check_collection;
use crate::{
    arguments::Show,
    error::{Exit, Failure, Result},
    filter,
    output::Output,
    source::Source,
};

pub(super) async fn run(source: &Source<'_>, show: &Show, output: &mut Output) -> Result<Exit> {
    let opened = source.look().await?;
    check_collection(&opened, &show.collection).await?;
    let collection = opened
        .database()
        .await?
        .collection::<Document>(&show.collection);
    let mut found = collection.find(filter::id(&show.id)).await?;
    let mut is_found = false;
    while found.advance().await? {
        output.whole(&found.deserialize_current()?)?;
        is_found = true;
    }
    if is_found {
        return Ok(Exit::Done);
    }
    let message = format!(
        "there is no document with `_id` = {} in `{}`",
        show.id, show.collection
    );
    Err(Failure::not_found(message))
}
