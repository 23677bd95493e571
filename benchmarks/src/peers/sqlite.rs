//! SQLite by hand: normalized tables, prepared statements, a pool of readers and one writer.

pub(super) mod load;
pub(super) mod read;
pub(super) mod write;

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Context;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::Semaphore;

pub(super) use self::load::load;
#[cfg(feature = "turso")]
pub(super) use self::write::is_one_statement;
use super::{
    group_commit::GroupCommit,
    system::{Doing, Question, System, Write},
};

/// The place where the blocking calls of SQLite run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// On the worker thread of the runtime.
    Inline,
    /// On a thread for blocking calls, with a group commit as an option.
    SpawnBlocking,
}

pub(super) struct Sqlite {
    place: Place,
    readers: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
    writer: Arc<tokio::sync::Mutex<Connection>>,
    group: GroupCommit,
}

impl Sqlite {
    const READERS: usize = 4;

    pub(super) fn open(path: &Path, place: Place) -> anyhow::Result<Sqlite> {
        let readers: anyhow::Result<Vec<_>> = (0..Self::READERS).map(|_| connect(path)).collect();
        let mut of_group = connect(path)?;
        Ok(Sqlite {
            place,
            readers: Arc::new(Mutex::new(readers?)),
            permits: Arc::new(Semaphore::new(Self::READERS)),
            writer: Arc::new(tokio::sync::Mutex::new(connect(path)?)),
            group: GroupCommit::start(move |writes| commit_group(&mut of_group, writes)),
        })
    }

    async fn run<T, F>(&self, work: F) -> anyhow::Result<T>
    where
        T: Send + 'static,
        F: FnOnce() -> anyhow::Result<T> + Send + 'static,
    {
        match self.place {
            Place::Inline => work(),
            Place::SpawnBlocking => tokio::task::spawn_blocking(work).await?,
        }
    }
}

fn connect(path: &Path) -> anyhow::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA busy_timeout = 5000;
         PRAGMA cache_size = -65536;
         PRAGMA mmap_size = 8589934592;",
    )?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Commits all writes in one transaction. A failed write does not affect the others.
fn commit_group(
    connection: &mut Connection,
    writes: &[&Write],
) -> anyhow::Result<Vec<anyhow::Result<u64>>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut results = Vec::with_capacity(writes.len());
    for write in writes {
        transaction.prepare_cached("SAVEPOINT one")?.execute([])?;
        let result = write::apply(&transaction, write);
        if result.is_err() {
            transaction.prepare_cached("ROLLBACK TO one")?.execute([])?;
        }
        transaction.prepare_cached("RELEASE one")?.execute([])?;
        results.push(result);
    }
    transaction.commit()?;
    Ok(results)
}

impl System for Sqlite {
    fn name(&self) -> &'static str {
        match self.place {
            Place::Inline => "SQLite, inline",
            Place::SpawnBlocking => "SQLite, spawn_blocking",
        }
    }

    fn ask(&self, question: Question) -> Doing<'_, u64> {
        Box::pin(async move {
            let permit = self.permits.clone().acquire_owned().await?;
            let readers = self.readers.clone();
            self.run(move || {
                let reader = {
                    let mut readers = readers.lock().unwrap_or_else(PoisonError::into_inner);
                    readers.pop()
                };
                let mut reader = reader.context("there is a reader for each permit")?;
                let answer = read::answer(&mut reader, question);
                let mut readers = readers.lock().unwrap_or_else(PoisonError::into_inner);
                readers.push(reader);
                drop((readers, permit));
                answer
            })
            .await
        })
    }

    fn write(&self, write: Write) -> Doing<'_, u64> {
        Box::pin(async move {
            let mut writer = self.writer.clone().lock_owned().await;
            self.run(move || {
                if write::is_one_statement(&write) {
                    return write::apply(&writer, &write);
                }
                let transaction =
                    writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
                let changed = write::apply(&transaction, &write)?;
                transaction.commit()?;
                Ok(changed)
            })
            .await
        })
    }

    fn write_in_group(&self, write: Write) -> Doing<'_, u64> {
        Box::pin(async move {
            match self.place {
                Place::Inline => super::system::missing(),
                Place::SpawnBlocking => self.group.write(write).await,
            }
        })
    }
}
