//! A version counts the changes of a document, and refuses a stale `replace`.

use std::future::IntoFuture;

use futures_util::future::join_all;
use odm::{ErrorKind, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{on_every_store, stored};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "pages")]
struct Page {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(rename = "rev")]
    #[version]
    revision: i64,
    #[index(unique)]
    title: String,
    views: i64,
}

#[derive(Database)]
#[database(name = "wiki", version = 1)]
struct Wiki {
    pages: Repository<Page>,
}

fn page(id: i64, revision: i64, title: &str) -> Page {
    Page { id, revision, title: title.into(), views: 0 }
}

on_every_store! {
    async fn a_new_document_has_version_1_whatever_it_says(store: AnyStore) {
        let db = Wiki::open(store).await.unwrap();
        assert_eq!(db.pages.insert(page(1, 77, "a")).await.unwrap(), page(1, 1, "a"));
        assert_eq!(db.pages.get(1).await.unwrap(), page(1, 1, "a"));
        let many = db.pages.insert_many([page(2, 0, "b"), page(3, -4, "c")]).await.unwrap();
        assert_eq!(many, [page(2, 1, "b"), page(3, 1, "c")]);
        assert_eq!(db.pages.upsert(page(4, 0, "d")).await.unwrap(), page(4, 1, "d"));
    }

    async fn an_upsert_does_not_bring_back_what_was_deleted_since_it_was_read(store: AnyStore) {
        let db = Wiki::open(store).await.unwrap();
        let read = db.pages.insert(page(1, 0, "a")).await.unwrap();
        assert!(db.pages.delete(1).await.unwrap());
        assert!(db.pages.upsert(read).await.unwrap_err().is_stale());
        assert_eq!(db.pages.all().count().await.unwrap(), 0);
    }

    async fn an_update_that_changes_nothing_does_not_count(store: AnyStore) {
        let db = Wiki::open(store).await.unwrap();
        db.pages.insert(page(1, 0, "a")).await.unwrap();
        let title = Page::fields().title;
        let same = db.pages.update_where(Filter::all()).set(title, "a").await.unwrap();
        assert_eq!((same.matched, same.modified), (1, 0));
        db.pages.update(1).raw(doc! { "$setOnInsert": { "title": "b" } }).await.unwrap();
        assert_eq!(db.pages.get(1).await.unwrap(), page(1, 1, "a"));
        db.pages.update(1).set(title, "b").await.unwrap();
        assert_eq!(db.pages.get(1).await.unwrap(), page(1, 2, "b"));
    }

    async fn an_upsert_by_filter_inserts_with_the_first_version(store: AnyStore) {
        let db = Wiki::open(store).await.unwrap();
        let fields = Page::fields();
        let whole = fields.id.eq(1) & fields.title.eq("a") & fields.views.eq(0);
        let done = db.pages.update_where(whole.clone()).upsert().await.unwrap();
        assert!(done.inserted);
        assert_eq!(db.pages.get(1).await.unwrap(), page(1, 1, "a"));
        let fixed = whole & fields.revision.eq(7);
        let error = db.pages.update_where(fixed).upsert().await.unwrap_err();
        assert!(error.to_string().contains("`rev`"), "{error}");
    }

    async fn a_stale_replace_is_refused(store: AnyStore) {
        let db = Wiki::open(store.clone()).await.unwrap();
        let mine = db.pages.insert(page(1, 0, "a")).await.unwrap();
        let theirs = db.pages.get(1).await.unwrap();
        let stored_as = db.pages.replace(Page { title: "mine".into(), ..mine.clone() }).await.unwrap();
        assert_eq!(stored_as, page(1, 2, "mine"));
        let before = stored(&store, "pages").await;
        for stale in [theirs.clone(), mine, page(1, 0, "new"), page(1, 3, "ahead")] {
            let error = db.pages.replace(stale.clone()).await.unwrap_err();
            assert!(error.is_stale(), "{error:?}");
            assert_eq!(error.kind(), ErrorKind::Stale);
            assert!(error.to_string().contains("`pages`"), "{error}");
            assert!(db.pages.upsert(stale).await.unwrap_err().is_stale());
        }
        assert_eq!(stored(&store, "pages").await, before);
        // The result of a write is no longer stale.
        let next = db.pages.replace(Page { views: 1, ..stored_as }).await.unwrap();
        assert_eq!(next.revision, 3);
        // A write without a difference does not count.
        let same = db.pages.upsert(next).await.unwrap();
        assert_eq!(same.revision, 3);
        assert_eq!(db.pages.upsert(Page { views: 2, ..same }).await.unwrap().revision, 4);
    }

    async fn every_update_counts(store: AnyStore) {
        let db = Wiki::open(store).await.unwrap();
        let read = db.pages.insert(page(1, 0, "a")).await.unwrap();
        let fields = Page::fields();
        db.pages.update(1).inc(fields.views, 1).await.unwrap();
        assert_eq!(db.pages.get(1).await.unwrap().revision, 2);
        db.pages.update_where(fields.views.gt(0)).set(fields.title, "b").await.unwrap();
        assert_eq!(db.pages.get(1).await.unwrap().revision, 3);
        db.pages.update(1).raw(doc! { "$set": { "title": "c" } }).await.unwrap();
        assert_eq!(db.pages.get(1).await.unwrap().revision, 4);
        let modified = db.pages.modify(1, |page| page.views += 1).await.unwrap();
        assert_eq!((modified.revision, modified.views), (5, 2));
        assert!(db.pages.replace(read).await.unwrap_err().is_stale());
        // A write without an effect is no change.
        assert_eq!(db.pages.modify(1, |_| {}).await.unwrap().revision, 5);
        db.pages.update(1).with(Update::new()).await.unwrap();
        assert_eq!(db.pages.get(1).await.unwrap(), modified);
    }

    async fn an_update_of_another_version_is_refused(store: AnyStore) {
        let db = Wiki::open(store.clone()).await.unwrap();
        let read = db.pages.insert(page(1, 0, "a")).await.unwrap();
        let rename = |title: &str| db.pages.update(1).set(Page::fields().title, title);
        rename("b").if_version(read.revision).await.unwrap();
        assert_eq!(db.pages.get(1).await.unwrap(), page(1, 2, "b"));
        let before = stored(&store, "pages").await;
        for version in [read.revision, 0, 3, -1] {
            for error in [
                rename("c").if_version(version).await.unwrap_err(),
                rename("c").if_version(version).plan().await.unwrap_err(),
            ] {
                assert_eq!(error.kind(), ErrorKind::Stale, "{error}");
                assert_eq!(error.location().unwrap().collection, "pages");
            }
        }
        assert_eq!(stored(&store, "pages").await, before);
        // An update that is refused for another reason says so.
        let missing = db.pages.update(7).set(Page::fields().views, 1).if_version(1).await;
        assert!(missing.unwrap_err().is_not_found());
        let plan = rename("c").if_version(2).plan().await.unwrap();
        assert_eq!(plan.matched, 1);
        // In a transaction, the check sees the writes of the transaction.
        let stale = db.transaction(async |db| {
            let page = db.pages.modify(1, |page| page.views += 1).await?;
            db.pages.update(1).inc(Page::fields().views, 1).if_version(page.revision).await?;
            let again = db.pages.update(1).inc(Page::fields().views, 1).if_version(page.revision).await;
            Ok(again.unwrap_err())
        });
        assert!(stale.await.unwrap().is_stale());
        assert_eq!(db.pages.get(1).await.unwrap().views, 2);
    }

    async fn of_updates_of_one_version_exactly_one_is_done(store: AnyStore) {
        let db = Wiki::open(store).await.unwrap();
        let read = db.pages.insert(page(1, 0, "a")).await.unwrap();
        let views = Page::fields().views;
        let updates = (0..8).map(|_| db.pages.update(1).inc(views, 1).if_version(read.revision).into_future());
        let results = join_all(updates).await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        assert!(results.into_iter().filter_map(Result::err).all(|error| error.is_stale()));
        assert_eq!(db.pages.get(1).await.unwrap().views, 1);
    }

    async fn no_update_may_name_the_version(store: AnyStore) {
        let db = Wiki::open(store.clone()).await.unwrap();
        db.pages.insert(page(1, 0, "a")).await.unwrap();
        let before = stored(&store, "pages").await;
        for update in [
            doc! { "$set": { "rev": 9 } },
            doc! { "$inc": { "rev": 1 } },
            doc! { "$unset": { "rev": "" } },
            doc! { "$set": { "rev.part": 1 } },
            doc! { "$rename": { "rev": "old" } },
            doc! { "$rename": { "views": "rev" } },
            doc! { "$setOnInsert": { "rev": 9 } },
        ] {
            for error in [
                db.pages.update(1).raw(update.clone()).await.unwrap_err(),
                db.pages.update_where(Filter::all()).raw(update.clone()).await.unwrap_err(),
            ] {
                assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{update}: {error}");
                assert!(error.to_string().contains("is the version"), "{error}");
                assert_eq!(error.location().unwrap().collection, "pages");
            }
        }
        // A change of the version by a closure has no effect.
        let kept = db.pages.modify(1, |page| page.revision = 99).await.unwrap();
        assert_eq!(kept.revision, 1, "`modify` returns what is stored");
        assert_eq!(stored(&store, "pages").await, before);
    }

    async fn of_64_tasks_that_replace_what_they_read_none_undoes_another(store: AnyStore) {
        let db = Wiki::open(store).await.unwrap();
        db.pages.insert(page(1, 0, "a")).await.unwrap();
        let mut tasks = Vec::new();
        for _ in 0..64 {
            let pages = db.pages.clone();
            tasks.push(tokio::spawn(async move {
                loop {
                    let mut page = pages.get(1).await.unwrap();
                    page.views += 1;
                    match pages.replace(page).await {
                        Ok(page) => return page.revision,
                        Err(error) => assert!(error.is_stale(), "{error:?}"),
                    }
                }
            }));
        }
        let mut revisions = Vec::new();
        for task in tasks {
            revisions.push(task.await.unwrap());
        }
        revisions.sort_unstable();
        assert_eq!(revisions, (2..66).collect::<Vec<i64>>());
        let page = db.pages.get(1).await.unwrap();
        assert_eq!((page.views, page.revision), (64, 65));
    }
}
