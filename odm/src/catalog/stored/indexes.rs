//! The indexes in the stored catalog: the indexes that databases declare, and the indexes that were made for them.
//!
//! An index is in force while the newest version of some database declares it. An index that was made, and that no database declares any
//! more, is obsolete. An index that the library has not made is not in the catalog, and never obsolete.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use async_trait::async_trait;
use odm_store::{
    CollectionSpec, Direction, Durability, Error, ErrorKind, FilterForm, IndexFilter, IndexSpec,
    Reader, ReaderExt, Result, Store, Transaction, UnitOfWork,
};
use serde::{Deserialize, Serialize};

use super::{COLLECTION, Owner, decode, next_epoch, owners, put};

/// The `_id` of the document that lists the indexes that were made.
const MADE: &str = "indexes";

/// An index of a collection. In the order, indexes of one collection and name follow each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct OwnedIndex {
    pub(crate) collection: String,
    pub(crate) name: String,
    /// Paths, each with whether it is descending.
    keys: Vec<(String, bool)>,
    unique: bool,
    present_only: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    case_insensitive: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    filter: Option<FilterForm>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl OwnedIndex {
    fn new(collection: &str, spec: &IndexSpec) -> Self {
        let keys = spec.keys.iter();
        OwnedIndex {
            collection: collection.to_owned(),
            name: spec.name.clone(),
            keys: keys
                .map(|(path, direction)| (path.clone(), *direction == Direction::Descending))
                .collect(),
            unique: spec.unique,
            present_only: spec.present_only,
            case_insensitive: spec.case_insensitive,
            filter: spec.filter.as_ref().map(|filter| filter.form().clone()),
        }
    }

    pub(super) fn is_unique(&self) -> bool {
        self.unique
    }

    pub(super) fn spec(&self) -> Result<IndexSpec> {
        let direction = |descending| match descending {
            true => Direction::Descending,
            false => Direction::Ascending,
        };
        let keys = self.keys.iter();
        Ok(IndexSpec {
            name: self.name.clone(),
            keys: keys
                .map(|(path, descending)| (path.clone(), direction(*descending)))
                .collect(),
            unique: self.unique,
            present_only: self.present_only,
            case_insensitive: self.case_insensitive,
            // No model declares one.
            collation: None,
            filter: self.filter.clone().map(IndexFilter::try_from).transpose()?,
        })
    }
}

impl fmt::Display for OwnedIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "index `{}` of `{}`", self.name, self.collection)
    }
}

/// The document of the indexes that were made, or that a database is about to make.
#[derive(Debug, Serialize, Deserialize)]
struct Made {
    #[serde(rename = "_id")]
    id: String,
    made: BTreeSet<OwnedIndex>,
}

/// All indexes of these collections.
pub(super) fn all_of(specs: &[CollectionSpec]) -> BTreeSet<OwnedIndex> {
    let indexes = specs.iter().flat_map(|spec| {
        let indexes = spec.indexes.iter();
        indexes.map(|index| OwnedIndex::new(&spec.name, index))
    });
    indexes.collect()
}

pub(super) async fn made(reader: &dyn Reader) -> Result<BTreeSet<OwnedIndex>> {
    let (document, _) = reader.get_one(COLLECTION, &MADE.into()).await?;
    Ok(match document {
        Some(document) => decode::<Made>(&document)?.made,
        None => BTreeSet::new(),
    })
}

pub(super) async fn put_made(
    transaction: &mut dyn Transaction,
    made: BTreeSet<OwnedIndex>,
) -> Result<()> {
    let id = MADE.to_owned();
    put(transaction, MADE, &Made { id, made }).await
}

/// Makes the indexes that are in force, and removes the indexes that a failed `open` has made.
pub(crate) async fn restore_indexes(store: &dyn Store) -> Result<()> {
    struct Forget;

    #[async_trait]
    impl UnitOfWork for Forget {
        async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
            match forget_obsolete(transaction).await? {
                true => next_epoch(transaction).await,
                false => Ok(()),
            }
        }
    }

    let reader = store.reader()?;
    let owners = owners(&*reader).await?;
    let in_force = in_force(&owners)?;
    let obsolete = obsolete(&owners, &in_force, &made(&*reader).await?);
    drop(reader);
    store.ensure(&wanted(&[], &in_force, &obsolete)?).await?;
    store.run(Arc::new(Forget), Durability::Immediate).await
}

/// Forgets the obsolete indexes, which are removed by now. Returns whether there were any.
pub(super) async fn forget_obsolete(transaction: &mut dyn Transaction) -> Result<bool> {
    let owners = owners(&*transaction).await?;
    let mut made = made(&*transaction).await?;
    let obsolete = obsolete(&owners, &in_force(&owners)?, &made);
    if obsolete.is_empty() {
        return Ok(false);
    }
    made.retain(|index| !obsolete.contains(index));
    put_made(transaction, made).await?;
    Ok(true)
}

/// The collections of a database, all indexes in force, and all obsolete ones. They include the indexes of other databases, since a failed
/// `open` of another database may have changed them.
pub(super) fn wanted(
    specs: &[CollectionSpec],
    in_force: &BTreeSet<OwnedIndex>,
    obsolete: &BTreeSet<OwnedIndex>,
) -> Result<Vec<CollectionSpec>> {
    let mut wanted: BTreeMap<&str, CollectionSpec> = BTreeMap::new();
    for spec in specs {
        wanted.entry(&spec.name).or_default();
    }
    for index in in_force {
        let collection = wanted.entry(&index.collection).or_default();
        collection.indexes.push(index.spec()?);
    }
    for index in obsolete {
        let collection = wanted.entry(&index.collection).or_default();
        collection.obsolete.push(index.spec()?);
    }
    let named = wanted.into_iter().map(|(name, spec)| CollectionSpec {
        name: name.to_owned(),
        ..spec
    });
    Ok(named.collect())
}

/// The indexes that some database declares.
pub(super) fn in_force(owners: &[Owner]) -> Result<BTreeSet<OwnedIndex>> {
    let declared = owners.iter().filter_map(|owner| owner.indexes.as_ref());
    let all: BTreeSet<OwnedIndex> = declared.flatten().cloned().collect();
    let mut neighbours = all.iter().zip(all.iter().skip(1));
    let conflict = neighbours
        .find(|(one, other)| (&one.collection, &one.name) == (&other.collection, &other.name));
    match conflict {
        None => Ok(all),
        Some((index, _)) => Err(Error::new(
            ErrorKind::Schema,
            format!(
                "conflicting declarations: the {index} is declared differently by another database \
                 on the same store; let both declare the same, or give one of them another name"
            ),
        )
        .at(&index.collection, Some(&index.name), None)),
    }
}

/// The indexes in force that these databases do not declare, each with its collection.
pub(super) fn new<'o>(
    in_force: &BTreeSet<OwnedIndex>,
    before: impl Iterator<Item = &'o Owner>,
) -> Result<Vec<(String, IndexSpec)>> {
    let before: Vec<&BTreeSet<OwnedIndex>> =
        before.filter_map(|owner| owner.indexes.as_ref()).collect();
    let new = in_force
        .iter()
        .filter(|index| !before.iter().any(|indexes| indexes.contains(index)));
    new.map(|index| Ok((index.collection.clone(), index.spec()?)))
        .collect()
}

/// The indexes that were made and that nobody declares. A database whose indexes are unknown may declare any index of its collections.
pub(super) fn obsolete(
    owners: &[Owner],
    in_force: &BTreeSet<OwnedIndex>,
    made: &BTreeSet<OwnedIndex>,
) -> BTreeSet<OwnedIndex> {
    let unknown = owners.iter().filter(|owner| owner.indexes.is_none());
    let unknown: BTreeSet<&str> = unknown
        .flat_map(|owner| &owner.relations.collections)
        .map(|collection| collection.name.as_str())
        .collect();
    let undeclared = made.difference(in_force);
    let obsolete = undeclared.filter(|index| !unknown.contains(index.collection.as_str()));
    obsolete.cloned().collect()
}
