//! `diagram`: the relations in the language of Mermaid, or as a picture.

use mongodb::bson::{Bson, Document, deserialize_from_document};
use odm::Relations;

use super::declared;
use crate::{
    arguments::DiagramFormat,
    error::{Exit, Failure, Result},
    output::Output,
    source::Source,
};

pub(super) async fn run(
    source: &Source<'_>,
    format: DiagramFormat,
    output: &mut Output,
) -> Result<Exit> {
    let opened = source.look().await?;
    let declared = declared(opened.database().await?).await?;
    if declared.is_empty() {
        return Err(Failure::not_found(
            "no program with models has opened this store: it has no relations",
        ));
    }
    let relations =
        declared
            .into_iter()
            .filter_map(|mut database| match database.remove("relations") {
                Some(Bson::Document(relations)) => Some(relations),
                _ => None,
            });
    match format {
        DiagramFormat::Mermaid => {
            for relations in relations {
                output.text(read(relations)?.mermaid().trim_end())?;
            }
        }
        // All databases are one picture.
        DiagramFormat::Svg => {
            let mut all = Document::new();
            for (name, list) in relations.flatten() {
                match (all.get_array_mut(&name), list) {
                    (Ok(all), Bson::Array(list)) => {
                        for relation in list {
                            if !all.contains(&relation) {
                                all.push(relation);
                            }
                        }
                    }
                    (_, list) => drop(all.insert(name, list)),
                }
            }
            output.text(read(all)?.svg().trim_end())?;
        }
    }
    Ok(Exit::Done)
}

fn read(relations: Document) -> Result<Relations> {
    deserialize_from_document(relations).map_err(|error| {
        let message = format!("the relations of the store cannot be read: {error}");
        Failure::new(Exit::Damaged, message)
    })
}
