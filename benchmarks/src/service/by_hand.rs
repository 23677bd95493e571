//! SQLite by hand: prepared statements on the worker of the runtime, some readers, and one writer behind a lock, which a slow transaction
//! holds while it sleeps.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};

use anyhow::Context;
use rusqlite::{Connection, params};

use super::{
    ACCOUNTS, BALANCE, NEWEST, PAGES, PAUSE, POSTS_OF_A_TOPIC, Service, TOPICS, Totals, Transfer,
    sections,
};
use crate::shared::random::text;

const READERS: usize = 4;

pub(super) struct Sqlite {
    readers: Mutex<Vec<Connection>>,
    writer: tokio::sync::Mutex<Connection>,
}

fn connect(path: &Path) -> anyhow::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA mmap_size = 8589934592;",
    )?;
    Ok(connection)
}

fn execute(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> anyhow::Result<()> {
    connection.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

impl Sqlite {
    pub(super) fn load(path: &Path) -> anyhow::Result<Sqlite> {
        let mut connection = connect(path)?;
        connection.execute_batch(
            "CREATE TABLE accounts (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, balance INTEGER NOT NULL);
             CREATE TABLE topics (id INTEGER PRIMARY KEY, title TEXT NOT NULL, posts INTEGER NOT NULL);
             CREATE TABLE posts (
                 id INTEGER PRIMARY KEY, topic INTEGER NOT NULL REFERENCES topics (id), text TEXT NOT NULL
             );
             CREATE INDEX posts_of_topics ON posts (topic, id);
             CREATE TABLE pages (id INTEGER PRIMARY KEY, views INTEGER NOT NULL, sections TEXT NOT NULL);",
        )?;
        let load = connection.transaction()?;
        for id in 1..=ACCOUNTS {
            let values = params![id, text(id as u64, 20), BALANCE];
            execute(&load, "INSERT INTO accounts VALUES (?1, ?2, ?3)", values)?;
        }
        for id in 1..=TOPICS {
            let values = params![id, text(id as u64, 40), POSTS_OF_A_TOPIC];
            execute(&load, "INSERT INTO topics VALUES (?1, ?2, ?3)", values)?;
        }
        for id in 1..=TOPICS * POSTS_OF_A_TOPIC {
            insert_post(&load, id, 1 + id % TOPICS)?;
        }
        for id in 1..=PAGES {
            let sections: Vec<String> = sections(id).collect();
            let values = params![id, serde_json::to_string(&sections)?];
            execute(&load, "INSERT INTO pages VALUES (?1, 0, ?2)", values)?;
        }
        load.commit()?;
        let readers: anyhow::Result<_> = (0..READERS).map(|_| connect(path)).collect();
        Ok(Sqlite {
            readers: Mutex::new(readers?),
            writer: tokio::sync::Mutex::new(connection),
        })
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let readers = || self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = readers().pop();
        let reader = reader.context("there are more readers than workers of the runtime")?;
        let answer = read(&reader);
        readers().push(reader);
        answer
    }
}

fn insert_post(connection: &Connection, id: i64, topic: i64) -> anyhow::Result<()> {
    let values = params![id, topic, text(id as u64, 200)];
    execute(connection, "INSERT INTO posts VALUES (?1, ?2, ?3)", values)
}

impl Service for Sqlite {
    const NAME: &'static str = "SQLite";

    async fn topic(&self, topic: i64) -> anyhow::Result<usize> {
        self.read(|reader| {
            let mut topics =
                reader.prepare_cached("SELECT title, posts FROM topics WHERE id = ?1")?;
            let _: (String, i64) =
                topics.query_row([topic], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let newest = "SELECT id, text FROM posts WHERE topic = ?1 ORDER BY id DESC LIMIT ?2";
            let mut newest = reader.prepare_cached(newest)?;
            let posts = newest.query_map(params![topic, NEWEST as i64], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
            let posts: Vec<(i64, String)> = posts.collect::<Result<_, _>>()?;
            Ok(posts.len())
        })
    }

    async fn post(&self, id: i64, topic: i64) -> anyhow::Result<()> {
        let writer = self.writer.lock().await;
        execute(&writer, "BEGIN IMMEDIATE", [])?;
        insert_post(&writer, id, topic)?;
        let count = "UPDATE topics SET posts = posts + 1 WHERE id = ?1";
        execute(&writer, count, [topic])?;
        execute(&writer, "COMMIT", [])
    }

    async fn transfer(&self, transfer: Transfer, is_slow: bool) -> anyhow::Result<()> {
        let Transfer { from, to, amount } = transfer;
        let change = "UPDATE accounts SET balance = balance + ?2 WHERE id = ?1";
        let writer = self.writer.lock().await;
        execute(&writer, "BEGIN IMMEDIATE", [])?;
        if is_slow {
            let get = "SELECT balance FROM accounts WHERE id = ?1";
            let _: i64 = writer
                .prepare_cached(get)?
                .query_row([from], |row| row.get(0))?;
            tokio::time::sleep(PAUSE).await;
        }
        execute(&writer, change, [from, -amount])?;
        execute(&writer, change, [to, amount])?;
        execute(&writer, "COMMIT", [])
    }

    async fn view(&self, page: i64) -> anyhow::Result<()> {
        let writer = self.writer.lock().await;
        let view = "UPDATE pages SET views = views + 1 WHERE id = ?1";
        execute(&writer, view, [page])
    }

    async fn totals(&self) -> anyhow::Result<Totals> {
        self.read(|reader| {
            let number = |sql: &str| reader.query_row(sql, [], |row| row.get(0));
            Ok(Totals {
                balance: number("SELECT sum(balance) FROM accounts")?,
                counted: number("SELECT sum(posts) FROM topics")?,
                posts: number("SELECT count(*) FROM posts")?,
                views: number("SELECT sum(views) FROM pages")?,
            })
        })
    }

    fn attempts(&self) -> Option<u64> {
        None
    }

    async fn close(&self) -> anyhow::Result<()> {
        Ok(())
    }
}
