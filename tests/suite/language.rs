//! Random filters, sorts, projections and updates on random documents have the same answers in the library as on a server:
//! the same documents in the same order, byte for byte, or a refusal.
//!
//! The embedded store finds, sorts, shows and updates by `mql`, which this suite calls: so these are the answers of the store. A difference
//! is known (`differences`), or fails the test.
//!
//! `ODM_TEST_CASES=100000 cargo test -p tests --all-features --test stores language -- --include-ignored --nocapture` compares so
//! many cases, from `ODM_TEST_SEED` on, and prints their numbers. A query over a collection is one case, and so is an update of
//! a document.

mod calls;
mod case;
mod differences;
mod server;
mod smaller;
mod stores;

use std::{collections::BTreeMap, env, time::Duration};

use odm::{
    bson::{Bson, DateTime, Document, RawBsonRef, RawDocumentBuf},
    mql::key,
    store::contract::Store,
};
use tests::{TestDatabase, on_mongodb_database};

use self::case::{Answer, Case, Kind, Statement, documents, id_of};

/// The number in a variable.
fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// The documents of a query.
const DOCUMENTS: i64 = 24;
/// The queries on the same documents.
const QUERIES: u64 = 350;
/// The updates in one command.
const UPDATES: u64 = 150;
/// The most disagreements that are shown.
const SHOWN: u64 = 20;

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn the_answers_are_those_of_a_server_on_mongodb() {
    let cases = number("ODM_TEST_CASES", 8_000);
    let seed = number("ODM_TEST_SEED", 1);
    let most = Duration::from_secs(600) + Duration::from_millis(20) * cases as u32;
    on_mongodb_database(most, async |server| {
        let mut compared = Compared::default();
        let mut done = 0;
        while done < cases {
            let seed = seed + done;
            compare_queries(server, seed, &mut compared).await;
            compare_updates(server, seed, &mut compared).await;
            done += QUERIES + UPDATES;
        }
        compared.report();
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn the_calls_of_both_stores_have_the_same_answers_on_mongodb() {
    let cases = number("ODM_TEST_CASES", 4_000);
    let seed = number("ODM_TEST_SEED", 1);
    let most = Duration::from_secs(600) + Duration::from_millis(50) * cases as u32;
    on_mongodb_database(most, async |server| {
        let store = server.store().await;
        let ensured = store.ensure(&calls::collections()).await;
        ensured.expect("the indexes are created");
        let mut compared = stores::Compared::default();
        for seed in seed.. {
            if compared.calls() >= cases {
                break;
            }
            stores::round(server, &store, seed, &mut compared).await;
        }
        compared.report();
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn each_difference_is_there_on_mongodb() {
    on_mongodb_database(Duration::from_secs(60), async |server| {
        let mut untrue = Vec::new();
        for difference in differences::known(server.is_secantus) {
            let case = (difference.example)();
            let now = DateTime::now();
            let (ours, theirs) = (case.answer(now), server::answer(server, &case).await);
            let of = differences::of(server.is_secantus, &case, &ours, &theirs).map(|one| one.says);
            if is_same(&ours, &theirs) || of != Some(difference.says) {
                untrue.push(format!(
                    "{}: {} is {}, there {}, of {of:?}",
                    difference.says,
                    case.statement,
                    shown(&ours),
                    shown(&theirs)
                ));
            }
        }
        assert!(untrue.is_empty(), "not there:\n{}", untrue.join("\n"));
    });
}

/// The numbers of cases, and the differing cases.
#[derive(Default)]
struct Compared {
    /// The cases of a kind, and how many of them are refused by both.
    cases: BTreeMap<Kind, (u64, u64)>,
    known: BTreeMap<&'static str, u64>,
    disagreeing: u64,
    /// The first disagreements.
    disagreements: Vec<String>,
}

impl Compared {
    /// Adds a case. A case with different answers is run again by itself.
    async fn add(
        &mut self,
        server: &TestDatabase,
        (seed, kind): (u64, Kind),
        case: Case,
        (ours, theirs): (Answer, Answer),
    ) {
        let (cases, refused) = self.cases.entry(kind).or_default();
        *cases += 1;
        *refused += u64::from(ours.is_err() && theirs.is_err());
        if is_same(&ours, &theirs) {
            return;
        }
        if let Some(known) = differences::of(server.is_secantus, &case, &ours, &theirs) {
            *self.known.entry(known.says).or_default() += 1;
            return;
        }
        self.disagreeing += 1;
        if self.disagreements.len() >= number("ODM_TEST_SHOWN", SHOWN) as usize {
            return;
        }
        let (case, ours, theirs) = match smallest(server, &case).await {
            Some(smallest) => smallest,
            // Together with the other cases, the server answered differently than for this one alone.
            None => (case, ours, theirs),
        };
        let documents = case.documents.iter().map(text);
        let documents: Vec<String> = documents.collect();
        self.disagreements.push(format!(
            "seed {seed}, {kind:?}: {}\n  of {}\n  is    {}\n  there {}",
            case.statement,
            documents.join(", "),
            shown(&ours),
            shown(&theirs),
        ));
    }

    fn report(&self) {
        for (kind, (cases, refused)) in &self.cases {
            eprintln!("{kind:?}: {cases} cases, of which both refuse {refused}");
        }
        for (says, number) in &self.known {
            eprintln!("{number} differ: {says}");
        }
        let shown = self.disagreements.join("\n");
        assert!(self.disagreeing == 0, "{} disagreements:\n{shown}", self.disagreeing);
    }
}

/// The smallest case for which the answers still differ, if they differ for the case alone.
async fn smallest(server: &TestDatabase, case: &Case) -> Option<(Case, Answer, Answer)> {
    let now = DateTime::now();
    let answers = async |case: &Case| {
        let (ours, theirs) = (case.answer(now), server::answer(server, case).await);
        let is_known = differences::of(server.is_secantus, case, &ours, &theirs).is_some();
        (!is_same(&ours, &theirs) && !is_known).then_some((ours, theirs))
    };
    let mut smallest = (answers(case).await?, case.clone());
    'smaller: loop {
        for case in smaller::smaller(&smallest.1) {
            if let Some(different) = answers(&case).await {
                smallest = (different, case);
                continue 'smaller;
            }
        }
        let ((ours, theirs), case) = smallest;
        return Some((case, ours, theirs));
    }
}

fn text(document: &RawDocumentBuf) -> String {
    Document::try_from(document).map_or_else(|error| error.to_string(), |read| format!("{read}"))
}

fn shown(answer: &Answer) -> String {
    match answer {
        Ok(documents) => {
            let documents = documents.iter().map(text);
            documents.collect::<Vec<String>>().join(", ")
        }
        Err(message) => format!("refused: {message}"),
    }
}

/// Whether both are refused, or have the same documents in one order. The time of an update does not matter.
fn is_same(ours: &Answer, theirs: &Answer) -> bool {
    match (ours, theirs) {
        (Err(_), Err(_)) => true,
        (Ok(ours), Ok(theirs)) => {
            let same = |(one, other): (&RawDocumentBuf, &RawDocumentBuf)| {
                one.as_bytes() == other.as_bytes() || timeless(one) == timeless(other)
            };
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(same)
        }
        _ => false,
    }
}

/// The document with one time in the place of all times close to this test, as bytes.
fn timeless(document: &RawDocumentBuf) -> Vec<u8> {
    fn replace(value: &mut Bson, now: i64) {
        match value {
            Bson::DateTime(time) if (time.timestamp_millis() - now).abs() < 3_600_000 => {
                *time = DateTime::from_millis(0);
            }
            Bson::Timestamp(time) if (i64::from(time.time) * 1_000 - now).abs() < 3_600_000 => {
                (time.time, time.increment) = (0, 0);
            }
            Bson::Document(document) => {
                document.iter_mut().for_each(|(_, value)| replace(value, now))
            }
            Bson::Array(array) => array.iter_mut().for_each(|value| replace(value, now)),
            _ => {}
        }
    }
    let mut document = Document::try_from(document).expect("an answer is well-formed");
    let now = DateTime::now().timestamp_millis();
    document.iter_mut().for_each(|(_, value)| replace(value, now));
    let raw = RawDocumentBuf::try_from(&document).expect("it is BSON");
    raw.into_bytes()
}

/// Stores documents, and returns the documents that the server stores unchanged.
async fn store(
    server: &TestDatabase,
    name: &str,
    mut documents: Vec<RawDocumentBuf>,
) -> Vec<RawDocumentBuf> {
    if server.is_secantus {
        documents.retain(|document| !differences::has_other_type(document));
    }
    server::store(server, name, &documents).await;
    let stored = server::stored(server, name).await;
    for document in &documents {
        assert!(server::is_among(document, &stored), "stored: {}", text(document));
    }
    documents
}

async fn compare_queries(server: &TestDatabase, seed: u64, compared: &mut Compared) {
    const NAME: &str = "queries";
    let documents = store(server, NAME, documents(seed, 0..DOCUMENTS)).await;
    for seed in seed..seed + QUERIES {
        let (kind, statement) = Statement::find(seed);
        let case = Case { documents: documents.clone(), statement };
        let ours = case.answer(DateTime::now());
        let Statement::Find { filter, sort, projection } = &case.statement else {
            continue;
        };
        let theirs = server::find(server, NAME, filter, sort, projection).await;
        compared.add(server, (seed, kind), case, (ours, theirs)).await;
    }
}

/// Runs the updates, and sends the ones that the library accepts in one message. Returns the message of each refused update.
async fn update_all(
    server: &TestDatabase,
    name: &str,
    documents: &[RawDocumentBuf],
    cases: &[Case],
    now: DateTime,
) -> Vec<Option<String>> {
    let (valid, other): (Vec<usize>, Vec<usize>) =
        (0..cases.len()).partition(|&at| cases[at].answer(now).is_ok());
    let statements = |positions: &[usize]| -> Vec<&Statement> {
        let statements = positions.iter().map(|&at| &cases[at].statement);
        statements.collect()
    };
    let mut refused = vec![None; cases.len()];
    let mut alone = other;
    match server::update(server, name, &statements(&valid)).await {
        Ok(messages) => {
            for (at, message) in valid.into_iter().zip(messages) {
                refused[at] = message;
            }
        }
        // The server refuses the message because of one of them, and may have run some.
        Err(_) => {
            server::store(server, name, documents).await;
            alone.extend(valid);
        }
    }
    for at in alone {
        refused[at] = match server::update(server, name, &statements(&[at])).await {
            Ok(messages) => messages.into_iter().flatten().next(),
            Err(message) => Some(message),
        };
    }
    refused
}

/// Whether a document has this `_id`, as a number of any type.
fn is_of(document: &RawDocumentBuf, id: i64) -> bool {
    id_of(document) == key::of(RawBsonRef::Int64(id))
}

async fn compare_updates(server: &TestDatabase, seed: u64, compared: &mut Compared) {
    const NAME: &str = "updates";
    // Each fourth document is missing, for an upsert.
    let ids = 0..UPDATES as i64;
    let mut documents = documents(seed, ids.clone());
    documents.retain(|document| document.get_i64("_id").is_ok_and(|id| id % 4 != 0));
    let documents = store(server, NAME, documents).await;
    let now = DateTime::now();
    let cases: Vec<Case> = ids
        .map(|id| {
            let of = |document: &&RawDocumentBuf| is_of(document, id);
            Case {
                documents: documents.iter().filter(of).cloned().collect(),
                statement: Statement::update(seed + id as u64, id),
            }
        })
        .collect();
    let refused = update_all(server, NAME, &documents, &cases, now).await;
    let after = server::stored(server, NAME).await;
    for ((id, case), refused) in (0..).zip(cases).zip(refused) {
        let theirs = match refused {
            Some(refused) => Err(refused),
            None => {
                let of = |document: &&RawDocumentBuf| is_of(document, id);
                Ok(after.iter().filter(of).cloned().collect())
            }
        };
        let ours = case.answer(now);
        let seed = seed + id as u64;
        compared.add(server, (seed, Kind::Update), case, (ours, theirs)).await;
    }
}
