//! The import: documents in units of a bounded size; the documents that one refers to are stored before it or in the same unit.

use std::{collections::HashSet, fmt, future::IntoFuture};

use futures_core::future::BoxFuture;
use odm_store::{Error, ErrorKind, Result};
use tokio::io::AsyncBufRead;

use super::{
    OnTransferProgress, TransferProgress, input_position::InputPosition, line::LineReader,
    ready::ready, scope::TransferScope,
};
use crate::{
    catalog::COUNTERS,
    maintain::{self, Doc, ImportOrigin, Imported, SequenceCounter},
    session::Session,
};

/// The maximum of documents, and of their bytes, in a unit, unless more refer to each other.
pub(super) const UNIT: usize = 500;
pub(super) const UNIT_BYTES: usize = 4 << 20;

/// The maximum of bytes of documents that wait for documents that they refer to.
const MOST_WAITING: usize = 256 << 20;

/// An import into a database, from [`Database::import`](crate::Database::import). Awaiting it stores the documents,
/// and returns their number.
///
/// A unit stores up to 500 documents and 4 MiB, or more if they refer to each other in a cycle, which has to be in one unit. So the stored
/// data is consistent after each unit. After an error, or when the future is dropped, the units before it stay: begin again in a new store,
/// or, if the documents are few enough, import within a [`transaction`](crate::Database::transaction), which stores all or nothing, and
/// whose closure makes the reader.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// # let mut lines = Vec::new();
/// # shop.export(&mut lines).await?;
/// let copy = Shop::open(Embedded::memory().await?).await?;
/// let number: u64 = copy.import(&lines[..]).await?;
/// assert_eq!(number, 14);
/// # Ok(()) });
/// ```
#[must_use = "an import does nothing until it is awaited"]
pub struct Import<'r> {
    session: Session,
    scope: TransferScope,
    reader: Box<dyn AsyncBufRead + Unpin + Send + 'r>,
    on_progress: Box<OnTransferProgress>,
}

impl<'r> Import<'r> {
    pub(crate) fn new(
        session: &Session,
        scope: TransferScope,
        reader: impl AsyncBufRead + Unpin + Send + 'r,
    ) -> Self {
        Import {
            session: session.clone(),
            scope,
            reader: Box::new(reader),
            on_progress: Box::new(|_| {}),
        }
    }

    /// Calls a function after each unit that is stored.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let mut lines = Vec::new();
    /// # shop.export(&mut lines).await?;
    /// let copy = Shop::open(Embedded::memory().await?).await?;
    /// copy.import(&lines[..]).on_progress(|progress| println!("{} stored", progress.documents)).await?;
    /// # Ok(()) });
    /// ```
    pub fn on_progress(mut self, report: impl FnMut(TransferProgress) + Send + 'static) -> Self {
        self.on_progress = Box::new(report);
        self
    }

    async fn run(self) -> Result<u64> {
        // Databases may have been declared since the last operation.
        self.session.follow_catalog().await?;
        let mut lines = LineReader::new(self.reader);
        let mut importer = Importer::new(self.session, ImportOrigin::Library, self.on_progress);
        let catalog = importer.session.catalog();
        let check_collection = |lines: &LineReader<'_>, name: &str| {
            let checked = self.scope.check_collection(name, &catalog);
            checked.map_err(|why| lines.invalid(&why))
        };
        let head = lines.head().await?;
        let checked = self.scope.check(&head, &importer.session).await?;
        checked.map_err(|why| lines.invalid(&why))?;
        importer.progress.of = head.documents;
        let mut checked = HashSet::new();
        for (name, last) in &head.sequences {
            check_collection(&lines, name)?;
            let session = &importer.session;
            let declared = self.scope.check_declared(name, &head, session).await?;
            declared.map_err(|why| lines.invalid(&why))?;
            checked.insert(name.clone());
            importer
                .last_number(SequenceCounter::of_ids(name), *last)
                .await?;
        }
        let mut read = 0;
        while let Some((name, document)) = lines.document().await? {
            if name == COUNTERS {
                let catalog = importer.session.catalog();
                let counter = SequenceCounter::read(&document);
                let counter = counter.filter(|(field, ..)| catalog.is_sequence(field));
                let Some((_, counter, last)) = counter else {
                    return Err(lines.invalid(
                        "unknown counter: the document is not that of a field with `#[sequence]` in a model of the database",
                    ));
                };
                importer.last_number(counter, last).await?;
                continue;
            }
            read += 1;
            check_collection(&lines, &name)?;
            if !checked.contains(&name) {
                let session = &importer.session;
                let declared = self.scope.check_declared(&name, &head, session).await?;
                declared.map_err(|why| lines.invalid(&why))?;
                checked.insert(name.clone());
            }
            let imported = Imported {
                collection: name,
                document: Doc::new(document),
                parts: Vec::new(),
            };
            importer
                .add(InputPosition::line(lines.number()), imported)
                .await?;
        }
        if read != head.documents {
            return Err(lines.invalid(&format!(
                "the export ends here after {read} documents, and its first line says that it has {}",
                head.documents
            )));
        }
        importer.end().await?;
        Ok(importer.progress.documents)
    }
}

impl<'r> IntoFuture for Import<'r> {
    type Output = Result<u64>;
    type IntoFuture = BoxFuture<'r, Result<u64>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for Import<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Import").finish_non_exhaustive()
    }
}

/// A document that was read.
pub(super) struct InputDocument {
    /// How many were read before.
    number: u64,
    place: InputPosition,
    pub(super) imported: Imported,
}

impl InputDocument {
    fn len(&self) -> usize {
        self.imported.document.as_bytes().len()
    }
}

/// Documents, in the order of their numbers.
#[derive(Default)]
struct ImportBatch {
    documents: Vec<InputDocument>,
    bytes: usize,
}

impl FromIterator<InputDocument> for ImportBatch {
    fn from_iter<I: IntoIterator<Item = InputDocument>>(all: I) -> Self {
        let mut batch = ImportBatch::default();
        all.into_iter().for_each(|sent| batch.push(sent));
        batch
    }
}

impl ImportBatch {
    fn push(&mut self, sent: InputDocument) {
        self.bytes += sent.len();
        self.documents.push(sent);
    }
}

/// An import while it runs.
pub(super) struct Importer {
    pub(super) session: Session,
    origin: ImportOrigin,
    /// How many documents were read.
    read: u64,
    /// The last numbers that are not recorded yet.
    last_numbers: Vec<(SequenceCounter, i64)>,
    /// The documents that refer to documents which were not read yet.
    waiting: ImportBatch,
    /// The documents that were read since.
    fresh: ImportBatch,
    /// How many of the documents found in the store it has stored itself, before it began again.
    own: u64,
    pub(super) progress: TransferProgress,
    pub(super) on_progress: Box<OnTransferProgress>,
}

impl Importer {
    pub(super) fn new(
        session: Session,
        origin: ImportOrigin,
        on_progress: Box<OnTransferProgress>,
    ) -> Self {
        Importer {
            session,
            origin,
            read: 0,
            last_numbers: Vec::new(),
            waiting: ImportBatch::default(),
            fresh: ImportBatch::default(),
            own: 0,
            progress: TransferProgress::default(),
            on_progress,
        }
    }

    /// Begins again, with all documents from the first on.
    pub(super) fn again(self) -> Self {
        let mut again = Importer::new(self.session, self.origin, self.on_progress);
        again.progress.documents = self.progress.documents;
        again.own = self.progress.documents;
        again
    }

    /// Counts documents that were found stored.
    pub(super) fn found(&mut self, number: u64) {
        let own = self.own.min(number);
        self.own -= own;
        self.progress.found += number - own;
        (self.on_progress)(self.progress);
    }

    /// Adds the last number of a sequence.
    pub(super) async fn last_number(&mut self, counter: SequenceCounter, last: i64) -> Result<()> {
        self.last_numbers.push((counter, last));
        match self.last_numbers.len() < UNIT {
            true => Ok(()),
            false => self.store_unit(&[]).await,
        }
    }

    pub(super) async fn add(&mut self, place: InputPosition, imported: Imported) -> Result<()> {
        self.fresh.push(InputDocument {
            number: self.read,
            place,
            imported,
        });
        self.read += 1;
        // Waiting documents are checked again when half as many new ones have come, so that the total time is proportional to the number of
        // documents.
        let (waiting, fresh) = (&self.waiting, &self.fresh);
        if fresh.documents.len() < UNIT.max(waiting.documents.len() / 2)
            && fresh.bytes < UNIT_BYTES.max(waiting.bytes / 2)
        {
            return Ok(());
        }
        self.store_fresh().await?;
        match self.waiting.bytes > MOST_WAITING {
            false => Ok(()),
            true => Err(Error::new(
                ErrorKind::Limit,
                format!(
                    "{place}: more than {} MiB of documents up to here refer to others that have not come; put each \
                     document after those that it refers to",
                    MOST_WAITING >> 20
                ),
            )),
        }
    }

    /// Stores the rest.
    pub(super) async fn end(&mut self) -> Result<()> {
        self.store_fresh().await?;
        let left = &self.waiting.documents;
        let catalog = self.session.catalog();
        let view = self.session.reader("", &[]).await?;
        let (_, missing) = ready(&catalog, &view, left).await?;
        drop(view);
        if let Some(missing) = missing {
            let sent = &left[missing.at()];
            let error = missing.error(&sent.imported.collection);
            return Err(error.met_in(&sent.place.to_string()));
        }
        // All that can be left now are the numbers of an export without documents.
        match self.last_numbers.is_empty() {
            true => Ok(()),
            false => self.store_unit(&[]).await,
        }
    }

    /// Stores all documents read so far that are ready. If one of them fails, it stores them in smaller units, so that only the unit of
    /// that document fails.
    async fn store_fresh(&mut self) -> Result<()> {
        let fresh = std::mem::take(&mut self.fresh).documents;
        let first = fresh.first().map_or(u64::MAX, |sent| sent.number);
        fresh.into_iter().for_each(|sent| self.waiting.push(sent));
        match self.store_ready().await {
            // The first error aborts a transaction.
            Err(error) if is_of_a_document(&error) && !self.session.is_bound() => {}
            stored => return stored,
        }
        let mut all = std::mem::take(&mut self.waiting).documents;
        let fresh = all.split_off(all.partition_point(|sent| sent.number < first));
        self.waiting = all.into_iter().collect();
        let mut since = 0;
        for sent in fresh {
            self.waiting.push(sent);
            since += 1;
            if since > self.waiting.documents.len() / 2 {
                self.store_ready().await?;
                since = 0;
            }
        }
        self.store_ready().await
    }

    /// Stores the documents that refer to no missing document. The others wait.
    async fn store_ready(&mut self) -> Result<()> {
        let catalog = self.session.catalog();
        let view = self.session.reader("", &[]).await?;
        let (groups, _) = ready(&catalog, &view, &self.waiting.documents).await?;
        drop(view);
        let mut is_stored = vec![false; self.waiting.documents.len()];
        let mut stored = Ok(());
        for unit in units(groups, &self.waiting.documents) {
            stored = self.store_unit(&unit).await;
            if stored.is_err() {
                break;
            }
            unit.into_iter().for_each(|at| is_stored[at] = true);
        }
        let all = std::mem::take(&mut self.waiting).documents.into_iter();
        let left = all.zip(is_stored).filter(|(_, is_stored)| !is_stored);
        self.waiting = left.map(|(sent, _)| sent).collect();
        stored
    }

    /// Stores the waiting documents at these positions, as one unit.
    async fn store_unit(&mut self, unit: &[usize]) -> Result<()> {
        let sent = unit.iter().map(|&at| &self.waiting.documents[at]);
        let import = maintain::ImportedDocuments {
            origin: self.origin,
            documents: sent.clone().map(|sent| sent.imported.clone()).collect(),
            last_numbers: self.last_numbers.clone(),
        };
        if let Err(error) = self.session.import(import).await {
            let mut places = sent.map(|sent| sent.place);
            let Some(first) = places.next() else {
                return Err(error);
            };
            return Err(match places.next_back() {
                None => error.met_in(&first.to_string()),
                Some(last) => error.met_in(&first.to(last)),
            });
        }
        self.last_numbers.clear();
        self.progress.documents += unit.len() as u64;
        (self.on_progress)(self.progress);
        Ok(())
    }
}

/// Puts groups of documents together into units of a bounded size, unless a group is larger, each in the order in which
/// they were read.
fn units(groups: Vec<Vec<usize>>, documents: &[InputDocument]) -> Vec<Vec<usize>> {
    let mut units: Vec<Vec<usize>> = Vec::new();
    let mut bytes = 0;
    for group in groups {
        let sizes = group.iter().map(|&at| documents[at].len());
        let of_group: usize = sizes.sum();
        match units.last_mut() {
            Some(unit) if unit.len() + group.len() <= UNIT && bytes + of_group <= UNIT_BYTES => {
                unit.extend(group);
                bytes += of_group;
            }
            _ => {
                units.push(group);
                bytes = of_group;
            }
        }
    }
    units.iter_mut().for_each(|unit| unit.sort_unstable());
    units
}

/// Whether a document of a unit can be the cause of its error, so that the others can be stored without it.
fn is_of_a_document(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DuplicateKey
            | ErrorKind::DanglingReference
            | ErrorKind::Invalid
            | ErrorKind::InvalidUpdate
            | ErrorKind::Decode
            | ErrorKind::Encode
            | ErrorKind::FailedFilter
            | ErrorKind::Uncomputable
            | ErrorKind::Limit
    )
}
