//! The cost of a tree whose documents have the list of their ancestors, beside SQLite with triggers that keep a path as a text: of an insert
//! of a leaf, of moves of subtrees, and of counts of them.
//!
//! Each document has ten below it, but for the last depth. One task writes without waiting for the disk, in turn in both systems. At the end
//! the lists are compared with the paths.

use std::{
    path::Path,
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
    /// The greatest depth of a tree, below its root.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(3..=6))]
    depths: u32,
    /// How many leaves are inserted.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(i64).range(1..))]
    inserts: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "nodes")]
struct Node {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    parent: Option<Ref<Node>>,
    #[ancestors(via = "parent")]
    path: Ancestors<Node>,
}

#[derive(Database)]
#[database(name = "trees", version = 1)]
struct Trees {
    nodes: Repository<Node>,
}

/// The first document of a depth; the documents of each depth follow those of the depth before.
fn first(depth: u32) -> i64 {
    (10_i64.pow(depth) - 1) / 9
}

/// The document above another at first.
fn parent(id: i64) -> Option<i64> {
    (id > 0).then(|| (id - 1) / 10)
}

fn node(id: i64, parent: Option<i64>) -> Node {
    Node {
        id,
        parent: parent.map(Ref::new),
        path: Ancestors::new(),
    }
}

const CHUNK: usize = 10_000;

fn connect(path: &Path) -> anyhow::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = OFF;
         PRAGMA foreign_keys = ON;
         PRAGMA mmap_size = 8589934592;
         CREATE TABLE nodes (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES nodes (id), path TEXT);
         CREATE INDEX nodes_of ON nodes (parent);
         CREATE INDEX paths ON nodes (path);
         CREATE TRIGGER path_of AFTER INSERT ON nodes BEGIN
             UPDATE nodes SET path = coalesce((SELECT path FROM nodes WHERE id = new.parent), '/') || new.id || '/'
             WHERE id = new.id;
         END;
         CREATE TRIGGER paths_below AFTER UPDATE OF parent ON nodes BEGIN
             SELECT raise(ABORT, 'a ring') FROM nodes
             WHERE id = new.parent AND path >= old.path AND path < old.path || '~';
             UPDATE nodes
             SET path = (SELECT path FROM nodes WHERE id = new.parent) || new.id || '/' || substr(path, length(old.path) + 1)
             WHERE path >= old.path AND path < old.path || '~';
         END;",
    )?;
    Ok(connection)
}

fn insert_into(connection: &Connection, id: i64, parent: Option<i64>) -> anyhow::Result<()> {
    let mut insert = connection.prepare_cached("INSERT INTO nodes (id, parent) VALUES (?1, ?2)")?;
    insert.execute(params![id, parent])?;
    Ok(())
}

fn move_in(connection: &Connection, id: i64, parent: i64) -> anyhow::Result<()> {
    let mut update = connection.prepare_cached("UPDATE nodes SET parent = ?2 WHERE id = ?1")?;
    update.execute([id, parent])?;
    Ok(())
}

fn count_in(connection: &Connection, id: i64) -> anyhow::Result<u64> {
    let mut count = connection.prepare_cached(
        "SELECT count(*) - 1 FROM nodes JOIN (SELECT path AS top FROM nodes WHERE id = ?1)
         WHERE path >= top AND path < top || '~'",
    )?;
    let number: i64 = count.query_row([id], |row| row.get(0))?;
    Ok(number.try_into()?)
}

pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let columns = [
        "operation",
        "documents",
        "µs",
        "SQLite µs",
        "ratio",
        "entries read",
    ];
    let mut table = Table::new(1, columns);
    let mut first_touched: Option<Touched> = None;
    let mut row =
        |operation: &str, documents: i64, times: [Vec<Duration>; 2], touched: Option<Touched>| {
            let [ours, theirs] = times.map(|times| micros(median(times)));
            table.row([
                operation.to_owned(),
                thousands(documents.unsigned_abs()),
                figure(ours),
                figure(theirs),
                figure(theirs / ours),
                touched.map_or(String::new(), |touched| thousands(touched.keys_examined)),
            ]);
        };
    for depths in (3..=options.depths).step_by(2) {
        let directory = tempfile::tempdir()?;
        let store = Embedded::builder().durability(Durability::Eventual);
        let db = Trees::open(store.open(directory.path().join("trees.db")).await?).await?;
        let mut connection = connect(&directory.path().join("trees.sqlite"))?;
        let number = first(depths + 1);
        let all: Vec<i64> = (0..number).collect();
        for ids in all.chunks(CHUNK) {
            db.nodes
                .insert_many(ids.iter().map(|&id| node(id, parent(id))))
                .await?;
            let load = connection.transaction()?;
            ids.iter()
                .try_for_each(|&id| insert_into(&load, id, parent(id)))?;
            load.commit()?;
        }
        // Leaves at the depth 4 of each tree.
        let mut times = [Vec::new(), Vec::new()];
        let mut touched = None;
        for id in number..number + options.inserts {
            let above = Some(first(3) + id % 1_000);
            let (took, cost) = timed(db.nodes.insert(node(id, above))).await?;
            touched = Some(cost);
            times[0].push(took);
            let begin = Instant::now();
            insert_into(&connection, id, above)?;
            times[1].push(begin.elapsed());
        }
        if let Some(touched) = touched {
            let first = *first_touched.get_or_insert(touched);
            ensure!(
                touched == first,
                "an insert reads more in a larger tree: {first:?}, {touched:?}"
            );
        }
        row("insert of a leaf", number, times, touched);
        // The first document of each depth goes below the last one of depth 1, and back.
        for depth in (1..=depths).rev() {
            let id = first(depth);
            let below = db
                .nodes
                .find(Node::fields().path.within(id))
                .count()
                .await?;
            let mut times = [Vec::new(), Vec::new()];
            let mut touched = None;
            for at in 0..(20_000 / (below + 1)).clamp(6, 400) {
                let to = if at % 2 == 0 { 10 } else { (id - 1) / 10 };
                let set = db
                    .nodes
                    .update(id)
                    .set(Node::fields().parent, Some(Ref::new(to)));
                let (took, cost) = timed(set).await?;
                touched = Some(cost);
                times[0].push(took);
                let begin = Instant::now();
                move_in(&connection, id, to)?;
                times[1].push(begin.elapsed());
            }
            row("move of a subtree", below as i64 + 1, times, touched);
        }
        for depth in (1..depths).rev() {
            let id = first(depth);
            let mut times = [Vec::new(), Vec::new()];
            let mut counted = [0; 2];
            for _ in 0..50 {
                let begin = Instant::now();
                counted[0] = db
                    .nodes
                    .find(Node::fields().path.within(id))
                    .count()
                    .await?;
                times[0].push(begin.elapsed());
                let begin = Instant::now();
                counted[1] = count_in(&connection, id)?;
                times[1].push(begin.elapsed());
            }
            ensure!(
                counted[0] == counted[1],
                "{id} has {counted:?} documents below"
            );
            row("count of a subtree", counted[0] as i64, times, None);
        }
        compare(&db, &connection).await?;
        db.close().await?;
    }
    println!("{table}");
    Ok(())
}

/// Compares all lists with the paths.
async fn compare(db: &Trees, connection: &Connection) -> anyhow::Result<()> {
    let mut path = connection.prepare("SELECT path FROM nodes WHERE id = ?1")?;
    for node in db.nodes.all().await? {
        let above = node.path.iter().map(|above| format!("{above}/"));
        let list = format!("/{}{}/", above.collect::<String>(), node.id);
        let path: String = path.query_row([node.id], |row| row.get(0))?;
        ensure!(list == path, "{} is at {list}, and at {path}", node.id);
    }
    Ok(())
}
