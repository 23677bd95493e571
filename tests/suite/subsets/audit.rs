//! Errors are found, and repaired.

use odm::{DerivedKind, Problem, bson::doc, measure, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{
    TestStore, behind_the_back, on_embedded_stores, on_every_store, on_serializable_stores,
};

use super::{Blog, Comment, Post, assert_right, comment, post};

/// The blog from before posts showed comments.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "posts")]
struct OldPost {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
}

#[derive(Database)]
#[database(name = "blog", version = 1)]
struct OldBlog {
    posts: Repository<OldPost>,
}

async fn blog(store: impl TestStore, posts: i32) -> Blog {
    let db = Blog::open(store).await.unwrap();
    db.posts.insert_many((0..posts).map(post)).await.unwrap();
    let comments = (0..posts * 4).map(|n| comment(n, n % posts, i64::from(n), Some(n % 3)));
    db.comments.insert_many(comments).await.unwrap();
    db
}

on_every_store! {
    async fn nothing_is_wrong_in_what_was_written_through_the_library(store: AnyStore) {
        let db = blog(store, 3).await;
        assert_eq!(db.audit().await.unwrap(), []);
        assert_eq!(db.repair().await.unwrap(), []);
    }

    async fn an_audit_reports_what_it_reads(store: AnyStore) {
        let db = blog(store, 3).await;
        let posts = db.posts.all().await.unwrap();
        let shown: usize =
            posts.iter().map(|post| post.newest.len() + post.best.len() + post.rated.len()).sum();
        let (findings, cost) = measure(async { db.audit().await.unwrap() }).await;
        assert_eq!(findings, []);
        let least = (posts.len() + shown) as u64;
        assert!(cost.documents_returned >= least, "{cost:?} of at least {least}");
    }

    async fn a_subset_over_documents_from_before_it_was_declared_is_brought_up(store: AnyStore) {
        let old = OldBlog::open(store.clone()).await.unwrap();
        let posts = (0..3).map(|id| OldPost { id, title: format!("post {id}") });
        old.posts.insert_many(posts).await.unwrap();
        let db = Blog::open(store).await.unwrap();
        // The other posts were only written by their children, and are right by now.
        db.comments.insert(comment(1, 0, 1, Some(1))).await.unwrap();
        let findings = db.audit().await.unwrap();
        assert_eq!(findings.len(), 6, "three subsets in two posts are missing");
        assert!(findings.iter().all(|found| found.problem == Problem::Derived(DerivedKind::Subset) && !found.repaired));
        let repaired = db.repair().await.unwrap();
        assert!(repaired.len() == 6 && repaired.iter().all(|found| found.repaired));
        assert_eq!(db.audit().await.unwrap(), []);
        assert_right(&db).await;
    }

    async fn damage_is_found_where_it_is_and_repaired(store: AnyStore) {
        let db = blog(store.clone(), 3).await;
        behind_the_back(&store, "posts", doc! { "_id": 1 }, doc! { "$set": { "newest.0.text": "x" } }).await;
        behind_the_back(&store, "posts", doc! { "_id": 2 }, doc! { "$pop": { "best": 1 } }).await;
        let findings = db.audit().await.unwrap();
        let places: Vec<_> = findings.iter().map(|found| (found.id.clone(), found.path.as_str())).collect();
        assert_eq!(places, [(1.into(), "newest"), (2.into(), "best")]);
        assert_eq!(
            findings[0].to_string(),
            "wrong subset: `posts.newest` of the document with `_id` = 1"
        );
        // In a transaction that is rolled back, nothing is repaired for others.
        let result: odm::Result<()> = db.transaction(async |db| {
            assert_eq!(db.repair().await?.len(), 2);
            assert_eq!(db.audit().await?, []);
            db.posts.get(1000).await.map(drop)
        }).await;
        result.unwrap_err();
        assert_eq!(db.audit().await.unwrap(), findings);
        assert_eq!(db.repair().await.unwrap().len(), 2);
        assert_right(&db).await;
    }

    async fn more_children_than_are_shown_follow_after_the_last_that_is(store: AnyStore) {
        let db = blog(store, 1).await;
        let more = (100..130).map(|n| comment(n, 0, i64::from(n % 4), Some(n % 3)));
        db.comments.insert_many(more).await.unwrap();
        let seen = db.posts.get(0).await.unwrap();
        // A newer comment arrives before the reader goes on, and a seen one is gone.
        db.comments.insert(comment(200, 0, 50, None)).await.unwrap();
        let gone = db.comments.all().sort(Comment::fields().written.desc()).limit(4).await.unwrap();
        db.comments.delete(gone[2].id).await.unwrap();
        let mut all = db.comments.all().await.unwrap();
        all.sort_by_key(|comment| (std::cmp::Reverse(comment.written), comment.id));
        let last = seen.newest.last().unwrap();
        let after = all.iter().position(|comment| comment.text == last.text).unwrap();
        let rest = db.comments.after_subset(&seen, Post::fields().newest).await.unwrap();
        let page = rest.page(5).await.unwrap();
        assert_eq!(page.items, all[after + 1..after + 6]);
        let rest = db.comments.after_subset(&seen, Post::fields().newest).await.unwrap();
        let next = rest.after(&page.next.unwrap()).page(100).await.unwrap();
        assert_eq!(next.items, all[after + 6..]);

        // A seen comment moves down past unseen ones: these are not left out.
        let seen = db.posts.get(0).await.unwrap();
        let moved = db.comments.all().sort(Comment::fields().written.desc()).limit(3).await.unwrap();
        db.comments.update(moved[1].id).set(Comment::fields().written, -5).await.unwrap();
        let rest = db.comments.after_subset(&seen, Post::fields().newest).await.unwrap().await.unwrap();
        let known: Vec<i32> = [moved[0].id, moved[2].id].into();
        let all = db.comments.all().sort(Comment::fields().written.desc()).await.unwrap();
        assert_eq!(rest, all.into_iter().filter(|one| !known.contains(&one.id)).collect::<Vec<_>>());
        let text = Comment::fields().text;
        db.comments.update_where(Filter::all()).set(text, "the same").await.unwrap();
        let seen = db.posts.get(0).await.unwrap();
        let rest = db.comments.after_subset(&seen, Post::fields().rated).await.unwrap().await.unwrap();
        assert_eq!(rest.len() as u64 + 2, db.comments.all().count().await.unwrap());

        // The last ones, in ascending order, go on backwards; only published ones do.
        db.comments.update_where(Comment::fields().id.lt(110)).set(Comment::fields().published, false).await.unwrap();
        let seen = db.posts.get(0).await.unwrap();
        let mut best: Vec<Comment> =
            db.comments.find(Comment::fields().published.eq(true)).await.unwrap();
        best.sort_by_key(|comment| (comment.score.rating, comment.id));
        best.reverse();
        let rest = db.comments.after_subset(&seen, Post::fields().best).await.unwrap().await.unwrap();
        assert_eq!(rest, best[2..]);
        let rest = db.comments.after_subset(&post(0), Post::fields().best).await.unwrap().await.unwrap();
        assert_eq!(rest, best, "nothing was seen of it");
    }
}

on_serializable_stores! {
    async fn a_repair_is_right_beside_writers(store: AnyStore) {
        let db = blog(store.clone(), 20).await;
        behind_the_back(&store, "posts", doc! {}, doc! { "$set": { "newest": [], "best": [] } }).await;
        let writer = {
            let db = db.clone();
            tokio::spawn(async move {
                for n in 0..200 {
                    db.comments.upsert(comment(n % 80, n % 20, i64::from(n), Some(n % 5))).await.unwrap();
                    db.comments.delete((n * 7) % 80).await.unwrap();
                }
            })
        };
        while !writer.is_finished() {
            db.repair().await.unwrap();
        }
        writer.await.unwrap();
        db.repair().await.unwrap();
        assert_eq!(db.audit().await.unwrap(), []);
        assert_right(&db).await;
    }
}

on_embedded_stores! {
    async fn an_audit_can_be_stopped_and_resumed(store: AnyStore) {
        let db = blog(store.clone(), 700).await;
        behind_the_back(&store, "posts", doc! {}, doc! { "$set": { "newest": [] } }).await;
        let all = 700 + db.comments.all().count().await.unwrap();
        let mut audit = db.audit();
        let mut seen = std::collections::BTreeSet::new();
        let mut position = None;
        let mut restarts = 0;
        loop {
            match audit.next().await {
                Some(finding) => {
                    seen.insert(finding.unwrap().id.as_raw_bson_ref().as_i32().unwrap());
                    assert_eq!(audit.progress().total, all);
                }
                None => break,
            }
            let reached = audit.progress().position.clone();
            if reached != position {
                // In the form of a text, as a job would store it.
                position = reached.map(|reached| reached.to_string().parse().unwrap());
                audit = db.audit().resume(position.as_ref().unwrap());
                restarts += 1;
            }
        }
        assert_eq!((seen.len(), restarts), (700, 3));
        assert_eq!(audit.progress().checked, all);
    }
}
