//! Looking through a whole database for what is wrong in it.

use std::{
    collections::{BTreeSet, VecDeque},
    future::IntoFuture,
    pin::Pin,
    task::{Context, Poll},
};

use bson::RawBson;
use futures_core::{Stream, future::BoxFuture};

use crate::{
    error::{Error, ErrorKind, Result},
    maintain::{Finding, Write},
    repository::Cursor,
    session::Session,
    store::{Cost, Find},
    trace::record_cost,
};

/// How many documents are checked on one state of the data, and mended in one unit.
const CHUNK: u64 = 200;

/// A search for what is wrong in a database, a stream of [`Finding`]s. Made by
/// [`audit`](super::Database::audit) and [`repair`](super::Database::repair); awaited, it gives all
/// findings at once.
///
/// It goes through the collections in chunks of documents, each on one state of the data. What is
/// written while it runs is not in its way, nor it in that of others.
#[must_use = "an audit does nothing unless it is awaited or polled"]
pub struct Audit {
    state: State,
    found: VecDeque<Finding>,
    progress: Progress,
}

/// How far an [`Audit`] is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How many documents it has checked.
    pub checked: u64,
    /// How many there were to check when it began, with those before the position that it was
    /// [resumed](Audit::resume) at.
    pub total: u64,
    /// Where it can be resumed: nothing that was handed over lies after it by more than a chunk.
    /// None at the beginning.
    pub position: Option<Cursor>,
}

enum State {
    Ready(Box<Search>),
    Checking(BoxFuture<'static, Result<(Box<Search>, Vec<Finding>)>>),
    Done,
}

/// Where a search is.
struct Search {
    session: Session,
    mends: bool,
    /// What is complete at the end, where this brings up what was declared over older documents.
    rebuilds: Option<BTreeSet<String>>,
    /// The collections that are left, and the last document of the first one that was checked.
    left: VecDeque<String>,
    after: Option<RawBson>,
    progress: Progress,
    counted: bool,
    /// Where it was told to start.
    from: Option<Cursor>,
}

impl Audit {
    pub(super) fn new(session: &Session, mends: bool) -> Self {
        Audit::of(session, mends, false)
    }

    pub(super) fn rebuild(session: &Session) -> Self {
        Audit::of(session, true, true)
    }

    fn of(session: &Session, mends: bool, rebuilds: bool) -> Self {
        let progress = Progress {
            checked: 0,
            total: 0,
            position: None,
        };
        let search = Search {
            left: VecDeque::new(),
            rebuilds: rebuilds.then(BTreeSet::new),
            session: session.clone(),
            mends,
            after: None,
            progress: progress.clone(),
            counted: false,
            from: None,
        };
        Audit {
            state: State::Ready(Box::new(search)),
            found: VecDeque::new(),
            progress,
        }
    }

    /// Goes on where an earlier one was, by its [`progress`](Audit::progress). What that one found in
    /// its last chunk may be found again.
    pub fn resume(mut self, position: &Cursor) -> Self {
        if let State::Ready(search) = &mut self.state {
            search.from = Some(position.clone());
            search.progress.position = Some(position.clone());
        }
        self.progress.position = Some(position.clone());
        self
    }

    /// How far it is.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }
}

impl Search {
    async fn next(mut self: Box<Self>) -> Result<(Box<Self>, Vec<Finding>)> {
        if !self.counted {
            self.start().await?;
        }
        let Some(collection) = self.left.front().cloned() else {
            self.end().await?;
            return Ok((self, Vec::new()));
        };
        let after = self.after.take();
        let (documents, mut findings) = self.session.check_chunk(&collection, after, CHUNK).await?;
        if self.mends && !findings.is_empty() {
            self.mend(&collection, &mut findings).await?;
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

    /// All has been looked at.
    async fn end(&mut self) -> Result<()> {
        if let Some(places) = self.rebuilds.take().filter(|places| !places.is_empty()) {
            self.session.complete(places).await?;
        }
        Ok(())
    }

    /// Counts what there is to check, and finds the start.
    async fn start(&mut self) -> Result<()> {
        let catalog = self.session.current_catalog().await?;
        let names = catalog
            .collections()
            .filter(|name| catalog.is_derived(name));
        self.left = names.map(str::to_owned).collect();
        if let Some(places) = &mut self.rebuilds {
            places.clone_from(catalog.building());
            let holders: BTreeSet<&str> =
                places.iter().map(|place| catalog.holder(place)).collect();
            self.left.retain(|name| holders.contains(name.as_str()));
        }
        let mut before = 0;
        if let Some(from) = &self.from {
            let (collection, id) = from.collection_and_id()?;
            let Some(skipped) = self.left.iter().position(|name| *name == collection) else {
                return Err(Error::new(
                    ErrorKind::InvalidQuery,
                    format!("the position is in `{collection}`, which is not audited"),
                ));
            };
            before = skipped;
            self.after = Some(id);
        }
        // Of no collection are cold parts loaded.
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
        record_cost("audit", "", cost);
        drop(view);
        self.left.drain(..before);
        self.counted = true;
        Ok(())
    }

    /// Mends what was found, as one unit, and looks again.
    async fn mend(&self, collection: &str, findings: &mut [Finding]) -> Result<()> {
        let mut ids: Vec<RawBson> = Vec::new();
        for finding in findings.iter() {
            if ids.last() != Some(&finding.id) {
                ids.push(finding.id.clone());
            }
        }
        let write = Write::Repair {
            collection: collection.to_owned(),
            ids: ids.clone(),
        };
        self.session.write(write).await?;
        let left = self.session.check_documents(collection, &ids).await?;
        for finding in findings {
            finding.mended = !left.contains(finding);
        }
        Ok(())
    }
}

impl Stream for Audit {
    type Item = Result<Finding>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(finding) = self.found.pop_front() {
                return Poll::Ready(Some(Ok(finding)));
            }
            match std::mem::replace(&mut self.state, State::Done) {
                State::Done => return Poll::Ready(None),
                State::Ready(search) => {
                    // Whatever was found before it has been handed over.
                    self.progress.position.clone_from(&search.progress.position);
                    if !search.counted || !search.left.is_empty() {
                        self.state = State::Checking(Box::pin(search.next()));
                    }
                }
                State::Checking(mut next) => match next.as_mut().poll(cx) {
                    Poll::Pending => {
                        self.state = State::Checking(next);
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok((search, found))) => {
                        self.progress.checked = search.progress.checked;
                        self.progress.total = search.progress.total;
                        self.state = State::Ready(search);
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
