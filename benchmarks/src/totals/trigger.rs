//! The totals by triggers of SQLite.

use std::{ops::Range, path::Path, sync::Arc};

use rusqlite::{Connection, params};

use super::{Answer, Total, amount, text};
use crate::shared::measure::Touched;

/// Tables with a trigger in SQLite.
pub(super) struct Trigger {
    pub(super) kind: &'static str,
    pub(super) connection: Arc<tokio::sync::Mutex<Connection>>,
}

/// The kinds, each with the expression of the total after an insert.
pub(super) const TRIGGERS: [(&str, &str); 8] = [
    ("none", ""),
    ("count", "value + 1"),
    ("exists", "1"),
    ("sum", "value + new.amount"),
    ("min", "min(value, new.amount)"),
    ("sequence", ""),
    ("computed", ""),
    ("words", ""),
];

pub(super) fn connect(path: &Path) -> anyhow::Result<Arc<tokio::sync::Mutex<Connection>>> {
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

    fn insert_all<'a>(&'a self, ids: Range<i64>, parent: i64) -> Answer<'a, ()> {
        Box::pin(async move {
            let mut connection = self.connection.lock().await;
            let unit = connection.transaction()?;
            for id in ids {
                self.insert_into(&unit, id, parent)?;
            }
            Ok(unit.commit()?)
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
