//! How many messages an operation sends to a MongoDB server, commits included, compared with careful code by hand. The messages of writes
//! are tested on servers with `bulkWrite` alone.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use mongodb::{
    Client,
    event::{EventHandler, command::CommandEvent},
};
use odm::{MongoDb, Result, prelude::*};
use tests::on_mongodb_database;

use crate::calls::models::*;

/// The names of the commands that a client sends.
#[derive(Clone, Default)]
struct Commands(Arc<Mutex<Vec<String>>>);

impl Commands {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Runs an operation on the shop, and checks which commands it sends, and that all derived fields are right after it.
fn sends<T>(expected: &[&str], operation: impl AsyncFnOnce(&Shop) -> Result<T>) {
    on_mongodb_database(Duration::from_secs(60), async |server| {
        if expected.contains(&"bulkWrite") && !server.has_bulk_write().await {
            println!("left out: the server has no `bulkWrite`");
            return;
        }
        let commands = Commands::default();
        let sent = commands.clone();
        let mut options = server.options.clone();
        options.command_event_handler = Some(EventHandler::callback(move |event| {
            if let CommandEvent::Started(event) = event {
                sent.0.lock().unwrap().push(event.command_name);
            }
        }));
        let client = Client::with_options(options).unwrap();
        let store = MongoDb::new(&client, server.database.name()).await;
        let shop = shop(store.unwrap()).await;
        grow_tree(&shop).await;
        commands.take();
        operation(&shop).await.unwrap();
        assert_eq!(commands.take(), expected);
        assert_eq!(shop.audit().await.unwrap(), []);
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_document_by_its_key_on_mongodb() {
    sends(&["find"], async |shop| shop.products.get(1).await);
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_page_of_the_children_of_a_parent_on_mongodb() {
    sends(&["find"], async |shop| {
        let product = Review::fields().product;
        let page = shop.reviews.find(product.eq(1)).sort(Review::fields().score.desc());
        page.skip(10).limit(10).await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_join_on_mongodb() {
    sends(&["find", "find"], async |shop| {
        let fields = Product::fields();
        shop.products.find(fields.id.lt(10)).join(fields.maker).await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_join_with_a_sort_and_a_limit_for_each_parent_on_mongodb() {
    sends(&["find", "aggregate"], async |shop| {
        let reviews = Review::fields().product.referrers();
        let best = reviews.sort(Review::fields().score.desc()).limit(3);
        shop.products.find(Product::fields().id.lt(10)).join(best).await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_insert_of_a_child_into_the_subset_and_count_of_its_parent_on_mongodb() {
    sends(&["bulkWrite", "commitTransaction"], async |shop| {
        shop.reviews.insert(review(500, 1, 500)).await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_insert_and_a_change_of_a_child_with_a_sum_an_extreme_and_an_existence_on_mongodb() {
    sends(&["bulkWrite", "commitTransaction"], async |shop| shop.sales.insert(sale(50, 3)).await);
    // The child is read.
    sends(&["find", "bulkWrite", "commitTransaction"], async |shop| {
        shop.sales.update(3).set(Sale::fields().amount, 1).await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_insert_of_a_child_that_is_numbered_and_counted_on_mongodb() {
    // The counter is read.
    sends(&["find", "bulkWrite", "commitTransaction"], async |shop| {
        shop.receipts.insert(receipt(1)).await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_insert_into_a_tree_on_mongodb() {
    // The document above is read.
    sends(&["find", "bulkWrite", "commitTransaction"], async |shop| {
        shop.folders.insert(folder(200, Some(6))).await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_update_of_a_field_that_nothing_shows_on_mongodb() {
    sends(&["bulkWrite"], async |shop| {
        shop.tasks.update(20).set(Task::fields().note, "none").await
    });
}

fn visit(page: &str) -> Visit {
    Visit { id: 1, page: page.to_owned() }
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn writes_of_a_document_from_which_nothing_follows_on_mongodb() {
    sends(&["bulkWrite"; 6], async |shop| {
        assert_eq!(shop.visits.insert(visit("a")).await?.page, "a");
        assert_eq!(shop.visits.upsert(visit("b")).await?.page, "b");
        assert_eq!(shop.visits.replace(visit("c")).await?.page, "c");
        assert!(shop.visits.delete(1).await?);
        assert!(!shop.visits.delete(1).await?);
        shop.visits.upsert(visit("d")).await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn an_insert_of_a_document_whose_name_will_be_copied_on_mongodb() {
    sends(&["bulkWrite"], async |shop| {
        let maker = Maker { id: 100, name: "new".to_owned() };
        shop.makers.insert(maker).await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_rename_copied_into_100_documents_on_mongodb() {
    sends(&["find", "bulkWrite", "commitTransaction"], async |shop| {
        shop.makers.update(1).set(Maker::fields().name, "renamed").await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_move_of_a_task_to_another_owner_on_mongodb() {
    sends(&["find", "bulkWrite", "commitTransaction"], async |shop| {
        shop.tasks.update(0).set(Task::fields().owner, Ref::new(1)).await
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_delete_of_a_product_with_22_reviews_on_mongodb() {
    sends(&["find", "find", "find", "bulkWrite", "commitTransaction"], async |shop| {
        shop.products.delete(1).await
    });
}
