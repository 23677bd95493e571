//! The tables of redb that hold the trees.

use redb::{ReadableTableMetadata, Table, TableDefinition, TableHandle, WriteTransaction};

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
pub(super) fn write<'a>(
    transaction: &WriteTransaction,
    changes: impl Iterator<Item = KeyChange<'a>>,
) -> Result<Tree, redb::Error> {
    let mut changes = changes.peekable();
    let mut last = 0;
    while let Some(&(tree, ..)) = changes.peek() {
        last = tree;
        with_table(transaction, tree, |table| {
            while let Some((_, key, value)) = changes.next_if(|change| change.0 == tree) {
                match value {
                    Some(value) => table.insert(key, value)?,
                    None => table.remove(key)?,
                };
            }
            Ok(())
        })?;
    }
    Ok(last)
}
