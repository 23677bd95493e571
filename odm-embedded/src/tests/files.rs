//! Files: made durably, locked, and validated.

use std::{
    fs,
    ops::ControlFlow,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use bson::doc;
use odm_store::{ErrorKind, Store};

use super::support::*;
use crate::{
    Embedded, layout,
    open::Place,
    place::{Identity, OnDisk, StoreFile},
    settings::Settings,
};

async fn filled(path: &Path) {
    let store = Embedded::open(path).await.expect("a store");
    let indexes = vec![index("by_n", &[("n", 1)]), unique("by_u", &[("u", 1)])];
    store
        .ensure(&[collection("things", indexes)])
        .await
        .expect("a collection");
    let documents = (0..40)
        .map(|i| doc! { "_id": i, "n": i % 5, "u": format!("u{i}"), "text": "x".repeat(200) });
    insert(&store, documents.collect())
        .await
        .expect("an insert");
    store.close().await.expect("a close");
}

#[test]
fn what_was_written_is_there_when_the_file_is_opened_again() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        filled(&path).await;
        let store = Embedded::builder()
            .check(true)
            .open(&path)
            .await
            .expect("a store");
        assert_eq!(all(&store).await.len(), 40);
        let find = odm_store::Find {
            filter: filter(doc! { "n": 1 }),
            ..find_all()
        };
        let explain = store
            .reader()
            .expect("an open store")
            .explain(&find)
            .await
            .expect("a plan");
        assert_eq!(
            (explain.index.as_deref(), explain.cost.documents_returned),
            (Some("by_n"), 8)
        );
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    });
}

#[cfg(unix)]
#[test]
fn a_new_file_is_only_for_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        let _store = Embedded::open(&path).await.expect("a store");
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    });
}

#[test]
fn a_file_is_open_once_and_free_again_after_the_last_handle() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        let store = Embedded::open(&path).await.expect("a store");
        let other = store.clone();
        drop(store);
        let error = Embedded::open(&path).await.expect_err("it is open");
        assert_eq!(error.kind(), ErrorKind::Locked);
        assert!(error.to_string().contains("shop.odm"), "{error}");
        drop(other);
        let store = Embedded::open(&path).await.expect("it is free");
        let reader = store.reader().expect("an open store");
        store.close().await.expect("a close");
        // A remaining reader does not keep the file locked.
        drop(Embedded::open(&path).await.expect("it is free"));
        drop(reader);
    });
}

#[test]
fn a_write_that_is_durable_soon_is_there_after_the_last_handle_is_dropped() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        let store = Embedded::builder()
            .durability(odm_store::Durability::Eventual)
            .flush_interval(Duration::from_secs(3600))
            .open(&path)
            .await
            .expect("a store");
        insert(&store, vec![doc! { "_id": 1 }])
            .await
            .expect("an insert");
        drop(store);
        assert_eq!(
            all(&Embedded::open(&path).await.expect("a store"))
                .await
                .len(),
            1
        );
    });
}

#[test]
fn a_folder_that_is_missing_or_in_the_way_is_an_error_that_names_the_file() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        for path in [
            folder.path().join("no/such/shop.odm"),
            folder.path().to_owned(),
        ] {
            let error = Embedded::open(&path).await.expect_err("no file");
            assert_eq!(error.kind(), ErrorKind::Io, "{error}");
            assert!(
                error.to_string().contains(&path.display().to_string()),
                "{error}"
            );
        }
    });
}

#[test]
fn an_empty_file_becomes_a_store_and_a_foreign_one_is_left_alone() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("empty");
        fs::write(&path, b"").expect("a file");
        insert(
            &Embedded::open(&path).await.expect("a store"),
            vec![doc! { "_id": 1 }],
        )
        .await
        .expect("an insert");

        let path = folder.path().join("letter.txt");
        let letter = "Dear sir or madam, ".repeat(1000);
        fs::write(&path, &letter).expect("a file");
        let error = Embedded::open(&path).await.expect_err("no store");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("letter.txt"), "{error}");
        assert_eq!(fs::read_to_string(&path).expect("a file"), letter);

        // Databases of redb that are not of this library, and one of its first format.
        for (table, says) in [
            ("others", "it has a table `others`"),
            ("0", "is not a store of this library"),
            (
                "odm",
                "open it with the version of the library that wrote it",
            ),
        ] {
            let path = folder.path().join(format!("{table}.redb"));
            {
                let database = redb::Database::create(&path).expect("a database");
                let write = database.begin_write().expect("a transaction");
                let table = redb::TableDefinition::<u64, u64>::new(table);
                write
                    .open_table(table)
                    .expect("a table")
                    .insert(1, 2)
                    .expect("an insert");
                write.commit().expect("a commit");
            }
            let error = Embedded::open(&path).await.expect_err("no store");
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error:?}");
            let message = error.to_string();
            assert!(message.contains(&format!("{table}.redb")), "{error}");
            assert!(message.contains(says), "{error}");
        }
    });
}

#[test]
fn a_newer_format_is_refused_with_both_versions() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        filled(&path).await;
        {
            let opened = crate::open::open(Place::File(path.clone()), Settings::default());
            let (mut open, _) = opened.expect("a store");
            let record = raw(doc! { "format": 99 });
            open.engine
                .commit(
                    [(layout::META, b"format".as_slice(), Some(record.as_bytes()))].into_iter(),
                    true,
                )
                .expect("a commit");
        }
        let error = Embedded::open(&path).await.expect_err("too new");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        let message = error.to_string();
        for part in ["format 99", "formats 3 to 6", "shop.odm"] {
            assert!(message.contains(part), "{message}");
        }
    });
}

/// Opens a file that may be damaged, and reads all that it can: errors are fine, panics are not.
async fn probe(path: &Path) -> bool {
    let store = match Embedded::open(path).await {
        Ok(store) => store,
        Err(error) => {
            assert!(
                matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Io),
                "{error:?}"
            );
            let name = path.file_name().expect("a name").to_string_lossy();
            assert!(
                error.to_string().contains(&*name) || error.to_string().contains("damaged"),
                "{error}"
            );
            return false;
        }
    };
    let sound = store.check_integrity().await.is_ok();
    if let Ok(reader) = store.reader() {
        for query in [
            doc! {},
            doc! { "n": 1 },
            doc! { "u": "u7" },
            doc! { "_id": 3 },
        ] {
            let find = odm_store::Find {
                filter: filter(query),
                ..find_all()
            };
            let _ = reader
                .find(&find, &mut |_, _| Ok(ControlFlow::Continue(())))
                .await;
        }
    }
    let _ = insert(&store, vec![doc! { "_id": 1000, "u": "new" }]).await;
    sound
}

#[test]
fn a_truncated_file_is_an_error_and_never_a_panic() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        filled(&path).await;
        let whole = fs::read(&path).expect("a file");
        let lengths = (0..40).map(|n| n * whole.len() / 40).chain([
            1,
            7,
            100,
            320,
            4095,
            4096,
            4097,
            whole.len() - 1,
        ]);
        for len in lengths.filter(|len| *len > 0) {
            let path = folder.path().join(format!("shop-{len}.odm"));
            fs::write(&path, &whole[..len]).expect("a file");
            let error = Embedded::open(&path).await.err().map(|error| error.kind());
            assert_eq!(
                error,
                Some(ErrorKind::Corrupt),
                "{len} of {} bytes",
                whole.len()
            );
            fs::remove_file(&path).expect("a file");
        }
    });
}

#[test]
fn a_file_with_flipped_bytes_is_an_error_or_readable_and_never_a_panic() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        filled(&path).await;
        let whole = fs::read(&path).expect("a file");
        let used = whole.iter().rposition(|byte| *byte != 0).expect("data") + 1;
        let mut random = 88_172_645_463_325_252_u64;
        let mut noticed = 0;
        for round in 0..120 {
            let mut damaged = whole.clone();
            for _ in 0..1 + round % 4 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let at = match round % 3 {
                    0 => random as usize % 400,
                    _ => random as usize % used,
                };
                damaged[at] ^= 1 << ((random >> 32) % 8);
            }
            let path = folder.path().join(format!("shop-{round}.odm"));
            fs::write(&path, &damaged).expect("a file");
            noticed += usize::from(!probe(&path).await);
            fs::remove_file(&path).expect("a file");
        }
        assert!(noticed > 10);
    });
}

#[test]
fn a_check_at_open_notices_a_flipped_byte_in_a_document() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        filled(&path).await;
        let mut whole = fs::read(&path).expect("a file");
        let text = "x".repeat(200);
        let at = whole
            .windows(200)
            .position(|bytes| bytes == text.as_bytes())
            .expect("a text");
        whole[at + 50] = b'y';
        fs::write(&path, &whole).expect("a file");
        let error = Embedded::builder()
            .check(true)
            .open(&path)
            .await
            .expect_err("damaged");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error:?}");
        assert!(error.to_string().contains("shop.odm"), "{error}");
    });
}

#[test]
fn a_size_is_that_of_the_files_and_collections() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        filled(&path).await;
        // By a link, whose log would be another file.
        #[cfg(unix)]
        let path = {
            let link = folder.path().join("link.odm");
            std::os::unix::fs::symlink(&path, &link).expect("a link");
            link
        };
        let on_disk = Embedded::open(&path).await.expect("a store");
        assert_eq!(
            on_disk.size().expect("a size").log,
            0,
            "there is no log yet"
        );
        let memory = things(vec![
            index("by_n", &[("n", 1)]),
            unique("by_u", &[("u", 1)]),
        ])
        .await;
        let documents = (0..40).map(|i| doc! { "_id": i, "n": i % 5, "u": format!("u{i}") });
        insert(&memory, documents.collect())
            .await
            .expect("an insert");
        for store in [&on_disk, &memory] {
            insert(store, vec![doc! { "_id": 100, "n": [1, 2], "u": "u" }])
                .await
                .expect("an insert");
            insert(store, vec![doc! { "_id": 101, "n": [1, 2], "u": "v" }])
                .await
                .expect("an insert");
            let size = store.size().expect("a size");
            let [things] = size.collections.as_slice() else {
                panic!("other collections: {size:?}");
            };
            assert_eq!((things.name.as_str(), things.documents), ("things", 42));
            let indexes = things
                .indexes
                .iter()
                .map(|index| (index.name.as_str(), index.entries));
            assert_eq!(indexes.collect::<Vec<_>>(), [("by_n", 44), ("by_u", 42)]);
        }
        let len = |name| {
            fs::metadata(folder.path().join(name))
                .expect("a file")
                .len()
        };
        let size = on_disk.size().expect("a size");
        assert_eq!(
            (size.file, size.log),
            (Some(len("shop.odm")), len("shop.odm.log"))
        );
        let size = memory.size().expect("a size");
        assert_eq!((size.file, size.log), (None, 0));
        on_disk.close().await.expect("a close");
        assert_eq!(
            on_disk.size().expect_err("it is closed").kind(),
            ErrorKind::Closed
        );
    });
}

#[test]
fn a_size_tells_of_the_earlier_states_that_are_read() {
    block_on(async {
        let store = things(Vec::new()).await;
        // The writer itself drops a state soon after its answer.
        let until = |number: u64| {
            let began = Instant::now();
            loop {
                let size = store.size().expect("a size");
                if size.earlier_states == number {
                    return size.oldest_state;
                }
                assert!(began.elapsed() < Duration::from_secs(20), "{size:?}");
                thread::yield_now();
            }
        };
        let add = async |id: i32| {
            let added = insert(&store, vec![doc! { "_id": id }]).await;
            added.expect("an insert");
        };
        let reader = || store.reader().expect("a reader");
        let first = reader();
        assert_eq!(until(0), None);
        add(1).await;
        let second = [reader(), reader()];
        let wait = Duration::from_millis(30);
        thread::sleep(wait);
        add(2).await;
        add(3).await;
        assert!(until(2) >= Some(wait));
        drop(first);
        store.compact().await.expect("a compaction");
        thread::sleep(wait);
        // The compaction leaves the remaining earlier state as it was.
        assert!(until(1) >= Some(wait));
        add(4).await;
        assert!(until(1) >= Some(wait));
        drop(second);
        assert_eq!(until(0), None);
    });
}

#[cfg(unix)]
#[test]
fn a_file_that_is_put_in_the_place_while_a_new_one_is_written_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shop.odm");
    fs::write(&path, "the store").expect("a file");
    let identity = Identity::of(&fs::metadata(&path).expect("a file"));
    let replacement = OnDisk::new(path.clone(), identity).create();
    let replacement = replacement.expect("a new file");
    fs::rename(&path, folder.path().join("moved.odm")).expect("a rename");
    fs::write(&path, "mine").expect("a file");
    assert!((replacement.make_durable)().is_err());
    assert_eq!(fs::read(&path).expect("a file"), b"mine");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2);
}
