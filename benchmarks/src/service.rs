//! The time of calls in a service of many tasks, compared with SQLite by hand.
//!
//! Each system has the same accounts, topics with their posts, and pages of 6 KB in a file of its own. The works are done one after the
//! other, and the systems take turns. At the end the balances, posts and views in each system are compared with the numbers of writes.

mod by_hand;
pub(crate) mod day;
mod library;

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::ensure;

use self::{by_hand::Sqlite, library::Library};
use crate::shared::{
    measure::{micros, percentile, processor_time, written_bytes},
    random::{Random, text},
    table::{Table, figure, thousands},
};

const ACCOUNTS: i64 = 10_000;
const BALANCE: i64 = 1_000_000;
const TOPICS: i64 = 1_000;
const POSTS_OF_A_TOPIC: i64 = 20;
const PAGES: i64 = 1_000;
const SECTIONS: u64 = 24;
/// The bytes of a section of a page.
const SECTION: usize = 240;
/// How many posts of a topic are read.
const NEWEST: usize = 10;
/// How long a slow transaction sleeps.
const PAUSE: Duration = Duration::from_millis(100);

/// The sections of a page.
fn sections(page: i64) -> impl Iterator<Item = String> {
    (0..SECTIONS).map(move |section| text(page as u64 * SECTIONS + section, SECTION))
}

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The time of each work, in seconds. The mix takes six times as long.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// The number of tasks.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..))]
    tasks: u64,
}

/// What a system is asked to do. All writes are durable when they return.
trait Service: Send + Sync + 'static {
    const NAME: &'static str;

    /// Reads a topic and its newest posts, and returns their number.
    fn topic(&self, topic: i64) -> impl Future<Output = anyhow::Result<usize>> + Send;

    /// Inserts a post in a transaction, and counts it in its topic.
    fn post(&self, id: i64, topic: i64) -> impl Future<Output = anyhow::Result<()>> + Send;

    /// Changes two balances in a transaction. A slow one reads an account, and sleeps before it writes.
    fn transfer(
        &self,
        transfer: Transfer,
        is_slow: bool,
    ) -> impl Future<Output = anyhow::Result<()>> + Send;

    /// Counts a view of a page.
    fn view(&self, page: i64) -> impl Future<Output = anyhow::Result<()>> + Send;

    fn totals(&self) -> impl Future<Output = anyhow::Result<Totals>> + Send;

    /// How often the closures of transactions began so far, if that can be more often than they committed.
    fn attempts(&self) -> Option<u64>;

    fn close(&self) -> impl Future<Output = anyhow::Result<()>> + Send;
}

#[derive(Debug, Clone, Copy)]
struct Transfer {
    from: i64,
    to: i64,
    amount: i64,
}

/// Sums over all documents of a system.
#[derive(Debug, PartialEq)]
struct Totals {
    balance: i64,
    /// The sum of the counts of all topics.
    counted: i64,
    posts: i64,
    views: i64,
}

/// A system, and the number of its posts and of the views of its pages.
struct System<S> {
    service: S,
    posts: AtomicI64,
    views: AtomicI64,
}

impl<S: Service> System<S> {
    fn new(service: S) -> Arc<System<S>> {
        Arc::new(System {
            service,
            posts: AtomicI64::new(TOPICS * POSTS_OF_A_TOPIC),
            views: AtomicI64::new(0),
        })
    }

    /// Compares the data of the system with these numbers, and closes it.
    async fn close(&self) -> anyhow::Result<()> {
        let posts = self.posts.load(Ordering::Relaxed);
        let expected = Totals {
            balance: ACCOUNTS * BALANCE,
            counted: posts,
            posts,
            views: self.views.load(Ordering::Relaxed),
        };
        let totals = self.service.totals().await?;
        ensure!(
            totals == expected,
            "{}: {totals:?} instead of {expected:?}",
            S::NAME
        );
        self.service.close().await
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Work {
    Transfers,
    OneSleeps,
    Posts,
    Mix,
    Views,
}

impl Work {
    const ALL: [(Work, &'static str); 5] = [
        (Work::Transfers, "transactions of two updates"),
        (
            Work::OneSleeps,
            "the same, one task sleeps 100 ms in each; the others",
        ),
        (
            Work::Posts,
            "inserts under one counted parent, in transactions",
        ),
        (Work::Mix, "mix"),
        (
            Work::Views,
            "1,000 changes of one field of 6 KB, one by one",
        ),
    ];

    fn tasks(self, options: &Options) -> u64 {
        match self {
            Work::Views => 1,
            _ => options.tasks,
        }
    }

    fn time(self, options: &Options) -> Duration {
        let seconds = Duration::from_secs(options.seconds);
        match self {
            Work::Mix => 6 * seconds,
            Work::Views => Duration::MAX,
            _ => seconds,
        }
    }

    /// The number of operations after which it ends.
    fn most(self) -> usize {
        match self {
            Work::Views => 1_000,
            _ => usize::MAX,
        }
    }
}

/// Among which times the time of an operation belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    /// An operation that sleeps.
    Slow,
}

/// Does one operation.
async fn operate<S: Service>(
    system: &System<S>,
    work: Work,
    task: u64,
    random: &mut Random,
) -> anyhow::Result<Kind> {
    let service = &system.service;
    let any = |random: &mut Random, last: i64| 1 + random.below(last as u64) as i64;
    let part = match work {
        Work::Mix => random.below(20),
        Work::Transfers | Work::OneSleeps => 16,
        Work::Posts => 17,
        Work::Views => 19,
    };
    let is_slow = work == Work::OneSleeps && task == 0;
    match part {
        0..16 => {
            let shown = service.topic(any(random, TOPICS)).await?;
            ensure!(shown == NEWEST, "{}: {shown} posts", S::NAME);
            return Ok(Kind::Read);
        }
        16 => {
            let from = any(random, ACCOUNTS);
            let others = any(random, ACCOUNTS - 1);
            let transfer = Transfer {
                from,
                to: 1 + (from - 1 + others) % ACCOUNTS,
                amount: any(random, 100),
            };
            service.transfer(transfer, is_slow).await?;
        }
        17 | 18 => {
            static NEXT: AtomicI64 = AtomicI64::new(TOPICS * POSTS_OF_A_TOPIC + 1);
            let topic = match work {
                Work::Posts => 1,
                _ => any(random, TOPICS),
            };
            let id = NEXT.fetch_add(1, Ordering::Relaxed);
            service.post(id, topic).await?;
            system.posts.fetch_add(1, Ordering::Relaxed);
        }
        _ => {
            service.view(any(random, PAGES)).await?;
            system.views.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(if is_slow { Kind::Slow } else { Kind::Write })
}

/// The times of the operations of some tasks.
struct Sample {
    times: Vec<(Kind, Duration)>,
    took: Duration,
    processor: Duration,
    written: Option<u64>,
    attempts: Option<u64>,
}

async fn sample<S: Service>(
    system: &Arc<System<S>>,
    work: Work,
    options: &Options,
) -> anyhow::Result<Sample> {
    let time = work.time(options);
    let attempts = || system.service.attempts();
    let before = (processor_time()?, written_bytes(), attempts());
    let start = Instant::now();
    let tasks: Vec<_> = (0..work.tasks(options))
        .map(|task| {
            let system = system.clone();
            tokio::spawn(async move {
                let mut random = Random(task << 40);
                let mut times = Vec::new();
                while start.elapsed() < time && times.len() < work.most() {
                    let start = Instant::now();
                    let kind = operate(&system, work, task, &mut random).await?;
                    times.push((kind, start.elapsed()));
                }
                anyhow::Ok(times)
            })
        })
        .collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await??);
    }
    Ok(Sample {
        times,
        took: start.elapsed(),
        processor: processor_time()? - before.0,
        written: written_bytes()
            .zip(before.1)
            .map(|(after, before)| after - before),
        attempts: attempts()
            .zip(before.2)
            .map(|(after, before)| after - before),
    })
}

impl Sample {
    /// Adds a row for each kind of operation that is not slow.
    fn add_to(mut self, table: &mut Table, system: &str, (work, name): (Work, &str)) {
        self.times.sort_unstable_by_key(|(_, time)| *time);
        let all = self.times.len() as f64;
        for (kind, of_kind) in [(Kind::Read, ", reads"), (Kind::Write, ", writes")] {
            let times = self.times.iter().filter(|(own, _)| *own == kind);
            let times: Vec<Duration> = times.map(|(_, time)| *time).collect();
            if times.is_empty() {
                continue;
            }
            let is_all = times.len() as f64 == all;
            let count = times.len() as f64 / self.took.as_secs_f64();
            let part = |part| figure(micros(percentile(&times, part)));
            table.row([
                format!("{name}{}", if work == Work::Mix { of_kind } else { "" }),
                system.to_owned(),
                thousands(count.round() as u64),
                figure(micros(self.processor) / all),
                format!("{} / {} / {}", part(0.5), part(0.99), part(0.999)),
                self.written
                    .map_or_else(String::new, |bytes| figure(bytes as f64 / 1024.0 / all)),
                match self.attempts {
                    Some(attempts @ 1..) if is_all => figure(attempts as f64 / all),
                    _ => String::new(),
                },
            ]);
        }
    }
}

pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let library = System::new(Library::load(&folder.path().join("service.odm")).await?);
    let sqlite = System::new(Sqlite::load(&folder.path().join("service.sqlite"))?);
    let mut table = Table::new(
        2,
        [
            "work",
            "system",
            "a second",
            "processor, µs",
            "p50 / p99 / p99.9, µs",
            "written, KiB",
            "closures for a commit",
        ],
    );
    for (work, name) in Work::ALL {
        let of_library = sample(&library, work, &options).await?;
        of_library.add_to(&mut table, Library::NAME, (work, name));
        let of_sqlite = sample(&sqlite, work, &options).await?;
        of_sqlite.add_to(&mut table, Sqlite::NAME, (work, name));
    }
    println!("{} tasks\n", options.tasks);
    print!("{table}");
    library.close().await?;
    sqlite.close().await
}
