//! How often a write calls the store: one call for all reads of a step, and one batch of writes.
//!
//! A store over a network pays for each call. The table of upper bounds below is the need of careful code by hand, give or take a call; the
//! reads of the catalog's epoch and the commit are not in it.

mod logged;
mod messages;
mod models;

use std::sync::atomic::Ordering;

use odm::{Result, prelude::*, store::embedded::Embedded};

use self::{
    logged::{Log, Logged},
    models::*,
};

/// The shop on a store that logs its calls.
async fn logged_shop() -> (Shop, Log) {
    let log = Log::default();
    let store = Logged { store: Embedded::memory().await.unwrap(), log: log.clone() };
    let shop = models::shop(store).await;
    grow_tree(&shop).await;
    log.take();
    (shop, log)
}

/// Runs a write, and checks that it calls the store at most `most` times, that no document is written twice, and that all derived fields
/// are right.
async fn at_most<T>(most: usize, write: impl AsyncFnOnce(&Shop) -> Result<T>) {
    let (shop, log) = logged_shop().await;
    write(&shop).await.unwrap();
    let calls = log.take();
    assert!(!calls.is_empty(), "nothing was logged");
    assert!(calls.len() <= most, "{} calls instead of {most}: {calls:#?}", calls.len());
    let writes = calls
        .iter()
        .filter(|call| ["apply", "update", "delete"].iter().any(|write| call.starts_with(write)));
    assert_eq!(writes.count(), 1, "one request writes everything: {calls:#?}");
    assert_eq!(shop.audit().await.unwrap(), []);
}

#[test]
fn a_rename_of_a_part_with_100_copies_shown_by_10_categories() {
    tests::run(at_most(6, async |shop: &Shop| {
        shop.parts.update(1).set(Part::fields().name, "renamed").await
    }));
}

#[test]
fn an_insert_of_a_person_with_10_tasks() {
    tests::run(at_most(4, async |shop: &Shop| {
        let tasks = (10..20).map(Ref::new).collect();
        let person = Person { id: 50, name: "new".to_owned(), tasks, version: 0 };
        shop.people.insert(person).await
    }));
}

#[test]
fn an_insert_of_a_product_with_copies_a_subset_and_a_count_shown_in_a_category() {
    tests::run(at_most(6, async |shop: &Shop| {
        shop.products.insert(product(500, 3, &[1, 3])).await
    }));
}

#[test]
fn an_insert_of_a_review_that_enters_a_subset_with_a_count() {
    tests::run(at_most(4, async |shop: &Shop| shop.reviews.insert(review(500, 1, 500)).await));
}

#[test]
fn an_insert_of_a_sale_with_a_sum_an_extreme_and_an_existence() {
    tests::run(at_most(4, async |shop: &Shop| shop.sales.insert(sale(50, 3)).await));
}

/// A unit that turns out to be too large for the task of its caller runs twice, unless its size is known before.
#[test]
fn writes_of_many_documents_run_once() {
    tests::run(at_most(4, async |shop: &Shop| {
        shop.sales.insert_many((100..400).map(|id| sale(id, 3))).await
    }));
    tests::run(at_most(4, async |shop: &Shop| {
        shop.sales.upsert_many((5..305).map(|id| sale(id, 3))).await
    }));
}

#[test]
fn an_insert_into_a_tree() {
    tests::run(at_most(4, async |shop: &Shop| shop.folders.insert(folder(200, Some(6))).await));
}

/// A call for each of two depths on the way up, and for each of two below.
#[test]
fn a_move_in_a_tree() {
    tests::run(at_most(8, async |shop: &Shop| {
        shop.folders.update(1).set(Folder::fields().parent, Some(Ref::new(2))).await
    }));
}

#[test]
fn an_insert_of_a_child_that_is_numbered_and_counted() {
    tests::run(at_most(5, async |shop: &Shop| shop.receipts.insert(receipt(1)).await));
}

#[test]
fn a_delete_of_the_child_with_an_extreme() {
    tests::run(at_most(5, async |shop: &Shop| shop.sales.delete(9).await));
}

#[test]
fn an_update_of_a_shown_review() {
    tests::run(at_most(4, async |shop: &Shop| {
        shop.reviews.update(43).set(Review::fields().text, "better").await
    }));
}

#[test]
fn an_update_of_a_product_that_its_category_shows_with_its_id() {
    tests::run(at_most(3, async |shop: &Shop| {
        let parts = Product::fields().parts;
        shop.products.update(7).set(parts, Vec::new()).await
    }));
}

#[test]
fn a_delete_of_a_product_with_22_reviews() {
    tests::run(at_most(5, async |shop: &Shop| shop.products.delete(1).await));
}

#[test]
fn an_update_by_a_filter_of_10_documents_with_a_version() {
    tests::run(at_most(2, async |shop: &Shop| {
        let fields = Person::fields();
        shop.people.update_where(fields.id.gte(2)).set(fields.name, "renamed").await
    }));
}

#[test]
fn a_move_of_a_task_to_another_owner() {
    tests::run(at_most(4, async |shop: &Shop| {
        shop.tasks.update(0).set(Task::fields().owner, Ref::new(1)).await
    }));
}

#[test]
fn a_write_from_which_nothing_follows_is_one_statement() {
    tests::run(at_most(1, async |shop: &Shop| {
        let fields = Task::fields();
        shop.tasks.update_where(fields.id.lt(10)).set(fields.note, "none").await
    }));
}

#[test]
fn an_upsert_of_100_plain_documents_is_one_read_and_one_batch() {
    tests::run(at_most(2, async |shop: &Shop| {
        let visit = |id| Visit { id, page: "new".to_owned() };
        shop.visits.upsert_many((0..100).map(visit)).await
    }));
}

#[test]
fn an_audit_asks_once_for_each_kind_of_thing_and_chunk() {
    tests::run(async {
        let shop = models::shop(Embedded::memory().await.unwrap()).await;
        let audit = async || {
            let (found, cost) = odm::measure(async { shop.audit().await }).await;
            assert_eq!(found.unwrap(), []);
            cost
        };
        let cost = audit().await;
        // 100 products with two kinds of copies, a subset, a count and three references are one chunk.
        assert!(cost.queries <= 60, "{cost:?}");
        // The documents above all of a chunk are asked for together, however deep they are.
        grow_tree(&shop).await;
        let with_tree = audit().await;
        assert!(with_tree.queries <= cost.queries + 4, "{with_tree:?} after {cost:?}");
    });
}

/// The bytes that searches pass while a post with this many tags is inserted and renamed.
async fn bytes_of_links(shop: &Shop, log: &Log, id: i32, tags: i32) -> usize {
    let post = Post { id, title: "first".to_owned(), tags: (0..tags).map(Ref::new).collect() };
    shop.posts.insert(post).await.unwrap();
    log.1.store(0, Ordering::Relaxed);
    shop.posts.update(id).set(Post::fields().title, "renamed").await.unwrap();
    log.1.load(Ordering::Relaxed)
}

#[tokio::test]
async fn a_reverse_copy_reads_of_a_source_nothing_but_the_value() {
    let (shop, log) = logged_shop().await;
    let tag = |id| Tag { id, posts: Vec::new() };
    shop.tags.insert_many((0..900).map(tag)).await.unwrap();
    // The second post has more tags than fit into the queue.
    let few = bytes_of_links(&shop, &log, 1, 20).await;
    let many = bytes_of_links(&shop, &log, 2, 900).await;
    let tag = shop.tags.get(7).await.unwrap();
    assert_eq!(tag.posts, ["renamed"]);
    // A unit that is too much for a poll begins again.
    assert!(many <= 90 * few, "{few} bytes of 20 links, {many} bytes of 900");
}

#[tokio::test]
async fn a_reverse_copy_is_read_where_the_links_of_a_source_differ() {
    let (shop, log) = logged_shop().await;
    let tag = |id| Tag { id, posts: Vec::new() };
    shop.tags.insert_many((0..20).map(tag)).await.unwrap();
    bytes_of_links(&shop, &log, 1, 19).await;
    log.take();
    let tags: Vec<Ref<Tag>> = (0..19).rev().map(Ref::new).collect();
    let reversed = shop.posts.update(1).set(Post::fields().tags, tags).await;
    reversed.unwrap();
    assert_eq!(log.take(), ["get posts", "apply posts"]);

    let ((), cost) = odm::measure(async {
        let posts = shop.posts.update(1);
        let pushed = posts.push(Post::fields().tags, Ref::new(19)).await;
        pushed.unwrap();
    })
    .await;
    assert_eq!(cost.documents_written, 2);
    assert!(cost.documents_examined <= 4, "{cost:?}");
}
