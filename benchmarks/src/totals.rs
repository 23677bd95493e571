//! The cost of an insert of a child whose parent has a total of its children, by their number, beside SQLite with a trigger that does the
//! same; of a child with the next number of its parent, beside a trigger that counts; and of a child with a computed field, or with eight words
//! and their index, beside a generated column and a trigger that fills FTS5.
//!
//! Each kind has a collection of parents and one of children in the library, and tables of the same in SQLite; so have children
//! without a total. One parent has all of the first children. Then one task inserts children of that parent in turn with the other kinds,
//! without waiting for the disk, and the table shows the medians; then many tasks insert durably, under parents of their own as well as
//! under the one, alone and ten in one unit. The kinds and systems take turns, and the table shows the medians of the inserts a second. At the
//! end the totals are compared with those of the children.

mod trigger;

use std::{
    future::Future,
    ops::Range,
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
use serde::{Deserialize, Serialize};

use self::trigger::{TRIGGERS, Trigger, connect};
use crate::shared::{
    measure::{Touched, median, median_number, micros, timed},
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
    /// How often each kind has its turn with many tasks.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// How long many tasks insert children of a kind in its turn, in seconds.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// The kinds, or all.
    #[arg(long, value_delimiter = ',')]
    kinds: Vec<String>,
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

/// The children of a unit with several.
const UNIT: i64 = 10;

type Answer<'a, T> = Pin<Box<dyn Future<Output = anyhow::Result<T>> + Send + 'a>>;

/// One kind of total in one system.
trait Total: Send + Sync {
    /// Inserts many children of one parent.
    fn load<'a>(&'a self, first: i64, last: i64) -> Answer<'a, ()>;

    fn insert<'a>(&'a self, id: i64, parent: i64) -> Answer<'a, Option<Touched>>;

    /// Inserts children of one parent in one unit, each by a write of its own.
    fn insert_all<'a>(&'a self, ids: Range<i64>, parent: i64) -> Answer<'a, ()>;

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
                pub(super) db: Totals,
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

                fn insert_all<'a>(&'a self, ids: Range<i64>, parent: i64) -> Answer<'a, ()> {
                    Box::pin(async move {
                        let inserts = ids.map(|id| self.children.insert(child(id, parent)));
                        self.db.bulk(inserts.collect::<Vec<_>>()).await?;
                        Ok(())
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
        let all = || self.clone();
        let db = self.clone();
        [
            Arc::new(none::Kind {
                db: all(),
                parents: db.none_parents,
                children: db.none,
            }),
            Arc::new(count::Kind {
                db: all(),
                parents: db.count_parents,
                children: db.count,
            }),
            Arc::new(exists::Kind {
                db: all(),
                parents: db.exists_parents,
                children: db.exists,
            }),
            Arc::new(sum::Kind {
                db: all(),
                parents: db.sum_parents,
                children: db.sum,
            }),
            Arc::new(min::Kind {
                db: all(),
                parents: db.min_parents,
                children: db.min,
            }),
            Arc::new(sequence::Kind {
                db: all(),
                parents: db.sequence_parents,
                children: db.sequence,
            }),
            Arc::new(computed::Kind {
                db: all(),
                parents: db.computed_parents,
                children: db.computed,
            }),
            Arc::new(words::Kind {
                db: all(),
                parents: db.words_parents,
                children: db.words,
            }),
        ]
    }
}

/// The figures of one kind in one system.
#[derive(Default)]
struct Figures {
    /// The times of one task.
    alone: Vec<Duration>,
    /// The inserts a second of all tasks: each alone, and [`UNIT`] in one unit.
    together: [Vec<f64>; 2],
    touched: Option<Touched>,
    written: Arc<Written>,
}

/// The children of one kind in one system.
#[derive(Default)]
struct Written {
    /// The `_id` of the next child.
    next: AtomicI64,
    /// The children of the one parent with many.
    count: AtomicI64,
    /// The sum of their amounts.
    sum: AtomicI64,
}

impl Written {
    fn take(&self, count: i64) -> Range<i64> {
        let first = self.next.fetch_add(count, Ordering::Relaxed);
        first..first + count
    }

    /// Adds children of the one parent.
    fn add(&self, ids: Range<i64>) {
        self.count.fetch_add(ids.end - ids.start, Ordering::Relaxed);
        self.sum.fetch_add(ids.map(amount).sum(), Ordering::Relaxed);
    }

    /// Compares the total of the one parent with its children.
    fn check(&self, kind: &str, total: i64) -> anyhow::Result<()> {
        let right = match kind {
            "count" => self.count.load(Ordering::Relaxed),
            "exists" => 1,
            "sum" => self.sum.load(Ordering::Relaxed),
            _ => 0,
        };
        ensure!(
            total == right,
            "the {kind} is {total} and should be {right}"
        );
        Ok(())
    }
}

pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let columns = [
        "total",
        "children",
        "µs",
        "SQLite µs",
        "ratio",
        "64 tasks /s",
        "SQLite /s",
        "ratio",
        "in tens /s",
        "SQLite /s",
        "ratio",
        "entries read",
    ];
    let mut table = Table::new(1, columns);
    let is_asked =
        |kind: &str| options.kinds.is_empty() || options.kinds.iter().any(|asked| asked == kind);
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
        let systems = |db: &Totals| {
            let theirs = TRIGGERS.map(|(kind, _)| {
                let connection = connection.clone();
                Arc::new(Trigger { kind, connection }) as Arc<dyn Total>
            });
            let systems = db.kinds().into_iter().zip(theirs);
            let systems = systems.zip(TRIGGERS).enumerate();
            let systems = systems.filter(|(_, (_, (kind, _)))| is_asked(kind));
            systems
                .map(|(at, ((ours, theirs), _))| (at, [ours, theirs]))
                .collect::<Vec<_>>()
        };
        let mut figures: Vec<[Figures; 2]> = TRIGGERS.iter().map(|_| Default::default()).collect();
        connection
            .lock()
            .await
            .execute_batch("PRAGMA synchronous = OFF")?;
        let all = systems(&db);
        for (kind, systems) in &all {
            for (system, figures) in systems.iter().zip(&figures[*kind]) {
                for first in (0..children).step_by(CHUNK as usize) {
                    let ids = figures.written.take(CHUNK.min(children - first));
                    system.load(ids.start, ids.end).await?;
                    figures.written.add(ids);
                }
            }
        }
        for _ in 0..options.inserts {
            for (kind, systems) in &all {
                for (system, figures) in systems.iter().zip(&mut figures[*kind]) {
                    let ids = figures.written.take(1);
                    let begin = Instant::now();
                    figures.touched = system.insert(ids.start, 0).await?;
                    figures.alone.push(begin.elapsed());
                    figures.written.add(ids);
                }
            }
        }
        drop(all);
        db.close().await?;
        let db = Totals::open(open(&path, Durability::Immediate).await?).await?;
        connection
            .lock()
            .await
            .execute_batch("PRAGMA synchronous = FULL")?;
        let all = systems(&db);
        for _ in 0..options.rounds {
            for (kind, systems) in &all {
                for (system, figures) in systems.iter().zip(&mut figures[*kind]) {
                    for (unit, rates) in [1, UNIT].into_iter().zip(&mut figures.together) {
                        rates.push(together(system, &figures.written, unit, &options).await?);
                    }
                }
            }
        }
        for (kind, systems) in &all {
            for (system, figures) in systems.iter().zip(&figures[*kind]) {
                figures
                    .written
                    .check(TRIGGERS[*kind].0, system.total(0).await?)?;
            }
            let [ours, theirs] = &mut figures[*kind];
            if let Some(touched) = ours.touched {
                let first = first_touched[*kind].get_or_insert(touched);
                ensure!(
                    touched.keys_examined == first.keys_examined
                        && touched.documents_examined == first.documents_examined,
                    "an insert reads more among more children: {first:?}, {touched:?}"
                );
            }
            let alone =
                [&mut *ours, theirs].map(|system| micros(median(system.alone.split_off(0))));
            let mut row = vec![
                TRIGGERS[*kind].0.to_owned(),
                thousands(children as u64),
                figure(alone[0]),
                figure(alone[1]),
                figure(alone[1] / alone[0]),
            ];
            for (ours, theirs) in ours.together.iter().zip(&theirs.together) {
                let [ours, theirs] = [ours, theirs].map(|rates| median_number(rates.clone()));
                row.extend([
                    thousands(ours as u64),
                    thousands(theirs as u64),
                    figure(ours / theirs),
                ]);
            }
            row.push(
                ours.touched
                    .map_or(String::new(), |touched| touched.keys_examined.to_string()),
            );
            table.row(row);
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

/// Inserts children by many tasks, every second unit of `unit` of them under the one parent. Returns the inserts a second.
async fn together(
    system: &Arc<dyn Total>,
    written: &Arc<Written>,
    unit: i64,
    options: &Options,
) -> anyhow::Result<f64> {
    let is_over = Arc::new(AtomicBool::new(false));
    let tasks = (0..options.tasks).map(|task| {
        let (system, written, is_over) = (system.clone(), written.clone(), is_over.clone());
        tokio::spawn(async move {
            let mut inserted = 0;
            while !is_over.load(Ordering::Relaxed) {
                let ids = written.take(unit);
                let is_of_one = ids.start / unit % 2 == 0;
                let parent = if is_of_one { 0 } else { 1 + task % 64 };
                if unit == 1 {
                    system.insert(ids.start, parent).await?;
                } else {
                    system.insert_all(ids.clone(), parent).await?;
                }
                if is_of_one {
                    written.add(ids);
                }
                inserted += unit;
            }
            anyhow::Ok(inserted)
        })
    });
    let tasks: Vec<_> = tasks.collect();
    tokio::time::sleep(Duration::from_secs(options.seconds)).await;
    is_over.store(true, Ordering::Relaxed);
    let mut inserted = 0;
    for task in tasks {
        inserted += task.await??;
    }
    Ok(inserted as f64 / options.seconds as f64)
}

/// Compares the greatest number within the one parent with the number of its children.
async fn check_numbers(db: &Totals) -> anyhow::Result<()> {
    let child = sequence::Child::fields();
    let children = || db.sequence.find(child.parent.eq(Ref::new(0)));
    let greatest = children().sort(child.number.desc()).first().await?;
    let (greatest, count) = (
        greatest.map_or(0, |child| child.number),
        children().count().await?,
    );
    ensure!(
        greatest == count as i64,
        "the greatest number of {count} children is {greatest}"
    );
    Ok(())
}
