//! Changes of whole collections, which affect only the schema.

use odm_mql::Collation;
use odm_store::{CollectionChange, Error, ErrorKind, IndexSpec, Result};

use super::{
    ensure::{check_index, check_name},
    schema::{Collection, Index, Schema},
    uses::Uses,
    work::Work,
};

impl Work {
    /// Changes whole collections. The documents of removed collections are swept later, as garbage.
    pub(super) fn change_collections(&mut self, changes: &[CollectionChange]) -> Result<()> {
        let mut schema = Schema::clone(&self.schema);
        for change in changes {
            match change {
                CollectionChange::Create {
                    name,
                    indexes,
                    collation,
                } => create(&mut schema, name, indexes, collation.clone())?,
                CollectionChange::Drop { name } => schema.remove(name),
                CollectionChange::Replace { from, to } => {
                    if !schema.replace(from, to) {
                        let message = format!(
                            "collection `{from}` is not there, and cannot take the place of `{to}`: create it first"
                        );
                        return Err(Error::new(ErrorKind::Schema, message).at(from, None, None));
                    }
                }
            }
        }
        self.set_schema(schema)
    }
}

/// Makes an empty collection. Its indexes are in force, since they have the entries of all documents: none.
fn create(
    schema: &mut Schema,
    name: &str,
    specs: &[IndexSpec],
    collation: Option<Collation>,
) -> Result<()> {
    check_name(name)?;
    schema.remove(name);
    let mut indexes: Vec<Index> = Vec::new();
    for spec in specs {
        check_index(name, spec)?;
        if indexes.iter().any(|other| other.spec.name == spec.name) {
            let message = format!(
                "`{name}` has two indexes with the name `{}`: give one of them another name",
                spec.name
            );
            return Err(Error::new(ErrorKind::Schema, message).at(name, Some(&spec.name), None));
        }
        let mut index = Index::new(schema.new_tree()?, spec.clone());
        index.build = None;
        indexes.push(index);
    }
    let tree = schema.new_tree()?;
    schema.set(Collection {
        name: name.to_owned(),
        tree,
        indexes,
        collation,
        uses: Uses::default(),
    });
    Ok(())
}
