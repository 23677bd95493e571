//! No new file takes the place of a present or future file of a store.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bson::doc;
use odm_store::{ErrorKind, Store};

use super::support::*;
use crate::Embedded;

fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    names.sort();
    names
}

/// Some paths that lead to a name in a folder.
fn paths_to(folder: &Path, name: &str) -> Vec<PathBuf> {
    let _ = fs::create_dir(folder.join("sub"));
    let here = std::env::current_dir().expect("a folder");
    let up: PathBuf = here.components().skip(1).map(|_| "..").collect();
    let real = folder.canonicalize().expect("a folder");
    let relative = up.join(real.strip_prefix("/").unwrap_or(&real));
    let mut paths = vec![
        folder.join(name),
        folder.join("sub/..").join(name),
        relative.join(name),
        folder.join(name.to_uppercase()),
    ];
    #[cfg(unix)]
    {
        let link = folder.join("sub/link");
        let _ = std::os::unix::fs::symlink(folder, &link);
        paths.push(link.join(name));
    }
    paths
}

#[test]
fn a_backup_takes_no_place_of_a_file_of_the_store_that_is_not_there_yet() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        let store = Embedded::open(&path).await.expect("a store");
        let id = bson::oid::ObjectId::new();
        let mut refused = Vec::new();
        for name in [
            "shop.odm.log",
            &format!("shop.odm.new-17-{id}"),
            &format!("shop.odm.log.new-17-{id}"),
        ] {
            refused.extend(paths_to(folder.path(), name));
        }
        let before = names(folder.path());
        for target in &refused {
            let error = store.backup(target).await.expect_err("its own");
            assert_eq!(error.kind(), ErrorKind::Io);
            let message = error.to_string();
            assert!(message.contains("choose another name"), "{message}");
            if target.ends_with("SHOP.ODM.LOG") && !folder.path().join("SHOP.ODM").exists() {
                // Here it is another file, which only the store itself takes for its own.
                continue;
            }
            let error = Embedded::open(target).await.expect_err("a store's own");
            assert_eq!(error.kind(), ErrorKind::Io, "{}: {error}", target.display());
        }
        assert_eq!(names(folder.path()), before);
        // The store's own name, when its file was moved away meanwhile.
        let away = folder.path().join("away");
        fs::rename(&path, &away).expect("a rename");
        for target in paths_to(folder.path(), "shop.odm")
            .into_iter()
            .chain(paths_to(folder.path(), "shop.odm.log"))
        {
            let error = store.backup(&target).await.expect_err("its own");
            assert!(error.to_string().contains("choose another name"), "{error}");
        }
        fs::rename(&away, &path).expect("a rename");
        insert(&store, vec![doc! { "_id": 1 }])
            .await
            .expect("the log has its place");
        store
            .backup(folder.path().join("copy.log"))
            .await
            .expect("the log of no store");
        store.close().await.expect("a close");
        let store = Embedded::open(&path).await.expect("a store");
        assert_eq!(all(&store).await.len(), 1);
    });
}

#[test]
fn a_backup_takes_no_place_of_the_log_of_another_store() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        let open = Embedded::open(&path).await.expect("a store");
        let other = Embedded::memory().await.expect("a store");
        let log = folder.path().join("shop.odm.log");
        for closed in [false, true] {
            if closed {
                open.close().await.expect("a close");
            }
            let error = other.backup(&log).await.expect_err("the log of another");
            assert!(error.to_string().contains("shop.odm`"), "{error}");
            assert!(!log.exists());
        }
    });
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_a_log_or_of_a_copy_is_refused() {
    use std::os::unix::fs::symlink;
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        let store = Embedded::open(&path).await.expect("a store");
        let copy = folder.path().join("copy.odm");
        // It leads to where the log will be.
        symlink(folder.path().join("shop.odm.log"), &copy).expect("a link");
        let error = store.backup(&copy).await.expect_err("a link");
        assert!(error.to_string().contains("is there already"), "{error}");
        fs::remove_file(&copy).expect("no link");
        // Other names of the existing files.
        insert(&store, vec![doc! { "_id": 1 }])
            .await
            .expect("an insert");
        for (number, file) in ["shop.odm", "shop.odm.log"].into_iter().enumerate() {
            let link = folder.path().join(format!("link{number}"));
            fs::hard_link(folder.path().join(file), &link).expect("a link");
            let error = store.backup(&link).await.expect_err("a link");
            assert!(error.to_string().contains("is there already"), "{error}");
        }
        store.close().await.expect("a close");
        // It leads to where a copy will be, which would be taken for the log.
        symlink(&copy, folder.path().join("shop.odm.log")).expect("a link");
        let error = Embedded::open(&path).await.expect_err("a link");
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(
            error.to_string().contains("shop.odm.log`: it is a link"),
            "{error}"
        );
        fs::remove_file(folder.path().join("shop.odm.log")).expect("no link");
        let store = Embedded::open(&path).await.expect("a store");
        assert_eq!(all(&store).await.len(), 1);
    });
}

#[test]
fn a_salvage_leaves_a_copy_of_the_log_beside_the_store() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        let (copy, log) = (
            folder.path().join("copy.odm"),
            folder.path().join("copy.odm.log"),
        );
        let store = Embedded::open(&path).await.expect("a store");
        for id in 0..6 {
            insert(&store, vec![doc! { "_id": id }])
                .await
                .expect("an insert");
        }
        fs::copy(&path, &copy).expect("a copy");
        let mut bytes = fs::read(folder.path().join("shop.odm.log")).expect("a log");
        // In the record of the third of its five units.
        let len = |at: usize| {
            44 + u32::from_be_bytes(bytes[at + 12..at + 16].try_into().expect("four bytes"))
                as usize
        };
        let second = 16_384 + len(16_384);
        let third = second + len(second);
        bytes[third + 50] ^= 1;
        fs::write(&log, &bytes).expect("a log");
        let main = fs::read(&copy).expect("a file");
        let error = Embedded::open(&copy).await.expect_err("damaged");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("copy.odm.log`"), "{error}");
        assert!(fs::read(&copy).expect("a file") == main, "it was changed");
        assert!(fs::read(&log).expect("a log") == bytes, "it was changed");
        let salvaged = Embedded::builder().salvage(&copy).await.expect("a store");
        assert_eq!((salvaged.applied, salvaged.left_out), (2, 3));
        assert_eq!(all(&salvaged.store).await.len(), 3);
        let kept = salvaged.log.expect("a copy");
        assert!(fs::read(kept).expect("a copy") == bytes);
        assert!(!log.exists());
    });
}
