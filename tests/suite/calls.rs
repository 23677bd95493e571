//! How often a write calls the store: one call for all reads of a step, and one batch of writes.
//!
//! A store over a network pays for each call. The table of upper bounds below is what careful code
//! by hand needs, give or take a call; the reads of the catalog's epoch and the commit are not in it.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use odm::{
    Result,
    bson::{RawBson, RawDocument},
    prelude::*,
    store::{
        Capabilities, CollectionSpec, CollectionWrites, Cost, DeleteWrite, Deleted, Durability,
        Each, Explain, Find, FindByKey, Locks, Reader, Store, Transaction, TransactionOptions,
        UnitOfWork, UpdateWrite, Updated, embedded::Embedded,
    },
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "makers")]
struct Maker {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    #[denormalize(from = "Part.name")]
    name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[reference(child)]
    maker: Ref<Maker>,
    #[denormalize(from = "Maker.name")]
    maker_name: String,
    #[embed]
    parts: Vec<PartLink>,
    #[reference(parent)]
    category: Ref<Category>,
    #[subset(limit = 10, sort = "-score")]
    reviews: Subset<ReviewLine>,
    #[count(of = "Review")]
    review_count: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent, on_delete = "cascade")]
    product: Ref<Product>,
    text: String,
    score: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Review")]
struct ReviewLine {
    text: String,
    score: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "categories")]
struct Category {
    #[serde(rename = "_id")]
    id: i32,
    #[subset(limit = 100, sort = "name")]
    products: Subset<ProductLine>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Product")]
struct ProductLine {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[embed]
    parts: Vec<PartLink>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "people")]
struct Person {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[reference(child, inverse = "owner")]
    tasks: Vec<Ref<Task>>,
    #[version]
    version: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i32,
    note: String,
    #[reference(parent, inverse = "tasks")]
    owner: Option<Ref<Person>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "tags")]
struct Tag {
    #[serde(rename = "_id")]
    id: i32,
    #[denormalize(from = "Post.title", via = "Post.tags")]
    posts: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "posts")]
struct Post {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[reference(child)]
    tags: Vec<Ref<Tag>>,
}

#[derive(Database)]
#[database(name = "calls", version = 1)]
struct Shop {
    parts: Repository<Part>,
    makers: Repository<Maker>,
    products: Repository<Product>,
    reviews: Repository<Review>,
    categories: Repository<Category>,
    people: Repository<Person>,
    tasks: Repository<Task>,
    tags: Repository<Tag>,
    posts: Repository<Post>,
}

/// The calls of a store, in order, with the collections, and the bytes that a search by keys has passed.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>, Arc<AtomicUsize>);

impl Log {
    fn add(&self, call: &str, collection: &str) {
        if collection != "_odm_catalog" {
            self.0.lock().unwrap().push(format!("{call} {collection}"));
        }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// A store that logs the calls of its units and transactions.
#[derive(Clone)]
struct Logged {
    store: Embedded,
    log: Log,
}

#[async_trait]
impl Store for Logged {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn reader(&self) -> Result<Arc<dyn Reader>> {
        self.store.reader()
    }

    async fn ensure(&self, collections: &[CollectionSpec]) -> Result<()> {
        self.store.ensure(collections).await
    }

    async fn run(&self, unit: Arc<dyn UnitOfWork>, durability: Durability) -> Result<()> {
        let log = self.log.clone();
        let unit = Arc::new(LoggedUnit { unit, log });
        self.store.run(unit, durability).await
    }

    async fn begin(&self, options: TransactionOptions) -> Result<Box<dyn Transaction>> {
        let transaction = self.store.begin(options).await?;
        let log = self.log.clone();
        Ok(Box::new(LoggedTransaction { transaction, log }))
    }

    async fn close(&self) -> Result<()> {
        self.store.close().await
    }
}

struct LoggedUnit {
    unit: Arc<dyn UnitOfWork>,
    log: Log,
}

#[async_trait]
impl UnitOfWork for LoggedUnit {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let mut logged = LoggedCalls {
            transaction,
            log: self.log.clone(),
        };
        self.unit.run(&mut logged).await
    }
}

/// A transaction of a caller.
struct LoggedTransaction {
    transaction: Box<dyn Transaction>,
    log: Log,
}

/// The calls of one unit.
struct LoggedCalls<'a> {
    transaction: &'a mut dyn Transaction,
    log: Log,
}

/// Both forward every call to `self.transaction`, and log it.
macro_rules! forward {
    ($($logged:ty, { $($end:tt)* };)+) => {$(
        #[async_trait]
        impl Reader for $logged {
            async fn get(&self, collection: &str, ids: &[RawBson], each: Each<'_>) -> Result<Cost> {
                self.log.add("get", collection);
                self.transaction.get(collection, ids, each).await
            }

            async fn find(&self, find: &Find, each: Each<'_>) -> Result<Cost> {
                self.log.add("find", &find.collection);
                self.transaction.find(find, each).await
            }

            async fn find_by_key(&self, find: &FindByKey, each: Each<'_>) -> Result<Cost> {
                self.log.add("find_by_key", &find.find.collection);
                let passed = self.log.1.clone();
                let each = &mut |at: usize, document: &RawDocument| {
                    passed.fetch_add(document.as_bytes().len(), Ordering::Relaxed);
                    each(at, document)
                };
                self.transaction.find_by_key(find, each).await
            }

            async fn count(&self, find: &Find) -> Result<(u64, Cost)> {
                self.log.add("count", &find.collection);
                self.transaction.count(find).await
            }

            async fn count_by_key(&self, find: &FindByKey) -> Result<(Vec<u64>, Cost)> {
                self.log.add("count_by_key", &find.find.collection);
                self.transaction.count_by_key(find).await
            }

            async fn explain(&self, find: &Find) -> Result<Explain> {
                self.transaction.explain(find).await
            }

            async fn index_of(&self, find: &Find) -> Result<Option<String>> {
                self.transaction.index_of(find).await
            }
        }

        #[async_trait]
        impl Transaction for $logged {
            async fn apply(&mut self, batch: &[CollectionWrites<'_>]) -> Result<Cost> {
                let collections: Vec<&str> = batch.iter().map(|writes| writes.collection).collect();
                self.log.add("apply", &collections.join(","));
                self.transaction.apply(batch).await
            }

            async fn update(&mut self, write: &UpdateWrite) -> Result<Updated> {
                self.log.add("update", &write.collection);
                self.transaction.update(write).await
            }

            async fn delete(&mut self, write: &DeleteWrite) -> Result<Deleted> {
                self.log.add("delete", &write.collection);
                self.transaction.delete(write).await
            }

            fn locks(&mut self) -> Option<&mut Locks> {
                self.transaction.locks()
            }

            $($end)*
        }
    )+};
}

forward! {
    LoggedTransaction, {
        async fn commit(self: Box<Self>) -> Result<()> {
            self.transaction.commit().await
        }

        async fn rollback(self: Box<Self>) -> Result<()> {
            self.transaction.rollback().await
        }
    };
    LoggedCalls<'_>, {
        async fn commit(self: Box<Self>) -> Result<()> {
            unreachable!("a unit is committed by the store")
        }

        async fn rollback(self: Box<Self>) -> Result<()> {
            unreachable!("a unit is rolled back by the store")
        }
    };
}

fn product(id: i32, category: i32, parts: &[i32]) -> Product {
    let link = |&id: &i32| PartLink {
        id: Ref::new(id),
        name: String::new(),
    };
    Product {
        id,
        name: format!("product {id}"),
        maker: Ref::new(1),
        maker_name: String::new(),
        parts: parts.iter().map(link).collect(),
        category: Ref::new(category),
        reviews: Subset::new(),
        review_count: 0,
    }
}

fn review(id: i32, product: i32, score: i32) -> Review {
    Review {
        id,
        product: Ref::new(product),
        text: "good".to_owned(),
        score,
    }
}

/// A shop with 100 products of one part in ten categories, and 22 reviews of each of the first two.
async fn shop() -> (Shop, Log) {
    let log = Log::default();
    let store = Logged {
        store: Embedded::memory().await.unwrap(),
        log: log.clone(),
    };
    let shop = Shop::open(store).await.unwrap();
    let name = |id: i32| format!("name {id}");
    let parts = (1..=3).map(|id| Part { id, name: name(id) });
    shop.parts.insert_many(parts).await.unwrap();
    let maker = Maker {
        id: 1,
        name: name(1),
    };
    shop.makers.insert(maker).await.unwrap();
    let categories = (0..10).map(|id| Category {
        id,
        products: Subset::new(),
    });
    shop.categories.insert_many(categories).await.unwrap();
    let products = (0..100).map(|id| product(id, id % 10, &[1, 2]));
    shop.products.insert_many(products).await.unwrap();
    let reviews = (0..44).map(|id| review(id, id % 2, id));
    shop.reviews.insert_many(reviews).await.unwrap();
    let tasks = (0..30).map(|id| Task {
        id,
        note: name(id),
        owner: None,
    });
    shop.tasks.insert_many(tasks).await.unwrap();
    let people = (0..12).map(|id| Person {
        id,
        name: name(id),
        tasks: if id < 2 {
            vec![Ref::new(id)]
        } else {
            Vec::new()
        },
        version: 0,
    });
    shop.people.insert_many(people).await.unwrap();
    log.take();
    (shop, log)
}

/// Runs a write, and checks that it calls the store at most `most` times, that nothing is written
/// twice, and that everything derived is right.
async fn at_most<T>(most: usize, write: impl AsyncFnOnce(&Shop) -> Result<T>) {
    let (shop, log) = shop().await;
    write(&shop).await.unwrap();
    let calls = log.take();
    assert!(!calls.is_empty(), "nothing was logged");
    assert!(
        calls.len() <= most,
        "{} calls instead of {most}: {calls:#?}",
        calls.len()
    );
    let writes = calls.iter().filter(|call| {
        ["apply", "update", "delete"]
            .iter()
            .any(|write| call.starts_with(write))
    });
    assert_eq!(
        writes.count(),
        1,
        "one request writes everything: {calls:#?}"
    );
    assert_eq!(shop.audit().await.unwrap(), []);
}

#[test]
fn a_rename_of_a_part_with_100_copies_shown_by_10_categories() {
    tests::run(at_most(6, async |shop: &Shop| {
        shop.parts
            .update(1)
            .set(Part::fields().name, "renamed")
            .await
    }));
}

#[test]
fn an_insert_of_a_person_with_10_tasks() {
    tests::run(at_most(4, async |shop: &Shop| {
        let tasks = (10..20).map(Ref::new).collect();
        let person = Person {
            id: 50,
            name: "new".to_owned(),
            tasks,
            version: 0,
        };
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
    tests::run(at_most(4, async |shop: &Shop| {
        shop.reviews.insert(review(500, 1, 500)).await
    }));
}

#[test]
fn an_update_of_a_shown_review() {
    tests::run(at_most(4, async |shop: &Shop| {
        shop.reviews
            .update(43)
            .set(Review::fields().text, "better")
            .await
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
    tests::run(at_most(5, async |shop: &Shop| {
        shop.products.delete(1).await
    }));
}

#[test]
fn an_update_by_a_filter_of_10_documents_with_a_version() {
    tests::run(at_most(2, async |shop: &Shop| {
        let fields = Person::fields();
        shop.people
            .update_where(fields.id.gte(2))
            .set(fields.name, "renamed")
            .await
    }));
}

#[test]
fn a_move_of_a_task_to_another_owner() {
    tests::run(at_most(4, async |shop: &Shop| {
        shop.tasks
            .update(0)
            .set(Task::fields().owner, Ref::new(1))
            .await
    }));
}

#[test]
fn a_write_from_which_nothing_follows_is_one_statement() {
    tests::run(at_most(1, async |shop: &Shop| {
        let fields = Task::fields();
        shop.tasks
            .update_where(fields.id.lt(10))
            .set(fields.note, "none")
            .await
    }));
}

#[test]
fn an_audit_asks_once_for_each_kind_of_thing_and_chunk() {
    tests::run(async {
        let (shop, _) = shop().await;
        let (found, cost) = odm::measure(async { shop.audit().await }).await;
        assert_eq!(found.unwrap(), []);
        // 100 products with two kinds of copies, a subset, a count and three references are one chunk.
        assert!(cost.queries <= 60, "{cost:?}");
    });
}

/// The bytes that searches pass while a post with this many tags is inserted and renamed.
async fn bytes_of_links(shop: &Shop, log: &Log, id: i32, tags: i32) -> usize {
    let post = Post {
        id,
        title: "first".to_owned(),
        tags: (0..tags).map(Ref::new).collect(),
    };
    shop.posts.insert(post).await.unwrap();
    log.1.store(0, Ordering::Relaxed);
    shop.posts
        .update(id)
        .set(Post::fields().title, "renamed")
        .await
        .unwrap();
    log.1.load(Ordering::Relaxed)
}

#[tokio::test]
async fn a_reverse_copy_reads_of_a_source_nothing_but_the_value() {
    let (shop, log) = shop().await;
    let tag = |id| Tag {
        id,
        posts: Vec::new(),
    };
    shop.tags.insert_many((0..900).map(tag)).await.unwrap();
    // Of the second post, more tags than fit into the queue.
    let few = bytes_of_links(&shop, &log, 1, 20).await;
    let many = bytes_of_links(&shop, &log, 2, 900).await;
    let tag = shop.tags.get(7).await.unwrap();
    assert_eq!(tag.posts, ["renamed"]);
    assert!(
        many <= 60 * few,
        "{few} bytes of 20 links, {many} bytes of 900"
    );
}

#[tokio::test]
async fn a_reverse_copy_is_read_where_the_links_of_a_source_differ() {
    let (shop, log) = shop().await;
    let tag = |id| Tag {
        id,
        posts: Vec::new(),
    };
    shop.tags.insert_many((0..20).map(tag)).await.unwrap();
    bytes_of_links(&shop, &log, 1, 19).await;
    log.take();
    let tags: Vec<Ref<Tag>> = (0..19).rev().map(Ref::new).collect();
    let reversed = shop.posts.update(1).set(Post::fields().tags, tags).await;
    reversed.unwrap();
    assert_eq!(log.take(), ["find posts", "apply posts"]);

    let ((), cost) = odm::measure(async {
        let posts = shop.posts.update(1);
        let pushed = posts.push(Post::fields().tags, Ref::new(19)).await;
        pushed.unwrap();
    })
    .await;
    assert_eq!(cost.documents_written, 2);
    assert!(cost.documents_examined <= 4, "{cost:?}");
}
