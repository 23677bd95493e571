//! A unit holds a few pages of documents, however many it changes.

use bson::{Bson, doc};

use super::{super::unit::MOST_HELD, *};

const NUMBER: i32 = 300;
const BOUNDS: Bounds = Bounds {
    queue: 10,
    chunk: 10,
};

/// A store with `NUMBER` authors, posts and comments, which refer to others by these functions of their `_id`s.
async fn filled(catalog: &Catalog, author_of: fn(i32) -> i32, post_of: fn(i32) -> i32) -> Embedded {
    let store = empty_store(|_| Vec::new()).await;
    let author = |id: i32| {
        let bio = doc! { "text": 0, "mentor": null };
        doc! { "_id": id, "name": "a", "owned": [], "bio": bio, "v": 0_i64 }
    };
    let post = |id: i32| {
        doc! { "_id": id, "title": "t", "author": author_of(id), "owner": Bson::Null, "v": 0_i64 }
    };
    let comment = |id: i32| {
        doc! { "_id": id, "post": post_of(id), "fan": Bson::Null, "s": id, "hidden": false }
    };
    let inserts: [(&str, Vec<Document>); 3] = [
        ("authors", (0..NUMBER).map(author).collect()),
        ("posts", (0..NUMBER).map(post).collect()),
        ("comments", (0..NUMBER).map(comment).collect()),
    ];
    for (collection, documents) in inserts {
        let insert = Write::Insert {
            collection: collection.to_owned(),
            documents: documents.into_iter().map(|of| Doc::new(raw(of))).collect(),
            numbering: None,
            check_returned: ReturnedCheck::new(|_| Ok(())),
            rights: None,
            bypasses_rule: false,
        };
        write(catalog, &store, &insert, Bounds::default()).await;
    }
    store
}

async fn write(catalog: &Catalog, store: &Embedded, write: &Write, bounds: Bounds) -> WriteOutcome {
    let mut transaction = store.begin(TransactionOptions::default()).await.unwrap();
    let outcome = apply_within(catalog, &mut *transaction, write, bounds, false).await;
    transaction.commit().await.unwrap();
    outcome.unwrap()
}

async fn numbers(store: &Embedded) -> [usize; 3] {
    let mut numbers = [0; 3];
    for (number, name) in numbers.iter_mut().zip(["authors", "posts", "comments"]) {
        *number = all(store, name).await.len();
    }
    numbers
}

/// Runs a write, and checks the numbers of documents that it matches and leaves, and that it never holds many documents.
async fn holds_few(references: [fn(i32) -> i32; 2], write_of: Write, matched: i32, left: [i32; 3]) {
    let catalog = catalog();
    let [author_of, post_of] = references;
    let store = filled(&catalog, author_of, post_of).await;
    MOST_HELD.set(0);
    let outcome = write(&catalog, &store, &write_of, BOUNDS).await;
    let most = MOST_HELD.get();
    assert_eq!([outcome.matched, outcome.modified], [matched as u64; 2]);
    assert_eq!(numbers(&store).await, left.map(|number| number as usize));
    assert!(
        (1..=60).contains(&most),
        "{most} documents were held: {write_of:?}"
    );
    for name in COLLECTIONS {
        let documents = all(&store, name).await;
        let reader = store.reader().unwrap();
        let found = check(&catalog, AuditScope::MODELS, &*reader, name, &documents).await;
        assert_eq!(found.unwrap().findings, [], "{write_of:?}");
    }
}

fn delete(collection: &str, target: WriteTarget) -> Write {
    Write::Delete {
        collection: collection.to_owned(),
        target,
        returning: None,
        rights: None,
    }
}

#[tokio::test]
async fn a_delete_of_many_followed_documents_holds_a_few() {
    let posts = delete("posts", WriteTarget::Matching(Filter::default()));
    holds_few([|id| id, |id| id], posts, NUMBER, [NUMBER, 0, 0]).await;
}

#[tokio::test]
async fn a_cascade_to_many_documents_holds_a_few() {
    let post = delete("posts", WriteTarget::one(0.into()));
    holds_few([|id| id, |_| 0], post, 1, [NUMBER, NUMBER - 1, 0]).await;
}

#[tokio::test]
async fn a_delete_that_clears_many_references_holds_a_few() {
    let author = delete("authors", WriteTarget::one(0.into()));
    holds_few([|_| 0, |id| id], author, 1, [NUMBER - 1, NUMBER, NUMBER]).await;
}

#[tokio::test]
async fn an_update_of_many_split_documents_holds_a_few() {
    let change = doc! { "$inc": { "bio.text": 1 } };
    let update = update_write("authors", Filter::default(), change, false);
    holds_few([|id| id, |id| id], update, NUMBER, [NUMBER; 3]).await;
}
