//! Collections and indexes that are made by one `open`.

use std::time::Duration;

use odm::{
    mql::Direction,
    store::{
        contract::{CollectionSpec, IndexSpec, Store},
        embedded::Embedded,
    },
};

use super::{grows_with_input, taken};

fn index(name: String) -> IndexSpec {
    IndexSpec {
        keys: vec![(name.clone(), Direction::Ascending)],
        name,
        unique: false,
        present_only: false,
        case_insensitive: false,
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

/// The steps of some requests that ask for nothing, with those of what the store does in between.
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
            // What the obsolete ones leave is swept after it, in turns with other requests: the steps of that are counted, too.
            while requests(&store).await > idle {}
        })
        .await
    }
}
