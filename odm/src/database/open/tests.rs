//! Histories of databases whose versions declare different indexes, on one store.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use bson::{Bson, Document, RawDocumentBuf, doc};
use odm_embedded::Embedded;
use odm_mql::Direction;
use odm_store::{
    Capabilities, CollectionSpec, CollectionWrites, DocumentWrite, Durability, Error, ErrorKind,
    IndexSpec, Reader, Result, Store, Transaction, TransactionOptions, UnitOfWork,
};
use proptest::{prelude::*, test_runner::TestRunner};

use super::{
    OpenOptions,
    run::{MakeSession, open},
};
use crate::{catalog::Declaration, migration::Migrations};

const COLLECTIONS: [&str; 2] = ["others", "things"];
const DATABASES: [&str; 2] = ["one", "two"];

/// A store whose process ends before the unit of this number, from 0 on.
struct Ending {
    store: Embedded,
    units: AtomicUsize,
}

#[async_trait]
impl Store for Ending {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn reader(&self) -> Result<Arc<dyn Reader>> {
        self.store.reader()
    }

    async fn ensure(&self, collections: &[CollectionSpec]) -> Result<()> {
        self.store.ensure(collections).await
    }

    async fn run(&self, unit: Arc<dyn UnitOfWork>, durability: Durability) -> Result<()> {
        let left = |units: usize| units.checked_sub(1);
        match self
            .units
            .try_update(Ordering::SeqCst, Ordering::SeqCst, left)
        {
            Ok(_) => self.store.run(unit, durability).await,
            Err(_) => Err(Error::new(ErrorKind::Io, "the process has ended")),
        }
    }

    async fn begin(&self, options: TransactionOptions) -> Result<Box<dyn Transaction>> {
        self.store.begin(options).await
    }

    async fn close(&self) -> Result<()> {
        self.store.close().await
    }
}

/// Indexes by collection and name.
type Indexes = BTreeMap<(String, String), IndexSpec>;

#[derive(Debug, Clone)]
enum Step {
    /// A database is opened, maybe by a new version, and the process may end in between.
    Open {
        database: usize,
        is_new_version: bool,
        indexes: Indexes,
        units: Option<usize>,
    },
    /// Somebody makes an index without the library.
    ByHand { collection: usize, name: usize },
}

fn spec(name: &str, path: &str, direction: Direction, unique: bool) -> IndexSpec {
    IndexSpec {
        name: name.to_owned(),
        keys: vec![(path.to_owned(), direction)],
        unique,
        present_only: false,
        case_insensitive: false,
        collation: None,
        filter: None,
    }
}

fn indexes() -> impl Strategy<Value = Indexes> {
    let direction = prop_oneof![Just(Direction::Ascending), Just(Direction::Descending)];
    // The values of `same` are equal, so that no index on it can be unique.
    let path = prop_oneof![8 => Just("a"), 8 => Just("b"), 1 => Just("same")];
    let index = (0..2usize, 0..3usize, path, direction, any::<bool>());
    let index = index.prop_map(|(collection, name, path, direction, unique)| {
        let name = format!("index {name}");
        let spec = spec(&name, path, direction, unique);
        ((COLLECTIONS[collection].to_owned(), name), spec)
    });
    prop::collection::vec(index, 0..4).prop_map(|indexes| indexes.into_iter().collect())
}

fn step() -> impl Strategy<Value = Step> {
    let units = prop_oneof![2 => Just(None), 1 => (0..2usize).prop_map(Some)];
    let open = (0..2usize, prop::bool::weighted(0.8), indexes(), units);
    let open = open.prop_map(|(database, is_new_version, indexes, units)| Step::Open {
        database,
        is_new_version,
        indexes,
        units,
    });
    let by_hand = (0..2usize, 0..4usize);
    prop_oneof![
        12 => open,
        1 => by_hand.prop_map(|(collection, name)| Step::ByHand { collection, name }),
    ]
}

struct Documents(Vec<Document>);

#[async_trait]
impl UnitOfWork for Documents {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        for document in &self.0 {
            let document = RawDocumentBuf::try_from(document).expect("a document");
            for collection in COLLECTIONS {
                let writes = vec![DocumentWrite::Insert(&document)];
                let batch = CollectionWrites { collection, writes };
                transaction.apply(&[batch]).await?;
            }
        }
        Ok(())
    }
}

fn specs_of(indexes: &Indexes) -> Vec<CollectionSpec> {
    let mut specs = COLLECTIONS.map(|name| CollectionSpec {
        name: name.to_owned(),
        ..CollectionSpec::default()
    });
    for ((collection, _), index) in indexes {
        let specs = specs.iter_mut().filter(|spec| spec.name == *collection);
        specs.for_each(|spec| spec.indexes.push(index.clone()));
    }
    specs.into()
}

fn in_store(store: &Embedded) -> Indexes {
    let indexes = store.indexes().expect("an open store").into_iter();
    indexes
        .map(|(collection, index)| ((collection, index.name.clone()), index))
        .collect()
}

/// Opens a version of a database that declares nothing but indexes.
async fn opened(store: Arc<dyn Store>, name: &str, version: u32, indexes: &Indexes) -> Result<()> {
    let declaration = Declaration {
        name: name.to_owned(),
        version,
        specs: specs_of(indexes),
        ..Declaration::default()
    };
    let (migrations, options) = (Migrations::new(), OpenOptions::default());
    let session: MakeSession<'_> = &|_, _| unreachable!("nothing is migrated");
    open(&store, declaration, &[], &migrations, &options, session)
        .await
        .map(drop)
}

/// The expected state of the store.
#[derive(Default)]
struct Expected {
    /// The newest version and the declared indexes of each database.
    declared: [(u32, Indexes); 2],
    by_hand: Indexes,
}

impl Expected {
    fn in_force(&self) -> Indexes {
        let declared = self.declared.iter().map(|(_, indexes)| indexes);
        declared
            .chain([&self.by_hand])
            .flatten()
            .map(|(name, index)| (name.clone(), index.clone()))
            .collect()
    }

    /// The error of a database, if there must be one. An index made by hand is met last, as the indexes are made.
    fn error(&self, database: usize, version: u32, indexes: &Indexes) -> Option<ErrorKind> {
        let (newest, declared) = &self.declared[database];
        let is_gone = |(name, index)| indexes.get(name) != Some(index);
        let is_other = |(name, index)| indexes.get(name).is_some_and(|declared| declared != index);
        let mut others = self.declared[1 - database].1.iter();
        if (version == *newest && declared.iter().any(is_gone)) || others.any(is_other) {
            return Some(ErrorKind::Schema);
        }
        let mut unique = indexes.values().filter(|index| index.unique);
        if unique.any(|index| index.keys[0].0 == "same") {
            return Some(ErrorKind::DuplicateKey);
        }
        let is_by_hand = self.by_hand.iter().any(is_other);
        is_by_hand.then_some(ErrorKind::Schema)
    }
}

async fn check(history: Vec<Step>) {
    let store = Embedded::memory().await.expect("a store");
    let documents = (0..5).map(|n| doc! { "_id": n, "a": n, "b": [n, -n], "same": Bson::Null });
    let documents = Arc::new(Documents(documents.collect()));
    store
        .run(documents, Durability::Immediate)
        .await
        .expect("the documents");
    let mut expected = Expected::default();
    for step in history {
        let before = in_store(&store);
        match step.clone() {
            Step::ByHand { collection, name } => {
                let name = format!("index {name}");
                let index = spec(&name, "hand", Direction::Ascending, false);
                let key = (COLLECTIONS[collection].to_owned(), name);
                let spec = CollectionSpec {
                    name: key.0.clone(),
                    indexes: vec![index.clone()],
                    ..CollectionSpec::default()
                };
                // Nobody takes the name of an index that a process has removed before it ended, and
                // that is still declared.
                let declared = expected.in_force();
                let is_free =
                    |index: Option<&IndexSpec>| index.is_none_or(|other| *other == spec.indexes[0]);
                if is_free(declared.get(&key)) {
                    let made = store.ensure(std::slice::from_ref(&spec)).await;
                    assert_eq!(made.is_ok(), is_free(before.get(&key)), "{step:?}");
                    if made.is_ok() {
                        expected.by_hand.insert(key, index);
                    }
                }
            }
            Step::Open {
                database,
                is_new_version,
                indexes,
                units,
            } => {
                let version = expected.declared[database].0 + u32::from(is_new_version);
                let ending = Ending {
                    store: store.clone(),
                    units: AtomicUsize::new(units.unwrap_or(usize::MAX)),
                };
                let error = expected.error(database, version, &indexes);
                let name = DATABASES[database];
                let opened = opened(Arc::new(ending), name, version, &indexes).await;
                let after = in_store(&store);
                let old = std::mem::replace(&mut expected.declared[database], (version, indexes));
                match opened.map_err(|error| error.kind()) {
                    Ok(_) => {
                        assert_eq!(error, None, "{step:?}");
                        assert_eq!(after, expected.in_force(), "{step:?}");
                    }
                    Err(ErrorKind::Io) if units.is_some() => {
                        assert!(after == before || after == expected.in_force(), "{step:?}");
                        expected.declared[database] = old;
                    }
                    Err(kind) => {
                        assert_eq!((Some(kind), &after), (error, &before), "{step:?}");
                        expected.declared[database] = old;
                    }
                }
            }
        }
    }
    store.check_integrity().await.expect("sound indexes");
}

#[test]
fn after_any_history_a_store_has_the_indexes_that_the_newest_versions_declare_and_those_made_by_hand()
 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 100,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let history = prop::collection::vec(step(), 1..15);
    let result = runner.run(&history, |history| {
        runtime.block_on(check(history));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_that_one_database_gives_up_while_another_declares_it_stays() {
    let store = Embedded::memory().await.expect("a store");
    let index = spec("index", "a", Direction::Ascending, true);
    let with = Indexes::from([(("things".to_owned(), "index".to_owned()), index)]);
    for round in 0..100 {
        let opened = |database: usize| {
            let (store, with) = (store.clone(), with.clone());
            tokio::spawn(async move {
                let is_with = (round + database).is_multiple_of(2);
                let declared = if is_with { with } else { Indexes::new() };
                let version = u32::try_from(round).expect("a small number");
                let name = DATABASES[database];
                super::tests::opened(Arc::new(store), name, version, &declared).await
            })
        };
        for opened in [opened(0), opened(1)] {
            opened
                .await
                .expect("no panic")
                .expect("the database is opened");
        }
        assert_eq!(in_store(&store), with, "round {round}");
    }
}
