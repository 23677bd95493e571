//! The cost of opening a file with all checksums verified, and without.
//!
//! Both ways of opening a file take turns. The file was closed cleanly, and its pages are in the system's cache.

use std::time::Instant;

use odm::{
    Embedded,
    prelude::*,
    store::{Durability, contract::Store},
};
use serde::{Deserialize, Serialize};

use crate::shared::{
    measure::{median, millis},
    random::text,
    table::{Table, figure, thousands},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of documents of the largest file.
    #[arg(long, default_value_t = 1_000_000)]
    documents: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i64,
    #[index]
    title: String,
    text: String,
}

#[derive(Database)]
#[database(name = "notes", version = 1)]
struct Notes {
    notes: Repository<Note>,
}

const ROUNDS: usize = 5;

fn note(id: u64) -> Note {
    Note {
        id: id as i64,
        title: format!("note {id:09}"),
        text: text(id, 500),
    }
}

pub(crate) async fn run(options: Options) -> odm::Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let columns = ["documents", "file, MiB", "open, ms", "open with checks, ms"];
    let mut table = Table::new(0, columns);
    for documents in [1_000, 10_000, 100_000, 1_000_000]
        .into_iter()
        .filter(|&documents| documents <= options.documents)
    {
        let path = folder.path().join(format!("{documents}.odm"));
        let store = Embedded::builder()
            .durability(Durability::Eventual)
            .open(&path)
            .await?;
        let db = Notes::open(store.clone()).await?;
        for first in (0..documents).step_by(10_000) {
            let last = documents.min(first + 10_000);
            db.notes.insert_many((first..last).map(note)).await?;
        }
        drop(db);
        store.close().await?;
        let mut times = [const { Vec::new() }; 2];
        for _ in 0..ROUNDS {
            for (check, times) in [false, true].into_iter().zip(&mut times) {
                let start = Instant::now();
                let store = Embedded::builder().check(check).open(&path).await?;
                times.push(start.elapsed());
                store.close().await?;
            }
        }
        let [open, checked] = times.map(|times| figure(millis(median(times))));
        let bytes = std::fs::metadata(&path).expect("the file is there").len();
        let size = figure(bytes as f64 / f64::from(1 << 20));
        table.row([thousands(documents), size, open, checked]);
    }
    print!("{table}");
    Ok(())
}
