//! What a client of `odm-server` gets, beside the library in process and beside a MongoDB server or SecantusDB.
//!
//! Each system has one collection on a disk, with the same documents, without models. In a round all systems do an operation for some time,
//! one after another, by one task and then by several. The server runs in the runtime of its clients. A driver for Python writes to the two
//! servers in a process of its own.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Context;
use futures_util::{TryStreamExt, future::try_join_all};
use mongodb::{
    Client,
    bson::{Document, doc},
    options::ClientOptions,
};
use odm::{
    Collection, Collections, Embedded,
    bson::RawDocumentBuf,
    mql::{Filter, Sort, Update},
};
use odm_server::Server;

use crate::shared::{
    measure::median_number,
    table::{Table, figure},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The other server, such as `mongodb://localhost:27017/`.
    #[arg(long, env = "ODM_TEST_MONGODB_URI")]
    uri: String,
    /// A Python with pymongo; without it no rows of pymongo.
    #[arg(long)]
    python: Option<PathBuf>,
    /// How many tasks the second row of each operation has.
    #[arg(long, default_value_t = 16)]
    tasks: usize,
    /// How long each operation is done in a round.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

const DOCUMENTS: i64 = 10_000;
/// How many documents an operation on many finds, and how many it inserts.
const FOUND: i64 = 100;
const INSERTED: i64 = 1000;

#[derive(Debug, Clone, Copy)]
enum Operation {
    Find,
    FindMany,
    Update,
    Insert,
    InsertMany,
}

/// In the order in which the driver for Python prints them.
const OPERATIONS: [(Operation, &str); 5] = [
    (Operation::Find, "find by `_id`"),
    (Operation::FindMany, "find of 100, in order"),
    (Operation::Update, "`$inc` by `_id`"),
    (Operation::Insert, "insert"),
    (Operation::InsertMany, "insert of 1,000 at once"),
];

fn thing(id: i64) -> Document {
    doc! { "_id": id, "name": format!("thing {id}"), "n": id % 1000, "tags": ["red", "steel"], "text": "x".repeat(100) }
}

fn raw(document: &Document) -> anyhow::Result<RawDocumentBuf> {
    Ok(RawDocumentBuf::from_bytes(document.to_vec()?)?)
}

/// The collection of one system.
#[derive(Debug, Clone)]
enum Things {
    InProcess(Collection),
    Served(mongodb::Collection<Document>),
}

impl Things {
    async fn insert(&self, ids: impl Iterator<Item = i64>) -> anyhow::Result<()> {
        match self {
            Things::InProcess(things) => {
                let documents = ids.map(|id| raw(&thing(id)));
                let documents = documents.collect::<anyhow::Result<Vec<_>>>()?;
                things.insert(documents).await?;
            }
            Things::Served(things) => drop(things.insert_many(ids.map(thing)).await?),
        }
        Ok(())
    }

    /// Does an operation, of which this is the number `n`.
    async fn run(&self, operation: Operation, n: i64, new: &AtomicI64) -> anyhow::Result<()> {
        let by_id = doc! { "_id": n % DOCUMENTS };
        let from = doc! { "_id": { "$gte": n % (DOCUMENTS - FOUND) } };
        let change = doc! { "$inc": { "n": 1_i64 } };
        match (operation, self) {
            (Operation::Find, Things::InProcess(things)) => {
                let found = things.find(Filter::parse(&by_id)?).one().await?;
                found.context("the document is there")?;
            }
            (Operation::Find, Things::Served(things)) => {
                let found = things.find_one(by_id).await?;
                found.context("the document is there")?;
            }
            (Operation::FindMany, things) => {
                let found = match things {
                    Things::InProcess(things) => {
                        let find = things.find(Filter::parse(&from)?);
                        let sort = Sort::parse(&doc! { "_id": 1 })?;
                        find.sort(sort).limit(FOUND as u64).await?.len()
                    }
                    Things::Served(things) => {
                        let find = things.find(from).sort(doc! { "_id": 1 }).limit(FOUND);
                        let found: Vec<Document> = find.await?.try_collect().await?;
                        found.len()
                    }
                };
                anyhow::ensure!(found as i64 == FOUND, "{found} documents");
            }
            (Operation::Update, Things::InProcess(things)) => {
                let change = Update::parse(&change, &[])?;
                things
                    .update(Filter::parse(&by_id)?, change)
                    .first()
                    .await?;
            }
            (Operation::Update, Things::Served(things)) => {
                things.update_one(by_id, change).await?;
            }
            (Operation::Insert, Things::Served(things)) => {
                things
                    .insert_one(thing(new.fetch_add(1, Ordering::Relaxed)))
                    .await?;
            }
            (Operation::Insert, things) => {
                let id = new.fetch_add(1, Ordering::Relaxed);
                things.insert(id..id + 1).await?;
            }
            (Operation::InsertMany, things) => {
                let first = new.fetch_add(INSERTED, Ordering::Relaxed);
                things.insert(first..first + INSERTED).await?;
            }
        }
        Ok(())
    }

    /// Does an operation for some time, and returns how often a second.
    async fn rate(
        &self,
        operation: Operation,
        tasks: usize,
        time: Duration,
        new: &Arc<AtomicI64>,
    ) -> anyhow::Result<f64> {
        let begun = Instant::now();
        let tasks = (0..tasks).map(|task| {
            let (things, new) = (self.clone(), new.clone());
            tokio::spawn(async move {
                let mut done = 0;
                while begun.elapsed() < time {
                    let n = (done * 7919 + task as i64 * 613) % DOCUMENTS;
                    things.run(operation, n, &new).await?;
                    done += 1;
                }
                anyhow::Ok(done)
            })
        });
        let mut done = 0;
        for task in try_join_all(tasks).await? {
            done += task?;
        }
        Ok(done as f64 / begun.elapsed().as_secs_f64())
    }
}

/// The rates of a driver for Python in a round.
fn python(
    python: &Path,
    (uri, database): (&str, &str),
    seconds: f64,
    round: usize,
) -> anyhow::Result<Vec<f64>> {
    let program = include_str!("server/client.py");
    let output = Command::new(python)
        .args(["-c", program, uri, database, &seconds.to_string()])
        // The new documents of each round have other `_id`s.
        .arg((10_000_000 * (round + 1)).to_string())
        .stderr(std::process::Stdio::inherit())
        .output()?;
    anyhow::ensure!(output.status.success(), "the driver for Python failed");
    let rates = String::from_utf8(output.stdout)?;
    let rates = rates.lines().map(|rate| Ok(rate.parse()?));
    rates.collect()
}

pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let open = async |name: &str| {
        let store = Embedded::open(folder.path().join(name)).await?;
        Collections::open(store).await
    };
    let (own, served) = (open("own.odm").await?, open("served.odm").await?);
    let server = Server::builder().database("benchmark", served);
    let server = server.listen("127.0.0.1:0").await?;
    let address = server.local_addr().context("it listens at TCP")?;
    let uri = format!("mongodb://{address}/");
    let client = async |uri: &str| {
        let mut options = ClientOptions::parse(uri).await?;
        options.app_name = Some("benchmark".to_owned());
        anyhow::Ok(Client::with_options(options)?)
    };
    // The databases that the other server has already stay as they are.
    let name = format!("benchmark_{}", std::process::id());
    let other = client(&options.uri).await?.database(&name);
    let systems = [
        Things::InProcess(own.collection("things")),
        Things::Served(
            client(&uri)
                .await?
                .database("benchmark")
                .collection("things"),
        ),
        Things::Served(other.collection("things")),
    ];
    let measured = measure(
        &options,
        &systems,
        [(&uri, "benchmark"), (&options.uri, &name)],
    )
    .await;
    other.drop().await?;
    print!("{}", measured?);
    server.shutdown().await;
    own.close().await?;
    Ok(())
}

async fn measure(
    options: &Options,
    systems: &[Things; 3],
    servers: [(&str, &str); 2],
) -> anyhow::Result<Table> {
    let new = Arc::new(AtomicI64::new(DOCUMENTS));
    for things in systems {
        things.insert(0..DOCUMENTS).await?;
    }
    let mut table = Table::new(
        2,
        [
            "operation",
            "by",
            "odm in process, a second",
            "odm-server",
            "other server",
            "odm-server / in process",
            "odm-server / other server",
        ],
    );
    let ratio = |one: f64, other: f64| format!("{:.2}", one / other);
    let time = Duration::from_secs_f64(options.seconds);
    for (operation, name) in OPERATIONS {
        for tasks in [1, options.tasks] {
            let mut rates = [const { Vec::new() }; 3];
            for _ in 0..options.rounds {
                for (things, rates) in systems.iter().zip(&mut rates) {
                    rates.push(things.rate(operation, tasks, time, &new).await?);
                }
            }
            let [own, served, other] = rates.map(median_number);
            let by = match tasks {
                1 => "the driver for Rust".to_owned(),
                _ => format!("the same, {tasks} tasks"),
            };
            let ratios = [ratio(served, own), ratio(served, other)];
            let [own, served, other] = [own, served, other].map(figure);
            let [of_own, of_other] = ratios;
            table.row([name.to_owned(), by, own, served, other, of_own, of_other]);
        }
    }
    if let Some(path) = &options.python {
        let mut rates = OPERATIONS.map(|_| [const { Vec::new() }; 2]);
        for round in 0..options.rounds {
            for (at, (uri, database)) in servers.iter().enumerate() {
                let of_round = tokio::task::block_in_place(|| {
                    python(path, (uri, database), options.seconds, round)
                })?;
                for (rates, rate) in rates.iter_mut().zip(of_round) {
                    rates[at].push(rate);
                }
            }
        }
        for ((_, name), rates) in OPERATIONS.iter().zip(rates) {
            let [served, other] = rates.map(median_number);
            let ratio = ratio(served, other);
            let [served, other] = [served, other].map(figure);
            table.row([*name, "pymongo", "", &served, &other, "", &ratio]);
        }
    }
    Ok(table)
}
