//! Each command with a file that it cannot use: it says why, has its exit code, and changes nothing.

use std::{fs, os::unix::fs::PermissionsExt};

use odm::Embedded;
use redb::{Database, ReadableTable, TableDefinition};

use crate::support::{Answer, Folder};

/// The commands that look at a file, with `FILE` in its place.
const LOOKING: [&str; 16] = [
    "info FILE",
    "collections FILE",
    "show FILE orders 1",
    "find FILE orders",
    "explain FILE orders",
    "stats FILE",
    "diagram FILE",
    "diagram FILE --format svg",
    "audit FILE",
    "validate FILE",
    "check FILE",
    "backup FILE new.odm",
    "export FILE",
    "export FILE new.jsonl",
    "copy FILE new.odm",
    "users list FILE",
];

/// The commands that change a file, or hold it. Each of them writes into that of the example.
const CHANGING: [&str; 10] = [
    "repair FILE",
    "backfill FILE",
    "compact FILE",
    "salvage FILE",
    "serve FILE",
    "import FILE reviews.json",
    "users add FILE ann --read-all --password-file password",
    "users password FILE ann --password-file password",
    "users rights FILE ann --read-all",
    "users remove FILE ann",
];

/// Runs each command with a file, and checks its answer and that all files stay as they are.
#[track_caller]
fn each(folder: &Folder, commands: &[&str], file: &str, check: impl Fn(&str, Answer)) {
    folder.write("password", "battery staple\n");
    folder.write(
        "reviews.json",
        r#"{"_id":9,"product":5,"stars":4,"text":"Soft","published":{"$date":0}}"#,
    );
    let state = || {
        let files = folder.names().into_iter().map(|name| {
            let content = fs::read(folder.path(&name)).expect("a file");
            (name, content)
        });
        files.collect::<Vec<_>>()
    };
    let before = state();
    for command in commands {
        let line = command.replace("FILE", file);
        let arguments: Vec<&str> = line.split(' ').collect();
        check(command, folder.run(&arguments));
        assert!(state() == before, "{command} has changed a file");
    }
}

/// Checks that a command answers nothing but a message with this exit code.
#[track_caller]
fn fails(command: &str, answer: &Answer, code: i32, named: &str) {
    assert_eq!(
        (answer.code, answer.out.as_str()),
        (code, ""),
        "{command}: {answer:?}"
    );
    let is_named = answer.err.starts_with("error: ") && answer.err.contains(named);
    assert!(is_named, "{command}: {answer:?}");
}

fn all() -> Vec<&'static str> {
    LOOKING.iter().chain(&CHANGING).copied().collect()
}

/// Gives a store another version of its format, past the library.
fn set_format(folder: &Folder, version: i32) {
    let database = Database::open(folder.path("shop.odm")).expect("a file of redb");
    let transaction = database.begin_write().expect("a transaction");
    let records: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("0");
    let mut table = transaction.open_table(records).expect("the records");
    let record = table.get(&b"format"[..]).expect("a read");
    let mut record = mongodb::bson::deserialize_from_slice::<mongodb::bson::Document>(
        record.expect("a format").value(),
    )
    .expect("a document");
    let (_, value) = record.iter_mut().next().expect("a field");
    *value = version.into();
    let record = mongodb::bson::serialize_to_vec(&record).expect("a document");
    table.insert(&b"format"[..], &*record).expect("a write");
    drop(table);
    transaction.commit().expect("a commit");
}

#[test]
fn a_file_that_is_not_there_is_named_by_each_command() {
    let folder = Folder::with_shop();
    each(&folder, &all(), "none.odm", |command, answer| {
        fails(command, &answer, 3, "cannot open `none.odm`");
    });
    each(&folder, &["watch FILE"], "none.odm", |command, answer| {
        fails(command, &answer, 3, "cannot open `none.odm`");
    });
}

#[test]
fn a_file_of_a_newer_format_is_refused_by_each_command() {
    let folder = Folder::with_shop();
    set_format(&folder, 99);
    each(&folder, &all(), "shop.odm", |command, answer| {
        let named = "format 99 of `shop.odm` is not supported: this library reads formats 3 to 6";
        fails(command, &answer, 5, named);
        assert!(
            answer.err.contains("newer version of `odm`"),
            "{command}: {answer:?}"
        );
    });
}

#[test]
fn what_is_no_store_is_refused_by_each_command() {
    let folder = Folder::new();
    folder.write("text.odm", "a letter to a friend".repeat(400));
    folder.write("short.odm", "x");
    folder.write("empty.odm", "");
    for file in ["text.odm", "short.odm", "empty.odm"] {
        each(&folder, &all(), file, |command, answer| {
            fails(command, &answer, 5, &format!("`{file}`"));
        });
    }
}

#[test]
fn a_store_whose_pages_are_damaged_is_told_by_each_command() {
    let folder = Folder::with_shop();
    let mut bytes = fs::read(folder.path("shop.odm")).unwrap();
    // All but the header of the file.
    bytes[4096..].fill(0xa5);
    folder.write("shop.odm", bytes);
    each(&folder, &all(), "shop.odm", |command, answer| {
        fails(command, &answer, 5, "`shop.odm`");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_another_process_has_is_looked_at_and_not_changed() {
    let folder = Folder::with_shop();
    let store = Embedded::open(folder.path("shop.odm")).await.unwrap();
    each(&folder, &CHANGING, "shop.odm", |command, answer| {
        fails(command, &answer, 4, "`shop.odm` is open in ");
    });
    for command in LOOKING.iter().filter(|command| !command.contains("new")) {
        let line = command.replace("FILE", "shop.odm");
        folder.run(&line.split(' ').collect::<Vec<_>>()).done();
    }
    odm::store::contract::Store::close(&store).await.unwrap();
}

#[test]
fn a_file_without_its_rights_is_told_by_each_command() {
    let folder = Folder::with_shop();
    folder.write("password", "battery staple\n");
    folder.write("reviews.json", "{}");
    let rights = |mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(folder.path("shop.odm"), permissions).unwrap();
    };
    // The superuser has all rights, unless it gives up its capabilities.
    let is_superuser = folder.shell("id -u").done().trim() == "0";
    let odm = env!("CARGO_BIN_EXE_odm");
    let run = |command: &str| {
        let line = command.replace("FILE", "shop.odm");
        if is_superuser {
            return folder.shell(&format!(
                "setpriv --bounding-set=-all --inh-caps=-all '{odm}' {line}"
            ));
        }
        folder.shell(&format!("odm {line}"))
    };
    rights(0o000);
    for command in all() {
        let answer = run(command);
        fails(
            command,
            &answer,
            7,
            "cannot open `shop.odm`: Permission denied",
        );
    }
    // With the right to read alone.
    rights(0o400);
    for command in CHANGING {
        let answer = run(command);
        fails(command, &answer, 7, "`shop.odm`");
    }
    assert_eq!(folder.names(), ["password", "reviews.json", "shop.odm"]);
    rights(0o600);
    folder.run(&["check", "shop.odm"]).done();
}

#[test]
fn a_full_disk_is_told_by_each_command_that_writes_and_the_store_stays_whole() {
    for command in [
        "import FILE reviews.json",
        "import new.odm reviews.json --create",
        "repair FILE",
        "compact FILE",
        "users add FILE ann --read-all --password-file password",
        "users remove FILE bob",
    ] {
        let folder = Folder::with_wrong_shop();
        folder.write("password", "battery staple\n");
        folder.write(
            "reviews.json",
            r#"{"_id":9,"product":5,"stars":4,"text":"Soft","published":{"$date":0}}"#,
        );
        let add = [
            "users",
            "add",
            "shop.odm",
            "bob",
            "--read-all",
            "--password-file",
            "password",
        ];
        folder.run(&add).done();
        let before = folder.run(&["export", "shop.odm"]).done();
        let line = command.replace("FILE", "shop.odm");
        // Writes beyond 4 KiB fail, as on a full disk.
        let answer = folder.shell(&format!("trap '' XFSZ; ulimit -f 4; odm {line}"));
        assert_eq!(answer.code, 7, "{command}: {answer:?}");
        assert!(
            answer.err.contains("File too large"),
            "{command}: {answer:?}"
        );
        assert!(!folder.path("new.odm").exists(), "{command}");
        folder.run(&["check", "shop.odm"]).done();
        assert_eq!(
            folder.run(&["export", "shop.odm"]).done(),
            before,
            "{command}"
        );
    }
}
