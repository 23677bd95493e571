//! One history of writes, carried out by repositories and by a client of a server.

use std::{collections::BTreeMap, fmt};

use odm::{
    Embedded,
    bson::{Document, RawDocumentBuf, doc},
    mql::{Filter, Sort},
};
use odm_server::Server;

use crate::{
    Failure,
    history::{Described, Generator, Write},
    repositories::outcome,
    systems::{Opened, SYSTEMS},
};

/// A database, which repositories write to, its twin, which is served, and the writes.
struct Pair {
    name: &'static str,
    repositories: Opened,
    served: Opened,
    history: Vec<Write>,
}

/// All databases before their histories.
pub(crate) struct Comparison {
    pairs: Vec<Pair>,
    server: Server,
}

/// How many writes had each outcome.
#[derive(Default)]
pub(crate) struct Outcomes(BTreeMap<String, usize>);

impl Outcomes {
    /// How many writes had this outcome.
    #[cfg(test)]
    pub(crate) fn of(&self, outcome: &str) -> usize {
        self.0.get(outcome).copied().unwrap_or_default()
    }
}

impl fmt::Display for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcomes: Vec<String> = self
            .0
            .iter()
            .map(|(outcome, count)| format!("{outcome}: {count}"))
            .collect();
        f.write_str(&outcomes.join(", "))
    }
}

impl Comparison {
    /// Makes histories of `steps` writes for each database.
    pub(crate) async fn new(seed: u64, steps: usize) -> Result<Comparison, Failure> {
        let (mut pairs, mut builder) = (Vec::new(), Server::builder());
        for (system, seed) in SYSTEMS.iter().zip(seed..) {
            let repositories = system.open(Embedded::memory().await?).await?;
            let served = system.open(Embedded::memory().await?).await?;
            builder = builder.database(system.name, served.collections.clone());
            let models: Vec<_> = repositories
                .writers
                .iter()
                .map(|of| Described::new(of.model()))
                .collect();
            let mut generator = Generator::new(&models, seed);
            let history = (0..steps).map(|_| generator.write()).collect();
            pairs.push(Pair {
                name: system.name,
                repositories,
                served,
                history,
            });
        }
        Ok(Comparison {
            pairs,
            server: builder.listen("127.0.0.1:0").await?,
        })
    }

    /// The address for clients.
    pub(crate) fn uri(&self) -> String {
        format!(
            "mongodb://{}",
            self.server.local_addr().expect("it listens at TCP")
        )
    }

    /// What a client carries out, in this order.
    pub(crate) fn requests(&self) -> impl Iterator<Item = Document> {
        self.pairs.iter().flat_map(|pair| {
            pair.history.iter().map(|write| {
                let mut request = doc! { "database": pair.name };
                request.extend(write.request());
                request
            })
        })
    }

    /// Carries out the history by repositories, and compares each outcome with that of the client, and then all documents. An outcome of
    /// the client is `done`, `missing`, or the code and the message of an error.
    pub(crate) async fn check(self, outcomes: &[String]) -> Result<Outcomes, Failure> {
        let (mut counts, mut differences) = (Outcomes::default(), Vec::new());
        let mut outcomes = outcomes.iter();
        for pair in &self.pairs {
            for (at, write) in pair.history.iter().enumerate() {
                let (kind, message) = pair.repositories_write(write).await;
                let told = outcomes.next().map_or("nothing", String::as_str);
                if !is_same(told, &kind, &message) {
                    let (name, request) = (pair.name, write.request());
                    differences.push(format!(
                        "write {at} of `{name}`, {request}: a client is told `{told}`, and a repository `{kind} {message}`"
                    ));
                }
                *counts.0.entry(kind).or_default() += 1;
            }
            if let Err(failure) = pair.check_documents().await {
                differences.push(failure.to_string());
            }
        }
        self.server.shutdown().await;
        if differences.is_empty() {
            Ok(counts)
        } else {
            Err(differences.join("\n").into())
        }
    }
}

/// Whether the outcome of a client is that of a repository. The server puts the start of MongoDB's message before that of a duplicate key. A
/// document with two faults may be refused for either one: the library checks the references of a client's document first, to fill in the
/// copies that it leaves out.
fn is_same(told: &str, kind: &str, message: &str) -> bool {
    match told.split_once(' ') {
        None => told == kind,
        Some((_, text)) if kind == "11000" && text.starts_with("dangling reference") => true,
        Some((code, text)) => code == kind && without_ids(text).ends_with(&without_ids(message)),
    }
}

/// A message without any `ObjectId`, since the library makes those of cold parts.
fn without_ids(message: &str) -> String {
    let mut parts = message.split("ObjectId(\"");
    let first = parts.next().unwrap_or_default().to_owned();
    first
        + &parts
            .map(|part| part.get(24..).unwrap_or(part))
            .collect::<String>()
}

impl Pair {
    async fn repositories_write(&self, write: &Write) -> (String, String) {
        let mut writers = self.repositories.writers.iter();
        let writer = writers.find(|writer| writer.model().collection == write.collection);
        let writer = writer.expect("each collection has a repository");
        outcome(writer.write(&write.change).await)
    }

    async fn check_documents(&self) -> Result<(), Failure> {
        let mine = documents(&self.repositories).await?;
        let served = documents(&self.served).await?;
        for (place, document) in &mine {
            if served.get(place) != Some(document) {
                return Err(format!(
                    "{} {place}: {document:?}, and served {:?}",
                    self.name,
                    served.get(place)
                )
                .into());
            }
        }
        if mine.len() != served.len() {
            return Err(format!(
                "{}: {} documents, and served {}",
                self.name,
                mine.len(),
                served.len()
            )
            .into());
        }
        for opened in [&self.repositories, &self.served] {
            if let Some(finding) = opened.audit().await?.first() {
                return Err(format!("{}: {finding}", self.name).into());
            }
        }
        Ok(())
    }
}

/// All documents, by their collections and places in the order of `_id`. The library makes that of a cold part, which is left out.
async fn documents(opened: &Opened) -> Result<BTreeMap<String, RawDocumentBuf>, Failure> {
    let mut all = BTreeMap::new();
    for collection in opened.collections.list().await? {
        let name = collection.name;
        let by_id = Sort::parse(&doc! { "_id": 1 })?;
        let found = opened.collections.collection(&name).find(Filter::default());
        let mut documents = found.sort(by_id).await?;
        if (opened.writers.iter()).all(|writer| writer.model().collection != name) {
            for document in &mut documents {
                let mut fields = Document::try_from(&*document)?;
                fields.remove("_id");
                *document = RawDocumentBuf::try_from(&fields)?;
            }
            documents.sort_by(|one, other| one.as_bytes().cmp(other.as_bytes()));
        }
        let places = documents.into_iter().enumerate();
        all.extend(places.map(|(at, document)| (format!("{name} {at}"), document)));
    }
    Ok(all)
}
