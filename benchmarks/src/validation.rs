//! The cost of validation for a write, by the size of the document.
//!
//! On disk, with [`Durability::Eventual`], orders of some lines each are inserted and changed in four models:
//! without validation, with the schema of the types, with rules on every field, and with functions as well.
//! The models take turns, write by write. The table shows medians.

use std::time::{Duration, Instant};

use odm::{Embedded, prelude::*, store::Durability};
use serde::{Deserialize, Serialize};

use crate::shared::{
    measure::{median, micros},
    table::{Table, figure, thousands},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of documents, of which there are fewer if they are large.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
}

/// The model of an order, and its database.
macro_rules! model {
    ($module:ident, $name:literal, $level:literal, $text:meta, $number:meta) => {
        mod $module {
            use super::*;

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = $name, validation(level = $level))]
            struct Order {
                #[serde(rename = "_id")]
                id: i64,
                #[$text]
                customer: String,
                #[$text]
                note: Option<String>,
                #[$number]
                total: i64,
                #[embed]
                lines: Vec<Line>,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
            struct Line {
                #[$text]
                article: String,
                #[$number]
                quantity: i64,
                #[$number]
                price: i64,
            }

            #[derive(Database)]
            #[database(name = $name, version = 1)]
            pub(super) struct Orders {
                orders: Repository<Order>,
            }

            fn order(id: i64, lines: usize) -> Order {
                let line = |line: usize| Line {
                    article: format!("article {line:04}"),
                    quantity: 1 + line as i64,
                    price: 1_999,
                };
                Order {
                    id,
                    customer: format!("customer {id:06}"),
                    note: None,
                    total: 1_999,
                    lines: (0..lines).map(line).collect(),
                }
            }

            /// Times one insert, and one update of a field of the document.
            pub(super) async fn write(
                db: &Orders,
                id: i64,
                lines: usize,
            ) -> odm::Result<[Duration; 2]> {
                let order = order(id, lines);
                let start = Instant::now();
                db.orders.insert(order).await?;
                let inserted = start.elapsed();
                let start = Instant::now();
                db.orders.update(id).inc(Order::fields().total, 1).await?;
                Ok([inserted, start.elapsed()])
            }
        }
    };
}

model!(off, "off", "off", allow(unused), allow(unused));
model!(types, "types", "strict", allow(unused), allow(unused));
model!(
    rules,
    "rules",
    "strict",
    validate(min_length = 1, max_length = 200),
    validate(min = 0, max = 1_000_000)
);
model!(
    functions,
    "functions",
    "strict",
    validate(min_length = 1, max_length = 200),
    validate(min = 0, max = 1_000_000, with = positive)
);

fn positive(number: &i64) -> Result<(), &'static str> {
    if *number > 0 {
        Ok(())
    } else {
        Err("must be positive")
    }
}

pub(crate) async fn run(options: Options) -> odm::Result<()> {
    let rounds = options.rounds as i64;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let columns = ["lines", "bytes", "off", "types", "rules", "functions"];
    let mut table = Table::new(0, columns);
    for lines in [0, 10, 100, 1_000] {
        let store = Embedded::builder()
            .durability(Durability::Eventual)
            .open(folder.path().join(format!("{lines}.odm")))
            .await?;
        let off = off::Orders::open(store.clone()).await?;
        let types = types::Orders::open(store.clone()).await?;
        let rules = rules::Orders::open(store.clone()).await?;
        let functions = functions::Orders::open(store.clone()).await?;
        let mut times = [const { [const { Vec::new() }; 2] }; 4];
        for id in 0..rounds.min(2_000_000 / (1 + lines as i64)) {
            let of_models = [
                off::write(&off, id, lines).await?,
                types::write(&types, id, lines).await?,
                rules::write(&rules, id, lines).await?,
                functions::write(&functions, id, lines).await?,
            ];
            for (times, of_model) in times.iter_mut().zip(of_models) {
                for (times, time) in times.iter_mut().zip(of_model) {
                    times.push(time);
                }
            }
        }
        let cell = |times: [Vec<Duration>; 2]| {
            let medians = times.map(|times| figure(micros(median(times))));
            medians.join(" / ")
        };
        let [off, types, rules, functions] = times.map(cell);
        let bytes = 80 + 75 * lines as u64;
        let sizes = [thousands(lines as u64), thousands(bytes)];
        table.row(sizes.into_iter().chain([off, types, rules, functions]));
    }
    println!("µs: insert / update of one field, medians of up to {rounds} rounds\n");
    print!("{table}");
    Ok(())
}
