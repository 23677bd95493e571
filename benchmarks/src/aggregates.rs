//! The cost of sums and groups over many documents, compared with SQLite's `GROUP BY`.
//!
//! Orders of about 200 bytes are loaded into a store on disk and into a table of SQLite with the same indexes. Each question is put to both
//! in turns, and their answers are compared. The table shows medians, with all data in the cache.

use std::time::{Duration, Instant};

use anyhow::ensure;
use odm::{Embedded, prelude::*, query::count, store::Durability};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::shared::{
    measure::{median, millis},
    random::{Random, text},
    table::{Table, figure, thousands},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of orders.
    #[arg(long, default_value_t = 1_000_000)]
    orders: u64,
    /// How often each question is asked.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// Only the questions whose names contain this.
    #[arg(long, default_value = "")]
    only: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    status: String,
    #[index]
    country: String,
    #[index]
    customer: i64,
    note: String,
    total: i64,
    weight: f64,
    placed: DateTime,
}

#[derive(Database)]
#[database(name = "sales", version = 1)]
struct Sales {
    orders: Repository<Order>,
}

const STATUSES: [&str; 5] = ["open", "paid", "packed", "sent", "returned"];

fn order(id: u64, orders: u64) -> Order {
    let mut random = Random(id);
    Order {
        id: id as i64,
        status: STATUSES[random.below(5) as usize].to_owned(),
        country: format!("country {:02}", random.below(50)),
        customer: random.below(orders.div_ceil(10)) as i64,
        note: text(id, 60),
        total: random.below(100_000) as i64,
        // Sums of quarters are exact.
        weight: random.below(4_000) as f64 / 4.0,
        placed: DateTime::from_millis(1_700_000_000_000 + random.below(365 * 86_400_000) as i64),
    }
}

fn load_sqlite(connection: &mut Connection, orders: u64) -> anyhow::Result<()> {
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA mmap_size = 8589934592;
         CREATE TABLE orders (
             id INTEGER PRIMARY KEY, status TEXT NOT NULL, country TEXT NOT NULL, customer INTEGER NOT NULL,
             note TEXT NOT NULL, total INTEGER NOT NULL, weight REAL NOT NULL, placed INTEGER NOT NULL
         );",
    )?;
    let transaction = connection.transaction()?;
    {
        let mut insert =
            transaction.prepare("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?;
        for id in 0..orders {
            let order = order(id, orders);
            let placed = order.placed.timestamp_millis();
            insert.execute((
                order.id,
                order.status,
                order.country,
                order.customer,
                order.note,
                order.total,
                order.weight,
                placed,
            ))?;
        }
    }
    transaction.commit()?;
    connection.execute_batch(
        "CREATE INDEX by_country ON orders (country);
         CREATE INDEX by_customer ON orders (customer);
         ANALYZE;",
    )?;
    Ok(())
}

async fn load(path: &std::path::Path, orders: u64) -> odm::Result<Sales> {
    let store = Embedded::builder()
        .durability(Durability::Eventual)
        .cache_size(1 << 30)
        .open(path)
        .await?;
    let sales = Sales::open(store).await?;
    let all: Vec<u64> = (0..orders).collect();
    for ids in all.chunks(10_000) {
        sales
            .orders
            .insert_many(ids.iter().map(|&id| order(id, orders)))
            .await?;
    }
    Ok(sales)
}

/// A digest of an answer: the number of rows, and the sum of their values.
type Answer = (u64, f64);

fn ask_sqlite(connection: &Connection, sql: &str) -> anyhow::Result<Answer> {
    let mut statement = connection.prepare_cached(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut answer = (0, 0.0);
    while let Some(row) = rows.next()? {
        answer.0 += 1;
        for column in 0..columns {
            answer.1 += match row.get_ref(column)? {
                rusqlite::types::ValueRef::Integer(number) => number as f64,
                rusqlite::types::ValueRef::Real(number) => number,
                rusqlite::types::ValueRef::Text(text) => text.len() as f64,
                _ => 0.0,
            };
        }
    }
    Ok(answer)
}

/// A question: its name, the answer of the library, and the SQL.
macro_rules! questions {
    ($sales:ident, $run:ident; $($name:literal: $sql:literal => $ask:expr;)*) => {
        $({
            // A closure, so that each round evaluates it anew.
            let ask = async || -> odm::Result<Answer> { $ask };
            $run!($name, $sql, ask);
        })*
    };
}

pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut connection = Connection::open(folder.path().join("orders.sqlite"))?;
    load_sqlite(&mut connection, options.orders)?;
    let sales = load(&folder.path().join("orders.odm"), options.orders).await?;
    let order = Order::fields();
    let mut table = Table::new(
        1,
        ["question", "rows", "odm, ms", "SQLite, ms", "SQLite / odm"],
    );

    macro_rules! measure {
        ($name:literal, $sql:literal, $ask:ident) => {
            if $name.contains(&options.only) {
                let (mut of_odm, mut of_sqlite) = (Vec::<Duration>::new(), Vec::<Duration>::new());
                let mut rows = 0;
                // The first round fills the caches, and is not counted.
                for round in 0..=options.rounds {
                    let start = Instant::now();
                    let answer = $ask().await?;
                    let took = start.elapsed();
                    let start = Instant::now();
                    let expected = ask_sqlite(&connection, $sql)?;
                    let sqlite_took = start.elapsed();
                    let difference = (answer.1 - expected.1).abs() / expected.1.abs().max(1.0);
                    ensure!(
                        answer.0 == expected.0 && difference < 1e-9,
                        "{}: {answer:?} and {expected:?}",
                        $name
                    );
                    rows = answer.0;
                    if round > 0 {
                        of_odm.push(took);
                        of_sqlite.push(sqlite_took);
                    }
                }
                let (of_odm, of_sqlite) = (millis(median(of_odm)), millis(median(of_sqlite)));
                table.row([
                    $name.to_owned(),
                    thousands(rows),
                    figure(of_odm),
                    figure(of_sqlite),
                    figure(of_sqlite / of_odm),
                ]);
            }
        };
    }
    questions! { sales, measure;
        "sum of all": "SELECT sum(total) FROM orders" => {
            Ok((1, sales.orders.all().sum(order.total).await? as f64))
        };
        "count, sum, mean by 5 values": "SELECT status, count(*), sum(total), avg(weight) FROM orders GROUP BY status" => {
            let rows = sales.orders.all().group_by(order.status)
                .select((count(), order.total.sum(), order.weight.avg())).await?;
            let digest = rows.iter().map(|(status, (count, sum, mean))| {
                status.len() as f64 + *count as f64 + *sum as f64 + mean.unwrap_or(0.0)
            });
            Ok((rows.len() as u64, digest.sum()))
        };
        "count, sum, mean by a tenth as many values": "SELECT customer, count(*), sum(total), avg(weight) FROM orders NOT INDEXED GROUP BY customer" => {
            let rows = sales.orders.all().group_by(order.customer)
                .select((count(), order.total.sum(), order.weight.avg())).await?;
            let digest = rows.iter().map(|(customer, (count, sum, mean))| {
                *customer as f64 + *count as f64 + *sum as f64 + mean.unwrap_or(0.0)
            });
            Ok((rows.len() as u64, digest.sum()))
        };
        "the ten greatest sums of these": "SELECT customer, sum(total) FROM orders NOT INDEXED GROUP BY customer ORDER BY sum(total) DESC, customer LIMIT 10" => {
            let rows = sales.orders.all().group_by(order.customer).select(order.total.sum())
                .sort(order.total.sum().desc()).limit(10).await?;
            let digest = rows.iter().map(|(customer, sum)| *customer as f64 + *sum as f64);
            Ok((rows.len() as u64, digest.sum()))
        };
        "sums by 5 values, of a 50th found by an index": "SELECT status, sum(total) FROM orders WHERE country = 'country 07' GROUP BY status" => {
            let rows = sales.orders.find(order.country.eq("country 07")).group_by(order.status)
                .select(order.total.sum()).await?;
            let digest = rows.iter().map(|(status, sum)| status.len() as f64 + *sum as f64);
            Ok((rows.len() as u64, digest.sum()))
        };
        "count by 50 values of an index": "SELECT country, count(*) FROM orders GROUP BY country" => {
            let rows = sales.orders.all().count_by(order.country).await?;
            let digest = rows.iter().map(|(country, count)| country.len() as f64 + *count as f64);
            Ok((rows.len() as u64, digest.sum()))
        };
        "count by a tenth as many values of an index": "SELECT customer, count(*) FROM orders GROUP BY customer" => {
            let rows = sales.orders.all().count_by(order.customer).await?;
            let digest = rows.iter().map(|(customer, count)| *customer as f64 + *count as f64);
            Ok((rows.len() as u64, digest.sum()))
        };
        "count and sum by day": "SELECT placed / 86400000 * 86400000, count(*), sum(total) FROM orders GROUP BY placed / 86400000" => {
            let rows = sales.orders.all().group_by(order.placed.start_of_day())
                .select((count(), order.total.sum())).await?;
            let digest = rows.iter().map(|(day, (count, sum))| {
                day.timestamp_millis() as f64 + *count as f64 + *sum as f64
            });
            Ok((rows.len() as u64, digest.sum()))
        };
        "greatest value of an index": "SELECT max(customer) FROM orders" => {
            let greatest = sales.orders.all().max(order.customer).await?;
            Ok((1, greatest.unwrap_or(0) as f64))
        };
    }
    println!(
        "{} orders, medians of {} rounds\n",
        thousands(options.orders),
        options.rounds
    );
    print!("{table}");
    Ok(())
}
