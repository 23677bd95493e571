//! One way of writing after another.

use odm::{bson::doc, measure, prelude::*};
use tests::{TestStore, on_embedded_stores, on_every_store, on_serializable_stores};

use super::{Blog, Comment, Post, assert_right, comment, post};

async fn blog(store: impl TestStore) -> Blog {
    let db = Blog::open(store).await.unwrap();
    db.posts.insert_many([post(1), post(2)]).await.unwrap();
    let comments = (0..6).map(|n| comment(n, 1, i64::from(n % 4), Some(n % 3)));
    db.comments.insert_many(comments).await.unwrap();
    db
}

on_every_store! {
    async fn a_leaving_member_is_replaced_by_the_next(store: AnyStore) {
        let db = blog(store).await;
        assert_right(&db).await;
        for id in [3, 2, 5, 0] {
            assert!(db.comments.delete(id).await.unwrap());
            assert_right(&db).await;
        }
        db.comments.delete_where(Filter::all()).await.unwrap();
        assert!(db.posts.get(1).await.unwrap().newest.is_empty());
    }

    async fn updates_of_sort_keys_and_of_shown_fields_are_seen(store: AnyStore) {
        let db = blog(store).await;
        let fields = Comment::fields();
        db.comments.update(0).set(fields.written, 99).await.unwrap();
        assert_right(&db).await;
        db.comments.update(0).set(fields.text, "edited").await.unwrap();
        assert_eq!(db.posts.get(1).await.unwrap().newest[0].text, "edited");
        db.comments.update(0).set(fields.score.rating, None).await.unwrap();
        assert_right(&db).await;
        db.comments.update_where(fields.id.gte(3)).set(fields.published, false).await.unwrap();
        assert_right(&db).await;
        db.comments.modify(1, |comment| comment.written = 77).await.unwrap();
        assert_right(&db).await;
        let raw = doc! { "$set": { "written": 5_i64 }, "$unset": { "score.rating": "" } };
        db.comments.update(2).raw(raw).await.unwrap();
        assert_right(&db).await;
    }

    async fn comments_that_share_the_place_of_the_last_shown_one_are_told_apart(store: AnyStore) {
        let db = Blog::open(store).await.unwrap();
        db.posts.insert(post(1)).await.unwrap();
        let comments = (0..6).map(|n| comment(n, 1, i64::from(n < 2), None));
        db.comments.insert_many(comments).await.unwrap();
        let fields = Comment::fields();
        // The one with the least `_id` is shown, among the four that are equally old.
        for (id, text) in [(5, "hidden"), (2, "shown"), (3, "hidden")] {
            db.comments.update(id).set(fields.text, text).await.unwrap();
            assert_right(&db).await;
        }
        db.comments.delete(4).await.unwrap();
        assert_right(&db).await;
        db.comments.delete(2).await.unwrap();
        assert_right(&db).await;
        db.comments.insert(comment(2, 1, 0, None)).await.unwrap();
        assert_right(&db).await;
        db.comments.update(5).set(fields.written, 1).await.unwrap();
        assert_right(&db).await;
    }

    async fn a_comment_that_moves_leaves_one_post_and_enters_the_other(store: AnyStore) {
        let db = blog(store).await;
        db.comments.update(3).set(Comment::fields().post, 2).await.unwrap();
        assert_right(&db).await;
        assert_eq!(db.posts.get(2).await.unwrap().newest.len(), 1);
        db.comments.update(3).set(Comment::fields().post, None).await.unwrap();
        assert_right(&db).await;
        db.comments.replace(comment(4, 2, 50, None)).await.unwrap();
        db.comments.upsert(comment(40, 2, 51, Some(9))).await.unwrap();
        assert_right(&db).await;
    }

    async fn a_post_finds_the_comments_that_came_before_it(store: AnyStore) {
        let db = blog(store).await;
        db.comments.insert(comment(10, 3, 1, Some(1))).await.unwrap();
        let stored = db.posts.insert(post(3)).await.unwrap();
        assert_eq!(stored.newest.len(), 1, "what was stored is returned");
        assert_right(&db).await;
    }

    async fn what_a_caller_puts_into_a_subset_is_not_stored(store: AnyStore) {
        let db = blog(store).await;
        let full = db.posts.get(1).await.unwrap();
        let stored = db.posts.insert(Post { id: 3, ..full.clone() }).await.unwrap();
        assert!(stored.newest.is_empty());
        let replaced = db.posts.replace(Post { title: "new".into(), ..post(1) }).await.unwrap();
        assert_eq!((replaced.title.as_str(), replaced.newest), ("new", full.newest.clone()));
        let modified = db.posts.modify(1, |post| post.best = Subset::new()).await.unwrap();
        assert_eq!(modified.best, full.best);
        assert_right(&db).await;
        let error = db.posts.update(1).raw(doc! { "$set": { "newest.0.text": "x" } }).await;
        let error = error.unwrap_err();
        assert_eq!(error.kind(), odm::ErrorKind::InvalidQuery);
        assert!(error.to_string().contains("`posts.newest.0.text`"), "{error}");
        let error = db.posts.update(1).raw(doc! { "$rename": { "title": "best" } }).await;
        assert!(error.unwrap_err().to_string().contains("`posts.best`"));
    }

    async fn a_change_that_is_not_shown_writes_no_post(store: AnyStore) {
        let db = blog(store).await;
        // Not published, and so only in the lines, which have no note.
        db.comments.update(5).set(Comment::fields().published, false).await.unwrap();
        let (result, cost) = measure(async {
            db.comments.update(5).set(Comment::fields().note, 8).await
        })
        .await;
        result.unwrap();
        assert_eq!(cost.documents_written, 1);
        // Older than all that are shown.
        let (result, cost) = measure(async {
            db.comments.insert(comment(20, 1, -1, None)).await
        })
        .await;
        result.unwrap();
        assert_eq!(cost.documents_written, 1);
        assert_right(&db).await;
    }

    async fn a_plan_says_what_a_write_would_do_and_does_nothing(store: AnyStore) {
        let db = blog(store).await;
        let before = (db.posts.all().await.unwrap(), db.comments.all().await.unwrap());
        let plan = db.comments.delete(3).plan().await.unwrap();
        let numbers = |plan: &odm::plan::WritePlan| -> Vec<(String, u64, u64, u64)> {
            let of = plan.collections.iter();
            of.map(|of| (of.collection.clone(), of.inserted, of.changed, of.removed)).collect()
        };
        assert_eq!(numbers(&plan), [("comments".into(), 0, 0, 1), ("posts".into(), 0, 1, 0)]);
        let refill = plan.steps.iter().find(|step| step.name.contains("`posts`")).unwrap();
        assert_eq!(refill.name, "`newest`, `best`, `rated` of `posts`");
        // One more for each subset, in place of the removed one.
        assert!(refill.cost.keys_examined <= (4 + 1) + (3 + 1) + (3 + 1), "{plan}");
        assert_eq!(refill.cost.documents_written, 1);
        assert!(plan.to_string().contains("`comments`: 0 inserted, 0 changed, 1 removed"), "{plan}");

        let fields = Comment::fields();
        let plans = [
            db.comments.insert(comment(50, 1, 9, None)).plan().await,
            db.comments.insert_many([comment(50, 1, 9, None)]).plan().await,
            db.comments.replace(comment(3, 2, 9, None)).plan().await,
            db.comments.upsert(comment(50, 2, 9, None)).plan().await,
            db.comments.update(3).set(fields.text, "x").plan().await,
            db.comments.update_where(fields.id.gt(2)).set(fields.text, "x").plan().await,
            db.comments.delete_where(Filter::all()).plan().await,
        ];
        for plan in plans {
            assert_eq!(plan.unwrap().collections.len(), 2);
        }
        assert!(db.comments.replace(comment(60, 1, 1, None)).plan().await.unwrap_err().is_not_found());
        assert_eq!((db.posts.all().await.unwrap(), db.comments.all().await.unwrap()), before);
        let inside = db.transaction(async |db| {
            let plan = db.comments.delete(3).plan().await;
            assert_eq!(plan.unwrap_err().kind(), odm::ErrorKind::InvalidQuery);
            db.comments.delete(3).await
        });
        inside.await.unwrap();
    }

    async fn a_transaction_that_is_rolled_back_leaves_the_subsets(store: AnyStore) {
        let db = blog(store).await;
        let before = db.posts.all().await.unwrap();
        let result = db
            .transaction(async |db| {
                db.comments.insert(comment(30, 1, 1000, Some(1000))).await?;
                assert_eq!(db.posts.get(1).await?.newest[0].written, 1000);
                db.comments.delete(3).await?;
                assert_right(&db).await;
                Err::<(), _>("abc".parse::<ObjectId>().unwrap_err())
            })
            .await;
        assert!(result.is_err());
        assert_eq!(db.posts.all().await.unwrap(), before);
    }
}

on_serializable_stores! {
    async fn many_tasks_at_once_leave_it_right_and_never_show_it_wrong(store: AnyStore) {
        let db = blog(store).await;
        let tasks: Vec<_> = (0..16)
            .map(|task| {
                let db = db.clone();
                tokio::spawn(async move {
                    for n in 0..6 {
                        let id = 100 + task * 10 + n;
                        let to = 1 + (task + n) % 2;
                        db.comments.insert(comment(id, to, i64::from(n), Some(task))).await.unwrap();
                        if n % 3 == 0 {
                            db.comments.delete(id).await.unwrap();
                        }
                        let seen = db
                            .posts
                            .all()
                            .join(Comment::fields().post.referrers())
                            .await
                            .unwrap();
                        for (post, comments) in seen {
                            let id = post.id;
                            assert_eq!(super::shown(post), super::definition(id, &comments));
                        }
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_right(&db).await;
    }
}

on_embedded_stores! {
    async fn the_cost_of_a_write_does_not_grow_with_the_children(store: AnyStore) {
        let db = blog(store).await;
        let cost = async |id: i32| {
            let (result, cost) = measure(async {
                db.comments.insert(comment(id, 1, i64::from(id), Some(id))).await
            })
            .await;
            result.unwrap();
            cost
        };
        let few = cost(100).await;
        assert_eq!(few.documents_written, 2, "the comment, and the post once");
        let many = (1000..6000).map(|id| comment(id, 1, i64::from(id % 50), None));
        db.comments.insert_many(many).await.unwrap();
        let many = cost(10_000).await;
        let touched = (many.keys_examined, many.documents_examined, many.documents_written);
        let limit = (few.keys_examined, few.documents_examined, few.documents_written);
        assert!(
            touched.0 <= limit.0 && touched.1 <= limit.1 && touched.2 <= limit.2,
            "with 5,000 more children: {touched:?}, not at most {limit:?}"
        );
        assert_right(&db).await;
    }
}
