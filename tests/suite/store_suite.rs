//! The conformance suite of a store, on each store.

mod on_disk {
    odm_store_suite::store_suite!(tests::on_disk);
}

mod in_memory {
    odm_store_suite::store_suite!(tests::in_memory);
}

mod in_maps {
    odm_store_suite::store_suite!(tests::in_maps);
}

mod in_serializable_maps {
    odm_store_suite::store_suite!(tests::in_serializable_maps);
}

mod on_mongodb {
    odm_store_suite::store_suite!(
        #[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
        tests::on_mongodb
    );
}

/// Says so if the tests on MongoDB are left out. Output to the stream itself is not captured.
#[test]
fn the_way_to_run_the_tests_on_mongodb_is_told() {
    use std::{env, io::Write as _, path::Path};

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/mongodb");
    assert!(script.is_file(), "the command is another one");
    if env::var_os("ODM_TEST_MONGODB_URI").is_none() {
        let told = b"\nThe tests on a MongoDB server were left out. To run them on a stand-in, which is installed: \
            .ci/mongodb cargo test -p tests --all-features -- --include-ignored on_mongodb\n";
        std::io::stderr().write_all(told).unwrap();
    }
}

mod images {
    use odm::{
        ErrorKind,
        bson::rawdoc,
        store::contract::{CollectionWrites, DocumentWrite, Store as _, TransactionOptions},
    };
    use tests::on_local_stores;

    on_local_stores! {
        async fn a_batch_with_another_image_than_the_stored_one_is_refused(store: AnyStore) {
            let begin = || store.begin(TransactionOptions::default());
            let stored = rawdoc! { "_id": 1, "a": 1 };
            let batch = |write| [CollectionWrites { collection: "things", writes: vec![write] }];
            let mut transaction = begin().await.unwrap();
            transaction.apply(&batch(DocumentWrite::Insert(&stored))).await.unwrap();
            transaction.commit().await.unwrap();
            // Equal in value, and not in bytes.
            let (equal, other) = (rawdoc! { "_id": 1, "a": 1.0 }, rawdoc! { "_id": 1 });
            for write in [
                DocumentWrite::Replace { before: &equal, after: &other },
                DocumentWrite::Remove(&other),
            ] {
                let mut transaction = begin().await.unwrap();
                let error = transaction.apply(&batch(write)).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Corrupt);
                transaction.rollback().await.unwrap();
            }
        }
    }
}

/// An operation that is dropped at any moment holds nothing on the server, which would release it by itself only after a minute.
mod dropped {
    use std::{pin::pin, time::Duration};

    use mongodb::bson::{Document, doc};
    use odm::{
        bson::rawdoc,
        store::contract::{CollectionWrites, DocumentWrite, Store as _},
    };
    use tests::{TestDatabase, on_mongodb_database, poll_once};

    /// Polls a future at most `times` times, with some time in between, and drops it.
    async fn poll_and_drop(future: impl Future, times: u32) {
        let mut future = pin!(future);
        for _ in 0..times {
            if poll_once(&mut future).await.is_ready() {
                return;
            }
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    }

    /// A transaction that changes all documents of the locks conflicts with every other one that writes. A write without a transaction
    /// would wait for these, and while it waits SecantusDB does not let any transaction end.
    async fn assert_free(server: &TestDatabase) {
        let locks = server.database.collection::<Document>("_odm_locks");
        let change_all = async || {
            let mut session = server.client.start_session().await?;
            session.start_transaction().await?;
            let change = doc! { "$inc": { "n": 1 } };
            let change = locks.update_many(doc! {}, change);
            change.session(&mut session).await?;
            session.commit_transaction().await
        };
        let changed = tokio::time::timeout(Duration::from_secs(20), async {
            while change_all().await.is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        changed.await.expect("nothing is held");
    }

    /// Drops a write of a new transaction, or its end, after some polls.
    fn drops(end: bool) {
        on_mongodb_database(Duration::from_secs(300), async |server| {
            let store = server.store().await;
            for times in 0..12 {
                let mut transaction = store.begin(Default::default()).await.unwrap();
                let document = rawdoc! { "_id": times as i32 };
                let batch = [CollectionWrites {
                    collection: "things",
                    writes: vec![DocumentWrite::Insert(&document)],
                }];
                match end {
                    false => poll_and_drop(transaction.apply(&batch), times).await,
                    true => {
                        transaction.apply(&batch).await.unwrap();
                        match times % 2 {
                            0 => poll_and_drop(transaction.commit(), times / 2).await,
                            _ => poll_and_drop(transaction.rollback(), times / 2).await,
                        }
                    }
                }
                assert_free(server).await;
            }
        });
    }

    #[test]
    #[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
    fn a_transaction_dropped_during_its_first_write_holds_nothing_on_mongodb() {
        drops(false);
    }

    #[test]
    #[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
    fn a_transaction_dropped_during_its_end_holds_nothing_on_mongodb() {
        drops(true);
    }
}
