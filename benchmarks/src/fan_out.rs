//! The cost of renaming a part whose name is copied into products, by the number of products that hold it and the number of products that
//! do not.
//!
//! There are two stores on disk, one with a hundred times the products of the other. In each there are parts that one product holds, ten, a
//! hundred, and so on up to a tenth of all products, spread evenly. Everything is there twice: once with `#[denormalize]`, and once in
//! plain models, for which the copies are written by hand, in a transaction, and which lack the reference with its check. A round renames a
//! part in both; the table shows the medians of all rounds, first with [`Durability::Eventual`], since the disk hides the rest, then
//! durably. Assertions verify that every round touches as much as any other, and as much among few products as among many.
//!
//! Below the table is the growth of the peak of the resident memory by the largest of these writes, in a process of its own whose store has
//! a small cache, and the same for 100,000 holders of 6 KB with the default settings; on Linux only.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use clap::ValueEnum;
use odm::{
    bson::doc,
    prelude::*,
    store::{
        Durability,
        contract::Store,
        embedded::{Builder, Embedded},
    },
};
use serde::{Deserialize, Serialize};

use crate::shared::{
    measure::{Touched, median, millis, timed},
    random::text,
    table::{Table, figure, thousands},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How often each part is renamed, if it has few holders.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// The largest number of products, of which the power of ten below is taken.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1000..))]
    products: u64,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PeakOptions {
    way: Way,
    path: PathBuf,
    products: u64,
}

/// How a part is renamed in a process of its own.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Way {
    Followed,
    ByHand,
    /// In the store of large products, with default settings.
    Large,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

/// A product, stored in about 400 bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    description: String,
    #[embed]
    parts: Vec<PartLink>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    #[denormalize(from = "Part.name")]
    name: String,
    quantity: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "plain_parts")]
struct PlainPart {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "plain_products", index(fields = "parts.id"))]
struct PlainProduct {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    description: String,
    #[embed]
    parts: Vec<PlainLink>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct PlainLink {
    id: i64,
    name: String,
    quantity: i32,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    parts: Repository<Part>,
    products: Repository<Product>,
    plain_parts: Repository<PlainPart>,
    plain_products: Repository<PlainProduct>,
}

const LINKS: usize = 3;
/// The number of products for each part that is not renamed. Any product may hold such a part.
const SHARED: u64 = 10;
const SCATTER: u64 = 7_368_787;
const CHUNK: usize = 10_000;
/// A write to this many holders, or more, has to wait until the disk has taken the one before.
const LARGE: u64 = 10_000;

/// The name of a part after `renames` renames. All names have one length.
fn name(part: u64, renames: u64) -> String {
    format!("part {part:07} {renames:07}")
}

/// The numbers of holders of the renamed parts. The number of a part's holders is also its `_id`.
fn holders(products: u64) -> impl Iterator<Item = u64> {
    (0..products.ilog10()).map(|power| 10_u64.pow(power))
}

/// The parts of a product, at most one of which is renamed.
fn parts(n: u64, products: u64) -> [u64; LINKS] {
    let holds = |holders: &u64| n % (products / holders) == u64::from(holders.ilog10());
    let shared = products.div_ceil(SHARED);
    let mut parts = [0, 1, 2].map(|at| products + (n * LINKS as u64 + at) * SCATTER % shared);
    if let Some(renamed) = holders(products).find(holds) {
        parts[0] = renamed;
    }
    parts
}

fn product(n: u64, products: u64) -> Product {
    let link = |part: u64| PartLink {
        id: Ref::new(part as i64),
        name: String::new(),
        quantity: (n % 100) as i32,
    };
    Product {
        id: n as i64,
        name: text(n, 20),
        description: text(n, 130),
        parts: parts(n, products).map(link).into(),
    }
}

fn plain(n: u64, products: u64) -> PlainProduct {
    let link = |part: u64| PlainLink {
        id: part as i64,
        name: name(part, 0),
        quantity: (n % 100) as i32,
    };
    PlainProduct {
        id: n as i64,
        name: text(n, 20),
        description: text(n, 130),
        parts: parts(n, products).map(link).into(),
    }
}

/// A store with its products.
struct Place {
    path: PathBuf,
    products: u64,
    renames: u64,
}

impl Place {
    async fn open(&self, durability: Durability) -> odm::Result<(Embedded, Shop)> {
        let store = builder(self.products).durability(durability);
        let store = store.open(&self.path).await?;
        Ok((store.clone(), Shop::open(store).await?))
    }

    async fn load(&self, shop: &Shop) -> odm::Result<()> {
        let shared = self.products..self.products + self.products.div_ceil(SHARED);
        let ids: Vec<u64> = holders(self.products).chain(shared).collect();
        for ids in ids.chunks(CHUNK) {
            let part = |&id: &u64| Part {
                id: id as i64,
                name: name(id, 0),
            };
            shop.parts.insert_many(ids.iter().map(part)).await?;
            let part = |&id: &u64| PlainPart {
                id: id as i64,
                name: name(id, 0),
            };
            shop.plain_parts.insert_many(ids.iter().map(part)).await?;
        }
        for from in (0..self.products).step_by(CHUNK) {
            let chunk = from..self.products.min(from + CHUNK as u64);
            let products = chunk.clone().map(|n| product(n, self.products));
            shop.products.insert_many(products).await?;
            let products = chunk.map(|n| plain(n, self.products));
            shop.plain_products.insert_many(products).await?;
        }
        Ok(())
    }

    /// Renames the part with `holders` holders, in both models. Returns the times and the touched documents.
    async fn rename(&mut self, shop: &Shop, holders: u64) -> odm::Result<[(Duration, Touched); 2]> {
        self.renames += 1;
        rest(holders).await;
        let followed = timed(rename(shop, holders, self.renames)).await?;
        rest(holders).await;
        let by_hand = timed(rename_by_hand(shop, holders, self.renames)).await?;
        Ok([followed, by_hand])
    }

    /// Fails unless all holders of a part have its last name.
    async fn assert_right(&self, shop: &Shop, holders: u64) -> odm::Result<()> {
        let id = holders as i64;
        let part = shop.parts.get(id).await?;
        let right = Product::fields()
            .parts
            .any(|link| link.id.eq(id) & link.name.eq(&part.name));
        let right = shop.products.find(right).count().await?;
        assert_eq!(right, holders);
        let part = shop.plain_parts.get(id).await?;
        let right = PlainProduct::fields()
            .parts
            .any(|link| link.id.eq(id) & link.name.eq(&part.name));
        let right = shop.plain_products.find(right).count().await?;
        assert_eq!(right, holders);
        Ok(())
    }
}

fn builder(products: u64) -> Builder {
    // The default is too small for a part with 100,000 holders.
    Embedded::builder().unit_limit(products.max(10 * CHUNK as u64))
}

async fn rest(holders: u64) {
    if holders >= LARGE {
        tokio::time::sleep(Duration::from_micros(200_000 + 20 * holders)).await;
    }
}

async fn rename(shop: &Shop, part: u64, renames: u64) -> odm::Result<()> {
    let rename = shop.parts.update(part as i64);
    rename.set(Part::fields().name, name(part, renames)).await
}

async fn rename_by_hand(shop: &Shop, part: u64, renames: u64) -> odm::Result<()> {
    let (id, name) = (part as i64, name(part, renames));
    shop.transaction(async |shop| {
        let rename = shop.plain_parts.update(id);
        rename.set(PlainPart::fields().name, name.clone()).await?;
        let holds = PlainProduct::fields().parts.any(|link| link.id.eq(id));
        let copies = doc! { "$set": { "parts.$[p].name": &name } };
        shop.plain_products
            .update_where(holds)
            .raw_with(copies, vec![doc! { "p.id": id }])
            .await
            .map(drop)
    })
    .await
}

pub(crate) async fn run(options: Options) -> odm::Result<()> {
    let rounds = options.rounds;
    let largest = 10_u64.pow(options.products.ilog10());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = |products: u64| Place {
        path: folder.path().join(format!("{products}.odm")),
        products,
        renames: 0,
    };
    let mut places = [place(largest / 100), place(largest)];
    let rows = rows(&mut places, rounds).await?;
    let bytes = odm::bson::serialize_to_vec(&plain(0, largest))
        .expect("a product is BSON")
        .len();
    println!("products of {bytes} bytes, {rounds} rounds, fewer for the large writes\n");
    print(rows, &places);
    if status("VmHWM").is_some() {
        let [_, place] = places;
        let largest = holders(place.products).last().unwrap_or_default();
        println!(
            "\npeak memory of a write to {} holders: {} MiB; by hand: {} MiB",
            thousands(largest),
            peak(Way::Followed, &place.path, place.products),
            peak(Way::ByHand, &place.path, place.products),
        );
        let path = folder.path().join("large.odm");
        load_large(&path).await?;
        println!(
            "peak memory of a write to {} holders of {} bytes, with default settings: {} MiB",
            thousands(LARGE_HOLDERS),
            thousands(LARGE_BYTES),
            peak(Way::Large, &path, LARGE_HOLDERS),
        );
    }
    Ok(())
}

/// The number of products that hold the one part, and their approximate size.
const LARGE_HOLDERS: u64 = 100_000;
const LARGE_BYTES: u64 = 6_000;

async fn load_large(path: &Path) -> odm::Result<()> {
    let store = Embedded::builder().durability(Durability::Eventual);
    let store = store.open(path).await?;
    let shop = Shop::open(store.clone()).await?;
    let part = Part {
        id: 1,
        name: name(1, 0),
    };
    shop.parts.insert(part).await?;
    for first in (0..LARGE_HOLDERS).step_by(CHUNK) {
        let products = (first..first + CHUNK as u64).map(|n| Product {
            id: n as i64,
            name: text(n, 20),
            description: text(n, LARGE_BYTES as usize),
            parts: vec![PartLink {
                id: Ref::new(1),
                name: String::new(),
                quantity: 1,
            }],
        });
        shop.products.insert_many(products).await?;
    }
    store.close().await
}

/// Renames all parts in both stores.
async fn rows(places: &mut [Place; 2], rounds: u64) -> odm::Result<Vec<Row>> {
    for place in &*places {
        let start = Instant::now();
        let (store, shop) = place.open(Durability::Eventual).await?;
        place.load(&shop).await?;
        store.close().await?;
        let products = thousands(place.products);
        eprintln!(
            "{products} products, twice, loaded in {:.1?}",
            start.elapsed()
        );
    }
    let [few, many] = &*places;
    let same = holders(few.products).last().unwrap_or_default();
    let row = |(at, holders)| Row {
        place: at,
        holders,
        times: Default::default(),
        touched: None,
    };
    let mut rows: Vec<Row> = [(0, same)]
        .into_iter()
        .chain(holders(many.products).map(|holders| (1, holders)))
        .map(row)
        .collect();
    for (at, place) in places.iter_mut().enumerate() {
        for (commit, durability) in [Durability::Eventual, Durability::Immediate]
            .into_iter()
            .enumerate()
        {
            let (store, shop) = place.open(durability).await?;
            for row in rows.iter_mut().filter(|row| row.place == at) {
                let timed = (rounds * 200 / row.holders).clamp(rounds.min(5), rounds);
                let warm_up = timed.div_ceil(10);
                for round in 0..warm_up + timed {
                    let [(took, followed), (took_by_hand, by_hand)] =
                        place.rename(&shop, row.holders).await?;
                    let touched = [followed, by_hand];
                    let first = *row.touched.get_or_insert(touched);
                    assert_eq!(touched, first, "{} holders", row.holders);
                    if round >= warm_up {
                        row.times[commit][0].push(took);
                        row.times[commit][1].push(took_by_hand);
                    }
                }
                place.assert_right(&shop, row.holders).await?;
            }
            store.close().await?;
        }
    }
    let mut alike = rows.iter().filter(|row| row.holders == same);
    let (few, many) = (alike.next(), alike.next());
    assert_eq!(
        few.and_then(|row| row.touched),
        many.and_then(|row| row.touched),
        "{same} holders among few and among many products"
    );
    Ok(rows)
}

/// The growth in MiB that this program prints in a process of its own with fresh memory.
fn peak(way: Way, path: &Path, products: u64) -> String {
    let way = way.to_possible_value().expect("every way has a name");
    let this = std::env::current_exe().expect("this program");
    let done = Command::new(this)
        .args(["fan-out-peak", way.get_name()])
        .arg(path)
        .arg(products.to_string())
        .output()
        .expect("the program starts");
    let grown = String::from_utf8_lossy(&done.stdout);
    let grown: Option<u64> = grown.trim().parse().ok();
    grown.map_or_else(|| "?".to_owned(), |grown| (grown / 1024).to_string())
}

/// Prints by how many KiB the peak of this process grows as the largest write is done.
pub(crate) async fn print_peak(options: PeakOptions) -> odm::Result<()> {
    let PeakOptions {
        way,
        path,
        products,
    } = options;
    let (store, part) = match way {
        Way::Large => {
            let store = Embedded::builder().unit_limit(2 * LARGE_HOLDERS);
            (store, 1)
        }
        // A small cache, so that the memory of the store does not hide the memory of the write.
        Way::Followed | Way::ByHand => {
            let store = builder(products)
                .durability(Durability::Eventual)
                .cache_size(16 << 20);
            (store, holders(products).last().unwrap_or_default())
        }
    };
    let store = store.open(path).await?;
    let shop = Shop::open(store.clone()).await?;
    // No round uses this name.
    let renames = 9_000_000;
    let before = status("VmHWM");
    match way {
        Way::Followed | Way::Large => rename(&shop, part, renames).await?,
        Way::ByHand => rename_by_hand(&shop, part, renames).await?,
    }
    let after = status("VmHWM");
    store.close().await?;
    let grown = after.zip(before).map(|(after, before)| after - before);
    println!("{}", grown.unwrap_or_default());
    Ok(())
}

/// A figure of this process in KiB, if the system has it.
fn status(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.strip_prefix(':')?
        .strip_suffix("kB")?
        .trim()
        .parse()
        .ok()
}

struct Row {
    /// The index of the store.
    place: usize,
    holders: u64,
    /// The times of all rounds, with eventual and with durable commits, each of the library and of the code by hand.
    times: [[Vec<Duration>; 2]; 2],
    /// By the library, and by hand.
    touched: Option<[Touched; 2]>,
}

fn print(rows: Vec<Row>, places: &[Place; 2]) {
    let both = |figure: &str| [figure.to_owned(), "by hand".to_owned()];
    let columns = ["holders", "products"].map(str::to_owned).into_iter();
    let figures = [
        "eventual, ms",
        "durable, ms",
        "keys examined",
        "documents examined",
        "documents written",
    ];
    let mut table = Table::new(0, columns.chain(figures.iter().copied().flat_map(both)));
    for row in rows {
        let times = row.times.into_iter().flatten();
        let times = times.map(|times| figure(millis(median(times))));
        let both = row.touched.expect("every write was done");
        let touched = [
            both.map(|touched| touched.keys_examined),
            both.map(|touched| touched.documents_examined),
            both.map(|touched| touched.documents_written),
        ];
        let touched = touched.into_iter().flatten().map(thousands);
        let cells = [row.holders, places[row.place].products].map(thousands);
        table.row(cells.into_iter().chain(times).chain(touched));
    }
    print!("{table}");
}
