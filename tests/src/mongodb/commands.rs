//! The commands of the store, compared with the table in `docs/dev/mongodb-commands.md`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{LazyLock, Mutex, PoisonError},
};

use mongodb::{
    event::{EventHandler, command::CommandEvent},
    options::ClientOptions,
};
use odm::bson::{Bson, Document};

const PAGE: &str = include_str!("../../../docs/dev/mongodb-commands.md");

/// The fields that the driver adds to a command.
const OF_DRIVER: [&str; 9] = [
    "lsid",
    "txnNumber",
    "$clusterTime",
    "$db",
    "$readPreference",
    "startTransaction",
    "autocommit",
    "readConcern",
    "writeConcern",
];

/// The options, stages and fields of each command of the table.
static DOCUMENTED: LazyLock<BTreeMap<&str, BTreeSet<&str>>> = LazyLock::new(|| {
    let table = PAGE
        .split("\n\n")
        .find(|part| part.starts_with("| command |"));
    let rows = table.expect("the page has the table").lines().skip(2);
    let rows = rows.map(|row| {
        let mut cells = row.split(" | ");
        let codes = |cell: &'static str| cell.split('`').skip(1).step_by(2);
        let command = cells.next().and_then(|cell| codes(cell).next());
        let parts = cells.next().expect("a row has options");
        (
            command.expect("a row has a command"),
            codes(parts).collect(),
        )
    });
    rows.collect()
});

/// The parts of sent commands that are not in the table.
static OTHERS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The options of a client whose commands are compared with the table.
pub(super) fn recorded(mut options: ClientOptions) -> ClientOptions {
    options.command_event_handler = Some(EventHandler::callback(|event| {
        if let CommandEvent::Started(event) = event {
            let known = DOCUMENTED.get(&*event.command_name);
            let parts = parts(&event.command);
            let others = parts.filter(|part| known.is_none_or(|known| !known.contains(&**part)));
            let others: Vec<_> = others
                .map(|part| format!("{}: {part}", event.command_name))
                .collect();
            OTHERS
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(others);
        }
    }));
    options
}

/// The options of a command, the stages of its pipeline, and the fields of its statements and indexes.
fn parts(command: &Document) -> impl Iterator<Item = String> {
    let own = command
        .keys()
        .filter(|name| !OF_DRIVER.contains(&name.as_str()));
    let lists = ["pipeline", "updates", "deletes", "ops", "indexes"];
    let lists = lists
        .into_iter()
        .filter_map(|list| command.get_array(list).ok());
    let elements = lists.flatten().filter_map(Bson::as_document);
    own.chain(elements.flat_map(Document::keys)).cloned()
}

/// Makes sure that the table has all commands that were sent, by the test that calls this or another one.
///
/// # Panics
///
/// If it has not.
pub(super) fn assert_documented() {
    let others = OTHERS.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(
        others.is_empty(),
        "not in docs/dev/mongodb-commands.md: {others:?}"
    );
}
