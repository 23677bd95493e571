//! Collections and indexes that one `open` makes, and documents that it tries and changes.

use std::time::Duration;

use odm::{
    migration::{Migrations, Step},
    mql::Direction,
    prelude::*,
    store::{
        contract::{CollectionSpec, IndexSpec, Store},
        embedded::Embedded,
    },
};

use serde::{Deserialize, Serialize};

use super::{Things, grows_with_input, options, taken, thing};

/// A later version of the things, with steps, and with another unique index.
mod later {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "things", index(fields = "group, n"))]
    pub(super) struct Thing {
        #[serde(rename = "_id")]
        id: i64,
        #[index]
        n: i64,
        group: i64,
        #[index(unique)]
        text: String,
        #[index]
        list: Vec<i64>,
    }

    #[derive(Database)]
    #[database(name = "store", version = 2, migrations = steps)]
    pub(super) struct Things {
        things: Repository<Thing>,
    }

    fn steps() -> Migrations {
        let steps = [
            Step::change("things", "group", |group: i64| group + 1),
            Step::remove("things", "parts"),
        ];
        Migrations::new().to(2, steps)
    }
}

/// A store with `size` things.
async fn filled(size: usize) -> Embedded {
    let store = super::store().await;
    let db = Things::open_with(store.clone(), options()).await.unwrap();
    db.things.insert_many((0..size as i64).map(thing)).await.unwrap();
    store
}

fn index(name: String) -> IndexSpec {
    IndexSpec {
        keys: vec![(name.clone(), Direction::Ascending)],
        name,
        unique: false,
        present_only: false,
        case_insensitive: false,
        collation: None,
        filter: None,
    }
}

fn collection(name: String, indexes: usize) -> CollectionSpec {
    CollectionSpec {
        name,
        indexes: (0..indexes).map(|at| index(format!("i{at}"))).collect(),
        ..CollectionSpec::default()
    }
}

/// The steps of some empty requests, with the steps of the work that the store does in between.
async fn requests(store: &Embedded) -> u64 {
    let between = Duration::from_millis(5);
    let requests = taken(async {
        for _ in 0..3 {
            store.ensure(&[]).await.unwrap();
            tokio::time::sleep(between).await;
        }
    });
    requests.await.steps
}

grows_with_input! {
    250: async fn many_collections_with_indexes(size: usize) -> Taken {
        let store = super::store().await;
        let all: Vec<_> = (0..size).map(|at| collection(format!("c{at}"), 3)).collect();
        taken(async {
            store.ensure(&all).await.unwrap();
            assert_eq!(store.size().unwrap().collections.len(), size);
        })
        .await
    }

    250: async fn many_collections_that_are_there(size: usize) -> Taken {
        let store = super::store().await;
        let all: Vec<_> = (0..size).map(|at| collection(format!("c{at}"), 3)).collect();
        store.ensure(&all).await.unwrap();
        taken(async { store.ensure(&all).await.unwrap() }).await
    }

    250: async fn many_indexes_of_one_collection(size: usize) -> Taken {
        let store = super::store().await;
        let all = [collection("c".into(), size)];
        taken(async { store.ensure(&all).await.unwrap() }).await
    }

    250: async fn many_indexes_that_are_obsolete(size: usize) -> Taken {
        let store = super::store().await;
        let old = collection("c".into(), size);
        store.ensure(std::slice::from_ref(&old)).await.unwrap();
        let idle = requests(&store).await;
        let new = CollectionSpec {
            indexes: (0..size).map(|at| index(format!("j{at}"))).collect(),
            obsolete: old.indexes.clone(),
            ..old
        };
        taken(async {
            store.ensure(&[new]).await.unwrap();
            // The remains of the obsolete indexes are swept after it, in turns with other requests: these steps are counted, too.
            while requests(&store).await > idle {}
        })
        .await
    }

    1_000: async fn an_index_of_many_documents(size: usize) -> Taken {
        let store = filled(size).await;
        let mut things = collection("things".into(), 0);
        things.indexes.push(index("text".into()));
        taken(async { store.ensure(&[things]).await.unwrap() }).await
    }

    500: async fn a_check_of_steps_on_many_documents(size: usize) -> Taken {
        let store = filled(size).await;
        taken(async { assert_eq!(later::Things::check(&store).await.unwrap().failures, []) }).await
    }

    500: async fn an_open_with_steps_on_many_documents(size: usize) -> Taken {
        let store = filled(size).await;
        let idle = requests(&store).await;
        taken(async {
            let _open = later::Things::open_with(store.clone(), options()).await.unwrap();
            // The documents that the steps have replaced are swept after it, as far as this store has more to do than before.
            for _ in 0..50 {
                if requests(&store).await <= idle {
                    break;
                }
            }
        })
        .await
    }
}
