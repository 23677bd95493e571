//! The engine by hand: documents as BSON in tables of redb, and an index where a question needs one.

mod load;
mod read;
mod tables;
mod write;

use std::{path::Path, sync::Arc};

use redb::Database;

pub(super) use self::load::load;
use super::{
    CACHE,
    group_commit::GroupCommit,
    system::{Doing, Question, System, Write},
};

pub(super) struct RawRedb {
    database: Arc<Database>,
    group: GroupCommit,
}

impl RawRedb {
    pub(super) fn open(path: &Path) -> anyhow::Result<RawRedb> {
        let database = Arc::new(create(path)?);
        let of_group = database.clone();
        let group = GroupCommit::start(move |writes| {
            let transaction = of_group.begin_write()?;
            let mut results = Vec::with_capacity(writes.len());
            for write in writes {
                results.push(Ok(write::apply(&transaction, write)?));
            }
            transaction.commit()?;
            Ok(results)
        });
        Ok(RawRedb { database, group })
    }
}

fn create(path: &Path) -> anyhow::Result<Database> {
    Ok(Database::builder().set_cache_size(CACHE).create(path)?)
}

impl System for RawRedb {
    fn name(&self) -> &'static str {
        "redb"
    }

    fn ask(&self, question: Question) -> Doing<'_, u64> {
        Box::pin(async move { read::answer(&self.database, question) })
    }

    fn write(&self, write: Write) -> Doing<'_, u64> {
        Box::pin(async move {
            let transaction = self.database.begin_write()?;
            let changed = write::apply(&transaction, &write)?;
            transaction.commit()?;
            Ok(changed)
        })
    }

    fn write_in_group(&self, write: Write) -> Doing<'_, u64> {
        Box::pin(self.group.write(write))
    }
}
