//! A compaction gives space back, keeps everything else, and takes effect as a whole or not at all.

mod beside;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use bson::{Document, doc};
use futures_util::future::join;
use odm_store::{ErrorKind, Result, Store, TransactionOptions};

use super::support::*;
use crate::Embedded;
use crate::disk::Disk;

/// More than one portion of a copy, and more than the log of a small store takes.
const DOCUMENTS: i32 = 3_000;

fn thing(id: i32) -> Document {
    doc! { "_id": id, "n": [id % 5, id % 7], "u": format!("u{id}"), "text": "x".repeat(400) }
}

fn specs() -> [odm_store::CollectionSpec; 1] {
    let indexes = vec![index("by_n", &[("n", 1)]), unique("by_u", &[("u", 1)])];
    [collection("things", indexes)]
}

async fn fill(store: &Embedded) {
    store.ensure(&specs()).await.expect("the collection");
    insert(store, (0..DOCUMENTS).map(thing).collect())
        .await
        .expect("an insert");
}

/// Deletes all but every tenth document.
async fn thin_out(store: &Embedded) {
    let most = doc! { "_id": { "$mod": [10, 0] } };
    run(store, vec![Write::Delete(doc! { "$nor": [most] })])
        .await
        .expect("a delete");
}

fn left() -> Vec<Document> {
    (0..DOCUMENTS).step_by(10).map(thing).collect()
}

/// The cache has room for only a small part of the file.
async fn open(path: &Path) -> Embedded {
    let builder = Embedded::builder().cache_size(64 << 10).check(true);
    builder.open(path).await.expect("a store")
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    names.sort();
    names
}

#[test]
fn a_compaction_gives_back_the_space_of_deleted_documents_and_keeps_all_else() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        let on_disk = open(&path).await;
        let memory = Embedded::memory().await.expect("a store");
        for store in [&on_disk, &memory] {
            fill(store).await;
            store.check().await.expect("a sound store");
            thin_out(store).await;
            let indexes = store.indexes().expect("the indexes");
            let compacted = store.compact().await.expect("a compaction");
            assert!(compacted.before > 2_000_000, "{compacted:?}");
            assert!(compacted.after < compacted.before / 3, "{compacted:?}");
            if let Some(file) = store.size().expect("a size").file {
                assert_eq!(file, compacted.after);
            }
            assert_eq!(all(store).await, left());
            assert_eq!(store.indexes().expect("the indexes"), indexes);
            store.check().await.expect("a sound store");
            // There is no further free space.
            let again = store.compact().await.expect("a compaction");
            assert!(again.after <= compacted.after, "{again:?}");
            insert(store, vec![thing(1)]).await.expect("an insert");
            assert_eq!(all(store).await.len(), left().len() + 1);
        }
        let log = folder.path().join("shop.odm.log");
        assert_eq!(names(folder.path()), [path.clone(), log]);
    });
}

#[test]
fn what_is_written_after_a_compaction_is_there_after_a_close_and_after_a_crash() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        // Nothing was written before: there is no log, and the file names none.
        let store = open(&path).await;
        store.compact().await.expect("a compaction");
        fill(&store).await;
        store.compact().await.expect("a compaction");
        thin_out(&store).await;
        store.close().await.expect("a close");
        assert_eq!(names(folder.path()), [path.as_path()]);
        let store = open(&path).await;
        assert_eq!(all(&store).await, left());
        // The store was closed before: the log that the file names does not exist.
        store.compact().await.expect("a compaction");
        insert(&store, vec![thing(1)]).await.expect("an insert");
        // The files that a killed process leaves.
        let crashed = tempfile::tempdir().expect("a folder");
        for name in ["shop.odm", "shop.odm.log"] {
            fs::copy(folder.path().join(name), crashed.path().join(name)).expect("a copy");
        }
        let store = open(&crashed.path().join("shop.odm")).await;
        assert_eq!(all(&store).await.len(), left().len() + 1);
    });
}

/// How many open files of this process have lost this name.
#[cfg(target_os = "linux")]
fn nameless(path: &Path) -> usize {
    let open = fs::read_dir("/proc/self/fd").expect("a folder");
    let targets = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    let nameless = format!("{} (deleted)", path.display());
    targets
        .filter(|target| target.as_os_str() == nameless.as_str())
        .count()
}

#[cfg(target_os = "linux")]
#[test]
fn readers_go_on_with_the_old_file_which_is_closed_after_the_last_of_them() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().canonicalize().expect("a path");
        let path = path.join("shop.odm");
        let store = open(&path).await;
        fill(&store).await;
        let first = store.reader().expect("an open store");
        thin_out(&store).await;
        let second = store.reader().expect("an open store");
        store.compact().await.expect("a compaction");
        insert(&store, vec![thing(1)]).await.expect("an insert");
        store.compact().await.expect("a compaction");
        assert_eq!(nameless(&path), 1, "the one that is read");
        let everything: Vec<_> = (0..DOCUMENTS).map(thing).collect();
        assert_eq!(found(&*first, &find_all()).await, everything);
        assert_eq!(found(&*second, &find_all()).await, left());
        drop(first);
        assert_eq!(nameless(&path), 1);
        // Readers go on after the store is closed.
        let third = store.reader().expect("an open store");
        store.close().await.expect("a close");
        assert_eq!(found(&*second, &find_all()).await, left());
        drop((second, third));
        assert_eq!(nameless(&path), 0);
        assert_eq!(all(&open(&path).await).await.len(), left().len() + 1);
    });
}

#[test]
fn a_backup_under_way_is_whole_when_the_store_is_compacted() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(&folder.path().join("shop.odm")).await;
        fill(&store).await;
        let (other, copy) = (store.clone(), folder.path().join("copy.odm"));
        let mut is_first = true;
        let copying = store.backup(&copy).on_progress(move |_| {
            if std::mem::take(&mut is_first) {
                block_on(async {
                    thin_out(&other).await;
                    other.compact().await.expect("a compaction");
                });
            }
        });
        copying.await.expect("a copy");
        assert_eq!(all(&store).await, left());
        assert_eq!(all(&open(&copy).await).await.len(), DOCUMENTS as usize);
    });
}

#[test]
fn writers_transactions_and_readers_lose_nothing_while_the_store_is_compacted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shop.odm");
    let store = block_on(open(&path));
    block_on(fill(&store));
    let ended = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let (store, ended) = (&store, &ended);
        let writers = [1, 2, 3].map(|writer| {
            scope.spawn(move || {
                let mut ids = Vec::new();
                while !ended.load(Ordering::Relaxed) {
                    let id = writer * 100_000 + ids.len() as i32;
                    let documents = Write::Insert(vec![thing(id)]);
                    block_on(async {
                        if writer == 1 {
                            let options = TransactionOptions::default();
                            let mut transaction = store.begin(options).await?;
                            apply(&mut *transaction, &documents).await?;
                            return transaction.commit().await;
                        }
                        run(store, vec![documents]).await
                    })
                    .expect("an insert");
                    ids.push(id);
                }
                ids
            })
        });
        let reader = scope.spawn(move || {
            let mut seen = 0;
            while !ended.load(Ordering::Relaxed) {
                let documents = block_on(all(store)).len();
                assert!(documents >= seen, "{documents} after {seen}");
                seen = documents;
            }
        });
        for _ in 0..5 {
            block_on(store.compact()).expect("a compaction");
        }
        ended.store(true, Ordering::Relaxed);
        reader.join().expect("a reader");
        let written = writers.map(|writer| writer.join().expect("a writer"));
        written.concat()
    });
    assert!(written.len() > 5, "{}", written.len());
    block_on(async {
        drop(store);
        let store = open(&path).await;
        let mut expected: Vec<_> = (0..DOCUMENTS).chain(written).collect();
        expected.sort_unstable();
        let found = all(&store).await;
        let found = found.iter().map(|found| found.get_i32("_id").expect("one"));
        assert_eq!(found.collect::<Vec<_>>(), expected);
    });
}

#[test]
fn an_index_that_is_built_meanwhile_is_whole() {
    block_on(async {
        let store = Embedded::memory().await.expect("a store");
        fill(&store).await;
        let more = [collection("things", vec![index("by_text", &[("text", 1)])])];
        for _ in 0..3 {
            let (ensured, compacted) = join(store.ensure(&more), store.compact()).await;
            ensured.expect("an index");
            compacted.expect("a compaction");
            store.check_integrity().await.expect("sound indexes");
        }
        assert!(store.index_builds().expect("no builds").is_empty());
    });
}

#[cfg(unix)]
#[test]
fn a_compaction_that_is_dropped_leaves_a_whole_file_and_no_other() {
    use std::os::unix::fs::MetadataExt;

    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        let store = open(&path).await;
        fill(&store).await;
        let inode = || fs::metadata(&path).expect("a file").ino();
        let is_new = |path: &PathBuf| path.display().to_string().contains(".new-");
        let mut ended = 0;
        for _ in 0..20 {
            let before = inode();
            let mut compacting = Box::pin(store.compact());
            let end = Instant::now() + Duration::from_secs(60);
            // Until it copies.
            while !names(folder.path()).iter().any(is_new) {
                let poll =
                    std::future::poll_fn(|cx| std::task::Poll::Ready(compacting.as_mut().poll(cx)));
                if poll.await.is_ready() {
                    break;
                }
                assert!(Instant::now() < end, "no file is made");
            }
            drop(compacting);
            insert(&store, vec![thing(-1)]).await.expect("an insert");
            run(&store, vec![Write::Delete(doc! { "_id": -1 })])
                .await
                .expect("a delete");
            while names(folder.path()).iter().any(is_new) {
                assert!(Instant::now() < end, "a file is left");
                std::thread::sleep(Duration::from_millis(1));
            }
            ended += usize::from(before == inode());
            assert_eq!(all(&store).await.len(), DOCUMENTS as usize);
        }
        assert!(ended > 0, "none was ended");
        store.check().await.expect("a sound store");
        store.compact().await.expect("a compaction");
    });
}

#[test]
fn a_compaction_beside_a_close_ends_with_the_old_file() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        let store = open(&path).await;
        fill(&store).await;
        let (compacted, closed) = join(store.compact(), store.close()).await;
        let error = compacted.expect_err("the store is closed");
        assert_eq!(error.kind(), ErrorKind::Closed);
        closed.expect("a close");
        let error = store.compact().await.expect_err("it is closed");
        assert_eq!(error.kind(), ErrorKind::Closed);
        assert_eq!(names(folder.path()), [path.as_path()]);
        let store = open(&path).await;
        assert_eq!(all(&store).await.len(), DOCUMENTS as usize);
        let (closed, compacted) = join(store.close(), store.compact()).await;
        closed.expect("a close");
        assert_eq!(
            compacted.expect_err("it came later").kind(),
            ErrorKind::Closed
        );
        assert_eq!(names(folder.path()), [path.as_path()]);
    });
}

#[test]
fn a_compacted_store_is_locked_and_its_old_file_is_opened_by_nobody() {
    use crate::{files, open};

    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        let store = open(&path).await;
        fill(&store).await;
        // Another process between the two steps of its `open`.
        let old = files::open(&path).expect("a file").expect("a file");
        store.compact().await.expect("a compaction");
        let error = Embedded::open(&path).await.expect_err("it is open");
        assert_eq!(error.kind(), ErrorKind::Locked);
        insert(&store, vec![thing(-1)]).await.expect("an insert");
        store.close().await.expect("a close");
        let name: Arc<str> = "shop.odm".into();
        let locked = open::lock(old, &path, &name).expect("an answer");
        assert!(locked.is_none(), "a file without a name was opened");
        let new = files::open(&path).expect("a file").expect("a file");
        let locked = open::lock(new, &path, &name).expect("an answer");
        assert!(locked.is_some(), "the file of the store was not opened");
    });
}

#[test]
fn a_file_that_was_put_in_the_place_of_an_open_one_stays_and_refuses_the_compaction() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        let store = open(&path).await;
        fill(&store).await;
        fs::rename(&path, folder.path().join("moved.odm")).expect("a rename");
        let refused = async || {
            let error = store.compact().await.expect_err("it is refused");
            assert_eq!(error.kind(), ErrorKind::Io);
            assert!(error.to_string().contains("cannot compact"), "{error}");
        };
        refused().await;
        fs::write(&path, "mine").expect("a file");
        refused().await;
        assert_eq!(fs::read(&path).expect("a file"), b"mine");
        assert_eq!(names(folder.path()).len(), 3, "{:?}", names(folder.path()));
        // The store goes on.
        insert(&store, vec![thing(-1)]).await.expect("an insert");
        fs::rename(folder.path().join("moved.odm"), &path).expect("a rename");
        store.compact().await.expect("a compaction");
    });
}

#[cfg(unix)]
#[test]
fn the_new_file_has_the_permissions_of_the_old_and_is_found_by_its_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (
            folder.path().join("shop.odm"),
            folder.path().join("link.odm"),
        );
        open(&path).await.close().await.expect("a close");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("permissions");
        symlink("shop.odm", &link).expect("a link");
        let store = open(&link).await;
        fill(&store).await;
        store.compact().await.expect("a compaction");
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert!(link.is_symlink(), "the link was replaced");
        drop(store);
        assert_eq!(all(&open(&path).await).await.len(), DOCUMENTS as usize);
    });
}

#[test]
fn what_a_killed_process_has_left_of_a_new_file_is_removed_and_nothing_else() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        let id = bson::oid::ObjectId::new();
        let left = ["shop.odm.new", "shop.odm.log.new"].map(|name| format!("{name}-71-{id}"));
        let mut others = vec![
            format!("other.odm.new-71-{id}"),
            format!("shop.odm.new-71-{id}.odm"),
            "shop.odm.new-71-mine".to_owned(),
            "shop.odm.new-one".to_owned(),
        ];
        for name in left.iter().chain(&others) {
            fs::write(folder.path().join(name), "half").expect("a file");
        }
        let _store = open(&path).await;
        others.push("shop.odm".to_owned());
        let mut expected: Vec<_> = others.iter().map(|name| folder.path().join(name)).collect();
        expected.sort();
        assert_eq!(names(folder.path()), expected);
    });
}

/// A store whose log is soon full.
async fn small(disk: &Disk) -> Result<Embedded> {
    let store = Embedded::builder()
        .cache_size(16 << 10)
        .log_size(24 << 10)
        .backend(disk.clone())
        .await?;
    // The checkpoint of what the log had has ended.
    store.check().await?;
    Ok(store)
}

fn small_thing(id: i32) -> Document {
    doc! { "_id": id, "n": id % 5, "u": format!("u{id}"), "text": "x".repeat(300) }
}

/// The disk of a small store with documents, which was not closed.
async fn small_disk(count: i32) -> Disk {
    let disk = Disk::default();
    let store = small(&disk).await.expect("a store");
    store.ensure(&specs()).await.expect("the collection");
    for id in 0..count {
        insert(&store, vec![small_thing(id)])
            .await
            .expect("an insert");
    }
    disk.after_exit()
}

fn small_things(count: i32) -> Vec<Document> {
    (0..count).map(small_thing).collect()
}

/// How many units there are before a compaction.
const BEFORE: i32 = 3;

/// Compacts a store and writes to it, until something fails. Returns how many units were acknowledged, and whether the compaction
/// succeeded.
async fn history(store: Embedded) -> (i32, bool) {
    let compacted = store.compact().await;
    if let Err(error) = &compacted {
        assert_eq!(error.kind(), ErrorKind::Io, "{error:?}");
    }
    let mut acknowledged = BEFORE;
    while acknowledged < BEFORE + 3 {
        // All acknowledged writes are still read, and no others.
        assert_eq!(all(&store).await, small_things(acknowledged));
        if insert(&store, vec![small_thing(acknowledged)])
            .await
            .is_err()
        {
            assert_eq!(all(&store).await, small_things(acknowledged));
            break;
        }
        acknowledged += 1;
    }
    let _ = store.close().await;
    (acknowledged, compacted.is_ok())
}

async fn check(disk: &Disk, acknowledged: i32, at: usize) {
    let store = small(disk)
        .await
        .unwrap_or_else(|error| panic!("after operation {at}: {error:?}"));
    store
        .check_integrity()
        .await
        .unwrap_or_else(|error| panic!("after operation {at}: {error:?}"));
    let state = all(&store).await;
    assert_eq!(state, small_things(state.len() as i32));
    assert!(
        state.len() as i32 >= acknowledged,
        "operation {at}: {} of {acknowledged} units",
        state.len()
    );
    insert(&store, vec![small_thing(100)])
        .await
        .expect("a store that works");
}

#[test]
fn a_disk_that_fails_at_any_operation_of_a_compaction_leaves_all_units_in_one_of_the_files() {
    block_on(async {
        let data = small_disk(BEFORE).await;
        let begin = async || {
            let disk = data.after_exit();
            let store = small(&disk).await.expect("a store");
            (disk, store)
        };
        let (disk, store) = begin().await;
        let first = disk.operations();
        assert_eq!(history(store).await, (BEFORE + 3, true));
        let operations = disk.operations() - first;
        assert!(operations > 30, "{operations}");
        let mut compacted = [0; 2];
        for at in 0..operations {
            let (disk, store) = begin().await;
            disk.fail_after(at);
            let (acknowledged, is_compacted) = history(store).await;
            compacted[usize::from(is_compacted)] += 1;
            check(&disk.after_exit(), acknowledged, at).await;
            check(&disk.after_power_loss(), acknowledged, at).await;
            check(&disk.after_partial_loss(at as u64), acknowledged, at).await;
        }
        assert!(compacted.iter().all(|&count| count > 10), "{compacted:?}");
    });
}

/// The new file cannot be written, as on a full disk: the store goes on with the old one.
#[test]
fn a_new_file_that_cannot_be_written_leaves_a_store_that_works() {
    block_on(async {
        let mut went_on = Vec::new();
        let data = small_disk(5).await;
        for at in 0.. {
            let disk = data.after_exit();
            let store = small(&disk).await.expect("a store");
            disk.fail_after(at);
            let compacted = store.compact().await;
            disk.heal();
            let Err(error) = compacted else {
                break;
            };
            assert_eq!(error.kind(), ErrorKind::Io, "operation {at}: {error}");
            // More than the log takes between two checkpoints.
            let mut written = 0;
            while written < 60 {
                let ids = 100 + written..105 + written;
                if insert(&store, ids.map(small_thing).collect())
                    .await
                    .is_err()
                {
                    break;
                }
                written += 5;
            }
            went_on.push(written > 0);
            let expected = 5 + written as usize;
            assert_eq!(all(&store).await.len(), expected, "operation {at}");
            let (exit, power_loss) = (disk.after_exit(), disk.after_power_loss());
            for left in [exit, power_loss, disk.after_partial_loss(at as u64)] {
                let store = small(&left).await;
                let store = store.unwrap_or_else(|error| panic!("operation {at}: {error}"));
                assert_eq!(all(&store).await.len(), expected, "operation {at}");
            }
        }
        // A failure of the checkpoint stops the writer, and so does a failure of the rename or of the sync of the folder after it.
        let of_new_file = went_on.iter().skip_while(|went_on| !**went_on);
        let of_new_file: Vec<bool> = of_new_file.copied().collect();
        let (written, put_in_place) = of_new_file.split_at(of_new_file.len().saturating_sub(2));
        assert!(
            written.len() > 10 && written.iter().all(|went_on| *went_on),
            "{went_on:?}"
        );
        assert_eq!(put_in_place, [false, false], "{went_on:?}");
    });
}
