//! What opening a file costs with all checksums verified, and without: `cargo bench -p odm --bench check`.
//!
//! Each file is opened in turns both ways, closed cleanly before, with its pages in the system's cache.
//!
//! `DOCUMENTS` in the environment changes the number of documents of the largest file.

use std::time::{Duration, Instant};

use odm::{
    Embedded,
    prelude::*,
    store::{Durability, Store},
};
use serde::{Deserialize, Serialize};

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

fn note(id: usize) -> Note {
    Note {
        id: id as i64,
        title: format!("note {id:09}"),
        text: "text ".repeat(100),
    }
}

#[tokio::main]
async fn main() -> odm::Result<()> {
    let largest = std::env::var("DOCUMENTS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1_000_000);
    let folder = tempfile::tempdir().expect("a temporary folder");
    println!("| documents | file, MiB | open, ms | open with checks, ms |\n|--:|--:|--:|--:|");
    for documents in [1_000, 10_000, 100_000, 1_000_000]
        .into_iter()
        .filter(|&n| n <= largest)
    {
        let path = folder.path().join(format!("{documents}.odm"));
        let store = Embedded::builder()
            .durability(Durability::Eventual)
            .open(&path)
            .await?;
        let db = Notes::open(store.clone()).await?;
        for first in (0..documents).step_by(10_000) {
            db.notes
                .insert_many((first..documents.min(first + 10_000)).map(note))
                .await?;
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
        let [open, checked] = times.map(|mut times: Vec<Duration>| {
            times.sort();
            times[ROUNDS / 2].as_secs_f64() * 1e3
        });
        let size = std::fs::metadata(&path).expect("the file is there").len() >> 20;
        println!("| {documents} | {size} | {open:.1} | {checked:.1} |");
    }
    Ok(())
}
