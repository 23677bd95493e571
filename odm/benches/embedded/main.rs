//! The library beside the raw engine with serde, in one run: `cargo bench -p odm --bench embedded`.
//!
//! Both sides store the same structs of about 300 bytes as BSON in redb, on disk, with the same
//! indexes; the raw side is written by hand for each question, as one would without a library. A
//! round runs both sides one after the other; the table shows the medians of all rounds.
//! `ROUNDS` and `SCALE` in the environment change the number of rounds and of operations.

mod raw;

use std::time::{Duration, Instant};

use odm::{Embedded, prelude::*};
use raw::Raw;
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

/// About 300 bytes stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: ObjectId,
    #[index(unique)]
    partno: String,
    name: String,
    description: String,
    supplier: String,
    qty: i64,
    cost: f64,
    price: f64,
    updated: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    manufacturer: String,
    description: String,
    #[index(unique)]
    catalog_number: i64,
    #[reference(child)]
    parts: Vec<Ref<Part>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "hosts")]
struct Host {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "logmsg", index(fields = "host, -time"))]
struct LogMsg {
    #[serde(rename = "_id")]
    id: ObjectId,
    time: DateTime,
    level: i32,
    message: String,
    #[reference(parent)]
    host: Ref<Host>,
}

#[derive(Database)]
#[database(name = "bench", version = 1)]
struct Bench {
    parts: Repository<Part>,
    products: Repository<Product>,
    hosts: Repository<Host>,
    logmsg: Repository<LogMsg>,
}

const PARTS: usize = 20_000;
const PRODUCTS: usize = 500;
const PARTS_OF_A_PRODUCT: usize = 100;
const HOSTS: i64 = 10;
const MESSAGES: usize = 100_000;
const NEWEST: u64 = 5_000;

fn text(seed: usize, len: usize) -> String {
    (0..len)
        .map(|i| char::from(b'a' + ((seed * 31 + i * 7) % 26) as u8))
        .collect()
}

fn part(n: usize) -> Part {
    Part {
        id: ObjectId::new(),
        partno: format!("{:03}-aff-{n:07}", n % 1000),
        name: format!("#{n} grommet"),
        description: text(n, 90),
        supplier: text(n + 1, 30),
        qty: n as i64 % 1000,
        cost: 0.94,
        price: 3.99,
        updated: DateTime::from_millis(1_400_000_000_000 + n as i64),
    }
}

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

struct Data {
    parts: Vec<Part>,
    products: Vec<Product>,
    messages: Vec<LogMsg>,
}

fn data() -> Data {
    let parts: Vec<Part> = (0..PARTS).map(part).collect();
    let mut random = Random(7);
    let products = (0..PRODUCTS)
        .map(|n| Product {
            id: n as i64,
            name: format!("product {n}"),
            manufacturer: "Acme Corp".into(),
            description: text(n, 150),
            catalog_number: 1000 + n as i64,
            parts: (0..PARTS_OF_A_PRODUCT)
                .map(|_| Ref::from(&parts[random.below(PARTS)]))
                .collect(),
        })
        .collect();
    let messages = (0..MESSAGES)
        .map(|n| LogMsg {
            id: ObjectId::new(),
            time: DateTime::from_millis(1_400_000_000_000 + (n as i64 * 7919) % 1_000_000_007),
            level: n as i32 % 5,
            message: text(n, 200),
            host: Ref::new(n as i64 % HOSTS),
        })
        .collect();
    Data {
        parts,
        products,
        messages,
    }
}

fn main() {
    let number = |name: &str, default: usize| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let (rounds, scale) = (number("ROUNDS", 7), number("SCALE", 100));
    let runtime = Runtime::new().expect("a runtime starts");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = data();
    let bytes = odm::bson::serialize_to_vec(&data.parts[0])
        .expect("a part is BSON")
        .len();
    println!("documents of {bytes} bytes, {rounds} rounds");

    let raw = Raw::create(&folder.path().join("raw.redb"), &data);
    let bench = runtime.block_on(async {
        let store = Embedded::open(folder.path().join("bench.odm")).await?;
        let bench = Bench::open(store).await?;
        bench.parts.insert_many(data.parts.clone()).await?;
        bench.products.insert_many(data.products.clone()).await?;
        let host = |id| Host {
            id,
            name: format!("host {id}"),
        };
        bench.hosts.insert_many((0..HOSTS).map(host)).await?;
        for chunk in data.messages.chunks(20_000) {
            bench.logmsg.insert_many(chunk.to_vec()).await?;
        }
        Ok::<_, odm::Error>(bench)
    });
    let bench = bench.expect("the benchmark's data is stored");

    let mut table = Table {
        rounds,
        runtime: &runtime,
        rows: Vec::new(),
    };
    let (b, r) = (&bench, &raw);
    let parts = &data.parts;

    table.row(
        "get by id",
        100 * scale,
        |n| {
            Box::pin(async move {
                let mut random = Random(1);
                for _ in 0..n {
                    let part = &parts[random.below(PARTS)];
                    assert_eq!(
                        b.parts.get(part.id).await.expect("it is there").qty,
                        part.qty
                    );
                }
            })
        },
        |n| {
            Box::pin(async move {
                let mut random = Random(1);
                for _ in 0..n {
                    let part = &parts[random.below(PARTS)];
                    assert_eq!(r.part(part.id).qty, part.qty);
                }
            })
        },
    );

    table.row(
        "get by unique key",
        100 * scale,
        |n| {
            Box::pin(async move {
                let mut random = Random(2);
                for _ in 0..n {
                    let part = &parts[random.below(PARTS)];
                    let found = b
                        .parts
                        .find(Part::fields().partno.eq(&part.partno))
                        .one()
                        .await;
                    assert_eq!(found.expect("it is there").qty, part.qty);
                }
            })
        },
        |n| {
            Box::pin(async move {
                let mut random = Random(2);
                for _ in 0..n {
                    let part = &parts[random.below(PARTS)];
                    assert_eq!(r.part_by_number(&part.partno).qty, part.qty);
                }
            })
        },
    );

    table.row(
        "a product with its 100 parts joined",
        2 * scale,
        |n| {
            Box::pin(async move {
                let mut random = Random(3);
                for _ in 0..n {
                    let id = random.below(PRODUCTS) as i64;
                    let found = b
                        .products
                        .find(Product::fields().id.eq(id))
                        .join(Product::fields().parts)
                        .one();
                    assert_eq!(
                        found.await.expect("it is there").1.len(),
                        PARTS_OF_A_PRODUCT
                    );
                }
            })
        },
        |n| {
            Box::pin(async move {
                let mut random = Random(3);
                for _ in 0..n {
                    let id = random.below(PRODUCTS) as i64;
                    assert_eq!(r.product_with_parts(id).1.len(), PARTS_OF_A_PRODUCT);
                }
            })
        },
    );

    table.row(
        "a page of 50 products",
        2 * scale,
        |n| {
            Box::pin(async move {
                let mut random = Random(4);
                for _ in 0..n {
                    let from = 1000 + random.below(PRODUCTS - 50) as i64;
                    let number = Product::fields().catalog_number;
                    let page = b
                        .products
                        .find(number.gte(from))
                        .sort(number.asc())
                        .page(50)
                        .await;
                    assert_eq!(page.expect("it is there").items.len(), 50);
                }
            })
        },
        |n| {
            Box::pin(async move {
                let mut random = Random(4);
                for _ in 0..n {
                    let from = 1000 + random.below(PRODUCTS - 50) as i64;
                    assert_eq!(r.products_from(from, 50).len(), 50);
                }
            })
        },
    );

    table.row(
        "newest 5,000 messages of a host among 100,000",
        scale.div_ceil(20),
        |n| {
            Box::pin(async move {
                for n in 0..n {
                    let host = LogMsg::fields().host.eq(n as i64 % HOSTS);
                    let found = b
                        .logmsg
                        .find(host)
                        .sort(LogMsg::fields().time.desc())
                        .limit(NEWEST)
                        .await;
                    assert_eq!(found.expect("they are there").len() as u64, NEWEST);
                }
            })
        },
        |n| {
            Box::pin(async move {
                for n in 0..n {
                    assert_eq!(
                        r.newest(n as i64 % HOSTS, NEWEST as usize).len() as u64,
                        NEWEST
                    );
                }
            })
        },
    );

    table.row(
        "durable insert, 1 task",
        scale,
        |n| {
            Box::pin(async move {
                for n in 0..n {
                    b.parts.insert(fresh(n)).await.expect("it is stored");
                }
            })
        },
        |n| {
            Box::pin(async move {
                for n in 0..n {
                    r.insert(fresh(n)).await;
                }
            })
        },
    );

    table.row(
        "durable insert, 64 tasks",
        64 * scale.div_ceil(2),
        |n| {
            Box::pin(async move {
                let tasks = (0..64).map(|task| {
                    let parts = b.parts.clone();
                    tokio::spawn(async move {
                        for n in 0..n / 64 {
                            parts
                                .insert(fresh(n * 64 + task))
                                .await
                                .expect("it is stored");
                        }
                    })
                });
                for task in tasks.collect::<Vec<_>>() {
                    task.await.expect("a task ends");
                }
            })
        },
        |n| {
            Box::pin(async move {
                let tasks = (0..64).map(|task| {
                    let raw = r.clone();
                    tokio::spawn(async move {
                        for n in 0..n / 64 {
                            raw.insert(fresh(n * 64 + task)).await;
                        }
                    })
                });
                for task in tasks.collect::<Vec<_>>() {
                    task.await.expect("a task ends");
                }
            })
        },
    );
    table.print();
}

/// A part whose number no other has.
fn fresh(n: usize) -> Part {
    let mut part = part(n);
    part.partno = part.id.to_string();
    part
}

type Work<'a> = std::pin::Pin<Box<dyn Future<Output = ()> + 'a>>;

struct Table<'r> {
    rounds: usize,
    runtime: &'r Runtime,
    rows: Vec<(&'static str, usize, Duration, Duration)>,
}

impl Table<'_> {
    fn row<'a>(
        &mut self,
        name: &'static str,
        operations: usize,
        library: impl Fn(usize) -> Work<'a>,
        raw: impl Fn(usize) -> Work<'a>,
    ) {
        let time = |work: &dyn Fn(usize) -> Work<'a>| {
            let start = Instant::now();
            self.runtime.block_on(work(operations));
            start.elapsed()
        };
        // The first round warms both up.
        let mut times: Vec<_> = (0..=self.rounds)
            .map(|_| (time(&library), time(&raw)))
            .skip(1)
            .collect();
        times.sort_by_key(|(library, _)| *library);
        let library = times[times.len() / 2].0;
        times.sort_by_key(|(_, raw)| *raw);
        let raw = times[times.len() / 2].1;
        eprintln!("{name}: {library:?} {raw:?}");
        self.rows.push((name, operations, library, raw));
    }

    fn print(&self) {
        println!("| operation | odm, µs | raw redb and serde, µs | odm / raw |\n|---|--:|--:|--:|");
        for (name, operations, library, raw) in &self.rows {
            let each = |time: &Duration| time.as_secs_f64() * 1e6 / *operations as f64;
            let ratio = library.as_secs_f64() / raw.as_secs_f64();
            println!(
                "| {name} | {:.2} | {:.2} | {ratio:.2} |",
                each(library),
                each(raw)
            );
        }
    }
}
