//! The oracle finds the errors that it is for: with one step of the library broken on purpose, it reports an error within some histories,
//! and without a broken step it reports none.
//!
//! Each mutant runs in a process of its own, in which `ODM_MUTANT` names the broken step. There, units go through documents by twos, so
//! that short histories also reach the code after a first chunk. All mutants, or one:
//!
//! ```text
//! cargo test -p tests --all-features --test promise -- --ignored every_mutant
//! MUTANT="second level" cargo test -p tests --all-features --test promise -- --ignored --nocapture every_mutant
//! ```

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
    thread,
};

use super::history::first_report;

/// The steps that can be broken, each by its name in the sources of the library, and the resulting error.
const MUTANTS: [(&str, &str); 76] = [
    ("first version", "a new document has the version 0"),
    ("version", "a change does not raise the version"),
    ("version of no change", "a write that changes nothing raises the version"),
    ("version of an import", "an import begins to count anew"),
    (
        "version of a cold change",
        "a change of a cold part does not raise the version of its document",
    ),
    ("version of a cleared cold part", "nor does a reference in it that is cleared"),
    ("created_at", "the time of the insert is left out"),
    ("updated_at", "the time of a change is left out"),
    ("times of an import", "an import sets the time of the change"),
    ("second page of a cascade", "a cascade ends after its first chunk"),
    ("cascade of a cascade", "the delete rules of a document that a cascade deletes are left out"),
    (
        "one reference to nullify",
        "one document of those that referred to a deleted one is left as it is",
    ),
    ("second page to nullify", "only the first chunk of them is changed"),
    ("pull", "elements that refer to a deleted document stay in their list"),
    ("restrict", "a document that others refer to is deleted"),
    ("new inverse reference", "the other side of a new reference does not follow"),
    ("lost inverse reference", "the other side of a removed reference does not follow"),
    ("previous inverse reference", "the previous holder of an inverse reference keeps it"),
    ("empty inverse list", "an inverse list that was left out is not stored"),
    ("doubled reference", "a list of inverse references may name one twice"),
    ("dangling reference", "a reference may name nothing"),
    ("second dangling reference", "only the first new reference is checked"),
    ("deferred copy", "no record is left for deferred copies"),
    ("deferred count", "nor for a count"),
    ("second record", "only the first record of a unit is stored"),
    ("refresh of a record", "a record of copies is removed, and nothing refreshed"),
    ("rest of a refresh", "a refresh ends after its first chunk"),
    ("second page of followers", "copies follow in the first chunk alone"),
    ("followed copy", "copies do not follow their source"),
    ("second copy in a list", "only the first copy in a list follows"),
    ("second copy of a written list", "only the first copy in a list that was written is right"),
    ("frozen copy", "a frozen copy follows when its holder is written"),
    ("copy of what is gone", "a copy beside a dangling reference is cleared"),
    ("source that comes back", "copies do not follow a source that was gone"),
    ("same value twice", "a reverse copy has equal values twice"),
    ("reverse copy of the old holder", "the holder that a source is moved from keeps its value"),
    ("reverse copy of a changed value", "a reverse copy does not follow a changed value"),
    ("moved holder", "a copy stays when its reference names another source"),
    ("decrement of a count", "a count does not fall"),
    ("increment of a count", "a count does not rise"),
    ("last child", "a child exists after the last one has gone"),
    ("amount before", "a sum keeps the amount of a child that is gone"),
    ("next extreme", "an extreme stays after its child has gone"),
    ("computed field", "a computed field does not follow the fields that it is computed from"),
    ("count that was sent", "a count keeps what the caller has sent"),
    ("count of a parent that comes back", "children that a new parent had before are not counted"),
    ("filter", "a filter lets all children count"),
    ("second level", "what is derived from derived fields does not follow"),
    ("subset of a parent that comes back", "children that a new parent had before are not shown"),
    ("subset of the old parent", "a child that is moved stays in the subset of its old parent"),
    ("subset that was sent", "a subset keeps what the caller has sent"),
    ("shown field", "an element of a subset keeps a field that has changed"),
    ("order of the last children", "a subset of the last children is in the wrong order"),
    ("order of a subset", "a new element is put at the end of its subset"),
    ("tie in a subset", "elements that the order does not tell apart stand in any order"),
    ("limit of a subset", "a subset has more elements than its limit"),
    ("next child of a subset", "the next child does not take the place of one that is gone"),
    ("gap in a sequence", "a number of a sequence is left out"),
    ("sequence given twice", "the last number of a sequence is not stored"),
    ("sequence of an import", "nor is that of an import"),
    ("number that is brought", "a counter does not follow the numbers that documents bring"),
    ("number of a move", "a document that is moved takes its number along"),
    ("counter of a parent that goes", "the counter of a deleted document stays"),
    (
        "moved document of a tree",
        "a list of ancestors stays when its reference names another document",
    ),
    ("subtree of a move", "the lists below a moved document do not follow"),
    ("ring", "a document may come below itself"),
    ("cold part of a delete", "the cold part of a deleted document stays"),
    ("second cold part", "a write of a cold part adds another one"),
    ("audit of counts", "an audit does not look at counts"),
    ("repair", "a repair leaves derived fields as they are"),
    ("validation", "no document is validated"),
    ("validation of an upsert", "a document of an upsert is not validated"),
    ("expiry", "what has expired is not deleted"),
    ("insert that is removed", "an insert of a taken `_id` is not refused if its unit removes it"),
    ("unique index", "a unique index lets a second document in"),
    ("partial unique index", "one with a filter does"),
];

/// Mutants of all kinds, for each run of the tests.
const SAMPLE: [&str; 8] = [
    "version",
    "second page of followers",
    "restrict",
    "frozen copy",
    "decrement of a count",
    "subset of the old parent",
    "second record",
    "lost inverse reference",
];

/// The greatest number of steps until the oracle must report a mutant.
const MOST: usize = 20_000;

/// The number of steps without a mutant.
const RIGHT: usize = 600;

const REPORT: &str = "report: ";

/// The child process: it takes steps until the oracle reports an error, and prints the report.
#[test]
#[ignore = "run by another test in a process of its own"]
fn child_with_a_mutant() {
    let Ok(most) = env::var("ODM_TESTS_PROMISE_MOST") else {
        return;
    };
    let (taken, report) = first_report(most.parse().expect("a number of steps"));
    let report = report.map(|report| report.replace('\n', " "));
    println!("{REPORT}{taken} {}", report.unwrap_or_default());
}

/// Runs histories with a mutant, or without one. Returns how many steps they took, and the report of the oracle, if there is one.
fn report_of(mutant: &str, most: usize) -> (usize, String) {
    let mut child = Command::new(env::current_exe().expect("this program has a path"));
    child
        .args(["--ignored", "--exact", "mutants::child_with_a_mutant", "--nocapture"])
        .env("ODM_TESTS_PROMISE_MOST", most.to_string())
        .env("ODM_MUTANT", mutant)
        .env("ODM_CHUNK", "2");
    let output = child.output().expect("the child starts");
    let told = String::from_utf8_lossy(&output.stdout);
    let report = told.lines().find_map(|line| line.split_once(REPORT));
    let (_, report) = report.unwrap_or_else(|| {
        panic!("`{mutant}`: no report: {told}{}", String::from_utf8_lossy(&output.stderr))
    });
    let (taken, report) = report.split_once(' ').expect("a number and a report");
    (taken.parse().expect("a number"), report.to_owned())
}

/// Makes sure that the oracle reports each of these mutants.
fn assert_seen(mutants: &[&str]) {
    let (left, missed) = (Mutex::new(mutants.to_vec()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from).min(4) {
            scope.spawn(|| {
                loop {
                    let Some(mutant) = left.lock().unwrap().pop() else {
                        return;
                    };
                    let (taken, report) = report_of(mutant, MOST);
                    eprintln!("{mutant}: {taken} steps: {:.100}", report);
                    if report.is_empty() || report == "it panicked" {
                        missed.lock().unwrap().push((mutant, taken, report));
                    }
                }
            });
        }
    });
    let missed = missed.into_inner().unwrap();
    assert!(missed.is_empty(), "the oracle has not seen {missed:#?}");
}

#[test]
fn without_a_mutant_the_oracle_reports_nothing() {
    assert_eq!(report_of("", RIGHT).1, "");
}

#[test]
fn some_mutants_are_seen_by_the_oracle() {
    assert_seen(&SAMPLE);
}

#[test]
#[ignore = "takes some minutes"]
fn every_mutant_is_seen_by_the_oracle() {
    let one = env::var("MUTANT").ok();
    let all = MUTANTS.iter().map(|(name, _)| *name);
    let all: Vec<&str> = all.filter(|name| one.as_ref().is_none_or(|one| one == name)).collect();
    assert_seen(&all);
}

#[test]
fn the_list_of_mutants_is_that_of_the_sources() {
    fn add(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                add(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let names = text.split("mutant(\"").skip(1);
                found.extend(names.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
            }
        }
    }

    let mut found = BTreeSet::new();
    for package in ["odm", "odm-embedded"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(package);
        add(&folder.join("src"), &mut found);
    }
    let listed: BTreeSet<String> = MUTANTS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(listed, found);
    assert_eq!(listed.len(), MUTANTS.len(), "one is listed twice");
    assert!(listed.len() >= 60, "{} mutants", listed.len());
    assert!(SAMPLE.iter().all(|name| listed.contains(*name)));
}
