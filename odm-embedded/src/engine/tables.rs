//! The tables of redb that hold the trees.

use std::ops::Bound;

use redb::{
    ReadableTable, ReadableTableMetadata, Table, TableDefinition, TableHandle, WriteTransaction,
};

use super::KeyChange;
use crate::layout::{MAX_TREE, Tree};

type Key = &'static [u8];
type Value = &'static [u8];

/// Calls a function with the definition of the table of a tree.
pub(super) fn with_definition<T>(
    tree: Tree,
    call: impl FnOnce(TableDefinition<'_, Key, Value>) -> T,
) -> T {
    call(TableDefinition::new(&tree.to_string()))
}

/// The tree of a table, or `None` if the table does not belong to a tree.
pub(super) fn tree_of(table: &impl TableHandle) -> Option<Tree> {
    let tree = table.name().parse().ok();
    tree.filter(|tree: &Tree| *tree <= MAX_TREE && tree.to_string() == table.name())
}

/// Calls a function with the table of a tree, which is made for it, and removed after it if it is empty.
pub(super) fn with_table<T>(
    transaction: &WriteTransaction,
    tree: Tree,
    call: impl FnOnce(&mut Table<'_, Key, Value>) -> Result<T, redb::Error>,
) -> Result<T, redb::Error> {
    with_definition(tree, |definition| {
        let mut table = transaction.open_table(definition)?;
        let result = call(&mut table);
        let is_empty = table.is_empty()?;
        drop(table);
        if is_empty {
            transaction.delete_table(definition)?;
        }
        result
    })
}

/// Puts changes into a transaction, and returns the last of their trees.
///
/// Ascending keys behind all keys of a tree, as of new documents, are appended by a cursor: redb fills whole pages with them.
pub(super) fn write<'a>(
    transaction: &WriteTransaction,
    changes: &mut dyn Iterator<Item = KeyChange<'a>>,
) -> Result<Tree, redb::Error> {
    let mut changes = changes.peekable();
    let mut last = 0;
    while let Some(&(tree, ..)) = changes.peek() {
        last = tree;
        with_table(transaction, tree, |table| {
            let greatest = table.last()?.map(|(key, _)| key.value().to_vec());
            let is_behind = |key: &[u8]| greatest.as_deref().is_none_or(|greatest| key > greatest);
            while let Some((_, key, value)) =
                changes.next_if(|(of, key, _)| *of == tree && !is_behind(key))
            {
                match value {
                    Some(value) => table.insert(key, value)?,
                    None => table.remove(key)?,
                };
            }
            let mut end = table.upper_bound_mut(Bound::<&[u8]>::Unbounded)?;
            let mut before: Option<&[u8]> = None;
            while let Some((_, key, value)) = changes
                .next_if(|(of, key, _)| *of == tree && before.is_none_or(|before| *key > before))
            {
                before = Some(key);
                if let Some(value) = value {
                    end.insert_before(key, value)?;
                }
            }
            Ok(end.close()?)
        })?;
    }
    Ok(last)
}
