//! `diagram`: the relations in the language of Mermaid.

use mongodb::bson::{Bson, deserialize_from_bson};
use odm::Relations;

use super::declared;
use crate::{
    error::{Exit, Failure, Result},
    output::Output,
    source::Source,
};

pub(super) async fn run(source: &Source<'_>, output: &mut Output) -> Result<Exit> {
    let opened = source.look().await?;
    let declared = declared(opened.database().await?).await?;
    if declared.is_empty() {
        return Err(Failure::not_found(
            "no program with models has opened this store: it has no relations",
        ));
    }
    for database in declared {
        let relations = database
            .get("relations")
            .cloned()
            .unwrap_or(Bson::Document(Default::default()));
        let relations: Relations = deserialize_from_bson(relations).map_err(|error| {
            let message = format!("the relations of the store cannot be read: {error}");
            Failure::new(Exit::Damaged, message)
        })?;
        output.text(relations.mermaid().trim_end())?;
    }
    Ok(Exit::Done)
}
