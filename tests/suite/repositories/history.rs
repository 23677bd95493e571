//! Random histories of writes against a simple model of their effects.
//!
//! Two collections refer to each other and to themselves, with unique keys and a version. After each write the result, or the class of the
//! error, agrees with the model, and at the end so do the stored documents, in any way of reading.

mod model;
mod ops;

use odm::{Embedded, prelude::*};
use odm_store_suite::MapStore;
use proptest::{
    prelude::*,
    test_runner::{Config, TestCaseError, TestRunner},
};
use tests::{TestStore, stored};

use self::{
    model::{Author, Blog, Model, Post},
    ops::{Op, ops},
};

/// Runs a history on a store and on the model, side by side.
async fn check(store: impl TestStore, history: &[Op]) -> Result<(), TestCaseError> {
    let db = Blog::open(store).await.unwrap();
    let mut model = Model::default();
    for (step, op) in history.iter().enumerate() {
        let expected = model.apply(op);
        let actual = op.run(&db).await;
        prop_assert_eq!(&actual, &expected, "step {} of the history, {:?}", step, op);
    }
    let authors: Vec<Author> = db.authors.all().await.unwrap();
    prop_assert_eq!(&authors, &model.authors.values().cloned().collect::<Vec<_>>());
    let posts: Vec<Post> = db.posts.all().await.unwrap();
    prop_assert_eq!(&posts, &model.posts.values().cloned().collect::<Vec<_>>());

    // The same by the indexes, and by the references.
    for author in &authors {
        let found = db.authors.find(Author::fields().email.eq(&author.email)).one().await.unwrap();
        prop_assert_eq!(&found, author);
        let of: Vec<i64> = db.posts.of(author).await.unwrap().iter().map(|post| post.id).collect();
        let mine = posts.iter().filter(|post| *post.author.id() == author.id);
        prop_assert_eq!(of, mine.map(|post| post.id).collect::<Vec<_>>());
    }
    let fields = Post::fields();
    let rows = db.posts.all().join(fields.author).join(fields.related).await.unwrap();
    prop_assert_eq!(rows.len(), posts.len());
    for (post, author, related) in rows {
        prop_assert_eq!(&author, &model.authors[post.author.id()]);
        let expected = post.related.iter().map(|id| model.posts[id.id()].clone());
        prop_assert_eq!(related, expected.collect::<Vec<_>>());
    }
    let by_score = db.posts.all().sort(fields.score.desc()).await.unwrap();
    let mut expected = posts;
    expected.sort_by_key(|post| (-post.score, post.id));
    prop_assert_eq!(by_score, expected);
    Ok(())
}

/// Runs many histories, each on a new store, which is verified at the end.
fn histories<S: TestStore>(
    cases: u32,
    new: impl AsyncFn() -> S,
    verify: impl AsyncFn(&S) -> odm::Result<()>,
) {
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&ops(), |history| {
        tests::run(async {
            let store = new().await;
            check(store.clone(), &history).await?;
            let verified = verify(&store).await;
            verified.map_err(|error| TestCaseError::fail(error.to_string()))
        })
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

#[test]
fn random_histories_do_what_the_model_does_in_memory() {
    histories(200, async || Embedded::memory().await.unwrap(), Embedded::check_integrity);
}

#[test]
fn random_histories_do_what_the_model_does_on_disk() {
    let files = tests::NewFiles::new();
    histories(15, async || files.open().await, Embedded::check_integrity);
}

#[test]
fn random_histories_do_what_the_model_does_in_maps() {
    histories(60, async || MapStore::new(), async |_| Ok(()));
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn random_histories_do_what_the_model_does_on_mongodb() {
    let databases = tests::NewDatabases::default();
    histories(6, async || databases.open().await, async |_| Ok(()));
}

#[test]
fn random_histories_do_the_same_in_memory_and_in_maps() {
    let mut runner =
        TestRunner::new(Config { cases: 60, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&ops(), |history| {
        tests::run(async {
            let stores = (Embedded::memory().await.unwrap(), MapStore::new());
            let one = Blog::open(stores.0.clone()).await.unwrap();
            let other = Blog::open(stores.1.clone()).await.unwrap();
            for op in &history {
                prop_assert_eq!(op.run(&one).await, op.run(&other).await, "{:?}", op);
            }
            for collection in ["authors", "posts"] {
                let one = stored(&stores.0, collection).await;
                prop_assert_eq!(one, stored(&stores.1, collection).await);
            }
            Ok(())
        })
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
