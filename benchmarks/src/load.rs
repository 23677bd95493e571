//! Many writers at once on a MongoDB server, by the library and by hand, while workers refresh deferred fields.
//!
//! Programs with a client each write to one database: they insert, move and remove books, which shelves count and show, and rename
//! authors, whose name books copy. The code by hand does the same in transactions of its own, which it runs again as the
//! specification of the drivers says. Each row has a new database; two of each size kill a worker again and again, whose transaction
//! the server keeps. All sessions of the server are ended after a row: use one for nothing else.

mod by_hand;
mod library;

use std::{
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use mongodb::{
    Client,
    event::{EventHandler, command::CommandEvent},
    options::ClientOptions,
};

use self::{by_hand::ByHand, library::Library};
use crate::shared::table::{Table, figure, thousands};

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Options {
    /// The server, a replica set, such as `mongodb://localhost:27017/`.
    #[arg(long, env = "ODM_TEST_MONGODB_URI")]
    uri: String,
    /// How long each row writes.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// How many programs write, and how many workers there are.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..))]
    programs: u64,
    /// How many writers a program has.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..))]
    writers: u64,
    /// How many authors there are: one size for each number. There are a quarter as many shelves.
    #[arg(long, value_delimiter = ',', default_values_t = [200, 10_000])]
    authors: Vec<u64>,
    /// After how many seconds another worker is killed, in the rows with deaths.
    #[arg(long, default_value_t = 3.6)]
    kill_every: f64,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WorkerOptions {
    #[arg(long, env = "ODM_TEST_MONGODB_URI")]
    uri: String,
    #[arg(long)]
    database: String,
    #[arg(long)]
    by_hand: bool,
}

/// How long the removal of a database is waited for.
const REMOVED_IN: Duration = Duration::from_secs(70);

/// How many documents there are.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    authors: u64,
    shelves: u64,
    books: u64,
}

impl Sizes {
    fn new(authors: u64) -> Self {
        Sizes {
            authors,
            shelves: (authors / 4).max(1),
            // A server may take minutes to store more.
            books: (authors * 5).min(10_000),
        }
    }
}

/// A write. A book has from 1 page to as many pages as there are books, so that about one book has a given number.
#[derive(Debug, Clone)]
enum Act {
    Insert {
        author: i32,
        shelf: i32,
        pages: i32,
    },
    Remove {
        pages: i32,
    },
    Move {
        pages: i32,
        shelf: i32,
    },
    Visit {
        shelf: i32,
    },
    /// Removes a shelf with its books, and puts an empty one in its place.
    Empty {
        shelf: i32,
    },
    Rename {
        author: i32,
        name: String,
    },
}

impl Act {
    fn any(sizes: Sizes) -> Self {
        let id = |of: u64| fastrand::i32(1..=of as i32);
        let (author, shelf, pages) = (id(sizes.authors), id(sizes.shelves), id(sizes.books));
        match fastrand::u8(..20) {
            0..6 => Act::Insert {
                author,
                shelf,
                pages,
            },
            6..10 => Act::Remove { pages },
            10..13 => Act::Move { pages, shelf },
            13..15 => Act::Visit { shelf },
            15 => Act::Empty { shelf },
            _ => {
                let name = format!("named {}", fastrand::u16(..1_000));
                Act::Rename { author, name }
            }
        }
    }
}

/// The result of a write.
enum Outcome {
    Done,
    /// The document that the write names does not exist.
    Absent,
    /// The write has lost all its conflicts.
    Lost,
}

enum Program {
    Library(Box<Library>),
    ByHand(ByHand),
}

impl Program {
    async fn open(client: Client, database: &str, is_by_hand: bool) -> anyhow::Result<Self> {
        Ok(if is_by_hand {
            Program::ByHand(ByHand::new(client, database))
        } else {
            Program::Library(Box::new(library::open(&client, database).await?))
        })
    }

    async fn act(&self, act: Act) -> anyhow::Result<Outcome> {
        match self {
            Program::Library(library) => library::act(library, act).await,
            Program::ByHand(by_hand) => by_hand.act(act).await,
        }
    }
}

/// The messages of the clients of the writers.
#[derive(Debug, Default)]
struct Sent {
    messages: AtomicU64,
    /// The messages that the server answered with an error: nearly always a conflict.
    refused: AtomicU64,
    /// The time for which the writers have waited for answers.
    micros: AtomicU64,
}

async fn client(uri: &str, sent: Option<Arc<Sent>>) -> anyhow::Result<Client> {
    let mut options = ClientOptions::parse(uri).await?;
    if let Some(sent) = sent {
        options.command_event_handler = Some(EventHandler::callback(move |event| {
            let add = |to: &AtomicU64, by: u64| to.fetch_add(by, Ordering::Relaxed);
            match event {
                CommandEvent::Started(_) => drop(add(&sent.messages, 1)),
                CommandEvent::Succeeded(event) => {
                    add(&sent.micros, event.duration.as_micros() as u64);
                }
                CommandEvent::Failed(event) => {
                    add(&sent.micros, event.duration.as_micros() as u64);
                    add(&sent.refused, 1);
                }
                _ => {}
            }
        }));
    }
    Ok(Client::with_options(options)?)
}

/// A worker in a process of its own, which is killed on drop.
struct Worker(Child);

impl Worker {
    fn new(uri: &str, database: &str, is_by_hand: bool) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["load-worker", "--uri", uri, "--database", database]);
        if is_by_hand {
            command.arg("--by-hand");
        }
        Ok(Worker(command.stdin(Stdio::null()).spawn()?))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended with an error, which it has printed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) async fn work(options: WorkerOptions) -> anyhow::Result<()> {
    let client = client(&options.uri, None).await?;
    if options.by_hand {
        ByHand::new(client, &options.database).work().await
    } else {
        library::work(&client, &options.database).await
    }
}

/// The result of the writers of a row.
struct Row {
    writes: u64,
    lost: u64,
    took: Duration,
    /// The numbers of waiting records of deferred refreshes, at half of the time and at the end.
    waiting: [u64; 2],
    killed: u64,
    sent: Arc<Sent>,
}

impl Row {
    fn per_second(&self) -> f64 {
        self.writes as f64 / self.took.as_secs_f64()
    }
}

async fn row(
    options: &Options,
    name: &str,
    sizes: Sizes,
    by_hand: bool,
    kills: bool,
) -> anyhow::Result<Row> {
    let overseer = client(&options.uri, None).await?;
    let database = overseer.database(name);
    {
        let library = library::open(&overseer, name).await?;
        library::fill(&library, sizes).await?;
    }
    if by_hand {
        by_hand::adopt(&database).await?;
    }
    let sent = Arc::new(Sent::default());
    let time = Duration::from_secs(options.seconds);
    let mut programs = Vec::new();
    for _ in 0..options.programs {
        let client = client(&options.uri, Some(sent.clone())).await?;
        programs.push(Arc::new(Program::open(client, name, by_hand).await?));
    }
    let worker = || Worker::new(&options.uri, name, by_hand);
    let mut workers = (0..options.programs)
        .map(|_| worker())
        .collect::<Result<Vec<_>, _>>()?;
    // The messages that open the database do not count.
    let opened = sent.messages.load(Ordering::Relaxed);
    sent.micros.store(0, Ordering::Relaxed);
    let begin = Instant::now();
    let mut writers = Vec::new();
    for program in programs
        .iter()
        .cycle()
        .take((options.programs * options.writers) as usize)
    {
        let program = program.clone();
        writers.push(tokio::spawn(async move {
            let (mut writes, mut lost) = (0, 0);
            while begin.elapsed() < time {
                match program.act(Act::any(sizes)).await? {
                    Outcome::Done => writes += 1,
                    Outcome::Absent => {}
                    Outcome::Lost => lost += 1,
                }
            }
            anyhow::Ok((writes, lost))
        }));
    }
    let outbox = if by_hand {
        by_hand::QUEUE
    } else {
        "_odm_outbox"
    };
    let waiting = || async {
        let outbox = database.collection::<mongodb::bson::Document>(outbox);
        outbox.count_documents(mongodb::bson::doc! {}).await
    };
    let mut half = None;
    let mut killed = 0;
    let mut next = options.kill_every;
    while begin.elapsed() < time {
        tokio::time::sleep(Duration::from_millis(100)).await;
        if half.is_none() && begin.elapsed() > time / 2 {
            half = Some(waiting().await?);
        }
        if kills && begin.elapsed().as_secs_f64() > next {
            let dies = fastrand::usize(..workers.len());
            workers[dies] = worker()?;
            next += options.kill_every;
            killed += 1;
        }
    }
    let end = waiting().await?;
    let (mut writes, mut lost) = (0, 0);
    for writer in writers {
        let done = writer.await??;
        (writes, lost) = (writes + done.0, lost + done.1);
    }
    let took = begin.elapsed();
    drop(workers);
    // Otherwise the server keeps the locks of killed workers for a minute.
    let kill = mongodb::bson::doc! { "killAllSessions": [] };
    if let Err(error) = overseer.database("admin").run_command(kill).await {
        eprintln!("the transactions of the workers end by themselves: {error}");
    }
    sent.messages.fetch_sub(opened, Ordering::Relaxed);
    let row = Row {
        writes,
        lost,
        took,
        waiting: [half.unwrap_or(end), end],
        killed,
        sent,
    };
    if !by_hand {
        library::check(&overseer, name).await?;
    }
    Ok(row)
}

/// Removes the databases of the rows. The server drops no collection in which an open transaction of a killed worker has written; it
/// ends such a transaction after a minute.
async fn remove(options: &Options, databases: Vec<String>) -> anyhow::Result<()> {
    let client = client(&options.uri, None).await?;
    for name in databases {
        let dropped = tokio::time::timeout(REMOVED_IN, client.database(&name).drop()).await;
        if !matches!(dropped, Ok(Ok(()))) {
            eprintln!("the database `{name}` is left: the server does not drop it");
        }
    }
    Ok(())
}

pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let mut table = Table::new(
        1,
        [
            "",
            "authors",
            "writes a second",
            "/ by hand",
            "messages for a write",
            "refused for a write",
            "writers wait for the server",
            "waiting at half, at the end",
            "lost",
            "workers killed",
        ],
    );
    let mut databases = Vec::new();
    for &authors in &options.authors {
        let sizes = Sizes::new(authors);
        let mut by_hand = None;
        for (name, is_by_hand, kills) in [
            ("by hand", true, false),
            ("odm", false, false),
            ("by hand, with deaths", true, true),
            ("odm, with deaths", false, true),
        ] {
            let database = format!("odm_load_{:x}", fastrand::u64(..));
            let row = row(&options, &database, sizes, is_by_hand, kills).await?;
            databases.push(database);
            let base = *by_hand.get_or_insert(row.per_second());
            let per_write = |of: &AtomicU64| {
                figure(of.load(Ordering::Relaxed) as f64 / row.writes.max(1) as f64)
            };
            let waited = row.sent.micros.load(Ordering::Relaxed) as f64 / 1e6;
            let all = row.took.as_secs_f64() * (options.programs * options.writers) as f64;
            eprintln!(
                "{name}, {} authors: {} writes a second",
                thousands(authors),
                figure(row.per_second())
            );
            table.row([
                name.to_owned(),
                thousands(authors),
                figure(row.per_second()),
                figure(row.per_second() / base),
                per_write(&row.sent.messages),
                per_write(&row.sent.refused),
                format!("{:.0} %", 100.0 * waited / all),
                format!("{}, {}", row.waiting[0], row.waiting[1]),
                row.lost.to_string(),
                row.killed.to_string(),
            ]);
        }
    }
    print!("{table}");
    remove(&options, databases).await
}
