//! The cache of values that were read from the engine: readers of different states share it, and each has the values of its own.

use std::{collections::BTreeMap, sync::Arc};

use bson::{Document, doc};
use odm_store::{Reader, Store};

use super::support::*;
use crate::{Embedded, disk::Disk};

const KEYS: i32 = 20;

/// A state, and the values that it must have.
type Expected = (Arc<dyn Reader>, BTreeMap<i32, i32>);

async fn value_of(reader: &dyn Reader, id: i32) -> Option<i32> {
    let mut found = None;
    let each = &mut |_, document: &bson::RawDocument| {
        found = document.get_i32("n").ok();
        Ok(std::ops::ControlFlow::Continue(()))
    };
    let got = reader.get("things", &[value(id)], each).await;
    got.expect("a read");
    found
}

#[test]
fn each_state_has_its_own_values_whatever_states_the_cache_has_read() {
    for seed in 0..12 {
        block_on(history(seed));
    }
}

/// Writes, checkpoints, large units, compactions and reads in a random order.
async fn history(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let builder = Embedded::builder().cache_size(256 << 10);
    let store = builder.large_units(4 << 10, 1 << 10);
    let store = store.backend(Disk::default()).await.expect("a store");
    let mut now = BTreeMap::new();
    let mut states: Vec<Expected> = Vec::new();
    for step in 0..400 {
        let id = random.i32(0..KEYS);
        match random.u32(0..100) {
            0..15 => {
                let document = doc! { "_id": id, "n": step, "text": "x".repeat(200) };
                write(&store, document).await;
                now.insert(id, step);
            }
            15..20 => {
                run(&store, vec![Write::Delete(doc! { "_id": id })])
                    .await
                    .expect("a delete");
                now.remove(&id);
            }
            20..22 => {
                // Too large for a group.
                let text = "x".repeat(500);
                let set = doc! { "$set": { "n": step, "text": text } };
                let updated = run(&store, vec![Write::Update(doc! {}, set)]).await;
                updated.expect("an update");
                now.values_mut().for_each(|n| *n = step);
            }
            22..30 => store.check().await.expect("a sound store"),
            30 => drop(store.compact().await.expect("a compaction")),
            31..38 => {
                if states.len() == 4 {
                    states.remove(random.usize(0..4));
                }
                let reader = store.reader().expect("an open store");
                states.push((reader, now.clone()));
            }
            _ => {
                let newest = (store.reader().expect("an open store"), now.clone());
                let all: Vec<&Expected> = states.iter().chain([&newest]).collect();
                let (reader, expected) = all[random.usize(0..all.len())];
                let found = value_of(&**reader, id).await;
                assert_eq!(
                    found,
                    expected.get(&id).copied(),
                    "seed {seed}, step {step}"
                );
            }
        }
    }
}

async fn write(store: &Embedded, document: Document) {
    let id = doc! { "_id": document.get("_id") };
    let writes = vec![Write::Delete(id), Write::Insert(vec![document])];
    run(store, writes).await.expect("a write");
}
