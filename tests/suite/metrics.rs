//! The metrics of operations and commits, as a recorder of the crate `metrics` receives them.
//!
//! There is one test, since the recorder is global to the process.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use odm::{Embedded, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::insert_behind_the_back;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i32,
    #[index]
    name: String,
    stock: i64,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    parts: Repository<Part>,
}

fn part(id: i32) -> Part {
    Part { id, name: format!("part {id}"), stock: 1 }
}

/// The records since the last call: the values of counters, the sums and numbers of the values of histograms, and the changes of gauges.
struct Recorded {
    counters: BTreeMap<String, u64>,
    histograms: BTreeMap<String, (f64, usize)>,
    gauges: BTreeMap<String, f64>,
}

fn recorded(snapshotter: &Snapshotter) -> Recorded {
    let mut recorded = Recorded {
        counters: BTreeMap::new(),
        histograms: BTreeMap::new(),
        gauges: BTreeMap::new(),
    };
    for (key, _, _, value) in snapshotter.snapshot().into_vec() {
        let (name, labels) = key.key().clone().into_parts();
        let mut labels: Vec<String> =
            labels.iter().map(|label| format!("{}={}", label.key(), label.value())).collect();
        labels.sort();
        let name = match labels.is_empty() {
            true => name.as_str().to_owned(),
            false => format!("{}{{{}}}", name.as_str(), labels.join(",")),
        };
        match value {
            DebugValue::Counter(0) => {}
            DebugValue::Counter(count) => drop(recorded.counters.insert(name, count)),
            DebugValue::Histogram(values) if values.is_empty() => {}
            DebugValue::Histogram(values) => {
                let sum = values.iter().map(|value| value.into_inner()).sum();
                recorded.histograms.insert(name, (sum, values.len()));
            }
            DebugValue::Gauge(value) => drop(recorded.gauges.insert(name, value.into_inner())),
        }
    }
    recorded
}

fn of(metric: &str, operation: &str) -> String {
    format!("{metric}{{collection=parts,operation={operation}}}")
}

#[tokio::test]
async fn operations_commits_and_errors_are_recorded() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    recorder.install().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Embedded::open(folder.path().join("shop.odm")).await.unwrap();
    let shop = Shop::open(store.clone()).await.unwrap();
    recorded(&snapshotter);

    shop.parts.insert_many((0..10).map(part)).await.unwrap();
    shop.parts.find(Part::fields().stock.gte(1)).limit(5).await.unwrap();
    shop.parts.find(Part::fields().name.eq("part 3")).await.unwrap();
    shop.parts.get(1).await.unwrap();
    shop.parts.update_where(Part::fields().id.lt(4)).inc(Part::fields().stock, 1).await.unwrap();
    let Recorded { counters, histograms, .. } = recorded(&snapshotter);
    let expected = [
        (of("odm_documents_examined_total", "find"), 6),
        (of("odm_documents_examined_total", "get"), 1),
        (of("odm_documents_examined_total", "update"), 4),
        (of("odm_documents_returned_total", "find"), 6),
        (of("odm_documents_returned_total", "get"), 1),
        (of("odm_documents_scanned_total", "find"), 5),
        (of("odm_documents_written_total", "insert"), 10),
        (of("odm_documents_written_total", "update"), 4),
        (of("odm_keys_examined_total", "find"), 1),
    ];
    assert_eq!(counters, BTreeMap::from(expected));
    for (operation, number) in [("insert", 1), ("find", 2), ("get", 1), ("update", 1)] {
        let (sum, count) = histograms[&of("odm_operation_duration_seconds", operation)];
        assert_eq!(count, number, "{operation}");
        assert!(sum > 0.0 && sum < 60.0, "{operation} took {sum} s");
    }
    // The two writes.
    let threads = ["caller", "store"].map(|thread| format!("odm_commit_units{{thread={thread}}}"));
    let commits = threads.iter().filter_map(|of| histograms.get(of));
    assert_eq!(commits.fold((0.0, 0), |of, one| (of.0 + one.0, of.1 + one.1)), (2.0, 2));
    let (sum, syncs) = histograms["odm_log_sync_duration_seconds"];
    assert!((1..=2).contains(&syncs) && sum > 0.0, "{syncs} syncs in {sum} s");
    assert!(!histograms.contains_key("odm_checkpoint_duration_seconds"));

    // A unit that comes near its limit.
    let small = Embedded::builder().unit_limit(4).memory().await.unwrap();
    let small = Shop::open(small).await.unwrap();
    recorded(&snapshotter);
    small.parts.insert_many((0..2).map(part)).await.unwrap();
    assert!(!recorded(&snapshotter).counters.contains_key("odm_large_units_total"));
    for _ in 0..2 {
        small.parts.insert_many((10..13).map(part)).await.unwrap();
        small.parts.delete_where(Part::fields().id.gte(10)).await.unwrap();
    }
    assert_eq!(recorded(&snapshotter).counters["odm_large_units_total"], 4);

    // A backup begins with a checkpoint.
    store.backup(folder.path().join("copy.odm")).await.unwrap();
    let histograms = recorded(&snapshotter).histograms;
    assert_eq!(histograms["odm_checkpoint_duration_seconds"].1, 1);
    // It may have ended before the writer waits for it.
    let waits = histograms.get("odm_checkpoint_wait_duration_seconds");
    assert!(waits.is_none_or(|(sum, count)| *count == 1 && *sum < 60.0), "{waits:?}");
    let (bytes, _) = histograms["odm_checkpoint_bytes"];
    assert!((1_000.0..1_000_000.0).contains(&bytes), "{bytes} bytes");

    // A transaction that loses a conflict, and runs again.
    let run = AtomicUsize::new(0);
    let renamed = shop.transaction(async |unit| {
        let part = unit.parts.get(1).await?;
        if run.fetch_add(1, Relaxed) == 0 {
            let outer = shop.parts.update(1).set(Part::fields().name, "of another");
            tokio::spawn(outer.into_future()).await.unwrap()?;
        }
        unit.parts.update(2).set(Part::fields().name, part.name).await
    });
    renamed.await.unwrap();
    let counters = recorded(&snapshotter).counters;
    assert_eq!(counters["odm_transaction_conflicts_total"], 1);
    assert_eq!(counters["odm_transaction_retries_total{database=shop}"], 1);
    assert!(!counters.contains_key("odm_transaction_rewrites_total"));

    // Snapshots hold the states that they began with.
    let mut earlier = 0.0;
    let mut earlier_states = || {
        earlier += recorded(&snapshotter).gauges["odm_earlier_states"];
        earlier
    };
    let rename = async |name: &str| {
        let update = shop.parts.update(1).set(Part::fields().name, name);
        update.await.unwrap();
    };
    shop.snapshot(async |_| {
        rename("a").await;
        shop.snapshot(async |_| {
            rename("b").await;
            rename("c").await;
            assert_eq!(earlier_states(), 2.0);
            Ok(())
        })
        .await?;
        rename("d").await;
        assert_eq!(earlier_states(), 1.0);
        Ok(())
    })
    .await
    .unwrap();
    rename("e").await;
    assert_eq!(earlier_states(), 0.0);

    shop.parts.insert(part(1)).await.unwrap_err();
    shop.parts.find(Filter::raw(doc! { "$nonsense": 1 })).await.unwrap_err();
    insert_behind_the_back(&store, "parts", doc! { "_id": 99, "name": 7 }).await;
    shop.parts.get(99).await.unwrap_err();
    shop.parts.all().await.unwrap_err();
    let Recorded { counters, histograms, .. } = recorded(&snapshotter);
    let errors = |operation, kind| {
        let labels = format!("collection=parts,kind={kind},operation={operation}");
        counters.get(&format!("odm_operation_errors_total{{{labels}}}")).copied()
    };
    assert_eq!(errors("insert", "DuplicateKey"), Some(1));
    assert_eq!(errors("get", "Decode"), Some(1));
    assert_eq!(errors("find", "Decode"), Some(1));
    // The filter is refused before it becomes an operation. A failed operation has no duration.
    assert_eq!(counters.keys().filter(|name| name.contains("errors")).count(), 3, "{counters:?}");
    let timed: Vec<_> = histograms.keys().filter(|name| name.contains("operation")).collect();
    assert!(timed.is_empty(), "{timed:?}");
    // At the end there are none, even with a reader.
    let closed = shop.snapshot(async |_| {
        rename("f").await;
        rename("g").await;
        assert_eq!(earlier_states(), 1.0);
        shop.close().await
    });
    closed.await.unwrap();
    assert_eq!(earlier_states(), 0.0);
}
