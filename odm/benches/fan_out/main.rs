//! What it costs to rename a part whose name is copied into products, by the number of products that
//! hold it and the number of those that do not: `cargo bench -p odm --bench fan_out`.
//!
//! There are two stores on disk, one with a hundred times the products of the other. In each there
//! are parts that one product holds, ten, a hundred, and so on up to a tenth of all products, spread
//! evenly. Everything is there twice: once with `#[denormalize]`, and once in plain models, for which
//! the copies are written by hand, in a transaction, and which lack the reference with its check. A
//! round renames a part in both; the table shows the medians of all rounds, first with
//! [`Durability::Eventual`], since the disk hides the rest, then durably. That every round touches as
//! much as any other, and as much among few products as among many, is asserted.
//!
//! Below it is by how much the largest of these writes raises the peak of the resident memory of a
//! process of its own, in which the store has a small cache, and the same for 100,000 holders of 6 KB
//! with the default settings; on Linux only.
//!
//! `ROUNDS` and `PRODUCTS` in the environment change the number of rounds, which is smaller for the
//! large writes, and the largest number of products, of which the power of ten below is taken.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use odm::{
    bson::doc,
    prelude::*,
    store::{
        Cost, Durability, Store,
        embedded::{Builder, Embedded},
    },
};
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

/// About 400 bytes stored.
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
/// There are so many products for each of the parts that are not renamed, which are held by any.
const SHARED: usize = 10;
const SCATTER: usize = 7_368_787;
const CHUNK: usize = 10_000;
/// A write to so many holders, or more, has to wait until the disk has taken the one before.
const LARGE: usize = 10_000;

fn text(seed: usize, len: usize) -> String {
    (0..len)
        .map(|i| char::from(b'a' + ((seed * 31 + i * 7) % 26) as u8))
        .collect()
}

/// The name of a part after some renames, always of one length.
fn name(part: usize, renames: usize) -> String {
    format!("part {part:07} {renames:07}")
}

/// The numbers of holders of the parts that are renamed. Such a part has its number of holders for
/// its `_id`.
fn holders(products: usize) -> impl Iterator<Item = usize> {
    (0..products.ilog10()).map(|power| 10_usize.pow(power))
}

/// The parts of a product: of those that are renamed at most one.
fn parts(n: usize, products: usize) -> [usize; LINKS] {
    let holds = |holders: &usize| n % (products / holders) == holders.ilog10() as usize;
    let shared = products.div_ceil(SHARED);
    let mut parts = [0, 1, 2].map(|at| products + (n * LINKS + at) * SCATTER % shared);
    if let Some(renamed) = holders(products).find(holds) {
        parts[0] = renamed;
    }
    parts
}

fn product(n: usize, products: usize) -> Product {
    let link = |part: usize| PartLink {
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

fn plain(n: usize, products: usize) -> PlainProduct {
    let link = |part: usize| PlainLink {
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
    products: usize,
    renames: usize,
}

impl Place {
    async fn open(&self, durability: Durability) -> odm::Result<(Embedded, Shop)> {
        let store = builder(self.products).durability(durability);
        let store = store.open(&self.path).await?;
        Ok((store.clone(), Shop::open(store).await?))
    }

    async fn load(&self, shop: &Shop) -> odm::Result<()> {
        let shared = self.products..self.products + self.products.div_ceil(SHARED);
        let ids: Vec<usize> = holders(self.products).chain(shared).collect();
        for ids in ids.chunks(CHUNK) {
            let part = |&id: &usize| Part {
                id: id as i64,
                name: name(id, 0),
            };
            shop.parts.insert_many(ids.iter().map(part)).await?;
            let part = |&id: &usize| PlainPart {
                id: id as i64,
                name: name(id, 0),
            };
            shop.plain_parts.insert_many(ids.iter().map(part)).await?;
        }
        for from in (0..self.products).step_by(CHUNK) {
            let chunk = from..self.products.min(from + CHUNK);
            let products = chunk.clone().map(|n| product(n, self.products));
            shop.products.insert_many(products).await?;
            let products = chunk.map(|n| plain(n, self.products));
            shop.plain_products.insert_many(products).await?;
        }
        Ok(())
    }

    /// Renames the part with so many holders, in both models, and tells what that took and touched.
    async fn rename(
        &mut self,
        shop: &Shop,
        holders: usize,
    ) -> odm::Result<[(Duration, Touched); 2]> {
        self.renames += 1;
        rest(holders).await;
        let followed = timed(rename(shop, holders, self.renames)).await?;
        rest(holders).await;
        let by_hand = timed(rename_by_hand(shop, holders, self.renames)).await?;
        Ok([followed, by_hand])
    }

    /// All holders of a part show its last name.
    async fn assert_right(&self, shop: &Shop, holders: usize) -> odm::Result<()> {
        let id = holders as i64;
        let part = shop.parts.get(id).await?;
        let right = Product::fields()
            .parts
            .any(|link| link.id.eq(id) & link.name.eq(&part.name));
        let right = shop.products.find(right).count().await?;
        assert_eq!(right, holders as u64);
        let part = shop.plain_parts.get(id).await?;
        let right = PlainProduct::fields()
            .parts
            .any(|link| link.id.eq(id) & link.name.eq(&part.name));
        let right = shop.plain_products.find(right).count().await?;
        assert_eq!(right, holders as u64);
        Ok(())
    }
}

fn builder(products: usize) -> Builder {
    // The default does not allow a part and its 100,000 holders.
    Embedded::builder().unit_limit(products.max(10 * CHUNK) as u64)
}

async fn rest(holders: usize) {
    if holders >= LARGE {
        tokio::time::sleep(Duration::from_micros(200_000 + 20 * holders as u64)).await;
    }
}

async fn rename(shop: &Shop, part: usize, renames: usize) -> odm::Result<()> {
    let rename = shop.parts.update(part as i64);
    rename.set(Part::fields().name, name(part, renames)).await
}

async fn rename_by_hand(shop: &Shop, part: usize, renames: usize) -> odm::Result<()> {
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

async fn timed<T>(
    write: impl IntoFuture<Output = odm::Result<T>>,
) -> odm::Result<(Duration, Touched)> {
    let start = Instant::now();
    let (result, cost) = odm::measure(write.into_future()).await;
    let took = start.elapsed();
    result.map(|_| (took, cost.into()))
}

fn main() {
    let number = |name: &str, default: usize| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let rounds = number("ROUNDS", 100).max(1);
    let largest = 10_usize.pow(number("PRODUCTS", 1_000_000).max(1000).ilog10());
    let runtime = Runtime::new().expect("a runtime starts");
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, peak, path, way] = arguments.as_slice()
        && peak == "--peak"
    {
        let grown = runtime
            .block_on(grown(Path::new(path), largest, way))
            .expect("the write is stored");
        return println!("{}", grown.unwrap_or_default());
    }
    if let [_, large, path] = arguments.as_slice()
        && large == "--large"
    {
        let grown = runtime
            .block_on(rename_large(Path::new(path)))
            .expect("the write is stored");
        return println!("{}", grown.unwrap_or_default());
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bytes = odm::bson::serialize_to_vec(&plain(0, largest))
        .expect("a product is BSON")
        .len();
    println!("products of {bytes} bytes, {rounds} rounds, fewer for the large writes");
    let place = |products: usize| Place {
        path: folder.path().join(format!("{products}.odm")),
        products,
        renames: 0,
    };
    let mut places = [place(largest / 100), place(largest)];
    let table = runtime
        .block_on(run(&mut places, rounds))
        .expect("the writes are stored");
    table.print();
    if status("VmHWM").is_some() {
        let [_, place] = places;
        let largest = holders(place.products).last().unwrap_or_default();
        println!(
            "\npeak memory of a write to {} holders: {} MiB; by hand: {} MiB",
            thousands(largest),
            differences(&place.path, "followed"),
            differences(&place.path, "by hand"),
        );
        let path = folder.path().join("large.odm");
        runtime
            .block_on(load_large(&path))
            .expect("the products are stored");
        println!(
            "peak memory of a write to {} holders of {} bytes, with default settings: {} MiB",
            thousands(LARGE_HOLDERS),
            thousands(LARGE_BYTES),
            grown_in(&["--large".as_ref(), path.as_os_str()]),
        );
    }
}

/// The number of products that all hold one part, and about how large each of them is.
const LARGE_HOLDERS: usize = 100_000;
const LARGE_BYTES: usize = 6_000;

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
        let products = (first..first + CHUNK).map(|n| Product {
            id: n as i64,
            name: text(n, 20),
            description: text(n, LARGE_BYTES),
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

/// By how many KiB the peak of this process grows as a part with many large holders is renamed.
async fn rename_large(path: &Path) -> odm::Result<Option<u64>> {
    let store = Embedded::builder().unit_limit(2 * LARGE_HOLDERS as u64);
    let store = store.open(path).await?;
    let shop = Shop::open(store.clone()).await?;
    let before = status("VmHWM");
    rename(&shop, 1, 1).await?;
    let after = status("VmHWM");
    store.close().await?;
    Ok(after.zip(before).map(|(after, before)| after - before))
}

async fn run(places: &mut [Place; 2], rounds: usize) -> odm::Result<Table> {
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
    Ok(Table {
        products: places.each_ref().map(|place| place.products),
        rows,
    })
}

/// By how many KiB the peak of this process grows as the largest write is done.
async fn grown(path: &Path, products: usize, way: &str) -> odm::Result<Option<u64>> {
    // What the store keeps of the file is not what the write takes.
    let store = builder(products)
        .durability(Durability::Eventual)
        .cache_size(16 << 20);
    let store = store.open(path).await?;
    let shop = Shop::open(store.clone()).await?;
    let largest = holders(products).last().unwrap_or_default();
    // The name is a new one.
    let renames = 9_000_000;
    let before = status("VmHWM");
    match way {
        "followed" => rename(&shop, largest, renames).await?,
        _ => rename_by_hand(&shop, largest, renames).await?,
    }
    let after = status("VmHWM");
    store.close().await?;
    Ok(after.zip(before).map(|(after, before)| after - before))
}

/// The same in MiB in a process of its own, which has held nothing before.
fn differences(path: &Path, way: &str) -> String {
    grown_in(&["--peak".as_ref(), path.as_os_str(), way.as_ref()])
}

/// The growth in MiB that this program prints with some arguments.
fn grown_in(arguments: &[&OsStr]) -> String {
    let this = std::env::current_exe().expect("this program");
    let done = Command::new(this)
        .args(arguments)
        .output()
        .expect("the program starts");
    let grown = String::from_utf8_lossy(&done.stdout);
    let grown: Option<u64> = grown.trim().parse().ok();
    grown.map_or_else(|| "?".to_owned(), |grown| (grown / 1024).to_string())
}

/// A figure of this process in KiB, where the system tells.
fn status(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.strip_prefix(':')?
        .strip_suffix("kB")?
        .trim()
        .parse()
        .ok()
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Touched {
    keys_examined: u64,
    documents_examined: u64,
    documents_written: u64,
}

impl From<Cost> for Touched {
    fn from(cost: Cost) -> Self {
        Touched {
            keys_examined: cost.keys_examined,
            documents_examined: cost.documents_examined,
            documents_written: cost.documents_written,
        }
    }
}

struct Row {
    /// Which of the stores.
    place: usize,
    holders: usize,
    /// All rounds, eventually and durably, as the library does it and by hand.
    times: [[Vec<Duration>; 2]; 2],
    /// As the library does it and by hand.
    touched: Option<[Touched; 2]>,
}

struct Table {
    products: [usize; 2],
    rows: Vec<Row>,
}

impl Table {
    fn print(self) {
        println!(
            "| holders | products | eventual, ms | by hand | durable, ms | by hand | keys examined | by \
             hand | documents examined | by hand | documents written | by hand |"
        );
        println!("|{}", "--:|".repeat(12));
        for row in self.rows {
            let times: String = row
                .times
                .into_iter()
                .flatten()
                .map(|times| format!(" {} |", median(times)))
                .collect();
            let both = row.touched.expect("every write was done");
            let touched: String = [
                both.map(|touched| touched.keys_examined),
                both.map(|touched| touched.documents_examined),
                both.map(|touched| touched.documents_written),
            ]
            .into_iter()
            .flatten()
            .map(|number| format!(" {} |", thousands(number as usize)))
            .collect();
            println!(
                "| {} | {} |{times}{touched}",
                thousands(row.holders),
                thousands(self.products[row.place]),
            );
        }
    }
}

fn median(mut times: Vec<Duration>) -> String {
    times.sort();
    let millis = times[times.len() / 2].as_secs_f64() * 1e3;
    match millis {
        0.0..10.0 => format!("{millis:.2}"),
        10.0..100.0 => format!("{millis:.1}"),
        _ => thousands(millis.round() as usize),
    }
}

fn thousands(n: usize) -> String {
    match n {
        0..1000 => n.to_string(),
        _ => format!("{},{:03}", thousands(n / 1000), n % 1000),
    }
}
