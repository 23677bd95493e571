//! The cost of the library on a MongoDB server, compared with careful code by hand with the driver.
//!
//! Both have the same documents and indexes, each in a database of its own, which is removed at the end. A round does every operation once
//! with each, in turn; the table shows the medians of all rounds, and the number of messages of an operation. The code by hand uses a
//! transaction where it changes more than one document, but no locks, so two writers at once can leave inconsistent data.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::{FutureExt, TryStreamExt};
use mongodb::{
    Client, ClientSession, Collection, Database as Server,
    bson::{Document as Bson, doc},
    event::{EventHandler, command::CommandEvent},
    options::{ClientOptions, IndexOptions, ReadConcern, WriteConcern},
};
use odm::{MongoDb, prelude::*};
use serde::{Deserialize, Serialize};

use crate::shared::{
    measure::{median, micros},
    table::{Table, figure},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The server, a replica set, such as `mongodb://localhost:27017/`.
    #[arg(long, env = "ODM_TEST_MONGODB_URI")]
    uri: String,
    /// How often each operation is done.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "makers")]
struct Maker {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    country: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[reference(child)]
    maker: Ref<Maker>,
    #[denormalize(from = "Maker.name")]
    maker_name: String,
    #[subset(limit = 10, sort = "-score")]
    reviews: Subset<ReviewLine>,
    #[count(of = "Review")]
    review_count: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "reviews", index(fields = "product, -score, id"))]
struct Review {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent, on_delete = "cascade")]
    product: Ref<Product>,
    text: String,
    score: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Review")]
struct ReviewLine {
    text: String,
    score: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "people")]
struct Person {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[reference(child, inverse = "owner")]
    tasks: Vec<Ref<Task>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i64,
    note: String,
    #[reference(parent, inverse = "tasks")]
    owner: Option<Ref<Person>>,
}

#[derive(Database)]
#[database(name = "benchmark", version = 1)]
struct Shop {
    makers: Repository<Maker>,
    products: Repository<Product>,
    reviews: Repository<Review>,
    people: Repository<Person>,
    tasks: Repository<Task>,
}

const COLLECTIONS: [&str; 5] = ["makers", "products", "reviews", "people", "tasks"];
const PRODUCTS: i64 = 100;
const REVIEWS: i64 = 22;
/// Documents that rounds insert have `_id`s from here on.
const NEW: i64 = 1_000_000;

fn review(id: i64, product: i64) -> Review {
    Review {
        id,
        product: Ref::new(product),
        text: "It does what it should, and has done so for two years now.".to_owned(),
        score: id,
    }
}

fn product(id: i64, maker: i64) -> Product {
    Product {
        id,
        name: format!("product {id}"),
        maker: Ref::new(maker),
        maker_name: String::new(),
        reviews: Subset::new(),
        review_count: 0,
    }
}

/// The reviews of the product that round `n` deletes.
fn reviews(n: i64) -> impl Iterator<Item = Review> {
    (0..REVIEWS).map(move |number| review(NEW * 2 + n * REVIEWS + number, NEW + n))
}

async fn fill(shop: &Shop) -> odm::Result<()> {
    let makers = (0..3).map(|id| Maker {
        id,
        name: format!("maker {id}"),
        country: "Norway".to_owned(),
    });
    shop.makers.insert_many(makers).await?;
    let products = (0..PRODUCTS).map(|id| product(id, 0));
    shop.products.insert_many(products).await?;
    let reviews = (0..PRODUCTS * REVIEWS).map(|id| review(id, id % PRODUCTS));
    shop.reviews.insert_many(reviews).await?;
    let people = (0..10).map(|id| Person {
        id,
        name: format!("person {id}"),
        tasks: Vec::new(),
    });
    shop.people.insert_many(people).await?;
    let tasks = (0..50).map(|id| Task {
        id,
        note: String::new(),
        owner: Some(Ref::new(id % 10)),
    });
    shop.tasks.insert_many(tasks).await?;
    Ok(())
}

/// A client whose messages are counted.
async fn client(uri: &str) -> anyhow::Result<(Client, Arc<AtomicU64>)> {
    let messages = Arc::new(AtomicU64::new(0));
    let counted = messages.clone();
    let mut options = ClientOptions::parse(uri).await?;
    options.command_event_handler = Some(EventHandler::callback(move |event| {
        if let CommandEvent::Started(_) = event {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    }));
    Ok((Client::with_options(options)?, messages))
}

/// The code by hand.
struct Hand {
    client: Client,
    database: Server,
    makers: Collection<Maker>,
    products: Collection<Product>,
    reviews: Collection<Review>,
    people: Collection<Person>,
    tasks: Collection<Task>,
}

impl Hand {
    /// Copies the documents and indexes of another database.
    async fn copy(client: Client, database: Server, from: &Server) -> anyhow::Result<Self> {
        for name in COLLECTIONS {
            let collection = from.collection::<Bson>(name);
            let documents: Vec<Bson> = collection.find(doc! {}).await?.try_collect().await?;
            let copy = database.collection::<Bson>(name);
            copy.insert_many(documents).await?;
            let indexes: Vec<_> = collection.list_indexes().await?.try_collect().await?;
            for mut index in indexes {
                let options: &mut IndexOptions = index.options.get_or_insert_default();
                if options.name.as_deref() != Some("_id_") {
                    options.version = None;
                    copy.create_index(index).await?;
                }
            }
        }
        Ok(Hand {
            client,
            makers: database.collection("makers"),
            products: database.collection("products"),
            reviews: database.collection("reviews"),
            people: database.collection("people"),
            tasks: database.collection("tasks"),
            database,
        })
    }

    async fn begin(&self) -> mongodb::error::Result<ClientSession> {
        let mut session = self.client.start_session().await?;
        let options = session.start_transaction();
        let options = options.read_concern(ReadConcern::snapshot());
        options.write_concern(WriteConcern::majority()).await?;
        Ok(session)
    }

    async fn product(&self, id: i64) -> anyhow::Result<Product> {
        let found = self.products.find_one(doc! { "_id": id }).await?;
        found.ok_or_else(|| anyhow::anyhow!("no product"))
    }

    async fn page(&self, product: i64) -> anyhow::Result<Vec<Review>> {
        let find = self.reviews.find(doc! { "product": product });
        let page = find.sort(doc! { "score": -1, "_id": 1 }).skip(10).limit(10);
        Ok(page.await?.try_collect().await?)
    }

    async fn first_products(&self) -> anyhow::Result<Vec<Product>> {
        let find = self.products.find(doc! { "_id": { "$lt": 10 } });
        Ok(find.sort(doc! { "_id": 1 }).await?.try_collect().await?)
    }

    async fn join(&self) -> anyhow::Result<Vec<(Product, Maker)>> {
        let products = self.first_products().await?;
        let ids: Vec<i64> = products.iter().map(|product| *product.maker.id()).collect();
        let find = self.makers.find(doc! { "_id": { "$in": ids } });
        let makers: Vec<Maker> = find.await?.try_collect().await?;
        let maker = |of: &Product| makers.iter().find(|maker| maker.id == *of.maker.id());
        let rows = products.into_iter().filter_map(|product| {
            let maker = maker(&product)?.clone();
            Some((product, maker))
        });
        Ok(rows.collect())
    }

    async fn best(&self) -> anyhow::Result<Vec<(Product, Vec<Review>)>> {
        #[derive(Deserialize)]
        struct Found {
            _id: i64,
            found: Vec<Review>,
        }
        let products = self.first_products().await?;
        let rows: Vec<Bson> = products
            .iter()
            .map(|product| doc! { "_id": product.id })
            .collect();
        let best = self.database.aggregate([
            doc! { "$documents": rows },
            doc! { "$lookup": {
                "from": "reviews",
                "localField": "_id",
                "foreignField": "product",
                "pipeline": [{ "$sort": { "score": -1, "_id": 1 } }, { "$limit": 3 }],
                "as": "found",
            } },
        ]);
        let mut best: Vec<Found> = best.with_type().await?.try_collect().await?;
        let rows = products.into_iter().map(|product| {
            let at = best.iter().position(|found| found._id == product.id);
            let found = at.map(|at| best.swap_remove(at).found);
            (product, found.unwrap_or_default())
        });
        Ok(rows.collect())
    }

    async fn insert_review(&self, review: Review) -> anyhow::Result<()> {
        let mut session = self.begin().await?;
        let insert = self.reviews.insert_one(&review);
        insert.session(&mut session).await?;
        let line = doc! { "text": &review.text, "score": review.score };
        let change = doc! {
            "$push": { "reviews": { "$each": [line], "$sort": { "score": -1 }, "$slice": 10 } },
            "$inc": { "review_count": 1_i64 },
        };
        let parent = doc! { "_id": review.product.id() };
        let update = self.products.update_one(parent, change);
        update.session(&mut session).await?;
        Ok(session.commit_transaction().await?)
    }

    async fn note(&self, task: i64, note: String) -> anyhow::Result<()> {
        let change = doc! { "$set": { "note": note } };
        self.tasks.update_one(doc! { "_id": task }, change).await?;
        Ok(())
    }

    async fn rename(&self, maker: i64, name: String) -> anyhow::Result<()> {
        let mut session = self.begin().await?;
        let change = doc! { "$set": { "name": &name } };
        let update = self.makers.update_one(doc! { "_id": maker }, change);
        update.session(&mut session).await?;
        let change = doc! { "$set": { "maker_name": &name } };
        let update = self.products.update_many(doc! { "maker": maker }, change);
        update.session(&mut session).await?;
        Ok(session.commit_transaction().await?)
    }

    async fn move_task(&self, task: i64, from: i64, to: i64) -> anyhow::Result<()> {
        let mut session = self.begin().await?;
        let change = doc! { "$set": { "owner": to } };
        let update = self.tasks.update_one(doc! { "_id": task }, change);
        update.session(&mut session).await?;
        let change = doc! { "$pull": { "tasks": task } };
        let update = self.people.update_one(doc! { "_id": from }, change);
        update.session(&mut session).await?;
        let change = doc! { "$push": { "tasks": task } };
        let update = self.people.update_one(doc! { "_id": to }, change);
        update.session(&mut session).await?;
        Ok(session.commit_transaction().await?)
    }

    async fn delete_product(&self, product: i64) -> anyhow::Result<()> {
        let mut session = self.begin().await?;
        let reviews = self.reviews.delete_many(doc! { "product": product });
        reviews.session(&mut session).await?;
        let product = self.products.delete_one(doc! { "_id": product });
        product.session(&mut session).await?;
        Ok(session.commit_transaction().await?)
    }

    /// A product with reviews, for a round to delete.
    async fn insert_product(&self, n: i64) -> anyhow::Result<()> {
        self.products.insert_one(product(NEW + n, 1)).await?;
        self.reviews.insert_many(reviews(n)).await?;
        Ok(())
    }
}

/// The cost of an operation.
struct Row {
    name: &'static str,
    /// By the library, and by hand.
    times: [Vec<Duration>; 2],
    messages: [u64; 2],
}

struct Benchmark {
    rounds: u64,
    messages: [Arc<AtomicU64>; 2],
    rows: Vec<Row>,
}

impl Benchmark {
    async fn row<A, B>(
        &mut self,
        name: &'static str,
        mut by_library: impl AsyncFnMut(i64) -> odm::Result<A>,
        mut by_hand: impl AsyncFnMut(i64) -> anyhow::Result<B>,
    ) -> anyhow::Result<()> {
        let warm_up = self.rounds.div_ceil(10);
        let mut row = Row {
            name,
            times: [Vec::new(), Vec::new()],
            messages: [u64::MAX; 2],
        };
        for round in 0..warm_up + self.rounds {
            let number = round as i64;
            for way in 0..2 {
                let before = self.messages[way].load(Ordering::Relaxed);
                let start = Instant::now();
                match way {
                    0 => drop(by_library(number).await?),
                    _ => drop(by_hand(number).await?),
                }
                let took = start.elapsed();
                let sent = self.messages[way].load(Ordering::Relaxed) - before;
                row.messages[way] = row.messages[way].min(sent);
                if round >= warm_up {
                    row.times[way].push(took);
                }
            }
        }
        self.rows.push(row);
        Ok(())
    }

    fn table(self) -> Table {
        let columns = [
            "operation",
            "odm, µs",
            "by hand, µs",
            "odm / by hand",
            "messages, odm",
            "messages, by hand",
            "messages, odm / by hand",
        ];
        let mut table = Table::new(1, columns);
        for row in self.rows {
            let [library, hand] = row.times.map(|times| micros(median(times)));
            let [sent, sent_by_hand] = row.messages;
            table.row([
                row.name.to_owned(),
                figure(library),
                figure(hand),
                figure(library / hand),
                sent.to_string(),
                sent_by_hand.to_string(),
                figure(sent as f64 / sent_by_hand as f64),
            ]);
        }
        table
    }
}

pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let (library, library_messages) = client(&options.uri).await?;
    let (hand, hand_messages) = client(&options.uri).await?;
    let name = format!("odm_benchmark_{}", ObjectId::new());
    let database = library.database(&name);
    let copy = hand.database(&format!("{name}_by_hand"));
    let messages = [library_messages, hand_messages];
    let rounds = measure(
        &options,
        messages,
        (&library, &database),
        (hand, copy.clone()),
    );
    // The databases are removed even after a failure.
    let table = std::panic::AssertUnwindSafe(rounds).catch_unwind().await;
    database.drop().await?;
    copy.drop().await?;
    match table {
        Ok(table) => print!("{}", table?),
        Err(failed) => std::panic::resume_unwind(failed),
    }
    Ok(())
}

async fn measure(
    options: &Options,
    messages: [Arc<AtomicU64>; 2],
    (client, database): (&Client, &Server),
    (hand, copy): (Client, Server),
) -> anyhow::Result<Table> {
    let shop = Shop::open(MongoDb::new(client, database.name()).await?).await?;
    fill(&shop).await?;
    let hand = Hand::copy(hand, copy, database).await?;
    let mut benchmark = Benchmark {
        rounds: options.rounds,
        messages,
        rows: Vec::new(),
    };
    let of = |n: i64| n % PRODUCTS;
    benchmark
        .row(
            "product by id, with its ten best reviews",
            async |n| shop.products.get(of(n)).await,
            async |n| hand.product(of(n)).await,
        )
        .await?;
    benchmark
        .row(
            "second page of a product's reviews",
            async |n| {
                let fields = Review::fields();
                let page = shop.reviews.find(fields.product.eq(of(n)));
                page.sort(fields.score.desc()).skip(10).limit(10).await
            },
            async |n| hand.page(of(n)).await,
        )
        .await?;
    let first = || shop.products.find(Product::fields().id.lt(10));
    benchmark
        .row(
            "ten products, each with its maker",
            async |_| first().join(Product::fields().maker).await,
            async |_| hand.join().await,
        )
        .await?;
    benchmark
        .row(
            "ten products, each with its three best reviews",
            async |_| {
                let reviews = Review::fields().product.referrers();
                first()
                    .join(reviews.sort(Review::fields().score.desc()).limit(3))
                    .await
            },
            async |_| hand.best().await,
        )
        .await?;
    benchmark
        .row(
            "insert of a review, which its product shows and counts",
            async |n| shop.reviews.insert(review(NEW + n, of(n))).await,
            async |n| hand.insert_review(review(NEW + n, of(n))).await,
        )
        .await?;
    benchmark
        .row(
            "update of a field that nothing shows",
            async |n| {
                let task = shop.tasks.update(n % 50);
                task.set(Task::fields().note, format!("note {n}")).await
            },
            async |n| hand.note(n % 50, format!("note {n}")).await,
        )
        .await?;
    benchmark
        .row(
            "rename of a maker, copied into 100 products",
            async |n| {
                let maker = shop.makers.update(0);
                maker.set(Maker::fields().name, format!("name {n}")).await
            },
            async |n| hand.rename(0, format!("name {n}")).await,
        )
        .await?;
    // Every fifty rounds, each task has moved to the next person.
    let owner = |n: i64, task: i64| (task + n / 50) % 10;
    benchmark
        .row(
            "move of a task to another owner",
            async |n| {
                let task = n % 50;
                let owner = Ref::new(owner(n + 50, task));
                shop.tasks
                    .update(task)
                    .set(Task::fields().owner, owner)
                    .await
            },
            async |n| {
                let task = n % 50;
                hand.move_task(task, owner(n, task), owner(n + 50, task))
                    .await
            },
        )
        .await?;
    for n in 0..(options.rounds + options.rounds.div_ceil(10)) as i64 {
        shop.products.insert(product(NEW + n, 1)).await?;
        shop.reviews.insert_many(reviews(n)).await?;
        hand.insert_product(n).await?;
    }
    benchmark
        .row(
            "delete of a product with its 22 reviews",
            async |n| shop.products.delete(NEW + n).await,
            async |n| hand.delete_product(NEW + n).await,
        )
        .await?;
    let findings = shop.audit().await?;
    anyhow::ensure!(findings.is_empty(), "{findings:?}");
    Ok(benchmark.table())
}
