//! Writes of many documents.

use odm::{
    bson::{RawDocumentBuf, rawdoc},
    prelude::*,
};

use super::{Thing, Things, grows_with_input, options, store, taken, thing, things};

fn numbers(size: usize) -> std::ops::Range<i64> {
    0..size as i64
}

grows_with_input! {
    1_000: async fn many_inserts_at_once(size: usize) -> Taken {
        let db = things(0).await;
        taken(async { db.things.insert_many(numbers(size).map(thing)).await.unwrap() }).await
    }

    500: async fn many_inserts_one_after_another(size: usize) -> Taken {
        let db = things(0).await;
        taken(async { for id in numbers(size) { db.things.insert(thing(id)).await.unwrap(); } }).await
    }

    1_000: async fn many_upserts_of_documents_that_are_there_or_not(size: usize) -> Taken {
        let db = things(size).await;
        let half = size as i64 / 2;
        let all: Vec<Thing> = (half..half + size as i64).map(|id| Thing { text: "new".into(), ..thing(id) }).collect();
        taken(async { db.things.upsert_many(all).await.unwrap() }).await
    }

    1_000: async fn many_documents_that_are_updated(size: usize) -> Taken {
        let db = things(size).await;
        let fields = Thing::fields();
        taken(async { db.things.update_where(fields.id.in_(numbers(size))).inc(fields.n, 1).await.unwrap() }).await
    }

    1_000: async fn many_documents_that_are_returned_by_their_update(size: usize) -> Taken {
        let db = things(size).await;
        let fields = Thing::fields();
        taken(async { db.things.update_where(Filter::all()).inc(fields.n, 1).returning().await.unwrap() }).await
    }

    1_000: async fn many_documents_that_are_deleted(size: usize) -> Taken {
        let db = things(size).await;
        taken(async { db.things.delete_where(Thing::fields().id.in_(numbers(size))).await.unwrap() }).await
    }

    500: async fn a_bulk_of_inserts_updates_and_deletes(size: usize) -> Taken {
        let db = things(size).await;
        let n = Thing::fields().n;
        let inserts: Vec<_> = numbers(size).map(|id| db.things.insert(thing(100_000 + id))).collect();
        let updates: Vec<_> = numbers(size).map(|id| db.things.update(id).inc(n, 1)).collect();
        let deletes: Vec<_> = numbers(size).map(|id| db.things.delete(id)).collect();
        taken(async { db.bulk((inserts, updates, deletes)).await.unwrap() }).await
    }

    500: async fn a_bulk_of_searches_for_documents_that_it_changes(size: usize) -> Taken {
        let db = things(size).await;
        let n = Thing::fields().n;
        let updates: Vec<_> = numbers(size).map(|id| db.things.update_where(n.eq(id)).inc(n, 1_000_000)).collect();
        taken(async { db.bulk(updates).await.unwrap() }).await
    }

    500: async fn a_transaction_of_many_writes(size: usize) -> Taken {
        let db = things(size).await;
        taken(async {
            db.transaction(async |db| {
                for id in numbers(size) {
                    db.things.insert(thing(100_000 + id)).await?;
                    db.things.update(id).inc(Thing::fields().n, 1).await?;
                }
                Ok(())
            })
            .await
            .unwrap()
        })
        .await
    }

    500: async fn a_transaction_of_many_reads_and_writes(size: usize) -> Taken {
        let db = things(size).await;
        let n = Thing::fields().n;
        taken(async {
            db.transaction(async |db| {
                for id in numbers(size) {
                    db.things.update(id).inc(n, 1_000_000).await?;
                    db.things.find(n.eq(1_000_000 + id)).await?;
                }
                Ok(())
            })
            .await
            .unwrap()
        })
        .await
    }

    1_000: async fn many_raw_documents(size: usize) -> Taken {
        let db = things(0).await;
        let documents: Vec<RawDocumentBuf> = numbers(size)
            .map(|id| rawdoc! { "_id": id, "n": id, "group": 0_i64, "text": "", "list": [1_i64], "parts": [], "map": {} })
            .collect();
        taken(async { db.things.raw().insert_many(documents).await.unwrap() }).await
    }

    500: async fn an_export_and_an_import(size: usize) -> Taken {
        let db = things(size).await;
        let copy = Things::open_with(store().await, options()).await.unwrap();
        taken(async {
            let mut lines = Vec::new();
            db.export(&mut lines).await.unwrap();
            copy.import(&*lines).await.unwrap()
        })
        .await
    }

    500: async fn a_copy_to_another_store(size: usize) -> Taken {
        let db = things(size).await;
        let copy = Things::open_with(store().await, options()).await.unwrap();
        taken(async { db.copy_to(&copy).await.unwrap() }).await
    }

    500: async fn an_audit_and_a_validation(size: usize) -> Taken {
        let db = things(size).await;
        taken(async {
            assert_eq!(db.audit().await.unwrap(), []);
            db.things.validate().await.unwrap()
        })
        .await
    }
}
