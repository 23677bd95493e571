//! Cycles that the compiler cannot see: through filters, and over several databases.

use odm::{ErrorKind, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{on_every_store, stored};

mod filtered {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "makers")]
    struct Maker {
        #[serde(rename = "_id")]
        id: i32,
        #[count(of = "Product", filter = unlabelled)]
        unlabelled: i64,
    }

    fn unlabelled() -> Filter<Product> {
        Product::fields().label.eq(0)
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "products")]
    struct Product {
        #[serde(rename = "_id")]
        id: i32,
        #[reference(parent)]
        maker: Ref<Maker>,
        #[denormalize(from = "Maker.unlabelled")]
        label: i64,
    }

    #[derive(Database)]
    #[database(name = "cyclic", version = 1)]
    #[allow(dead_code, reason = "it cannot be opened")]
    pub(super) struct Cyclic {
        makers: Repository<Maker>,
        products: Repository<Product>,
    }
}

/// A count whose filter is an expression.
mod computed {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "makers")]
    struct Maker {
        #[serde(rename = "_id")]
        id: i32,
        #[count(of = "Product", filter = costly)]
        costly: i64,
    }

    fn costly() -> Filter<Product> {
        Filter::raw(odm::bson::doc! { "code": 1, "$expr": { "$gt": ["$cost", "$price"] } })
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "products")]
    struct Product {
        #[serde(rename = "_id")]
        id: i32,
        #[reference(parent)]
        maker: Ref<Maker>,
        code: i32,
        cost: i32,
        price: i32,
    }

    #[derive(Database)]
    #[database(name = "computed", version = 1)]
    #[allow(dead_code, reason = "it cannot be opened")]
    pub(super) struct Computed {
        makers: Repository<Maker>,
        products: Repository<Product>,
    }
}

/// It counts by a label, which it takes for base data.
mod counts {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "makers")]
    pub(super) struct Maker {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[count(of = "Product", filter = unlabelled)]
        pub(super) unlabelled: i64,
    }

    fn unlabelled() -> Filter<Product> {
        Product::fields().label.eq(0)
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "products")]
    pub(super) struct Product {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[reference(parent)]
        pub(super) maker: Ref<Maker>,
        pub(super) label: i64,
        pub(super) code: i32,
    }

    #[derive(Database)]
    #[database(name = "counts", version = 1)]
    pub(super) struct Counts {
        pub(super) makers: Repository<Maker>,
        pub(super) products: Repository<Product>,
    }
}

/// It copies a count, which it takes for base data.
mod copies {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "makers")]
    struct Maker {
        #[serde(rename = "_id")]
        id: i32,
        unlabelled: i64,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "products")]
    struct Product {
        #[serde(rename = "_id")]
        id: i32,
        #[reference(parent)]
        maker: Ref<Maker>,
        #[denormalize(from = "Maker.unlabelled")]
        label: i64,
        #[index(unique)]
        code: i32,
    }

    #[derive(Database)]
    #[database(name = "copies", version = 1)]
    #[allow(dead_code, reason = "it cannot be opened beside the other")]
    pub(super) struct Copies {
        makers: Repository<Maker>,
        products: Repository<Product>,
    }
}

const CYCLE: &str = "cyclic derived fields: makers.unlabelled <- products.label <- \
                     makers.unlabelled;";

#[test]
fn a_cycle_through_a_filter_is_an_error_of_the_catalog() {
    let error = filtered::Cyclic::catalog().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Schema);
    assert!(error.to_string().contains(CYCLE), "{error}");
}

on_every_store! {
    async fn a_count_whose_filter_is_an_expression_is_refused(store: AnyStore) {
        let error = computed::Computed::open(store).await.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("`$expr`"), "{error}");
    }

    async fn a_database_with_a_cycle_through_a_filter_does_not_open(store: AnyStore) {
        let error = filtered::Cyclic::open(store).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains(CYCLE), "{error}");
    }

    async fn two_databases_that_make_a_cycle_together_do_not_open_together(store: AnyStore) {
        copies::Copies::catalog().unwrap();
        let first = counts::Counts::open(store.clone()).await.unwrap();
        let maker = counts::Maker { id: 1, unlabelled: 0 };
        first.makers.insert(maker).await.unwrap();
        let catalog = stored(&store, "_odm_catalog").await;
        let error = copies::Copies::open(store.clone()).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("cyclic derived fields"), "{error}");
        assert!(error.to_string().contains("makers.unlabelled <- products.label"), "{error}");
        // The refused program has declared nothing, and made no index: both products have the same code.
        assert_eq!(stored(&store, "_odm_catalog").await, catalog);
        let product = |id| counts::Product { id, maker: Ref::new(1), label: 0, code: 7 };
        first.products.insert_many((1..=2).map(product)).await.unwrap();
        assert_eq!(first.makers.get(1).await.unwrap().unlabelled, 2);
        first.products.update(1).set(counts::Product::fields().label, 1).await.unwrap();
        assert_eq!(first.makers.get(1).await.unwrap().unlabelled, 1);
        counts::Counts::open(store).await.unwrap();
    }
}
