//! Disks that are full, and disks that cannot be written to. Each is a disk in memory, which a child process mounts for itself alone.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use odm::{Database as _, Embedded, ErrorKind};

use super::ledger::{Ledger, ledger};

const FOLDER: &str = "ODM_TESTS_DISK";
const KIB: &str = "ODM_TESTS_DISK_KIB";

/// Runs an ignored test with `FOLDER` as a disk of `kib` KiB, unless this user may not mount one.
fn on_a_disk(kib: u32, test: &str) {
    let namespace = |command: &str| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--map-root-user", "--mount", "sh", "-c", command]);
        unshare
    };
    let folder = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o size={kib}k tmpfs \"$FOLDER\"");
    let may_mount = namespace(&mount).env("FOLDER", folder.path()).output();
    if !may_mount.is_ok_and(|output| output.status.success()) {
        eprintln!("left out, since no disk can be mounted: {test}");
        return;
    }
    let run = format!("{mount} && exec \"$PROGRAM\" --ignored --exact {test} --nocapture");
    let output = namespace(&run)
        .env("FOLDER", folder.path())
        .env(FOLDER, folder.path())
        .env(KIB, kib.to_string())
        .env("PROGRAM", env::current_exe().unwrap())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// The folder of a child process.
fn folder() -> Option<PathBuf> {
    env::var_os(FOLDER).map(PathBuf::from)
}

async fn opened(path: &Path) -> (Embedded, Ledger) {
    // No checkpoint is due by time, which would meet the end of the disk before a write does.
    let builder = Embedded::builder().check(true).checkpoint_interval(Duration::from_secs(3600));
    let store = builder.open(path).await.unwrap();
    (store.clone(), ledger(store).await)
}

/// Writes until the disk is full. Returns the acknowledged units, and the first refused one.
async fn write_until_full(db: &Ledger, first: i64) -> (BTreeSet<i64>, i64) {
    let mut written = BTreeSet::new();
    for id in first.. {
        match db.write(id, 1 + id % 50).await {
            Ok(()) => written.insert(id),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Io, "{error}");
                assert!(error.to_string().contains("ledger.odm"), "{error}");
                return (written, id);
            }
        };
    }
    unreachable!("a disk has an end")
}

#[test]
#[ignore = "run by another test in a process of its own"]
fn child_that_fills_a_disk() {
    let Some(folder) = folder() else { return };
    let path = folder.join("ledger.odm");
    let ballast = folder.join("ballast");
    tests::run(async {
        // More than half of the disk: the store is open while the log is applied to a file that may double in size, and the log grows.
        let kib: usize = env::var(KIB).unwrap().parse().unwrap();
        fs::write(&ballast, vec![1; (kib << 7) * 5]).unwrap();
        let (store, db) = opened(&path).await;
        let (written, refused) = write_until_full(&db, 0).await;
        assert!(written.len() > 50, "{}", written.len());
        // Reads of the acknowledged state go on.
        assert_eq!(db.whole().await, Vec::from_iter(written.iter().copied()));
        let error = store.backup(folder.join("copy.odm")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed);
        assert!(error.to_string().contains("writer failed"), "{error}");
        assert!(store.compact().await.is_err());
        let names: BTreeSet<_> =
            fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(
            names,
            BTreeSet::from(["ballast", "ledger.odm", "ledger.odm.log"].map(Into::into))
        );
        db.close().await.ok();
        drop((store, db));

        fs::remove_file(&ballast).unwrap();
        let (store, db) = opened(&path).await;
        let mut there = BTreeSet::from_iter(db.whole().await);
        // The failed unit may be there or not.
        there.remove(&refused);
        assert_eq!(there, written);
        db.write(1 << 40, 3).await.unwrap();
        assert!(db.whole().await.contains(&(1 << 40)));
        store.check_integrity().await.unwrap();
    });
}

#[test]
fn a_full_disk_loses_nothing_acknowledged_and_writes_go_on_once_there_is_room() {
    for kib in [8 << 10, 9 << 10, 13 << 10, 18 << 10] {
        on_a_disk(kib, "durability::disks::child_that_fills_a_disk");
    }
}

#[test]
#[ignore = "run by another test in a process of its own"]
fn child_on_a_read_only_disk() {
    let Some(folder) = folder() else { return };
    let path = folder.join("ledger.odm");
    let mount_as = |how: &str| {
        let options = format!("remount,{how}");
        let mounted = Command::new("mount").args(["-o", &options]).arg(&folder).status();
        assert!(mounted.unwrap().success());
    };
    let files = || {
        let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
        let mut files: Vec<_> = files.map(|path| (fs::read(&path).unwrap(), path)).collect();
        files.sort();
        files
    };
    tests::run(async {
        let (_, db) = opened(&path).await;
        for id in 0..20 {
            db.write(id, 3).await.unwrap();
        }
        db.close().await.unwrap();
        drop(db);
        let before = files();
        mount_as("ro");
        let error = Embedded::open(&path).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
        assert!(error.to_string().contains("ledger.odm"), "{error}");
        let error = Embedded::open(folder.join("new.odm")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
        assert!(error.to_string().contains("new.odm"), "{error}");
        assert!(files() == before);
        mount_as("rw");
        assert_eq!(opened(&path).await.1.whole().await, Vec::from_iter(0..20));
    });
}

#[test]
fn a_store_on_a_read_only_disk_is_refused_by_its_name_and_opens_once_it_can_be_written() {
    on_a_disk(16 << 10, "durability::disks::child_on_a_read_only_disk");
}
