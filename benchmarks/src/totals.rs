//! The cost of an insert of a child whose parent has a total of its children, by their number, beside SQLite with a trigger that does the
//! same; of a child with the next number of its parent, beside a trigger that counts; and of a child with a computed field, or with eight words
//! and their index, beside a generated column and a trigger that fills FTS5.
//!
//! Each kind has a collection of parents and one of children in the library, and tables of the same in SQLite; so have children
//! without a total. One parent has all of the first children. Then one task inserts children of that parent in turn with the other kinds,
//! without waiting for the disk, and the table shows the medians; then many tasks insert durably, under parents of their own as well as
//! under the one, and it shows the inserts a second. At the end the totals are compared with those of the children.

use std::{
    future::Future,
    path::Path,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::ensure;
use odm::{
    prelude::*,
    store::{Durability, embedded::Embedded},
};
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::shared::{
    measure::{Touched, median, micros, timed},
    table::{Table, figure, thousands},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The largest number of children of the one parent, of which the power of ten below is taken.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(i64).range(100..))]
    children: i64,
    /// How many children of each kind one task inserts.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(i64).range(1..))]
    inserts: i64,
    /// How long many tasks insert children of a kind, in seconds.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// The number of these tasks.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(i64).range(1..))]
    tasks: i64,
}

/// The amount of a child. None is beyond those of the first hundred.
fn amount(id: i64) -> i64 {
    match id {
        0..100 => id,
        id => 10 + id * 7919 % 80,
    }
}

/// The eight words of a child.
fn text(id: i64) -> String {
    let word = |at: i64| format!("Word{}", (id * 31 + at * 977) % 5_000);
    let words: Vec<String> = (0..8).map(word).collect();
    words.join(" ")
}

const CHUNK: i64 = 10_000;

type Answer<'a, T> = Pin<Box<dyn Future<Output = anyhow::Result<T>> + Send + 'a>>;

/// One kind of total in one system.
trait Total: Send + Sync {
    /// Inserts many children of one parent.
    fn load<'a>(&'a self, first: i64, last: i64) -> Answer<'a, ()>;

    fn insert<'a>(&'a self, id: i64, parent: i64) -> Answer<'a, Option<Touched>>;

    /// The total of a parent.
    fn total<'a>(&'a self, parent: i64) -> Answer<'a, i64>;
}

macro_rules! kind {
    ($module:ident, $parents:literal, $children:literal, $(#[$mark:meta])* $value:ty, $total:expr) => {
        kind!($module, $parents, $children, $(#[$mark])* $value, $total, [], []);
    };
    (
        $module:ident, $parents:literal, $children:literal, $(#[$mark:meta])* $value:ty, $total:expr,
        [$($(#[$own:meta])* $field:ident: $type:ty = $init:expr,)*], [$($(#[$derived:meta])* $computed:ident: $of:ty,)*]
    ) => {
        mod $module {
            use super::*;

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = $parents)]
            pub(super) struct Parent {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                $(#[$mark])*
                #[serde(default)]
                pub(super) value: $value,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = $children)]
            pub(super) struct Child {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                #[reference(parent)]
                pub(super) parent: Ref<Parent>,
                pub(super) amount: i64,
                $($(#[$own])* pub(super) $field: $type,)*
                $($(#[$derived])* pub(super) $computed: $of,)*
            }

            #[derive(Clone)]
            pub(super) struct Kind {
                pub(super) parents: Repository<Parent>,
                pub(super) children: Repository<Child>,
            }

            fn child(id: i64, parent: i64) -> Child {
                Child {
                    id,
                    parent: Ref::new(parent),
                    amount: amount(id),
                    $($field: $init(id),)*
                    $($computed: Default::default(),)*
                }
            }

            impl Total for Kind {
                fn load<'a>(&'a self, first: i64, last: i64) -> Answer<'a, ()> {
                    Box::pin(async move {
                        if first == 0 {
                            let parents = (0..=64).map(|id| Parent { id, value: Default::default() });
                            self.parents.insert_many(parents).await?;
                        }
                        self.children.insert_many((first..last).map(|id| child(id, 0))).await?;
                        Ok(())
                    })
                }

                fn insert<'a>(&'a self, id: i64, parent: i64) -> Answer<'a, Option<Touched>> {
                    Box::pin(async move {
                        let (_, touched) = timed(self.children.insert(child(id, parent))).await?;
                        Ok(Some(touched))
                    })
                }

                fn total<'a>(&'a self, parent: i64) -> Answer<'a, i64> {
                    Box::pin(async move {
                        let parent = self.parents.get(parent).await?;
                        let total: fn($value) -> i64 = $total;
                        Ok(total(parent.value))
                    })
                }
            }
        }
    };
}
kind!(none, "none_parents", "none", i64, |_| 0);
kind!(
    count,
    "count_parents",
    "count",
    #[count(of = "Child")]
    i64,
    |value| value
);
kind!(
    exists,
    "exists_parents",
    "exists",
    #[exists(of = "Child")]
    bool,
    i64::from
);
kind!(
    sum,
    "sum_parents",
    "sum",
    #[sum(of = "Child.amount")]
    i64,
    |value| value
);
kind!(min, "min_parents", "min", #[min(of = "Child.amount")] Option<i64>, |value| value.unwrap_or(0));
kind!(
    sequence,
    "sequence_parents",
    "sequence",
    i64,
    |_| 0,
    [],
    [#[sequence(within = "parent")]
    number: i64,]
);
kind!(
    computed,
    "computed_parents",
    "computed",
    i64,
    |_| 0,
    [],
    [#[computed(if amount > 40 { amount * 119 / 100 } else { amount * 107 / 100 })]
    gross: i64,]
);
kind!(
    words,
    "words_parents",
    "words",
    i64,
    |_| 0,
    [text: String = text,],
    [#[computed(words(&text))]
    #[index]
    words: Vec<String>,]
);

#[derive(Database)]
#[database(name = "totals", version = 1)]
struct Totals {
    none_parents: Repository<none::Parent>,
    none: Repository<none::Child>,
    count_parents: Repository<count::Parent>,
    count: Repository<count::Child>,
    exists_parents: Repository<exists::Parent>,
    exists: Repository<exists::Child>,
    sum_parents: Repository<sum::Parent>,
    sum: Repository<sum::Child>,
    min_parents: Repository<min::Parent>,
    min: Repository<min::Child>,
    sequence_parents: Repository<sequence::Parent>,
    sequence: Repository<sequence::Child>,
    computed_parents: Repository<computed::Parent>,
    computed: Repository<computed::Child>,
    words_parents: Repository<words::Parent>,
    words: Repository<words::Child>,
}

impl Totals {
    fn kinds(&self) -> [Arc<dyn Total>; 8] {
        let db = self.clone();
        [
            Arc::new(none::Kind {
                parents: db.none_parents,
                children: db.none,
            }),
            Arc::new(count::Kind {
                parents: db.count_parents,
                children: db.count,
            }),
            Arc::new(exists::Kind {
                parents: db.exists_parents,
                children: db.exists,
            }),
            Arc::new(sum::Kind {
                parents: db.sum_parents,
                children: db.sum,
            }),
            Arc::new(min::Kind {
                parents: db.min_parents,
                children: db.min,
            }),
            Arc::new(sequence::Kind {
                parents: db.sequence_parents,
                children: db.sequence,
            }),
            Arc::new(computed::Kind {
                parents: db.computed_parents,
                children: db.computed,
            }),
            Arc::new(words::Kind {
                parents: db.words_parents,
                children: db.words,
            }),
        ]
    }
}

/// Tables with a trigger in SQLite.
struct Trigger {
    kind: &'static str,
    connection: Arc<tokio::sync::Mutex<Connection>>,
}

/// The kinds, each with the expression of the total after an insert.
const TRIGGERS: [(&str, &str); 8] = [
    ("none", ""),
    ("count", "value + 1"),
    ("exists", "1"),
    ("sum", "value + new.amount"),
    ("min", "min(value, new.amount)"),
    ("sequence", ""),
    ("computed", ""),
    ("words", ""),
];

fn connect(path: &Path) -> anyhow::Result<Arc<tokio::sync::Mutex<Connection>>> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA foreign_keys = ON;
         PRAGMA mmap_size = 8589934592;",
    )?;
    for (kind, after) in TRIGGERS {
        let generated = match kind {
            "computed" => {
                ", gross INTEGER GENERATED ALWAYS AS (iif(amount > 40, amount * 119 / 100, amount * 107 / 100)) STORED"
            }
            "sequence" => ", number INTEGER",
            _ => "",
        };
        connection.execute_batch(&format!(
            "CREATE TABLE {kind}_parents (id INTEGER PRIMARY KEY, value INTEGER NOT NULL);
             CREATE TABLE {kind}_children (
                 id INTEGER PRIMARY KEY, parent INTEGER NOT NULL REFERENCES {kind}_parents (id), amount INTEGER NOT NULL,
                 text TEXT{generated}
             );
             CREATE INDEX {kind}_of_parents ON {kind}_children (parent, amount);"
        ))?;
        if !after.is_empty() {
            connection.execute_batch(&format!(
                "CREATE TRIGGER {kind}_total AFTER INSERT ON {kind}_children BEGIN
                     UPDATE {kind}_parents SET value = {after} WHERE id = new.parent;
                 END;"
            ))?;
        }
    }
    connection.execute_batch(
        "CREATE UNIQUE INDEX numbers ON sequence_children (parent, number);
         CREATE TABLE counters (parent INTEGER PRIMARY KEY, last INTEGER NOT NULL);
         CREATE TRIGGER number_of AFTER INSERT ON sequence_children BEGIN
             INSERT INTO counters VALUES (new.parent, 1) ON CONFLICT DO UPDATE SET last = last + 1;
             UPDATE sequence_children SET number = (SELECT last FROM counters WHERE parent = new.parent)
             WHERE id = new.id;
         END;",
    )?;
    connection.execute_batch(
        "CREATE VIRTUAL TABLE words_of_children USING fts5(text, content='', contentless_delete=1);
         CREATE TRIGGER words_of AFTER INSERT ON words_children BEGIN
             INSERT INTO words_of_children (rowid, text) VALUES (new.id, new.text);
         END;",
    )?;
    Ok(Arc::new(tokio::sync::Mutex::new(connection)))
}

impl Trigger {
    fn insert_into(&self, connection: &Connection, id: i64, parent: i64) -> anyhow::Result<()> {
        let insert = format!(
            "INSERT INTO {}_children (id, parent, amount, text) VALUES (?1, ?2, ?3, ?4)",
            self.kind
        );
        let mut insert = connection.prepare_cached(&insert)?;
        let text = (self.kind == "words").then(|| text(id));
        insert.execute(params![id, parent, amount(id), text])?;
        Ok(())
    }
}

impl Total for Trigger {
    fn load<'a>(&'a self, first: i64, last: i64) -> Answer<'a, ()> {
        Box::pin(async move {
            let mut connection = self.connection.lock().await;
            let load = connection.transaction()?;
            if first == 0 {
                // The least amount is 0, so that it is right from the begin.
                let parent = format!("INSERT INTO {}_parents VALUES (?1, 0)", self.kind);
                for id in 0..=64 {
                    load.prepare_cached(&parent)?.execute([id])?;
                }
            }
            for id in first..last {
                self.insert_into(&load, id, 0)?;
            }
            Ok(load.commit()?)
        })
    }

    fn insert<'a>(&'a self, id: i64, parent: i64) -> Answer<'a, Option<Touched>> {
        Box::pin(async move {
            let connection = self.connection.lock().await;
            self.insert_into(&connection, id, parent)?;
            Ok(None)
        })
    }

    fn total<'a>(&'a self, parent: i64) -> Answer<'a, i64> {
        Box::pin(async move {
            let connection = self.connection.lock().await;
            let total = format!("SELECT value FROM {}_parents WHERE id = ?1", self.kind);
            Ok(connection.query_row(&total, [parent], |row| row.get(0))?)
        })
    }
}

/// The figures of one kind in one system.
#[derive(Default)]
struct Figures {
    /// The median of one task, in microseconds.
    alone: Duration,
    /// The inserts a second of all tasks.
    together: f64,
    touched: Option<Touched>,
}

pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let mut table = Table::new(
        1,
        [
            "total",
            "children",
            "µs",
            "SQLite µs",
            "ratio",
            "64 tasks /s",
            "SQLite /s",
            "ratio",
            "entries read",
        ],
    );
    let mut first_touched: [Option<Touched>; TRIGGERS.len()] = Default::default();
    for power in [2, 4, 6] {
        let children = 10_i64.pow(power);
        if children > options.children {
            break;
        }
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("totals.db");
        let db = Totals::open(open(&path, Durability::Eventual).await?).await?;
        let connection = connect(&directory.path().join("totals.sqlite"))?;
        let triggers = TRIGGERS.map(|(kind, _)| {
            let connection = connection.clone();
            Arc::new(Trigger { kind, connection }) as Arc<dyn Total>
        });
        let pairs: Vec<_> = db.kinds().into_iter().zip(triggers).collect();
        connection
            .lock()
            .await
            .execute_batch("PRAGMA synchronous = OFF")?;
        for (ours, theirs) in &pairs {
            for system in [ours, theirs] {
                for first in (0..children).step_by(CHUNK as usize) {
                    system.load(first, children.min(first + CHUNK)).await?;
                }
            }
        }
        let mut figures: Vec<[Figures; 2]> = pairs.iter().map(|_| Default::default()).collect();
        let mut times = vec![[Vec::new(), Vec::new()]; pairs.len()];
        for id in children..children + options.inserts {
            for (kind, (ours, theirs)) in pairs.iter().enumerate() {
                for (at, system) in [ours, theirs].into_iter().enumerate() {
                    let begin = Instant::now();
                    let touched = system.insert(id, 0).await?;
                    times[kind][at].push(begin.elapsed());
                    figures[kind][at].touched = touched;
                }
            }
        }
        for (figures, times) in figures.iter_mut().zip(times) {
            for (figures, times) in figures.iter_mut().zip(times) {
                figures.alone = median(times);
            }
        }
        let next = Arc::new(AtomicI64::new(0));
        drop(pairs);
        db.close().await?;
        let db = Totals::open(open(&path, Durability::Immediate).await?).await?;
        connection
            .lock()
            .await
            .execute_batch("PRAGMA synchronous = FULL")?;
        let triggers = TRIGGERS.map(|(kind, _)| {
            let connection = connection.clone();
            Arc::new(Trigger { kind, connection }) as Arc<dyn Total>
        });
        for (kind, (ours, theirs)) in db.kinds().into_iter().zip(triggers).enumerate() {
            let mut totals = Vec::new();
            for (at, system) in [ours, theirs].into_iter().enumerate() {
                next.store(children + options.inserts, Ordering::Relaxed);
                let inserted = together(&system, &next, &options).await?;
                figures[kind][at].together = inserted as f64 / options.seconds as f64;
                totals.push((inserted, system.total(0).await?));
            }
            check(TRIGGERS[kind].0, children + options.inserts, &totals)?;
            let [ours, theirs] = &figures[kind];
            if let Some(touched) = ours.touched {
                let first = first_touched[kind].get_or_insert(touched);
                ensure!(
                    touched.keys_examined == first.keys_examined
                        && touched.documents_examined == first.documents_examined,
                    "an insert reads more among more children: {first:?}, {touched:?}"
                );
            }
            table.row([
                TRIGGERS[kind].0.to_owned(),
                thousands(children as u64),
                figure(micros(ours.alone)),
                figure(micros(theirs.alone)),
                figure(micros(theirs.alone) / micros(ours.alone)),
                thousands(ours.together as u64),
                thousands(theirs.together as u64),
                figure(ours.together / theirs.together),
                ours.touched
                    .map_or(String::new(), |touched| touched.keys_examined.to_string()),
            ]);
        }
        check_numbers(&db).await?;
        db.close().await?;
    }
    println!("{table}");
    Ok(())
}

async fn open(path: &Path, durability: Durability) -> anyhow::Result<Embedded> {
    Ok(Embedded::builder()
        .durability(durability)
        .open(path)
        .await?)
}

/// Inserts children by many tasks, every second one under the one parent, and returns their number.
async fn together(
    system: &Arc<dyn Total>,
    next: &Arc<AtomicI64>,
    options: &Options,
) -> anyhow::Result<i64> {
    let begin = next.load(Ordering::Relaxed);
    let is_over = Arc::new(AtomicBool::new(false));
    let tasks = (0..options.tasks).map(|task| {
        let (system, next, is_over) = (system.clone(), next.clone(), is_over.clone());
        tokio::spawn(async move {
            while !is_over.load(Ordering::Relaxed) {
                let id = next.fetch_add(1, Ordering::Relaxed);
                system
                    .insert(id, if id % 2 == 0 { 0 } else { 1 + task % 64 })
                    .await?;
            }
            anyhow::Ok(())
        })
    });
    let tasks: Vec<_> = tasks.collect();
    tokio::time::sleep(Duration::from_secs(options.seconds)).await;
    is_over.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await??;
    }
    Ok(next.load(Ordering::Relaxed) - begin)
}

/// Compares the greatest number within the one parent with the number of its children.
async fn check_numbers(db: &Totals) -> anyhow::Result<()> {
    let child = sequence::Child::fields();
    let children = || db.sequence.find(child.parent.eq(Ref::new(0)));
    let greatest = children().sort(child.number.desc()).first().await?;
    let (greatest, count) = (
        greatest.map(|child| child.number),
        children().count().await?,
    );
    ensure!(
        greatest == Some(count as i64),
        "the greatest number of {count} children is {greatest:?}"
    );
    Ok(())
}

/// Compares the total of the one parent with its children in both systems.
fn check(kind: &str, begin: i64, totals: &[(i64, i64)]) -> anyhow::Result<()> {
    for (inserted, total) in totals {
        let later = (begin..begin + inserted).filter(|id| id % 2 == 0);
        let all = (0..begin).chain(later);
        let right = match kind {
            "count" => all.count() as i64,
            "exists" => 1,
            "sum" => all.map(amount).sum(),
            _ => 0,
        };
        ensure!(
            *total == right,
            "the {kind} is {total} and should be {right}"
        );
    }
    Ok(())
}
