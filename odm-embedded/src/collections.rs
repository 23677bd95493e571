//! Changes of whole collections, which affect only the schema.

use odm_store::{CollectionChange, Error, ErrorKind, Result};

use super::{
    schema::{Collection, Index, Schema},
    work::Work,
};

impl Work {
    /// Changes whole collections. The documents of removed collections are swept later, as garbage.
    pub(super) fn change_collections(&mut self, changes: &[CollectionChange]) -> Result<()> {
        let mut schema = Schema::clone(&self.schema);
        for change in changes {
            match change {
                CollectionChange::Create { name, like } => create(&mut schema, name, like)?,
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
fn create(schema: &mut Schema, name: &str, like: &str) -> Result<()> {
    schema.remove(name);
    let mut indexes = Vec::new();
    if let Some(like) = schema.collection(like).cloned() {
        for index in like.in_force() {
            let mut index = Index::new(schema.new_tree()?, index.spec.clone());
            index.build = None;
            indexes.push(index);
        }
    }
    let tree = schema.new_tree()?;
    schema.set(Collection {
        name: name.to_owned(),
        tree,
        indexes,
    });
    Ok(())
}
