//! A watch shows every committed change of its documents once, in the order of commits.

use std::{collections::BTreeMap, time::Duration};

use odm::{
    Embedded, ErrorKind,
    prelude::*,
    repository::{ChangeEvent, ChangeStream},
    store::{Cause, Durability},
};
use odm_store_suite::MapStore;
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde::{Deserialize, Serialize};
use tests::{NewFiles, behind_the_back, on_embedded_stores, on_serializable_stores};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "authors")]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[count(of = "Post")]
    posts: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "posts")]
struct Post {
    #[serde(rename = "_id")]
    id: i32,
    likes: i64,
    #[reference(parent, on_delete = "cascade")]
    author: Ref<Author>,
    #[denormalize(from = "Author.name")]
    author_name: String,
    #[split(collection = "bodies", key = "post")]
    body: Cold<Body>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Body {
    text: String,
}

/// Its writes have no consequences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "counters")]
struct Counter {
    #[serde(rename = "_id")]
    id: i32,
    value: i64,
}

#[derive(Database)]
#[database(name = "blog", version = 1)]
struct Blog {
    authors: Repository<Author>,
    posts: Repository<Post>,
    counters: Repository<Counter>,
}

/// Another program, which knows some of the collections.
#[derive(Database)]
#[database(name = "meter", version = 1)]
struct Meter {
    counters: Repository<Counter>,
}

fn author(id: i32) -> Author {
    Author { id, name: format!("author {id}"), posts: 0 }
}

fn post(id: i32, author: i32) -> Post {
    Post {
        id,
        likes: 0,
        author: Ref::new(author),
        author_name: String::new(),
        body: Cold::new(Body { text: "once".into() }),
    }
}

fn counter(id: i32, value: i64) -> Counter {
    Counter { id, value }
}

/// The changes that have arrived so far.
async fn taken<M: Document>(changes: &mut ChangeStream<M>) -> Vec<ChangeEvent<M>> {
    let mut taken = Vec::new();
    while let Ok(next) = tokio::time::timeout(Duration::from_millis(20), changes.next()).await {
        match next {
            Some(change) => taken.push(change.unwrap()),
            None => break,
        }
    }
    taken
}

type Shown<M> = (Option<M>, Option<M>, Cause);

fn shown<M: Document>(changes: Vec<ChangeEvent<M>>) -> Vec<Shown<M>> {
    let changes = changes.into_iter();
    let changes = changes.map(|change| (change.before, change.after, change.cause));
    changes.collect()
}

async fn all_counters(blog: &Blog) -> BTreeMap<i32, Counter> {
    let all = blog.counters.all().await.unwrap();
    all.into_iter().map(|counter| (counter.id, counter)).collect()
}

/// Applies a change to a copy of the collection, which must have the state before the change.
fn follow(copy: &mut BTreeMap<i32, Counter>, change: ChangeEvent<Counter>) {
    assert_eq!(copy.get(&change.id), change.before.as_ref(), "{change:?}");
    apply(copy, change);
}

fn apply(copy: &mut BTreeMap<i32, Counter>, change: ChangeEvent<Counter>) {
    match change.after {
        Some(after) => copy.insert(change.id, after),
        None => copy.remove(&change.id),
    };
}

on_serializable_stores! {
    async fn a_watch_shows_every_way_of_writing(store: AnyStore) {
        let blog = Blog::open(store).await.unwrap();
        let mut changes = blog.counters.watch(Filter::all()).await.unwrap();
        let fields = Counter::fields();
        let (counters, write) = (&blog.counters, Cause::Write);
        counters.insert_many([counter(1, 0), counter(2, 0)]).await.unwrap();
        counters.update(1).set(fields.value, 1).await.unwrap();
        // A write without a change.
        counters.update(1).set(fields.value, 1).await.unwrap();
        counters.update_where(Filter::all()).inc(fields.value, 1).await.unwrap();
        counters.replace(counter(1, 9)).await.unwrap();
        counters.upsert(counter(3, 3)).await.unwrap();
        counters.update_where(fields.id.eq(4)).set(fields.value, 4).upsert().await.unwrap();
        counters.modify(2, |counter| counter.value = 5).await.unwrap();
        counters.delete(2).await.unwrap();
        counters.delete_where(fields.id.lte(3)).await.unwrap();
        counters.durability(Durability::Eventual).delete(4).await.unwrap();
        counters.upsert_many([counter(5, 5), counter(6, 6)]).await.unwrap();
        counters.upsert_many([counter(5, 7), counter(6, 6)]).await.unwrap();
        let several = (counters.delete(5), counters.update(6).set(fields.value, 8));
        blog.bulk(several).await.unwrap();
        let one = |id, value| Some(counter(id, value));
        let expected = [
            (None, one(1, 0), write),
            (None, one(2, 0), write),
            (one(1, 0), one(1, 1), write),
            (one(1, 1), one(1, 2), write),
            (one(2, 0), one(2, 1), write),
            (one(1, 2), one(1, 9), write),
            (None, one(3, 3), write),
            (None, one(4, 4), write),
            (one(2, 1), one(2, 5), write),
            (one(2, 5), None, write),
            (one(1, 9), None, write),
            (one(3, 3), None, write),
            (one(4, 4), None, write),
            (None, one(5, 5), write),
            (None, one(6, 6), write),
            (one(5, 5), one(5, 7), write),
            (one(5, 7), None, write),
            (one(6, 6), one(6, 8), write),
        ];
        assert_eq!(shown(taken(&mut changes).await), expected);
    }

    async fn what_follows_from_a_write_is_shown_as_such(store: AnyStore) {
        let blog = Blog::open(store.clone()).await.unwrap();
        blog.authors.insert_many([author(1), author(2)]).await.unwrap();
        let mut authors = blog.authors.watch(Filter::all()).await.unwrap();
        let mut posts = blog.posts.watch(Filter::all()).await.unwrap();
        blog.posts.insert(post(1, 1)).await.unwrap();
        let inserted = shown(taken(&mut posts).await);
        let [(None, Some(first), Cause::Write)] = inserted.as_slice() else {
            panic!("{inserted:?}");
        };
        assert_eq!(first.author_name, "author 1");
        let counted = Author { posts: 1, ..author(1) };
        let refreshed = [(Some(author(1)), Some(counted.clone()), Cause::Relation)];
        assert_eq!(shown(taken(&mut authors).await), refreshed);

        blog.authors.update(1).set(Author::fields().name, "new").await.unwrap();
        let renamed = Author { name: "new".into(), ..counted.clone() };
        let copied = Post { author_name: "new".into(), ..first.clone() };
        let written = [(Some(counted), Some(renamed.clone()), Cause::Write)];
        assert_eq!(shown(taken(&mut authors).await), written);
        let refreshed = [(Some(first.clone()), Some(copied.clone()), Cause::Relation)];
        assert_eq!(shown(taken(&mut posts).await), refreshed);

        blog.authors.delete(1).await.unwrap();
        assert_eq!(shown(taken(&mut authors).await), [(Some(renamed), None, Cause::Write)]);
        assert_eq!(shown(taken(&mut posts).await), [(Some(copied), None, Cause::Relation)]);

        // A repair is not a consequence of a write of the document.
        let wrong = odm::bson::doc! { "$set": { "posts": 7_i64 } };
        behind_the_back(&store, "authors", odm::bson::doc! { "_id": 2 }, wrong).await;
        blog.repair().await.unwrap();
        let repaired = [(Some(Author { posts: 7, ..author(2) }), Some(author(2)), Cause::Relation)];
        assert_eq!(shown(taken(&mut authors).await), repaired);
    }

    async fn one_change_is_shown_of_all_that_a_commit_does_to_a_document(store: AnyStore) {
        let blog = Blog::open(store).await.unwrap();
        blog.authors.insert_many([author(1), author(2)]).await.unwrap();
        let mut authors = blog.authors.watch(Filter::all()).await.unwrap();
        let name = Author::fields().name;
        blog.transaction(async |blog| {
            blog.posts.insert_many([post(1, 1), post(2, 2)]).await?;
            blog.authors.update(1).set(name, "new").await?;
            // In the end this author is unchanged.
            blog.authors.update(2).set(name, "other").await?;
            blog.posts.delete(2).await?;
            blog.authors.update(2).set(name, "author 2").await
        })
        .await
        .unwrap();
        let after = Author { name: "new".into(), posts: 1, ..author(1) };
        let expected = [(Some(author(1)), Some(after), Cause::Write)];
        assert_eq!(shown(taken(&mut authors).await), expected);
    }

    async fn a_change_of_a_cold_part_alone_is_shown(store: AnyStore) {
        let blog = Blog::open(store).await.unwrap();
        blog.authors.insert(author(1)).await.unwrap();
        blog.posts.insert_many([post(1, 1), post(2, 1)]).await.unwrap();
        let mut posts = blog.posts.watch(Filter::all()).await.unwrap();
        let text = Post::fields().body.text;
        blog.posts.update(1).set(text, "twice").await.unwrap();
        blog.posts.update(2).set(text, "once").await.unwrap();
        let stored = blog.posts.get(1).await.unwrap();
        assert!(!stored.body.is_loaded());
        let expected = [(Some(stored.clone()), Some(stored), Cause::Write)];
        assert_eq!(shown(taken(&mut posts).await), expected);

        let error = blog.posts.watch(text.eq("once")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
    }

    async fn a_transaction_is_one_commit_and_what_is_rolled_back_is_never_shown(store: AnyStore) {
        let blog = Blog::open(store).await.unwrap();
        blog.counters.insert(counter(1, 0)).await.unwrap();
        let mut changes = blog.counters.watch(Filter::all()).await.unwrap();
        let value = Counter::fields().value;
        let failed = blog.transaction(async |blog| {
            blog.counters.update(1).set(value, 7).await?;
            blog.counters.get(9).await.map(drop)
        });
        assert!(failed.await.unwrap_err().is_not_found());
        let guard = blog.begin().await.unwrap();
        guard.counters.update(1).set(value, 8).await.unwrap();
        drop(guard);
        // One of its documents is stored already, so that all are refused.
        let many = [counter(2, 0), counter(1, 0)];
        assert!(blog.counters.insert_many(many).await.unwrap_err().is_duplicate_key());
        blog.counters.update(1).set(value, 6).plan().await.unwrap();
        blog.transaction(async |blog| {
            blog.counters.insert(counter(2, 2)).await?;
            blog.counters.update(1).set(value, 1).await?;
            blog.counters.insert(counter(3, 3)).await?;
            blog.counters.update(1).set(value, 2).await?;
            blog.counters.delete(3).await.map(drop)
        })
        .await
        .unwrap();
        let expected = [
            (None, Some(counter(2, 2)), Cause::Write),
            (Some(counter(1, 0)), Some(counter(1, 2)), Cause::Write),
        ];
        assert_eq!(shown(taken(&mut changes).await), expected);
    }

    async fn a_change_counts_if_the_document_matches_before_or_after_it(store: AnyStore) {
        let blog = Blog::open(store).await.unwrap();
        let value = Counter::fields().value;
        let mut changes = blog.counters.watch(value.gte(10)).await.unwrap();
        blog.counters.insert(counter(1, 0)).await.unwrap();
        for now in [5, 10, 11, 4, 3] {
            blog.counters.update(1).set(value, now).await.unwrap();
        }
        blog.counters.delete(1).await.unwrap();
        let values: Vec<_> = shown(taken(&mut changes).await);
        let values: Vec<_> = values.iter().map(|(before, after, _)| {
            (before.as_ref().map(|of| of.value), after.as_ref().map(|of| of.value))
        }).collect();
        let some = |before, after| (Some(before), Some(after));
        assert_eq!(values, [some(5, 10), some(10, 11), some(11, 4)]);
    }

    async fn a_reader_who_falls_behind_is_told_by_how_much_and_goes_on(store: AnyStore) {
        let blog = Blog::open(store).await.unwrap();
        blog.counters.insert(counter(1, 0)).await.unwrap();
        let mut slow = blog.counters.watch(Filter::all()).buffer(4).await.unwrap();
        let mut other = blog.counters.watch(Filter::all()).await.unwrap();
        for now in 1..=10 {
            blog.counters.update(1).set(Counter::fields().value, now).await.unwrap();
        }
        let error = slow.next().await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Lagged);
        assert!(error.to_string().contains("missed 6 commits"), "{error}");
        let values = |changes: Vec<ChangeEvent<Counter>>| -> Vec<i64> {
            changes.into_iter().filter_map(|change| Some(change.after?.value)).collect()
        };
        assert_eq!(values(taken(&mut slow).await), [7, 8, 9, 10]);
        assert_eq!(values(taken(&mut other).await), (1..=10).collect::<Vec<_>>());
        for buffer in [0, usize::MAX] {
            let error = blog.counters.watch(Filter::all()).buffer(buffer).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
        }
    }

    async fn a_document_that_cannot_be_read_is_an_error_in_its_place(store: AnyStore) {
        let blog = Blog::open(store.clone()).await.unwrap();
        blog.counters.insert_many([counter(1, 0), counter(2, 0)]).await.unwrap();
        let wrong = odm::bson::doc! { "$set": { "value": "text" } };
        behind_the_back(&store, "counters", odm::bson::doc! { "_id": 1 }, wrong).await;
        let mut changes = blog.counters.watch(Filter::all()).await.unwrap();
        blog.counters.delete_where(Filter::all()).await.unwrap();
        let error = changes.next().await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
        assert_eq!(changes.try_next().await.unwrap().unwrap().id, 2);
    }

    async fn databases_on_one_store_see_the_writes_of_each_other(store: AnyStore) {
        let blog = Blog::open(store.clone()).await.unwrap();
        let meter = Meter::open(store).await.unwrap();
        let mut changes = blog.counters.watch(Filter::all()).await.unwrap();
        meter.counters.insert(counter(1, 1)).await.unwrap();
        blog.counters.insert(counter(2, 2)).await.unwrap();
        let ids: Vec<i32> = taken(&mut changes).await.iter().map(|change| change.id).collect();
        assert_eq!(ids, [1, 2]);
    }

    async fn a_stream_ends_when_the_store_is_closed(store: AnyStore) {
        let blog = Blog::open(store).await.unwrap();
        let mut changes = blog.counters.watch(Filter::all()).await.unwrap();
        blog.counters.insert(counter(1, 0)).await.unwrap();
        blog.close().await.unwrap();
        assert_eq!(changes.next().await.unwrap().unwrap().id, 1);
        assert!(changes.next().await.is_none());
        assert!(changes.next().await.is_none());
        let error = blog.counters.watch(Filter::all()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    }

    async fn a_copy_that_is_read_after_a_watch_has_begun_becomes_what_is_stored(store: AnyStore) {
        let blog = Blog::open(store).await.unwrap();
        let ids = 0..4;
        blog.counters.insert_many(ids.clone().map(|id| counter(id, 0))).await.unwrap();
        for round in 0..20 {
            let writers = ids.clone().map(|id| {
                let blog = blog.clone();
                tokio::spawn(async move {
                    for _ in 0..10 {
                        // Some writes are in transactions, which may be open when the watch begins.
                        let value = Counter::fields().value;
                        let written = match id {
                            0 => blog.transaction(async |blog| {
                                blog.counters.update(id).inc(value, 1).await?;
                                tokio::task::yield_now().await;
                                blog.counters.update(3).inc(value, 1).await
                            }).await,
                            _ => blog.counters.update(id).inc(value, 1).await,
                        };
                        written.unwrap();
                    }
                })
            });
            let writers: Vec<_> = writers.collect();
            let mut changes = blog.counters.watch(Filter::all()).await.unwrap();
            let mut copy = all_counters(&blog).await;
            for writer in writers {
                writer.await.unwrap();
            }
            for change in taken(&mut changes).await {
                apply(&mut copy, change);
            }
            assert_eq!(copy, all_counters(&blog).await, "round {round}");
        }
    }
}

on_embedded_stores! {
    async fn a_write_reads_what_it_changes_only_while_somebody_watches(store: AnyStore) {
        let blog = Blog::open(store).await.unwrap();
        blog.counters.insert(counter(1, 0)).await.unwrap();
        let queries = async || {
            let write = async { blog.counters.update(1).inc(Counter::fields().value, 1).await };
            let (written, cost) = odm::measure(write).await;
            written.unwrap();
            cost.queries
        };
        assert_eq!(queries().await, 1);
        // A watch of another collection.
        let authors = blog.authors.watch(Filter::all()).await.unwrap();
        assert_eq!(queries().await, 1);
        let changes = blog.counters.watch(Filter::all()).await.unwrap();
        assert_eq!(queries().await, 2);
        drop((changes, authors));
        // The changes are kept for a while, so that another watch can go on.
        assert_eq!(queries().await, 2);
    }

    async fn a_watch_shows_the_transaction_that_was_open_when_it_began(store: AnyStore) {
        let blog = Blog::open(store).await.unwrap();
        blog.counters.insert_many([counter(1, 0), counter(2, 0)]).await.unwrap();
        let value = Counter::fields().value;
        let guard = blog.begin().await.unwrap();
        guard.counters.update(1).set(value, 5).await.unwrap();
        let mut changes = blog.counters.watch(Filter::all()).await.unwrap();
        guard.counters.update(2).set(value, 6).await.unwrap();
        guard.commit().await.unwrap();
        let shown = taken(&mut changes).await;
        let shown: Vec<_> = shown.iter().map(|change| change.after.as_ref().unwrap().value).collect();
        assert_eq!(shown, [5, 6]);
    }
}

#[tokio::test]
async fn a_token_goes_on_in_the_middle_of_a_commit_and_across_what_is_kept() {
    let blog = Blog::open(Embedded::memory().await.unwrap()).await.unwrap();
    let mut changes = blog.counters.watch(Filter::all()).await.unwrap();
    blog.counters.insert_many((0..4).map(|id| counter(id, 0))).await.unwrap();
    let shown = taken(&mut changes).await;
    drop(changes);
    blog.counters.delete(0).await.unwrap();
    for change in &shown {
        let token = change.token.clone();
        let mut changes =
            blog.counters.watch(Filter::all()).resume_after(token.clone()).await.unwrap();
        assert_eq!(*changes.token(), token);
        let rest: Vec<i32> = taken(&mut changes).await.iter().map(|change| change.id).collect();
        let expected: Vec<i32> = (change.id + 1..4).chain([0]).collect();
        assert_eq!(rest, expected);
    }

    // A watch that keeps fewer commits than there were since then says so, also in the middle of a commit.
    let middle = shown[0].token.clone();
    let resumed = blog.counters.watch(Filter::all()).buffer(1).resume_after(middle);
    let mut changes = resumed.await.unwrap();
    let error = changes.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lagged, "{error}");
    assert!(error.to_string().contains("missed 1 commits"), "{error}");
    assert_eq!(changes.try_next().await.unwrap().unwrap().id, 0);
    drop(changes);

    // 1,024 commits are kept, and this one is before them.
    for _ in 0..512 {
        blog.counters.insert(counter(9, 0)).await.unwrap();
        blog.counters.delete(9).await.unwrap();
    }
    let of_first = blog.counters.watch(Filter::all()).resume_after(shown[3].token.clone());
    let error = of_first.await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lagged, "{error}");
}

#[tokio::test]
async fn a_store_that_does_not_tell_of_its_commits_cannot_be_watched() {
    let blog = Blog::open(MapStore::new()).await.unwrap();
    let error = blog.counters.watch(Filter::all()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
}

#[tokio::test]
async fn a_stream_does_not_keep_the_store_open() {
    let blog = Blog::open(Embedded::memory().await.unwrap()).await.unwrap();
    let mut changes = blog.counters.watch(Filter::all()).await.unwrap();
    drop(blog);
    assert!(changes.next().await.is_none());
}

/// A write of a random history.
#[derive(Debug, Clone)]
enum Act {
    Insert(i32),
    Add(i32, i64),
    AddToAll(i64),
    Replace(i32, i64),
    Delete(i32),
    /// Several acts as one commit, or rolled back.
    Transaction(Vec<Act>, bool),
}

fn act() -> impl Strategy<Value = Act> {
    let id = 0..6_i32;
    let simple = prop_oneof![
        id.clone().prop_map(Act::Insert),
        (id.clone(), 0..3_i64).prop_map(|(id, by)| Act::Add(id, by)),
        (1..3_i64).prop_map(Act::AddToAll),
        (id.clone(), 0..9_i64).prop_map(|(id, value)| Act::Replace(id, value)),
        id.prop_map(Act::Delete),
    ];
    let several = prop::collection::vec(simple.clone(), 1..4);
    prop_oneof![
        6 => simple,
        1 => (several, any::<bool>()).prop_map(|(acts, commits)| Act::Transaction(acts, commits)),
    ]
}

/// Carries out a write. Errors are about documents that exist already or are gone.
async fn act_on(blog: &Blog, act: &Act) -> odm::Result<()> {
    let fields = Counter::fields();
    let counters = &blog.counters;
    match *act {
        Act::Insert(id) => counters.insert(counter(id, 0)).await.map(drop),
        Act::Add(id, by) => counters.update(id).inc(fields.value, by).await.map(drop),
        Act::AddToAll(by) => {
            let update = counters.update_where(Filter::all());
            update.inc(fields.value, by).await.map(drop)
        }
        Act::Replace(id, value) => counters.upsert(counter(id, value)).await.map(drop),
        Act::Delete(id) => counters.delete(id).await.map(drop),
        Act::Transaction(ref acts, commits) => {
            let guard = blog.begin().await?;
            for act in acts {
                // A failed write aborts the transaction.
                Box::pin(act_on(&guard, act)).await?;
            }
            match commits {
                true => guard.commit().await,
                false => guard.rollback().await,
            }
        }
    }
}

/// Several writers at once, and a reader who follows every change of theirs.
async fn followed(store: Embedded, histories: Vec<Vec<Act>>) {
    let blog = Blog::open(store).await.unwrap();
    let mut changes = blog.counters.watch(Filter::all()).buffer(4096).await.unwrap();
    let writers: Vec<_> = histories
        .into_iter()
        .map(|history| {
            let blog = blog.clone();
            tokio::spawn(async move {
                for act in &history {
                    let _ = act_on(&blog, act).await;
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let stored = all_counters(&blog).await;
    blog.close().await.unwrap();
    let mut copy = BTreeMap::new();
    while let Some(change) = changes.try_next().await.unwrap() {
        follow(&mut copy, change);
    }
    assert_eq!(copy, stored);
}

#[test]
fn the_changes_of_concurrent_writers_lead_from_each_state_to_the_next() {
    let cases = std::env::var("CASES").map_or(40, |cases| cases.parse().unwrap());
    let files = NewFiles::new();
    let histories = prop::collection::vec(prop::collection::vec(act(), 1..25), 1..5);
    let mut runner = TestRunner::new(Config::with_cases(cases));
    runner
        .run(&histories, |histories| {
            tests::run(async {
                followed(Embedded::memory().await.unwrap(), histories.clone()).await;
                followed(files.open().await, histories).await;
            });
            Ok(())
        })
        .unwrap();
}
