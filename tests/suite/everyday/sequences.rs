//! `#[id(sequence)]`: `_id`s that are the next numbers of their collection.

use std::sync::Arc;

use odm::{Embedded, ErrorKind, bson::doc, model::SequenceId, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "orders", new(name = "NewOrder", derive(Debug, Clone)))]
struct Order {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: i64,
    #[reference(parent)]
    customer: Ref<Customer>,
    #[index(unique)]
    code: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "customers", new = "NewCustomer")]
struct Customer {
    #[serde(rename = "_id")]
    #[id(sequence)]
    #[opaque]
    id: CustomerId,
    #[count(of = "Order")]
    orders: i64,
    #[split(collection = "notes", key = "customer", optional)]
    note: Cold<Note>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Note {
    text: String,
}

/// A type of the program's own, which has three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct CustomerId(i32);

impl SequenceId for CustomerId {
    fn from_number(number: i64) -> Option<Self> {
        (number <= 3).then_some(CustomerId(number as i32))
    }
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    orders: Repository<Order>,
    customers: Repository<Customer>,
}

fn order(code: &str) -> NewOrder {
    NewOrder { customer: Ref::new(CustomerId(1)), code: code.into() }
}

fn customer() -> NewCustomer {
    NewCustomer { note: Cold::new(Note { text: "new".into() }) }
}

async fn shop(store: impl TestStore) -> Shop {
    let shop = Shop::open(store).await.unwrap();
    assert_eq!(shop.customers.insert(customer()).await.unwrap().id, CustomerId(1));
    shop
}

async fn numbers(shop: &Shop) -> Vec<i64> {
    let orders = shop.orders.all().await.unwrap();
    orders.iter().map(|order| order.id).collect()
}

on_every_store! {
    async fn numbers_are_given_in_order_and_without_gaps(store: AnyStore) {
        let shop = shop(store).await;
        let first = shop.orders.insert(order("a")).await.unwrap();
        assert_eq!((first.id, first.code.as_str()), (1, "a"));
        let more = shop.orders.insert_many(["b", "c", "d"].map(order)).await.unwrap();
        assert_eq!(more.iter().map(|order| (order.id, order.code.as_str())).collect::<Vec<_>>(), [(2, "b"), (3, "c"), (4, "d")]);
        assert!(shop.orders.insert_many(Vec::<NewOrder>::new()).await.unwrap().is_empty());

        // A write that fails, is planned or is rolled back uses up no number.
        assert_eq!(shop.orders.insert(order("a")).await.unwrap_err().kind(), ErrorKind::DuplicateKey);
        let lost = NewOrder { customer: Ref::new(CustomerId(2)), ..order("e") };
        assert_eq!(shop.orders.insert(lost).await.unwrap_err().kind(), ErrorKind::DanglingReference);
        let plan = shop.orders.insert_many(["e", "f"].map(order)).plan().await.unwrap();
        let planned = plan.collections.iter().map(|of| (of.collection.as_str(), of.inserted));
        assert_eq!(planned.collect::<Vec<_>>(), [("customers", 0), ("orders", 2)]);
        let rolled_back: odm::Result<()> = shop
            .transaction(async |shop| {
                assert_eq!(shop.orders.insert(order("e")).await?.id, 5);
                assert_eq!(shop.orders.insert(order("f")).await?.id, 6);
                Err(odm::Error::new(ErrorKind::InvalidQuery, "no"))
            })
            .await;
        assert!(rolled_back.is_err());
        let (five, six) = shop.bulk((shop.orders.insert(order("e")), shop.orders.insert(order("f")))).await.unwrap();
        assert_eq!((five.id, six.id), (5, 6));
        let code = Order::fields().code;
        assert_eq!(shop.orders.upsert_by(code, order("e")).await.unwrap().id, 5);
        assert_eq!(shop.orders.upsert_by(code, order("g")).await.unwrap().id, 7);
        assert_eq!(numbers(&shop).await, [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(shop.customers.get(CustomerId(1)).await.unwrap().orders, 7);
        assert_eq!(shop.audit().await.unwrap(), []);
    }

    async fn no_number_is_given_twice(store: AnyStore) {
        let shop = shop(store).await;
        shop.orders.insert_many(["a", "b"].map(order)).await.unwrap();
        shop.orders.delete(2).await.unwrap();
        assert_eq!(shop.orders.insert(order("c")).await.unwrap().id, 3);
        // A document may bring an `_id` of its own.
        let own = |id, code: &str| Order { id, customer: Ref::new(CustomerId(1)), code: code.into() };
        shop.orders.insert(own(10, "x")).await.unwrap();
        assert_eq!(shop.orders.insert(order("d")).await.unwrap().id, 11);
        shop.orders.insert(own(-4, "y")).await.unwrap();
        let many = [order("e"), order("f")];
        let (own, many) = shop.bulk((shop.orders.insert(own(20, "z")), shop.orders.insert_many(many))).await.unwrap();
        assert_eq!((own.id, many[0].id, many[1].id), (20, 21, 22));
        assert_eq!(numbers(&shop).await, [-4, 1, 3, 10, 11, 20, 21, 22]);
        assert_eq!(shop.audit().await.unwrap(), []);
    }

    async fn a_sequence_of_a_small_type_ends_with_an_error(store: AnyStore) {
        let shop = shop(store).await;
        let customers = [customer(), customer(), customer()];
        let over = shop.customers.insert_many(customers).await.unwrap_err();
        assert_eq!(over.kind(), ErrorKind::Limit, "{over}");
        assert!(over.to_string().contains("`customers`"), "{over}");
        assert_eq!(shop.customers.insert_many([customer(), customer()]).await.unwrap()[1].id, CustomerId(3));
        assert_eq!(shop.customers.insert(customer()).await.unwrap_err().kind(), ErrorKind::Limit);
        let whole = shop.customers.get(CustomerId(3)).with(Customer::fields().note).await.unwrap();
        assert_eq!(whole.note.get().unwrap().text, "new");
        let last = Order { id: i64::MAX, customer: Ref::new(CustomerId(1)), code: "last".into() };
        shop.orders.insert(last).await.unwrap();
        assert_eq!(shop.orders.insert(order("next")).await.unwrap_err().kind(), ErrorKind::Limit);
    }

    async fn inserts_at_once_get_all_numbers(store: AnyStore) {
        let shop = Arc::new(shop(store).await);
        let tasks = (0..16).map(|task| {
            let shop = shop.clone();
            tokio::spawn(async move {
                for n in 0..10 {
                    let insert = shop.orders.insert(order(&format!("{task} {n}")));
                    // A failed insert in between.
                    let again = shop.orders.insert(order(&format!("{task} {n}")));
                    insert.await.unwrap();
                    again.await.unwrap_err();
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        assert_eq!(numbers(&shop).await, (1..=160).collect::<Vec<_>>());
        assert_eq!(shop.audit().await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_sequence_goes_on_after_the_store_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.odm");
    let one = shop(Embedded::open(&path).await.unwrap()).await;
    one.orders.insert_many(["a", "b", "c"].map(order)).await.unwrap();
    one.orders.delete(3).await.unwrap();
    one.close().await.unwrap();
    let again = Shop::open(Embedded::open(&path).await.unwrap()).await.unwrap();
    assert_eq!(again.orders.insert(order("d")).await.unwrap().id, 4);
    let raw = again.orders.get(4).raw().await.unwrap();
    assert_eq!(
        raw,
        odm::bson::RawDocumentBuf::try_from(&doc! { "_id": 4_i64, "customer": 1, "code": "d" })
            .unwrap()
    );
}
