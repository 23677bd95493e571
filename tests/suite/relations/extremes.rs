//! `#[min]` and `#[max]`: the least and the greatest value in the children that pass a filter.

use odm::{DerivedKind, Problem, bson::doc, prelude::*};
use tests::{TestStore, behind_the_back, on_every_store};

macro_rules! version {
    ($module:ident = $version:literal, $(#[$cheapest:meta])* $cheapest_name:ident) => {
        mod $module {
            use odm::prelude::*;
            use serde::{Deserialize, Serialize};

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "products")]
            pub(super) struct Product {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                $(#[$cheapest])*
                pub(super) $cheapest_name: Option<f64>,
                #[max(of = "Offer.price", filter = good)]
                pub(super) dearest_good: Option<f64>,
                #[min(of = "Offer.seller.name")]
                pub(super) first_seller: Option<String>,
                #[min(of = "Offer.rank")]
                pub(super) first_rank: Option<i64>,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = "offers")]
            pub(super) struct Offer {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                #[reference(parent)]
                pub(super) product: Ref<Product>,
                pub(super) price: Option<f64>,
                pub(super) is_good: bool,
                pub(super) rank: i64,
                #[embed]
                pub(super) seller: Option<Seller>,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
            pub(super) struct Seller {
                pub(super) name: String,
            }

            pub(super) fn good() -> Filter<Offer> {
                Offer::fields().is_good.eq(true)
            }

            #[derive(Database)]
            #[database(name = "market", version = $version)]
            pub(super) struct Market {
                pub(super) products: Repository<Product>,
                pub(super) offers: Repository<Offer>,
            }
        }
    };
}
version!(before = 1, is_kept);
version!(
    now = 2,
    #[min(of = "Offer.price")]
    cheapest
);

use now::{Market, Offer, Product, Seller};

fn offer(id: i64, product: i64, price: impl Into<Option<f64>>) -> Offer {
    let seller = Seller { name: format!("seller {id}") };
    Offer {
        id,
        product: Ref::new(product),
        price: price.into(),
        is_good: true,
        rank: id,
        seller: Some(seller),
    }
}

fn product(id: i64) -> Product {
    // What the caller sends is no value.
    Product {
        id,
        cheapest: Some(-7.0),
        dearest_good: Some(1e9),
        first_seller: Some("a".into()),
        first_rank: None,
    }
}

/// Two products without offers.
async fn market(store: impl TestStore) -> Market {
    let db = Market::open(store).await.unwrap();
    db.products.insert_many([product(1), product(2)]).await.unwrap();
    db
}

/// The prices of both products.
async fn prices(db: &Market) -> [(Option<f64>, Option<f64>); 2] {
    assert_eq!(db.audit().await.unwrap(), []);
    let products = db.products.all().await.unwrap();
    let prices = products.into_iter().map(|product| (product.cheapest, product.dearest_good));
    prices.collect::<Vec<_>>().try_into().unwrap()
}

const NONE: (Option<f64>, Option<f64>) = (None, None);

fn of(cheapest: f64, dearest: f64) -> (Option<f64>, Option<f64>) {
    (Some(cheapest), Some(dearest))
}

on_every_store! {
    async fn an_extreme_follows_each_write_of_a_child(store: AnyStore) {
        let db = market(store).await;
        assert_eq!(prices(&db).await, [NONE, NONE]);
        db.offers.insert_many([offer(1, 1, 5.0), offer(2, 1, 3.0), offer(3, 1, 9.0)]).await.unwrap();
        assert_eq!(prices(&db).await, [of(3.0, 9.0), NONE]);
        let fields = Offer::fields();
        // The extreme goes, and the next one is found.
        db.offers.update(2).set(fields.price, 7.0).await.unwrap();
        assert_eq!(prices(&db).await, [of(5.0, 9.0), NONE]);
        db.offers.update(3).set(fields.is_good, false).await.unwrap();
        assert_eq!(prices(&db).await, [of(5.0, 7.0), NONE]);
        db.offers.update(1).set(fields.product, Ref::new(2)).await.unwrap();
        assert_eq!(prices(&db).await, [of(7.0, 7.0), of(5.0, 5.0)]);
        // One goes and a further one comes.
        db.bulk((db.offers.delete(1), db.offers.insert(offer(4, 2, 4.0)))).await.unwrap();
        db.bulk((db.offers.delete(2), db.offers.insert(offer(5, 1, 8.0)))).await.unwrap();
        assert_eq!(prices(&db).await, [of(8.0, 8.0), of(4.0, 4.0)]);
        assert_eq!(db.products.get(1).await.unwrap().first_seller.as_deref(), Some("seller 3"));
        db.offers.delete_where(Filter::all()).await.unwrap();
        assert_eq!(prices(&db).await, [NONE, NONE]);
        assert_eq!(db.products.get(1).await.unwrap().first_seller, None);
    }

    async fn null_and_nan_are_no_values_and_infinity_is_one(store: AnyStore) {
        let db = market(store).await;
        let none = [offer(1, 1, None), offer(2, 1, f64::NAN), Offer { seller: None, ..offer(3, 1, None) }];
        db.offers.insert_many(none).await.unwrap();
        assert_eq!(prices(&db).await, [NONE, NONE]);
        db.offers.insert_many([offer(4, 1, f64::NEG_INFINITY), offer(5, 1, f64::INFINITY), offer(6, 1, 2.0)]).await.unwrap();
        assert_eq!(prices(&db).await[0], of(f64::NEG_INFINITY, f64::INFINITY));
        db.offers.delete_where(Offer::fields().id.in_([4, 5])).await.unwrap();
        assert_eq!(prices(&db).await[0], of(2.0, 2.0));
        db.offers.update(6).set(Offer::fields().price, f64::NAN).await.unwrap();
        assert_eq!(prices(&db).await, [NONE, NONE]);
    }

    async fn an_extreme_cannot_be_written(store: AnyStore) {
        let db = market(store).await;
        db.offers.insert(offer(1, 2, 6.0)).await.unwrap();
        for id in [1, 2] {
            db.products.replace(product(id)).await.unwrap();
        }
        assert_eq!(prices(&db).await, [NONE, of(6.0, 6.0)]);
    }

    async fn an_extreme_over_old_documents_is_pending_until_the_backfill(store: AnyStore) {
        let old = before::Market::open(store.clone()).await.unwrap();
        let kept = |id| before::Product { id, is_kept: Some(5.0), dearest_good: None, first_seller: None, first_rank: None };
        old.products.insert_many([kept(1), kept(2)]).await.unwrap();
        let offer = |id, product, price| before::Offer { id, product: Ref::new(product), price, is_good: true, rank: id, seller: None };
        old.offers.insert_many([offer(1, 1, None), offer(2, 2, Some(3.0)), offer(3, 2, Some(2.0))]).await.unwrap();
        drop(old);
        let db = Market::open(store).await.unwrap();
        db.backfill().await.unwrap();
        assert_eq!(prices(&db).await, [NONE, of(2.0, 3.0)]);
    }

    async fn an_extreme_that_is_wrong_is_found_and_repaired(store: AnyStore) {
        let db = market(store.clone()).await;
        db.offers.insert(self::offer(1, 1, 4.0)).await.unwrap();
        for update in [doc! { "$set": { "cheapest": 3.0 } }, doc! { "$set": { "cheapest": null } }, doc! { "$set": { "cheapest": "4" } }] {
            behind_the_back(&store, "products", doc! { "_id": 1 }, update).await;
            let found = db.audit().await.unwrap();
            let wrong = Problem::Derived(DerivedKind::Min);
            assert!(matches!(&found[..], [found] if found.problem == wrong && found.path == "cheapest"), "{found:?}");
            db.repair().await.unwrap();
            assert_eq!(prices(&db).await[0], of(4.0, 4.0));
        }
    }

    async fn a_search_for_the_next_extreme_reads_one_child_behind_nulls_and_those_that_do_not_pass(store: AnyStore) {
        let db = market(store).await;
        let price = |id: i64| if id % 2 == 0 { None } else { Some(id as f64) };
        let offers = (1..=2_000).map(|id| Offer { is_good: id % 999 == 0, ..offer(id, 1, price(id)) });
        db.offers.insert_many(offers).await.unwrap();
        assert_eq!(prices(&db).await[0], of(1.0, 999.0));
        let dear = odm::measure(db.offers.delete(999).into_future()).await.1;
        let cheap = odm::measure(db.offers.delete(1).into_future()).await.1;
        let inserted = odm::measure(db.offers.insert(offer(3_000, 1, 500.0)).into_future()).await.1;
        let middle = odm::measure(db.offers.update(301).set(Offer::fields().price, 302.0).into_future()).await.1;
        let prices = prices(&db).await[0];
        assert_eq!(prices, of(3.0, 500.0));
        // A store of maps has no indexes.
        if cheap.keys_examined > 0 {
            for cost in [dear, cheap, inserted, middle] {
                assert!(cost.documents_examined <= 8 && cost.keys_examined <= 16, "{cost:?}");
            }
        }
    }

    async fn a_child_that_lacks_its_value_against_the_schema_hides_no_other(store: AnyStore) {
        let db = market(store.clone()).await;
        db.offers.insert_many([offer(1, 1, 5.0), offer(2, 1, 3.0), offer(3, 1, 9.0)]).await.unwrap();
        behind_the_back(&store, "offers", doc! { "_id": 1 }, doc! { "$unset": { "rank": "" } }).await;
        db.repair().await.unwrap();
        assert_eq!(db.products.get(1).await.unwrap().first_rank, Some(2));
        db.offers.delete(2).await.unwrap();
        assert_eq!(db.products.get(1).await.unwrap().first_rank, Some(3));
    }
}
