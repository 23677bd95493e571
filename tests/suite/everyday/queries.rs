//! Assertions on the number of requests to the store.

use odm::{assert_queries, measure, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    parts: Vec<Ref<Part>>,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    parts: Repository<Part>,
    products: Repository<Product>,
}

async fn with_three(store: impl TestStore) -> Shop {
    let shop = Shop::open(store).await.unwrap();
    let parts = shop.parts.insert_many((0..3).map(|id| Part { id })).await;
    let parts = parts.unwrap();
    let products = parts.iter().map(|part| Product { id: part.id, parts: vec![Ref::from(part)] });
    shop.products.insert_many(products).await.unwrap();
    shop
}

/// A page with a query for each of its rows.
async fn row_by_row(shop: &Shop) -> odm::Result<usize> {
    let mut parts = 0;
    for product in shop.products.all().await? {
        parts += shop.parts.fetch(&product.parts).await?.len();
    }
    Ok(parts)
}

/// The message of the future's panic.
async fn panic_of(future: impl Future<Output = ()> + Send + 'static) -> String {
    let panicked = tokio::spawn(future).await.unwrap_err().into_panic();
    *panicked.downcast::<String>().unwrap()
}

on_every_store! {
    async fn an_assertion_returns_what_its_future_does(store: AnyStore) {
        let shop = with_three(store).await;
        let all = shop.products.all().join(Product::fields().parts);
        assert_eq!(assert_queries!(<= 2, all).unwrap().len(), 3);
        assert_eq!(assert_queries!(== 4, row_by_row(&shop)).unwrap(), 3);
        assert_queries!(< 5, async { row_by_row(&shop).await.unwrap() });
        assert_queries!(== 0, async {});
    }

    async fn an_assertion_that_fails_names_the_operations(store: AnyStore) {
        let shop = with_three(store).await;
        let message = panic_of({
            let shop = shop.clone();
            async move { drop(assert_queries!(<= 3, row_by_row(&shop))) }
        });
        assert_eq!(
            message.await,
            "assertion failed: `queries <= 3`, and there were 4\n  \
             find in `products`: 1\n  \
             fetch in `parts`: 1\n  \
             fetch in `parts`: 1\n  \
             fetch in `parts`: 1"
        );
        let fewer = panic_of({
            let shop = shop.clone();
            async move { drop(assert_queries!(== 5, row_by_row(&shop))) }
        });
        assert!(fewer.await.contains("`queries == 5`, and there were 4"));
        let not_less = panic_of(async move { drop(assert_queries!(< 4, row_by_row(&shop))) });
        assert!(not_less.await.contains("`queries < 4`, and there were 4"));
    }

    async fn measurements_within_each_other_count_alike(store: AnyStore) {
        let shop = with_three(store).await;
        let (inner, outer) = measure(async {
            let inner = assert_queries!(== 4, async {
                measure(row_by_row(&shop)).await.1.queries
            });
            shop.parts.get(1).await.unwrap();
            inner
        })
        .await;
        assert_eq!((inner, outer.queries), (4, 5));

        // Queries before the cancellation of an inner measurement count.
        let (_, cost) = measure(async {
            let (tell, told) = tokio::sync::oneshot::channel();
            let given_up = async {
                assert_queries!(== 0, async {
                    shop.parts.get(1).await.unwrap();
                    tell.send(()).unwrap();
                    std::future::pending::<()>().await;
                });
            };
            tokio::select! {
                () = given_up => unreachable!("it waits for ever"),
                told = told => told.unwrap(),
            }
        })
        .await;
        assert_eq!(cost.queries, 1);
    }
}

#[tokio::test]
#[should_panic(expected = "`queries <= 0`, and there were 1\n  count in `parts`: 1")]
async fn a_test_with_more_queries_than_it_asserts_fails() {
    let shop = Shop::open(odm::Embedded::memory().await.unwrap()).await;
    let _ = assert_queries!(<= 0, shop.unwrap().parts.all().count());
}
