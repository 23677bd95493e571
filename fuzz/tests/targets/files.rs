//! Damaged files of stores.

use std::{env, fs, ops::ControlFlow, path::Path, process::Command};

use fuzz::{Choices, check, random};
use odm::{
    Embedded,
    bson::{RawDocumentBuf, doc},
    store::{
        Durability,
        contract::{
            CollectionSpec, CollectionWrites, DocumentWrite, Find, Store, Transaction, UnitOfWork,
        },
        embedded::Builder,
    },
};

use crate::{documents::index, updates::runtime};

struct Fill;

#[async_trait::async_trait]
impl UnitOfWork for Fill {
    async fn run(&self, transaction: &mut dyn Transaction) -> odm::Result<()> {
        for id in 0..200 {
            let text = "text ".repeat(id % 40);
            let document = doc! { "_id": id as i64, "a": id as i32 % 7, "text": text };
            let document = RawDocumentBuf::try_from(&document).expect("it is BSON");
            let batch = CollectionWrites {
                collection: "things",
                writes: vec![DocumentWrite::Insert(&document)],
            };
            transaction.apply(&[batch]).await?;
        }
        Ok(())
    }
}

async fn filled(path: &Path) -> Vec<u8> {
    let store = Embedded::open(path).await.unwrap();
    let things = CollectionSpec {
        name: "things".to_owned(),
        indexes: vec![index("a", odm::mql::Direction::Ascending)],
        ..CollectionSpec::default()
    };
    store.ensure(&[things]).await.unwrap();
    store
        .run(std::sync::Arc::new(Fill), Durability::Immediate)
        .await
        .unwrap();
    store.close().await.unwrap();
    drop(store);
    fs::read(path).unwrap()
}

/// Reads all documents, by their `_id`s and by the index, and writes one.
async fn used(store: &Embedded) -> odm::Result<()> {
    for filter in [doc! {}, doc! { "a": { "$gte": 3 } }] {
        let find = Find {
            collection: "things".to_owned(),
            filter: odm::mql::Filter::parse(&filter)?,
            ..Find::default()
        };
        let each = &mut |_, _: &odm::bson::RawDocument| Ok(ControlFlow::Continue(()));
        store.reader()?.find(&find, each).await?;
    }
    store
        .run(std::sync::Arc::new(Fill), Durability::Immediate)
        .await
}

fn damage(choices: &mut Choices<'_>, file: &mut Vec<u8>) {
    const PAGE: usize = 4096;
    for _ in 0..=choices.below(4) {
        let at = choices.below(file.len());
        // Half of the damage is near the start of the file.
        let at = if choices.below(2) == 0 {
            at % (4 * PAGE)
        } else {
            at
        };
        match choices.below(6) {
            0 => file[at] ^= 1 << choices.below(8),
            1 => file[at] = choices.below(256) as u8,
            2 => {
                let end = (at + 1 + choices.below(64)).min(file.len());
                file[at..end].fill(choices.below(256) as u8);
            }
            3 => {
                let (from, to) = (at / PAGE * PAGE, choices.below(file.len()) / PAGE * PAGE);
                let page = file[from..(from + PAGE).min(file.len())].to_vec();
                let end = (to + page.len()).min(file.len());
                file[to..end].copy_from_slice(&page[..end - to]);
            }
            4 => file.truncate(at.max(1)),
            _ => file.extend(vec![choices.below(256) as u8; choices.below(2 * PAGE)]),
        }
    }
}

/// Opens a file, and uses the store.
async fn opened(path: &Path, checks: bool) {
    let Ok(store) = Builder::default().check(checks).open(path).await else {
        return;
    };
    // A read may return an error too: only a panic or a hang is a mistake.
    let _ = used(&store).await;
    let _ = store.close().await;
}

/// The environment variable with the path of the file for a process.
const FILE: &str = "FUZZ_FILE";

#[test]
#[ignore = "the target runs it, in a process of its own"]
fn a_file_is_used_without_checks() {
    if let Some(path) = env::var_os(FILE) {
        runtime().block_on(opened(path.as_ref(), false));
    }
}

/// Uses a file without checks. Damage of the engine's lists of freed pages, which each commit reads, can end the process: redb panics while
/// a panic unwinds. No other damage may.
fn used_in_a_process(path: &Path) {
    let test = "files::a_file_is_used_without_checks";
    let ran = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(FILE, path)
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    let is_aborted_by_redb = ran.status.code().is_none()
        && said.contains("/redb-")
        && said.contains("panic in a destructor during cleanup");
    assert!(ran.status.success() || is_aborted_by_redb, "{said}");
}

/// The length of a case.
const MOST: usize = 200;

#[test]
fn a_damaged_file_is_refused_or_can_be_used() {
    let runtime = runtime();
    // In memory where the system has such a folder: on a disk, a sync waits for the writes of all other programs, which took longer than a
    // case may.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let folder = folder.unwrap();
    let file = runtime.block_on(filled(&folder.path().join("whole.odm")));
    let damaged = folder.path().join("damaged.odm");
    let case = |bytes: &[u8]| {
        let mut choices = Choices::new(bytes);
        let mut file = file.clone();
        let checks = choices.below(2) == 0;
        damage(&mut choices, &mut file);
        fs::write(&damaged, &file).unwrap();
        // The log of the case before, if that could not close its store.
        let _ = fs::remove_file(folder.path().join("damaged.odm.log"));
        if checks {
            runtime.block_on(opened(&damaged, true));
        } else {
            used_in_a_process(&damaged);
        }
    };
    // These two damage the lists of freed pages.
    case(&random(7_061_217, MOST));
    case(&random(7_110_257, MOST));
    check(MOST, case);
}
