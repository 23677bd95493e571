//! Random histories of writes; after each step, every subset agrees with its recomputed definition.

use odm::{bson::doc, prelude::*, store::embedded::Embedded};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use odm_store_suite::MapStore;
use tests::TestStore;

use super::{Blog, Comment, Post, assert_right, comment, post};

#[derive(Debug, Clone)]
enum Op {
    Insert(Comment),
    InsertMany(Vec<Comment>),
    Upsert(Comment),
    Replace(Comment),
    Write(i32, i64),
    Rate(i32, Option<i32>),
    Publish(i32, bool),
    Edit(i32, i32),
    Note(i32),
    Move(i32, Option<i32>),
    MoveAll(i32, i32),
    UnsetRatings(i64),
    Delete(i32),
    DeleteOlder(i64),
    InsertPost(i32),
    ReplacePost(i32),
    DeletePost(i32),
}

fn any_comment() -> impl Strategy<Value = Comment> {
    let rating = prop::option::of(0..3);
    (0..12, 0..4, 0..4_i64, rating, any::<bool>()).prop_map(
        |(id, to, written, rating, published)| Comment {
            published,
            ..comment(id, to, written, rating)
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    let id = || 0..12;
    let of = || 0..4;
    prop_oneof![
        6 => any_comment().prop_map(Op::Insert),
        2 => prop::collection::vec(any_comment(), 0..5).prop_map(Op::InsertMany),
        2 => any_comment().prop_map(Op::Upsert),
        2 => any_comment().prop_map(Op::Replace),
        2 => (id(), 0..4_i64).prop_map(|(id, written)| Op::Write(id, written)),
        2 => (id(), prop::option::of(0..3)).prop_map(|(id, rating)| Op::Rate(id, rating)),
        1 => (id(), any::<bool>()).prop_map(|(id, published)| Op::Publish(id, published)),
        1 => (id(), 0..3).prop_map(|(id, edit)| Op::Edit(id, edit)),
        1 => id().prop_map(Op::Note),
        2 => (id(), prop::option::of(of())).prop_map(|(id, to)| Op::Move(id, to)),
        1 => (of(), of()).prop_map(|(from, to)| Op::MoveAll(from, to)),
        1 => (0..4_i64).prop_map(Op::UnsetRatings),
        2 => id().prop_map(Op::Delete),
        1 => (0..3_i64).prop_map(Op::DeleteOlder),
        2 => of().prop_map(Op::InsertPost),
        1 => of().prop_map(Op::ReplacePost),
        1 => of().prop_map(Op::DeletePost),
    ]
}

/// Runs a write. It may be refused, but it must not leave a subset wrong.
async fn run(db: &Blog, op: Op) -> odm::Result<()> {
    let fields = Comment::fields();
    match op {
        Op::Insert(comment) => db.comments.insert(comment).await.map(drop),
        Op::InsertMany(comments) => db.comments.insert_many(comments).await.map(drop),
        Op::Upsert(comment) => db.comments.upsert(comment).await.map(drop),
        Op::Replace(comment) => db.comments.replace(comment).await.map(drop),
        Op::Write(id, written) => db.comments.update(id).set(fields.written, written).await,
        Op::Rate(id, rating) => db.comments.update(id).set(fields.score.rating, rating).await,
        Op::Publish(id, published) => db.comments.update(id).set(fields.published, published).await,
        Op::Edit(id, edit) => {
            let text = format!("comment {id}, edit {edit}");
            db.comments.update(id).set(fields.text, text).await
        }
        Op::Note(id) => db.comments.update(id).inc(fields.note, 1).await,
        Op::Move(id, to) => db.comments.update(id).set(fields.post, to.map(Ref::new)).await,
        Op::MoveAll(from, to) => {
            db.comments.update_where(fields.post.eq(from)).set(fields.post, to).await.map(drop)
        }
        Op::UnsetRatings(written) => {
            let raw = doc! { "$unset": { "score.rating": "" } };
            db.comments.update_where(fields.written.eq(written)).raw(raw).await.map(drop)
        }
        Op::Delete(id) => db.comments.delete(id).await.map(drop),
        Op::DeleteOlder(written) => {
            db.comments.delete_where(fields.written.lt(written)).await.map(drop)
        }
        Op::InsertPost(id) => db.posts.insert(post(id)).await.map(drop),
        Op::ReplacePost(id) => {
            let other = db.posts.all().first().await?.unwrap_or_else(|| post(id));
            db.posts.upsert(Post { id, ..other }).await.map(drop)
        }
        Op::DeletePost(id) => db.posts.delete(id).await.map(drop),
    }
}

/// Runs many histories, each on a new store.
fn histories<S: TestStore>(cases: u32, new: impl AsyncFn() -> S) {
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let history = prop::collection::vec(op(), 1..40);
    runner
        .run(&history, |history| {
            tests::run(async {
                let db = Blog::open(new().await).await.unwrap();
                for op in history {
                    // Refused writes are a part of the history.
                    let _ = run(&db, op).await;
                    assert_right(&db).await;
                }
            });
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_random_history_leaves_every_subset_right_in_memory() {
    histories(200, async || Embedded::memory().await.unwrap());
}

#[test]
fn a_random_history_leaves_every_subset_right_on_disk() {
    let files = tests::NewFiles::new();
    histories(25, async || files.open().await);
}

#[test]
fn a_random_history_leaves_every_subset_right_in_maps() {
    histories(60, async || MapStore::new());
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_random_history_leaves_every_subset_right_on_mongodb() {
    let databases = tests::NewDatabases::default();
    histories(6, async || databases.open().await);
}
