//! The values of documents from before a declaration, until its backfill is complete.

use futures_util::TryStreamExt as _;
use odm::{
    ErrorKind, OpenOptions, Problem,
    bson::{self, doc},
    prelude::*,
    repository::Cursor,
};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store, stored};

mod old {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "products")]
    pub(super) struct Product {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) name: String,
        #[embed]
        pub(super) stats: Stats,
        #[subset(limit = 2, sort = "-stars")]
        pub(super) best: Subset<Line>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
    pub(super) struct Stats {
        pub(super) views: i32,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Projection)]
    #[projection(of = "Review")]
    pub(super) struct Line {
        pub(super) text: String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "reviews")]
    pub(super) struct Review {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[reference(parent)]
        pub(super) product: Ref<Product>,
        pub(super) stars: i32,
        pub(super) text: String,
        pub(super) shop: i32,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "shops")]
    pub(super) struct Shop {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) name: String,
    }

    #[derive(Database)]
    #[database(name = "shop", version = 1)]
    pub(super) struct Db {
        pub(super) products: Repository<Product>,
        pub(super) reviews: Repository<Review>,
        pub(super) shops: Repository<Shop>,
    }
}

/// With a count, a version, optional copies, and one field more in the subset.
mod empty {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "products")]
    pub(super) struct Product {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[validate(with = named)]
        pub(super) name: String,
        #[embed]
        pub(super) stats: Stats,
        #[count(of = "Review")]
        pub(super) reviews: i64,
        #[subset(limit = 2, sort = "-stars")]
        pub(super) best: Subset<Line>,
        #[version]
        pub(super) revision: i64,
        #[denormalize(from = "Review.text", via = "Review.product")]
        pub(super) texts: Vec<String>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
    pub(super) struct Stats {
        pub(super) views: i32,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
    #[projection(of = "Review")]
    pub(super) struct Line {
        pub(super) text: String,
        pub(super) stars: i32,
    }

    fn named(name: &str) -> Result<(), String> {
        match name {
            "" => Err("is empty".into()),
            _ => Ok(()),
        }
    }

    /// A part of a product.
    #[derive(Debug, PartialEq, Deserialize, Projection)]
    #[projection(of = "Product")]
    pub(super) struct Row {
        pub(super) reviews: i64,
        pub(super) best: Subset<Line>,
        pub(super) revision: i64,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "reviews")]
    pub(super) struct Review {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[reference(parent)]
        pub(super) product: Ref<Product>,
        #[denormalize(from = "Product.name")]
        pub(super) product_name: Option<String>,
        pub(super) stars: i32,
        pub(super) text: String,
        pub(super) shop: i32,
    }

    #[derive(Database)]
    #[database(name = "shop", version = 2)]
    pub(super) struct Db {
        pub(super) products: Repository<Product>,
        pub(super) reviews: Repository<Review>,
        pub(super) shops: Repository<old::Shop>,
    }
}

/// With a copy of a copy, both without an empty value; and a count.
mod full {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "products")]
    pub(super) struct Product {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) name: String,
        #[embed]
        pub(super) stats: Stats,
        #[count(of = "Review")]
        pub(super) reviews: i64,
        #[subset(limit = 2, sort = "-stars")]
        pub(super) best: Subset<Line>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
    pub(super) struct Stats {
        pub(super) views: i32,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
    #[projection(of = "Review")]
    pub(super) struct Line {
        pub(super) text: String,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "reviews")]
    pub(super) struct Review {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[reference(parent)]
        pub(super) product: Ref<Product>,
        pub(super) stars: i32,
        pub(super) text: String,
        #[reference(child)]
        pub(super) shop: Ref<Shop>,
        #[denormalize(from = "Shop.name", via = "shop")]
        pub(super) shop_name: String,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "shops")]
    pub(super) struct Shop {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) name: String,
    }

    #[derive(Database)]
    #[database(name = "shop", version = 2)]
    pub(super) struct Db {
        pub(super) products: Repository<Product>,
        pub(super) reviews: Repository<Review>,
        pub(super) shops: Repository<Shop>,
    }
}

/// Two shops, six products, and three reviews of each of the first two.
async fn older(store: &impl TestStore) -> old::Db {
    let db = old::Db::open(store.clone()).await.unwrap();
    for id in 1..=2 {
        let name = format!("shop {id}");
        db.shops.insert(old::Shop { id, name }).await.unwrap();
    }
    let product = |id| old::Product {
        id,
        name: format!("product {id}"),
        stats: old::Stats { views: id },
        best: Subset::new(),
    };
    db.products.insert_many((0..6).map(product)).await.unwrap();
    let review = |id| old::Review {
        id,
        product: Ref::new(id % 2),
        stars: id,
        text: format!("text {id}"),
        shop: 1 + id % 2,
    };
    db.reviews.insert_many((0..6).map(review)).await.unwrap();
    db
}

fn assert_empty(product: &empty::Product) {
    assert_eq!(product.name, format!("product {}", product.id));
    assert_eq!((product.reviews, product.revision), (0, 0));
    assert!(product.best.is_empty() && product.texts.is_empty());
}

const PENDING: [&str; 5] = [
    "products.best",
    "products.reviews",
    "products.revision",
    "products.texts",
    "reviews.product_name",
];

/// Reads in every way.
async fn assert_all_empty(db: &empty::Db) -> odm::Result<()> {
    assert_empty(&db.products.get(1).await?);
    let mut seen = db.products.all().await?;
    seen.extend(db.products.get_many([0, 5]).await?);
    seen.extend(db.products.find(Filter::all()).page(3).await?.items);
    seen.extend(db.products.all().stream().try_collect::<Vec<_>>().await?);
    let by_product = empty::Review::fields().product;
    let joined = db.reviews.all().join(by_product).await?;
    assert_eq!(joined.len(), 6);
    seen.extend(joined.into_iter().map(|(review, product)| {
        assert_eq!(review.product_name, None);
        product
    }));
    let referrers = db.products.all().join(by_product.referrers()).await?;
    assert_eq!(referrers[1].1.len(), 3);
    seen.extend(referrers.into_iter().map(|(product, _)| product));
    assert_eq!(seen.len(), 6 + 2 + 3 + 6 + 6 + 6);
    seen.iter().for_each(assert_empty);
    let rows = db.products.all().select::<empty::Row>().await?;
    assert_eq!(rows[1], empty::Row { reviews: 0, best: Subset::new(), revision: 0 });
    let raw = db.products.get(1).raw().await?;
    assert_eq!(
        bson::Document::try_from(raw).unwrap(),
        doc! {
            "_id": 1, "name": "product 1", "stats": { "views": 1 },
            "best": [], "reviews": 0_i64, "texts": [], "revision": 0_i64,
        }
    );
    Ok(())
}

on_every_store! {
    async fn a_pending_field_reads_as_its_empty_value_in_every_read(store: AnyStore) {
        older(&store).await;
        let before = stored(&store, "products").await;
        let db = empty::Db::open(store.clone()).await.unwrap();
        assert_eq!(db.pending_backfills(), PENDING);
        assert_all_empty(&db).await.unwrap();
        db.transaction(async |db| assert_all_empty(&db).await).await.unwrap();
        assert_eq!(stored(&store, "products").await, before, "nothing was written");
    }

    async fn pages_by_a_pending_field_leave_out_no_document(store: AnyStore) {
        older(&store).await;
        let db = empty::Db::open(store).await.unwrap();
        // One of them is computed.
        let new = empty::Review {
            id: 9, product: Ref::new(3), product_name: None, stars: 1, text: "t".into(), shop: 1,
        };
        db.reviews.insert(new).await.unwrap();
        for sort in [empty::Product::fields().reviews.asc(), empty::Product::fields().revision.desc()] {
            let mut ids = Vec::new();
            let mut after: Option<Cursor> = None;
            loop {
                let query = db.products.all().sort(sort.clone());
                let query = match &after {
                    None => query,
                    Some(after) => query.after(after),
                };
                let page = query.page(2).await.unwrap();
                ids.extend(page.items.iter().map(|product| product.id));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            ids.sort_unstable();
            assert_eq!(ids, [0, 1, 2, 3, 4, 5]);
            let streamed: Vec<_> = db.products.all().sort(sort).stream().try_collect().await.unwrap();
            assert_eq!(streamed.len(), 6);
        }
    }

    async fn documents_with_pending_fields_are_written_as_others_are(store: AnyStore) {
        older(&store).await;
        let db = empty::Db::open(store.clone()).await.unwrap();
        let name = empty::Product::fields().name;
        let modified = db.products.modify(2, |product| product.name = "modified".into()).await.unwrap();
        assert_eq!((&*modified.name, modified.revision, modified.reviews), ("modified", 1, 0));
        let read = db.products.get(3).await.unwrap();
        let replaced = db.products.replace(empty::Product { name: "replaced".into(), ..read.clone() });
        assert_eq!(replaced.await.unwrap().revision, 1);
        assert!(db.products.replace(read).await.unwrap_err().is_stale());
        db.products.update(4).set(name, "updated").await.unwrap();
        // A function checks the document as it is read.
        let error = db.products.update(4).set(name, "").await.unwrap_err();
        assert_eq!(error.violations().len(), 1, "{error}");
        assert_eq!(error.violations()[0].path, "name", "{error}");
        assert_eq!(db.products.get(4).await.unwrap().revision, 1);
        let review = db.reviews.modify(1, |review| review.stars = 10).await.unwrap();
        assert_eq!(review.text, "text 1");
        let first = db.products.get(1).await.unwrap();
        let shown: Vec<i32> = first.best.iter().map(|line| line.stars).collect();
        assert_eq!(shown, [10, 5], "what a write has computed is read");
        let findings = db.backfill().await.unwrap();
        assert!(findings.iter().all(|finding| finding.repaired), "{findings:?}");
        assert!(db.pending_backfills().is_empty());
        assert_eq!(db.audit().await.unwrap(), []);
        assert_eq!(db.products.get(5).await.unwrap().revision, 0);
        assert_eq!(db.products.get(0).await.unwrap().reviews, 3);
    }

    async fn an_audit_finds_what_is_pending_and_readable_documents(store: AnyStore) {
        older(&store).await;
        let db = empty::Db::open(store).await.unwrap();
        let findings = db.audit().await.unwrap();
        let unreadable = findings.iter().find(|of| matches!(of.problem, Problem::Unreadable(_)));
        assert_eq!(unreadable, None);
        let versions = findings.iter().filter(|of| of.problem == Problem::MissingVersion);
        assert_eq!(versions.count(), 6);
    }

    async fn fields_without_an_empty_value_are_computed_before_open_returns(store: AnyStore) {
        older(&store).await;
        let db = full::Db::open(store.clone()).await.unwrap();
        let review = db.reviews.get(3).await.unwrap();
        assert_eq!(review.shop_name, "shop 2");
        assert_eq!(db.reviews.all().await.unwrap().len(), 6);
        // Others are not complete.
        let left = db.pending_backfills();
        assert_eq!(left, ["products.reviews", "reviews.shop"]);
        assert_eq!(db.products.get(0).await.unwrap().reviews, 0);
        let findings = db.backfill().await.unwrap();
        assert!(findings.iter().all(|finding| finding.repaired));
        assert_eq!(db.audit().await.unwrap(), []);
        assert!(full::Db::open(store).await.unwrap().pending_backfills().is_empty());
    }

    async fn open_can_refuse_to_backfill_and_changes_nothing(store: AnyStore) {
        let old = older(&store).await;
        let before = (stored(&store, "reviews").await, stored(&store, "_odm_catalog").await);
        let refusing = || OpenOptions::default().refuse_backfill();
        let error = full::Db::open_with(store.clone(), refusing()).await.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Schema);
        let text = error.to_string();
        assert!(text.contains("`reviews.shop_name`") && text.contains("refuse_backfill"), "{text}");
        assert!(!text.contains("stats.reviews"), "{text}");
        assert_eq!((stored(&store, "reviews").await, stored(&store, "_odm_catalog").await), before);
        old.shops.insert(old::Shop { id: 3, name: "three".into() }).await.unwrap();
        old::Db::open(store.clone()).await.unwrap();
        // A complete backfill is no obstacle.
        full::Db::open(store.clone()).await.unwrap();
        full::Db::open_with(store, refusing()).await.unwrap();
    }

    async fn an_error_of_a_field_that_could_not_be_backfilled_names_the_backfill(store: AnyStore) {
        let old = older(&store).await;
        old.reviews.update(4).set(old::Review::fields().shop, 77).await.unwrap();
        let db = full::Db::open(store.clone()).await.unwrap();
        assert!(db.pending_backfills().contains(&"reviews.shop_name".to_owned()));
        let error = db.reviews.get(4).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode);
        assert_eq!(error.location().unwrap().path.as_deref(), Some("shop_name"));
        let text = error.to_string();
        assert!(text.contains("`shop_name`: the field is missing") && text.contains("`backfill()`"), "{text}");
        let mut stream = db.reviews.all().stream();
        let mut read = 0;
        while let Some(found) = stream.next().await {
            match found {
                Ok(_) => read += 1,
                Err(error) => assert!(error.to_string().contains("`backfill()`"), "{error}"),
            }
        }
        assert_eq!(read, 5);
        db.shops.insert(full::Shop { id: 77, name: "new".into() }).await.unwrap();
        assert_eq!(db.reviews.get(4).await.unwrap().shop_name, "new");
        db.backfill().await.unwrap();
        assert!(db.pending_backfills().is_empty());
    }
}
