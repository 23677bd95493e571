//! Processes that are killed in the middle of a migration, again and again: until one of them completes, the previous version goes on, and
//! each document is changed once.

use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use odm::{
    Embedded, OpenOptions,
    bson::Bson,
    migration::{Migrations, Step},
    prelude::*,
    store::contract::Store,
};
use serde::{Deserialize, Serialize};
use tests::killed::{Kill, Moments, kills, run_and_kill};

use crate::migrations::stored;

const PATH: &str = "ODM_TESTS_MIGRATIONS_FILE";
const ACCOUNTS: i64 = 3_000;

mod old {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "owners")]
    pub(super) struct Owner {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        pub(super) name: String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "accounts")]
    pub(super) struct Account {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        pub(super) euros: i64,
        #[reference(parent)]
        pub(super) owner: Ref<Owner>,
        #[denormalize(from = "Owner.name")]
        pub(super) owner_name: String,
    }

    #[derive(Database)]
    #[database(name = "bank", version = 1)]
    pub(super) struct Bank {
        pub(super) owners: Repository<Owner>,
        pub(super) accounts: Repository<Account>,
    }
}

mod new {
    use super::*;

    pub(super) use super::old::Owner;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "accounts")]
    pub(super) struct Account {
        #[serde(rename = "_id")]
        id: i64,
        cents: i64,
        #[reference(parent)]
        owner: Ref<Owner>,
        #[denormalize(from = "Owner.name", via = "owner")]
        owner_name: String,
    }

    #[derive(Database)]
    #[database(name = "bank", version = 2, migrations = steps)]
    pub(super) struct Bank {
        owners: Repository<Owner>,
        accounts: Repository<Account>,
    }

    fn steps() -> Migrations {
        Migrations::new().to(
            2,
            [
                Step::change("accounts", "euros", |euros: i64| euros * 100),
                Step::rename("accounts", "euros", "cents"),
                Step::change("owners", "name", |name: String| name.to_uppercase()),
            ],
        )
    }
}

/// The child process: migrates, reports each unit, and waits for its end.
#[test]
#[ignore = "run by another test in a process of its own"]
fn child_that_migrates() {
    let Some(path) = std::env::var_os(PATH) else {
        return;
    };
    tests::run(async {
        let units = AtomicUsize::new(0);
        let options = OpenOptions::default().on_progress(move |_| {
            println!("unit {}", units.fetch_add(1, Ordering::SeqCst));
        });
        println!("opening");
        let store = Embedded::open(&path).await.unwrap();
        new::Bank::open_with(store, options).await.unwrap();
        println!("opened");
        // Ends this process even if the parent does not.
        thread::sleep(Duration::from_secs(60));
    });
}

/// Makes a file of the previous version.
async fn filled(path: &Path) {
    let store = Embedded::open(path).await.unwrap();
    let bank = old::Bank::open(store.clone()).await.unwrap();
    let owner = |id| old::Owner { id, name: format!("owner {id}") };
    bank.owners.insert_many((0..10).map(owner)).await.unwrap();
    let accounts = (0..ACCOUNTS).map(|id| old::Account {
        id,
        euros: id,
        owner: Ref::new(id % 10),
        owner_name: String::new(),
    });
    bank.accounts.insert_many(accounts).await.unwrap();
    store.close().await.unwrap();
}

/// Runs the child, and kills it. Returns its output.
fn killed(path: &Path, kill: Kill) -> Vec<String> {
    let variables = [(PATH, path.to_str().unwrap())];
    run_and_kill("migrations::crash::child_that_migrates", &variables, kill)
}

/// After a kill, the previous version goes on, unless the newer one is in force as a whole. Returns whether it goes on.
async fn go_on(path: &Path, was_opened: bool) -> bool {
    let store = Embedded::open(path).await.unwrap();
    let opened = old::Bank::open(store.clone()).await;
    let goes_on = opened.is_ok();
    match opened {
        Ok(bank) => {
            assert!(!was_opened);
            let accounts = bank.accounts.all().await.unwrap();
            assert_eq!(accounts.len() as i64, ACCOUNTS);
            assert!(accounts.iter().all(|account| account.euros == account.id));
            let name = old::Owner::fields().name;
            bank.owners.update(1).set(name, "another").await.unwrap();
            bank.owners.update(1).set(name, "owner 1").await.unwrap();
            assert_eq!(bank.audit().await.unwrap(), []);
        }
        Err(error) => {
            assert_eq!(error.kind(), odm::ErrorKind::Schema, "{error}");
            assert!(new::Bank::check(&store).await.unwrap().is_empty());
        }
    }
    store.close().await.unwrap();
    goes_on
}

/// Opens the newer version, in which each document is changed once.
async fn is_changed_once(path: &Path, round: u64) {
    let store = Embedded::open(path).await.unwrap();
    let bank = new::Bank::open(store.clone()).await.unwrap();
    assert_eq!(bank.audit().await.unwrap(), [], "round {round}");
    let accounts = stored(&store, "accounts").await;
    assert_eq!(accounts.len() as i64, ACCOUNTS);
    for (id, account) in accounts.iter().enumerate() {
        assert_eq!(account["cents"], Bson::Int64(id as i64 * 100), "round {round}");
        let name = format!("OWNER {}", id % 10);
        assert_eq!(account["owner_name"], Bson::String(name), "round {round}");
        assert!(!account.contains_key("euros"));
    }
}

#[test]
fn a_migration_whose_processes_are_killed_changes_each_document_once() {
    let kills: [&[(&str, u64)]; 4] = [
        &[("opening", 5), ("unit 1", 0), ("unit 0", 2), ("unit 3", 1)],
        &[("unit 5", 0), ("unit 5", 0), ("unit 0", 0)],
        &[("unit 0", 3), ("unit 0", 4), ("unit 0", 5), ("unit 0", 6)],
        &[("unit 12", 0), ("opened", 0)],
    ];
    for (round, kills) in (0..).zip(kills) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bank.odm");
        tests::run(filled(&path));
        for (line, millis) in kills {
            let told = killed(&path, Kill::AfterLine(line, Duration::from_millis(*millis)));
            assert!(told.contains(&"opening".to_owned()), "{told:?}");
            tests::run(go_on(&path, told.contains(&"opened".to_owned())));
        }
        tests::run(is_changed_once(&path, round));
    }
}

/// `KILLS` is the number of kills, and `SEED` fixes the moments.
#[test]
fn a_migration_that_is_killed_at_random_moments_changes_each_document_once() {
    /// How many processes are killed on one file, if none of them finishes.
    const OF_FILE: u64 = 6;
    const LINES: [&str; 7] =
        ["opening", "unit 0", "unit 1", "unit 2", "unit 3", "unit 4", "unit 5"];
    let mut moments = Moments::begin();
    let (all, mut done, mut stopped) = (kills(6), 0, 0);
    for round in 0.. {
        if done == all {
            break;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bank.odm");
        tests::run(filled(&path));
        for _ in 0..OF_FILE.min(all - done) {
            done += 1;
            // From before the file is open to after the last unit; many within the first ones.
            let most = [2, 30, 300][moments.below(3) as usize];
            let after = Duration::from_micros(moments.below(most * 1_000));
            let kill = match moments.below(LINES.len() as u64 + 1) {
                0 => Kill::AfterStart(after),
                line => Kill::AfterLine(LINES[line as usize - 1], after),
            };
            let told = killed(&path, kill);
            if !tests::run(go_on(&path, told.contains(&"opened".to_owned()))) {
                break;
            }
            stopped += 1;
        }
        tests::run(is_changed_once(&path, round));
    }
    assert!(stopped >= done / 10, "{stopped} of {done} processes were killed before their end");
}
