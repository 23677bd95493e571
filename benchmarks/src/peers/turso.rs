//! Turso by hand: the tables and statements of [`Sqlite`](super::sqlite::Sqlite), a pool of readers and one writer. A trigger counts the
//! reviews of each product, since a materialized view with many groups has not all of them when the file is opened again.

mod load;
mod read;
mod write;

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use anyhow::Context;
use tokio::sync::Semaphore;
use turso::{Builder, Connection, Database, transaction::TransactionBehavior};

pub(super) use self::load::load;
use super::system::{Doing, Question, System, Write, missing};

pub(super) struct Turso {
    readers: Mutex<Vec<Connection>>,
    permits: Semaphore,
    writer: tokio::sync::Mutex<Connection>,
}

impl Turso {
    const READERS: usize = 4;

    pub(super) async fn open(path: &Path) -> anyhow::Result<Turso> {
        let database = open(path).await?;
        let mut readers = Vec::new();
        for _ in 0..Self::READERS {
            readers.push(connect(&database).await?);
        }
        Ok(Turso {
            readers: Mutex::new(readers),
            permits: Semaphore::new(Self::READERS),
            writer: tokio::sync::Mutex::new(connect(&database).await?),
        })
    }

    async fn answer(&self, question: Question) -> anyhow::Result<u64> {
        let readers = || self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let permit = self.permits.acquire().await?;
        let reader = readers().pop();
        let reader = reader.context("there is a reader for each permit")?;
        let answer = read::answer(&reader, question).await;
        readers().push(reader);
        drop(permit);
        answer
    }

    async fn change(&self, write: Write) -> anyhow::Result<u64> {
        let mut writer = self.writer.lock().await;
        if super::sqlite::is_one_statement(&write) {
            return write::apply(&writer, &write).await;
        }
        let immediate = TransactionBehavior::Immediate;
        let transaction = writer.transaction_with_behavior(immediate).await?;
        let changed = write::apply(&transaction, &write).await?;
        transaction.commit().await?;
        Ok(changed)
    }
}

async fn open(path: &Path) -> anyhow::Result<Database> {
    let path = path.to_str().context("the path is no text")?;
    Ok(Builder::new_local(path).build().await?)
}

async fn connect(database: &Database) -> anyhow::Result<Connection> {
    let connection = database.connect()?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update("synchronous", "FULL").await?;
    connection.pragma_update("foreign_keys", "ON").await?;
    connection.pragma_update("cache_size", "-65536").await?;
    Ok(connection)
}

impl System for Turso {
    fn name(&self) -> &'static str {
        "Turso"
    }

    fn ask(&self, question: Question) -> Doing<'_, u64> {
        Box::pin(self.answer(question))
    }

    fn write(&self, write: Write) -> Doing<'_, u64> {
        Box::pin(self.change(write))
    }

    fn write_in_group(&self, _: Write) -> Doing<'_, u64> {
        Box::pin(async { missing() })
    }
}
