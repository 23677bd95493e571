//! Units that would leave documents wrong.

use bson::doc;
use odm_embedded::Embedded;
use odm_store::{Store, TransactionOptions};

use super::{super::Bounds, *};
use crate::catalog::{Catalog, Relations};

#[tokio::test]
async fn a_unit_whose_blind_update_has_found_no_document_is_refused_until_that_is_refreshed() {
    let store = Embedded::memory().await.unwrap();
    let catalog = Catalog::new(Relations::default(), BTreeSet::new(), 0).unwrap();
    for is_refreshed in [false, true] {
        let mut transaction = store.begin(TransactionOptions::default()).await.unwrap();
        let mut unit = Unit::new(&catalog, &mut *transaction, Bounds::default(), false);
        let update = Update::parse(&doc! { "$inc": { "posts": 1 } }, &[]).unwrap();
        unit.update_blind("authors", RawBson::Int32(7), (Filter::default(), update));
        unit.finish().await.unwrap();
        if is_refreshed {
            assert_eq!(unit.take_unmatched().len(), 1);
        }
        let error = unit.into_cost().err();
        let collection = error.map(|error| {
            assert_eq!(error.kind(), ErrorKind::TransactionAborted);
            error.location().unwrap().collection.clone()
        });
        let refused = (!is_refreshed).then(|| "authors".to_owned());
        assert_eq!(collection, refused);
        transaction.rollback().await.unwrap();
    }
}
