//! Audits, repairs and backfills of a whole database, and the validation of a collection.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    fmt,
    future::{IntoFuture, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bson::RawBson;
use futures_core::{Stream, future::BoxFuture};
use odm_mql::key;
use odm_store::{Cost, Error, ErrorKind, Find, Result};

use super::Cursor;
use crate::{
    catalog::{Catalog, without_positions},
    maintain::{AuditScope, Checked, Finding, Problem, Write, is_of_documents},
    session::Session,
    trace::Operation,
};

/// How many documents are checked on one state of the data, and repaired in one unit.
const CHUNK: u64 = 200;

/// An audit of a database: a stream of [`Finding`]s. Made by [`audit`](crate::Database::audit),
/// [`repair`](crate::Database::repair) and [`backfill`](crate::Database::backfill), by
/// [`Collections::audit`](crate::Collections::audit) without models, and by [`validate`](super::Repository::validate) for one collection.
/// Awaited, it returns all findings at once.
///
/// It checks the collections in chunks of documents, each on one state of the data. It does not block concurrent writes.
///
/// It is a [`Stream`], so that the adapters of `futures_util` work on it; [`next`](Audit::next) and [`try_next`](Audit::try_next) work
/// without them.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let findings = shop.audit().with_validation().await?;
/// assert_eq!(findings, []);
/// # Ok(()) });
/// ```
#[must_use = "an audit does nothing unless it is awaited or polled"]
pub struct Audit {
    state: AuditState,
    found: VecDeque<Finding>,
    progress: Progress,
}

/// The progress of an [`Audit`].
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let mut audit = shop.audit();
/// while audit.try_next().await?.is_some() {}
/// assert_eq!(audit.progress().checked, audit.progress().total);
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The number of documents that were checked.
    pub checked: u64,
    /// The number of documents at the beginning, including the documents before the position at which the audit was
    /// [resumed](Audit::resume).
    pub total: u64,
    /// The number of derived fields that are stale because their [deferred refresh](crate::Database::deferred_refreshes) waits. They are no
    /// findings, and a repair corrects them.
    pub deferred: u64,
    /// The position at which the audit can be resumed. It is at most a chunk before the last returned finding. `None` at the beginning.
    pub position: Option<Cursor>,
}

/// The mode of an audit: how it treats its findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AuditMode {
    /// It returns them.
    Report,
    /// It repairs them.
    Repair,
    /// It repairs them in the collections with pending backfills, which are complete at the end.
    Backfill,
}

enum AuditState {
    Ready(Box<Auditor>),
    Checking(BoxFuture<'static, Result<(Box<Auditor>, Vec<Finding>)>>),
    Done,
}

/// The audit as it runs.
struct Auditor {
    session: Session,
    mode: AuditMode,
    scope: AuditScope,
    /// The one collection that is checked, together with the collections of its cold parts; `None` for all.
    only: Option<String>,
    /// The catalog when it started.
    catalog: Option<Arc<Catalog>>,
    /// The fields that are backfilled, if not all pending ones.
    among: Option<BTreeSet<String>>,
    /// The pending backfills that are complete at the end. Fields that could not be repaired are removed, since nothing may rely on them.
    pending: BTreeSet<String>,
    /// The collections that are not yet checked completely, and the last checked document of the first one.
    left: VecDeque<String>,
    after: Option<RawBson>,
    progress: Progress,
    /// Whether a document with a failed refresh in the outbox was repaired.
    has_repaired_parked: bool,
    started: bool,
    /// The position at which it was told to start.
    from: Option<Cursor>,
}

impl Audit {
    /// An audit of all collections.
    pub(crate) fn of_models(session: &Session, mode: AuditMode) -> Self {
        Audit::new(session, mode, AuditScope::MODELS, None)
    }

    /// A backfill of some of the pending fields.
    pub(crate) fn of_pending(session: &Session, fields: BTreeSet<String>) -> Self {
        let mut audit = Audit::of_models(session, AuditMode::Backfill);
        if let AuditState::Ready(auditor) = &mut audit.state {
            auditor.among = Some(fields);
        }
        audit
    }

    /// An audit of a collection by its validators.
    pub(super) fn of_validation(session: &Session, collection: &str) -> Self {
        let mode = AuditMode::Report;
        Audit::new(
            session,
            mode,
            AuditScope::VALIDATORS,
            Some(collection.to_owned()),
        )
    }

    /// An audit of one collection.
    pub(crate) fn of_collection(session: &Session, collection: &str) -> Self {
        let mode = AuditMode::Report;
        Audit::new(
            session,
            mode,
            AuditScope::MODELS,
            Some(collection.to_owned()),
        )
    }

    fn new(session: &Session, mode: AuditMode, scope: AuditScope, only: Option<String>) -> Self {
        let progress = Progress {
            checked: 0,
            total: 0,
            deferred: 0,
            position: None,
        };
        let auditor = Auditor {
            session: session.clone(),
            mode,
            scope,
            only,
            catalog: None,
            among: None,
            pending: BTreeSet::new(),
            left: VecDeque::new(),
            after: None,
            progress: progress.clone(),
            has_repaired_parked: false,
            started: false,
            from: None,
        };
        Audit {
            state: AuditState::Ready(Box::new(auditor)),
            found: VecDeque::new(),
            progress,
        }
    }

    /// Resumes an earlier audit at the position of its [`progress`](Audit::progress). The findings of
    /// its last chunk may be found again.
    ///
    /// A resumed backfill leaves the references pending in the collections before the position: it does not know which of them dangle.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let mut audit = shop.audit();
    /// # while audit.try_next().await?.is_some() {}
    /// # let last = audit.progress().position.clone();
    /// // A nightly audit that had to end before it was through goes on where it was.
    /// let audit = match last {
    ///     Some(position) => shop.audit().resume(&position),
    ///     None => shop.audit(),
    /// };
    /// assert_eq!(audit.await?, []);
    /// # Ok(()) });
    /// ```
    pub fn resume(mut self, position: &Cursor) -> Self {
        if let AuditState::Ready(auditor) = &mut self.state {
            auditor.from = Some(position.clone());
            auditor.progress.position = Some(position.clone());
        }
        self.progress.position = Some(position.clone());
        self
    }

    /// Checks documents by the validation of their collections as well, as
    /// [`validate`](super::Repository::validate) does. A repair cannot make them valid.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(shop.audit().with_validation().await?, []);
    /// # Ok(()) });
    /// ```
    pub fn with_validation(mut self) -> Self {
        if let AuditState::Ready(auditor) = &mut self.state {
            auditor.scope.validators = true;
        }
        self
    }

    /// Returns the progress so far.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut audit = shop.audit();
    /// while let Some(finding) = audit.try_next().await? {
    ///     println!("{finding} ({} of {})", audit.progress().checked, audit.progress().total);
    /// }
    /// # Ok(()) });
    /// ```
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Waits for the next finding. `None` at the end.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut audit = shop.audit();
    /// while let Some(finding) = audit.next().await {
    ///     println!("{}", finding?);
    /// }
    /// # Ok(()) });
    /// ```
    pub async fn next(&mut self) -> Option<Result<Finding>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Waits for the next finding, as [`next`](Audit::next) does, for `while let Some(finding) =
    /// audit.try_next().await?`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut repair = shop.repair();
    /// while let Some(finding) = repair.try_next().await? {
    ///     println!("{finding}");
    /// }
    /// # Ok(()) });
    /// ```
    pub async fn try_next(&mut self) -> Result<Option<Finding>> {
        self.next().await.transpose()
    }
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit")
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}

impl Auditor {
    async fn next(mut self: Box<Self>) -> Result<(Box<Self>, Vec<Finding>)> {
        if !self.started {
            self.start().await?;
        }
        let Some(collection) = self.left.front().cloned() else {
            self.end().await?;
            return Ok((self, Vec::new()));
        };
        let after = self.after.take();
        let (documents, checked) = self
            .session
            .check_chunk(self.scope, &collection, after, CHUNK)
            .await?;
        let mut findings = checked.findings;
        match self.mode {
            AuditMode::Report => self.progress.deferred += checked.deferred.len() as u64,
            // The fields are refreshed at once, without waiting for the worker.
            AuditMode::Repair | AuditMode::Backfill => findings.extend(checked.deferred),
        }
        if let (AuditMode::Backfill, Some(catalog)) = (self.mode, &self.catalog) {
            // A backfill computes only pending fields, so it can repair no other unreadable fields.
            findings.retain(|finding| {
                !matches!(finding.problem, Problem::Unreadable(_))
                    || catalog.is_pending_around(&finding.collection, &finding.path)
            });
        }
        if self.mode != AuditMode::Report && !findings.is_empty() {
            self.repair(&collection, &mut findings).await?;
        }
        self.progress.checked += documents.len() as u64;
        match documents
            .last()
            .and_then(|document| document.get("_id").ok().flatten())
        {
            Some(id) => {
                let id = RawBson::from(id);
                self.progress.position = Some(Cursor::in_collection(&collection, id.clone()));
                self.after = Some(id);
            }
            None => {
                self.left.pop_front();
                if self.left.is_empty() {
                    self.end().await?;
                }
            }
        }
        Ok((self, findings))
    }

    /// Records the backfills that are complete.
    async fn end(&mut self) -> Result<()> {
        let complete = std::mem::take(&mut self.pending);
        if let (Some(catalog), false) = (&self.catalog, complete.is_empty()) {
            self.session.complete(catalog, complete).await?;
        }
        if std::mem::take(&mut self.has_repaired_parked) {
            // Retried failed refreshes find nothing to do, if all their documents were repaired.
            self.session.retry_failed_refreshes().await?;
        }
        Ok(())
    }

    /// Counts the documents to check, and moves to the start.
    async fn start(&mut self) -> Result<()> {
        let catalog = self.session.current_catalog().await?;
        let names = catalog.collections().filter(|name| {
            let is_own =
                |own| own == *name || catalog.split_in(name).is_some_and(|split| split.hot == own);
            self.only.as_deref().is_none_or(is_own) && self.scope.includes(&catalog, name)
        });
        self.left = names.map(str::to_owned).collect();
        if self.mode == AuditMode::Backfill {
            self.pending.clone_from(catalog.pending());
            if let Some(among) = &self.among {
                self.pending.retain(|field| among.contains(field));
            }
            let holders = self.pending.iter().map(|place| catalog.holder_of(place));
            let holders: BTreeSet<&str> = holders.collect();
            self.left.retain(|name| holders.contains(name.as_str()));
        }
        let mut before = 0;
        if let Some(from) = &self.from {
            let (collection, id) = from.collection_and_id()?;
            let Some(skipped) = self.left.iter().position(|name| *name == collection) else {
                return Err(Error::new(
                    ErrorKind::InvalidQuery,
                    format!(
                        "position is in `{collection}`, which is not audited: resume with a \
                         position of this audit"
                    ),
                ));
            };
            // The findings in the skipped collections are unknown, so fields there stay pending, except computed ones.
            let skips: Vec<&String> = self.left.iter().take(skipped + 1).collect();
            self.pending.retain(|field| {
                let holder = catalog.holder_of(field);
                catalog.is_computed(field) || !skips.iter().any(|name| *name == holder)
            });
            before = skipped;
            self.after = Some(id);
        }
        let operation = Operation::begin("audit", "").of_all();
        // An empty name loads no cold parts of any collection.
        let view = self.session.reader("", &[]).await?;
        let mut cost = Cost::default();
        for (at, name) in self.left.iter().enumerate() {
            let all = Find {
                collection: name.clone(),
                ..Find::default()
            };
            let (count, counting) = view.count(&all).await?;
            cost += counting;
            self.progress.total += count;
            if at < before {
                self.progress.checked += count;
            } else if let (true, Some(id)) = (at == before, &self.after) {
                let after = Some(vec![id.clone()]);
                let rest = Find { after, ..all };
                let (rest, counting) = view.count(&rest).await?;
                cost += counting;
                self.progress.checked += count - rest;
            }
        }
        self.session.record(operation, cost);
        drop(view);
        self.left.drain(..before);
        self.catalog = Some(catalog);
        self.started = true;
        Ok(())
    }

    /// Repairs findings as one unit, and checks their documents again.
    async fn repair(&mut self, collection: &str, findings: &mut [Finding]) -> Result<()> {
        let mut ids: Vec<RawBson> = Vec::new();
        for finding in findings.iter() {
            if ids.last() != Some(&finding.id) {
                ids.push(finding.id.clone());
            }
        }
        let key_of = |finding: &Finding| key::of(finding.id.as_raw_bson_ref());
        let mut failed = HashSet::new();
        match self.write_repair(collection, &ids).await {
            // Repairs each document alone, so that a document that cannot be checked does not prevent the others.
            Err(error) if is_of_documents(&error) => {
                for id in ids.chunks(1) {
                    match self.write_repair(collection, id).await {
                        Err(error) if is_of_documents(&error) => {
                            failed.extend(id.iter().map(|id| key::of(id.as_raw_bson_ref())));
                        }
                        repaired => repaired?,
                    }
                }
            }
            repaired => repaired?,
        }
        let checked = self.session.check_documents(self.scope, collection, &ids);
        let Checked {
            findings: mut left,
            mut deferred,
            ..
        } = checked.await?;
        // A repaired field that waits for its refresh was changed by a later write.
        deferred.retain(|finding| failed.contains(&key_of(finding)));
        left.append(&mut deferred);
        let place = |finding: &Finding| (key_of(finding), finding.path.clone());
        let mut left_at: HashMap<_, Vec<&Finding>> = HashMap::new();
        for finding in &left {
            left_at.entry(place(finding)).or_default().push(finding);
        }
        for finding in findings {
            let same = left_at.get(&place(finding)).into_iter().flatten();
            finding.repaired = !same.copied().any(|left| left == finding);
            self.has_repaired_parked |=
                finding.repaired && matches!(finding.problem, Problem::FailedRefresh(_));
            if !finding.repaired {
                self.keep_pending(finding);
            }
        }
        Ok(())
    }

    async fn write_repair(&self, collection: &str, ids: &[RawBson]) -> Result<()> {
        let write = Write::Repair {
            collection: collection.to_owned(),
            ids: ids.to_vec(),
        };
        self.session.write(write).await.map(drop)
    }

    /// Keeps a field pending that could not be repaired, and with a cold part all fields in it.
    fn keep_pending(&mut self, finding: &Finding) {
        let Some(catalog) = &self.catalog else { return };
        let path = without_positions(&finding.path);
        let field = format!("{}.{path}", finding.collection);
        self.pending.retain(|pending| {
            let inside = field.strip_prefix(pending.as_str());
            !inside.is_some_and(|inside| inside.is_empty() || inside.starts_with('.'))
        });
        if let Some(split) = catalog.split_at(&finding.collection, &path) {
            self.pending
                .retain(|field| catalog.holder_of(field) != split.cold);
        }
    }
}

impl Stream for Audit {
    type Item = Result<Finding>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(finding) = self.found.pop_front() {
                return Poll::Ready(Some(Ok(finding)));
            }
            match std::mem::replace(&mut self.state, AuditState::Done) {
                AuditState::Done => return Poll::Ready(None),
                AuditState::Ready(auditor) => {
                    // All findings before the position have been returned.
                    self.progress
                        .position
                        .clone_from(&auditor.progress.position);
                    if !auditor.started || !auditor.left.is_empty() {
                        self.state = AuditState::Checking(Box::pin(auditor.next()));
                    }
                }
                AuditState::Checking(mut next) => match next.as_mut().poll(cx) {
                    Poll::Pending => {
                        self.state = AuditState::Checking(next);
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok((auditor, found))) => {
                        self.progress.checked = auditor.progress.checked;
                        self.progress.total = auditor.progress.total;
                        self.progress.deferred = auditor.progress.deferred;
                        self.state = AuditState::Ready(auditor);
                        self.found = found.into();
                    }
                    Poll::Ready(Err(error)) => return Poll::Ready(Some(Err(error))),
                },
            }
        }
    }
}

impl IntoFuture for Audit {
    type Output = Result<Vec<Finding>>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(futures_util::TryStreamExt::try_collect(self))
    }
}
