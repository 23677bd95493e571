//! Units of several documents in two collections.

use odm::prelude::*;
use serde::{Deserialize, Serialize};
use tests::TestStore;

/// A unit, with the number of its entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "batches")]
pub(crate) struct Batch {
    #[serde(rename = "_id")]
    pub(crate) id: i64,
    pub(crate) size: i64,
    #[reference(child)]
    pub(crate) last: Ref<Entry>,
    /// The last entries once more.
    #[subset(limit = -3, sort = "place")]
    pub(crate) shown: Subset<Entry>,
    #[split(collection = "notes", key = "batch")]
    pub(crate) note: Cold<Note>,
    #[count(of = "Entry")]
    pub(crate) entries: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub(crate) struct Note {
    pub(crate) text: String,
}

pub(crate) fn batch(id: i64, size: i64, last: Ref<Entry>) -> Batch {
    Batch {
        id,
        size,
        last,
        shown: Subset::new(),
        note: Note { text: format!("of {id}") }.into(),
        entries: 0,
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "entries", index(fields = "batch, place", unique))]
pub(crate) struct Entry {
    #[serde(rename = "_id")]
    pub(crate) id: ObjectId,
    /// Written before its batch is.
    #[reference(parent, unchecked)]
    pub(crate) batch: Ref<Batch>,
    #[denormalize(from = "Batch.size")]
    pub(crate) of: Option<i64>,
    pub(crate) place: i64,
    pub(crate) text: String,
}

#[derive(Database)]
#[database(name = "ledger", version = 1)]
pub(crate) struct Ledger {
    pub(crate) batches: Repository<Batch>,
    pub(crate) entries: Repository<Entry>,
}

pub(crate) fn entries(batch: i64, size: i64) -> Vec<Entry> {
    let entry = |place| Entry {
        id: ObjectId::new(),
        batch: Ref::new(batch),
        of: None,
        place,
        text: format!("entry {place} of batch {batch}, {}", "x".repeat((batch % 97) as usize)),
    };
    (0..size).map(entry).collect()
}

pub(crate) async fn ledger(store: impl TestStore) -> Ledger {
    Ledger::open(store).await.unwrap()
}

impl Ledger {
    /// Writes a whole batch.
    pub(crate) async fn write(&self, id: i64, size: i64) -> odm::Result<()> {
        self.transaction(async |db| {
            let entries = db.entries.insert_many(entries(id, size)).await?;
            let last = Ref::from(&entries[entries.len() - 1]);
            db.batches.insert(batch(id, size, last)).await?;
            Ok(())
        })
        .await
    }

    /// Removes a whole batch.
    pub(crate) async fn remove(&self, id: i64) -> odm::Result<()> {
        self.transaction(async |db| {
            db.batches.delete(id).await?;
            db.entries.delete_where(Entry::fields().batch.eq(id)).await?;
            Ok(())
        })
        .await
    }

    /// The stored batches, in order. Each is whole, including its derived data, and there are no other documents.
    pub(crate) async fn whole(&self) -> Vec<i64> {
        let back = Entry::fields().batch.referrers().sort(Entry::fields().place.asc());
        let rows = self.batches.all().join(Batch::fields().last).join(back).await.unwrap();
        assert_eq!(self.audit().await.unwrap(), []);
        let mut number = 0;
        for (batch, last, entries) in &rows {
            let places: Vec<i64> = entries.iter().map(|entry| entry.place).collect();
            assert_eq!(places, (0..batch.size).collect::<Vec<_>>(), "a part of {batch:?}");
            assert_eq!(Some(last), entries.last());
            let shown = &entries[entries.len().saturating_sub(3)..];
            assert_eq!(&*batch.shown, shown);
            assert_eq!(batch.entries, batch.size);
            assert!(entries.iter().all(|entry| entry.of == Some(batch.size)));
            number += entries.len() as u64;
        }
        let all = self.entries.all().count().await.unwrap();
        assert_eq!(all, number, "there are entries without a batch");
        rows.into_iter().map(|(batch, ..)| batch.id).collect()
    }
}
