//! The conformance suite of a store, on each store that there is.

mod on_disk {
    tests::store_suite!(tests::on_disk);
}

mod in_memory {
    tests::store_suite!(tests::in_memory);
}

mod in_maps {
    tests::store_suite!(tests::in_maps);
}

mod in_maps_without_exchange {
    tests::store_suite!(tests::in_maps_without_exchange);
}

mod on_mongodb {
    tests::store_suite!(
        #[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
        tests::on_mongodb
    );
}

mod images {
    use odm::{
        ErrorKind,
        bson::rawdoc,
        store::{CollectionWrites, DocumentWrite, TransactionOptions},
    };
    use tests::{TestStore, on_single_writer_stores};

    on_single_writer_stores! {
        async fn a_batch_with_another_image_than_the_stored_one_is_refused(store: impl TestStore) {
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
