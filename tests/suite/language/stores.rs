//! Random calls of a store have the same answers on the embedded store and on a MongoDB server: documents byte for byte,
//! numbers, and the kinds of errors.

use std::collections::BTreeMap;

use fuzz::Choices;
use odm::{
    Embedded, ErrorKind,
    bson::{DateTime, RawDocumentBuf},
    store::{
        contract::{Store, Transaction, TransactionOptions},
        mongodb::MongoDb,
    },
};
use tests::{TestDatabase, stored};

use super::{
    calls::{self, Answer, OwnWrite, Read, Refusal, Write},
    case::{self, Case},
    differences, is_same, number, server,
};

/// The documents at the beginning of a round.
const DOCUMENTS: i64 = 14;
/// The calls of a round, about.
const CALLS: u64 = 40;
/// The statement about answers of SecantusDB that differ if it uses an index.
const NUL: &str = "BSON types: BSON strings are UTF-8, of which NUL is a character";
/// The most disagreements that are shown.
const SHOWN: usize = 20;

#[derive(Default)]
pub(super) struct Compared {
    /// The calls of each kind, and how many of them both stores refuse.
    calls: BTreeMap<&'static str, (u64, u64)>,
    known: BTreeMap<&'static str, u64>,
    disagreeing: u64,
    disagreements: Vec<String>,
}

impl Compared {
    pub(super) fn calls(&self) -> u64 {
        self.calls.values().map(|(calls, _)| calls).sum()
    }

    pub(super) fn report(&self) {
        for (kind, (calls, refused)) in &self.calls {
            eprintln!("{kind}: {calls} calls, of which both refuse {refused}");
        }
        for (says, number) in &self.known {
            eprintln!("{number} differ: {says}");
        }
        let shown = self.disagreements.join("\n");
        assert!(self.disagreeing == 0, "{} disagreements:\n{shown}", self.disagreeing);
    }
}

/// Both stores, and the results of the comparison.
pub(super) struct Round<'t> {
    server: &'t TestDatabase,
    embedded: Embedded,
    mongodb: &'t MongoDb,
    collection: String,
    seed: u64,
    compared: &'t mut Compared,
}

fn kind_of_read(read: &Read) -> &'static str {
    match read {
        Read::Get(..) => "get",
        Read::Find(find) if find.after.is_some() => "find after a position",
        Read::Find(_) => "find",
        Read::FindByKey(_) => "find by key",
        Read::Count(_) => "count",
        Read::CountByKey(_) => "count by key",
        Read::Aggregate(_) => "aggregate",
    }
}

fn kind_of_write(write: &Write) -> &'static str {
    match write {
        Write::Update(_) => "update",
        Write::Delete(_) => "delete",
        Write::Apply(..) => "apply",
    }
}

/// Runs the round of a seed.
pub(super) async fn round(
    server: &TestDatabase,
    mongodb: &MongoDb,
    seed: u64,
    compared: &mut Compared,
) {
    let collections = calls::collections();
    let collection = &collections[seed as usize % collections.len()];
    let embedded = Embedded::memory().await.expect("a store in memory opens");
    let ensured = embedded.ensure(std::slice::from_ref(collection)).await;
    ensured.expect("the indexes are created");
    server::store(server, &collection.name, &[]).await;
    let mut round =
        Round { server, embedded, mongodb, collection: collection.name.clone(), seed, compared };
    round.run().await;
}

impl Round<'_> {
    async fn run(&mut self) {
        let mut documents = case::documents(self.seed, 0..DOCUMENTS);
        documents.retain(|document| !differences::has_other_type(document));
        for document in documents {
            // One at a time, since some have the same value of a unique index.
            let write = Write::Apply(self.collection.clone(), vec![OwnWrite::Insert(document)]);
            if !self.transaction(&[Call::Write(Box::new(write))], true).await {
                return;
            }
        }
        let mut seed = self.seed.wrapping_mul(1_000);
        for _ in 0..CALLS / 8 {
            let documents = stored(&self.embedded, &self.collection).await;
            for _ in 0..4 {
                seed += 1;
                if let Some(read) = Read::new(&self.collection, seed, &documents) {
                    let (here, there) = (self.embedded.reader(), self.mongodb.reader());
                    let ours = read.run(&*here.expect("it is open")).await;
                    let theirs = read.run(&*there.expect("it is open")).await;
                    self.add_read(&read, &documents, &ours, &theirs).await;
                }
            }
            let bytes = fuzz::bytes(seed, 8);
            let is_committed = Choices::plain(&bytes).below(4) > 0;
            let calls = (0..4).map(|_| {
                seed += 1;
                Call::Seed(seed)
            });
            let calls: Vec<Call> = calls.collect();
            if !self.transaction(&calls, is_committed).await {
                return;
            }
        }
    }

    /// Runs calls in a transaction on each store, until one is refused. Returns whether both stores have the same documents
    /// after it.
    async fn transaction(&mut self, calls: &[Call], is_committed: bool) -> bool {
        let options = TransactionOptions::default;
        let here = self.embedded.begin(options()).await;
        let there = self.mongodb.begin(options()).await;
        let (mut here, mut there) = (here.expect("it begins"), there.expect("it begins"));
        let mut is_going_on = is_committed;
        let mut is_same = true;
        for call in calls {
            let documents = inside(&*here, &self.collection).await;
            let (ours, theirs) = match call {
                Call::Seed(seed) if seed.is_multiple_of(2) => {
                    let Some(read) = Read::new(&self.collection, *seed, &documents) else {
                        continue;
                    };
                    let answers = (read.run(&*here).await, read.run(&*there).await);
                    self.add_read(&read, &documents, &answers.0, &answers.1).await;
                    answers
                }
                call => {
                    let write = match call {
                        Call::Write(write) => Some(Write::clone(write)),
                        Call::Seed(seed) => Write::new(&self.collection, *seed, &documents),
                    };
                    let Some(write) = write else { continue };
                    let answers = (write.run(&mut *here).await, write.run(&mut *there).await);
                    self.add_write(&write, &documents, &answers.0, &answers.1).await;
                    // The written documents may differ now.
                    is_same &= answers.0 == answers.1;
                    answers
                }
            };
            if ours.is_err() || theirs.is_err() || !is_same {
                is_going_on = false;
                break;
            }
        }
        let (ours, theirs) = match is_going_on {
            true => (here.commit().await, there.commit().await),
            false => (here.rollback().await, there.rollback().await),
        };
        ours.expect("the embedded store ends the transaction");
        theirs.expect("the server ends the transaction");
        let ours = stored(&self.embedded, &self.collection).await;
        let theirs = stored(self.mongodb, &self.collection).await;
        if ours == theirs {
            return true;
        }
        let answer = |all: Vec<RawDocumentBuf>| Ok((all.into_iter().enumerate().collect(), vec![]));
        let (ours, theirs) = (answer(ours), answer(theirs));
        self.disagree(&format!("after {calls:?}, committed: {is_going_on}"), &ours, &theirs);
        false
    }

    async fn add_read(
        &mut self,
        read: &Read,
        documents: &[RawDocumentBuf],
        ours: &Answer,
        theirs: &Answer,
    ) {
        let cases = read.cases(documents);
        self.add(kind_of_read(read), &format!("{read:?}"), cases, (ours, theirs)).await;
    }

    async fn add_write(
        &mut self,
        write: &Write,
        documents: &[RawDocumentBuf],
        ours: &Answer,
        theirs: &Answer,
    ) {
        let cases = write.case(documents).into_iter().collect();
        self.add(kind_of_write(write), &format!("{write:?}"), cases, (ours, theirs)).await;
    }

    /// Adds a call with its answers. The answers to a query may differ if the server alone answers the query differently.
    async fn add(
        &mut self,
        kind: &'static str,
        call: &str,
        cases: Vec<Case>,
        (ours, theirs): (&Answer, &Answer),
    ) {
        let (calls, refused) = self.compared.calls.entry(kind).or_default();
        *calls += 1;
        *refused += u64::from(ours.is_err() && theirs.is_err());
        if ours == theirs {
            return;
        }
        let is_limited = call.contains("limit: Some");
        for case in cases {
            // A query that stops may not reach the document on which the whole query fails.
            let documents = case.documents.iter().filter(|_| is_limited);
            let alone = documents.map(|document| Case {
                documents: vec![document.clone()],
                statement: case.statement.clone(),
            });
            let alone: Vec<Case> = alone.collect();
            for case in [case].into_iter().chain(alone) {
                let own = case.answer(DateTime::now());
                let its = server::answer(self.server, &case).await;
                let known = differences::of(self.server.is_secantus, &case, &own, &its);
                if let (false, Some(known)) = (is_same(&own, &its), known) {
                    *self.compared.known.entry(known.says).or_default() += 1;
                    return;
                }
            }
        }
        if self.server.is_secantus && self.collection != "plain" && call.contains("\\0") {
            *self.compared.known.entry(NUL).or_default() += 1;
            return;
        }
        if let Some(known) = of_store(kind, self.server.is_secantus, ours, theirs) {
            *self.compared.known.entry(known).or_default() += 1;
            return;
        }
        self.disagree(&format!("{kind}: {call}"), ours, theirs);
    }

    fn disagree(&mut self, call: &str, ours: &Answer, theirs: &Answer) {
        self.compared.disagreeing += 1;
        if self.compared.disagreements.len() < number("ODM_TEST_SHOWN", SHOWN as u64) as usize {
            self.compared.disagreements.push(format!(
                "seed {}, `{}`, {call}\n  is    {}\n  there {}",
                self.seed,
                self.collection,
                calls::shown(ours, theirs),
                calls::shown(theirs, ours),
            ));
        }
    }
}

enum Call {
    Write(Box<Write>),
    /// A read or a write of the documents at the time of the call.
    Seed(u64),
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Call::Write(write) => write.fmt(f),
            Call::Seed(seed) => write!(f, "seed {seed}"),
        }
    }
}

/// The reason why the store on MongoDB may answer a call differently, although the server answers its queries in the same way.
fn of_store(kind: &str, is_secantus: bool, ours: &Answer, theirs: &Answer) -> Option<&'static str> {
    match (ours, theirs) {
        (Ok(_), Err(Refusal(ErrorKind::DuplicateKey, message))) => {
            match message.contains("`c` = null") {
                true => Some(
                    "docs/mongodb.md: Of an array of which some elements have the fields of a unique index and some do \
                     not, the latter count as null",
                ),
                false if kind == "apply" => Some(
                    "docs/mongodb.md: The documents of one batch of the store itself cannot exchange the values of a unique index",
                ),
                false => None,
            }
        }
        (Ok(_), Err(Refusal(ErrorKind::FailedFilter, _)))
        | (Err(Refusal(ErrorKind::FailedFilter, _)), Ok(_)) => {
            Some("an expression fails on a document that only one of the stores looks at")
        }
        // It is also among the differences of the language, for queries without a skip and a limit.
        (Ok(_), Err(Refusal(ErrorKind::InvalidQuery, message)))
            if is_secantus && message.contains("Location51246") =>
        {
            Some(
                "positional_projection.js: But if positional projection cannot find specified path, query should not \
                 throw",
            )
        }
        _ => None,
    }
}

/// The documents that a transaction sees.
async fn inside(transaction: &dyn Transaction, collection: &str) -> Vec<RawDocumentBuf> {
    let all = Read::Find(odm::store::contract::Find {
        collection: collection.to_owned(),
        ..Default::default()
    });
    let (documents, _) = all.run(transaction).await.expect("the documents are read");
    documents.into_iter().map(|(_, document)| document).collect()
}
