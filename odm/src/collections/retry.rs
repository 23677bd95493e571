//! Commands that a caller may send again.

use std::{future::IntoFuture, time::Duration};

use bson::{RawDocument, RawDocumentBuf};
use futures_core::future::BoxFuture;
use odm_store::Result;

use super::{Collections, DeleteDocuments, InsertDocuments, UpdateDocuments, WrittenDocuments};
use crate::maintain::NamedWrite;
pub use crate::session::{DoneStatements, Retryable};

/// A write of a [command](Collections::once).
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, bson::doc, collections::Statement, mql::Filter};
///
/// let five = Filter::parse(&doc! { "stars": 5 })?;
/// let delete = Statement::Delete(Collections::of(&shop).collection("reviews").delete(five));
/// assert_eq!(delete.await?.modified, 2);
/// # Ok(()) });
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Statement {
    /// An insert.
    Insert(InsertDocuments),
    /// An update.
    Update(UpdateDocuments),
    /// A delete.
    Delete(DeleteDocuments),
}

impl IntoFuture for Statement {
    type Output = Result<WrittenDocuments>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    /// Carries out the statement, as its builder does when it is awaited. An insert has a result of zeros.
    fn into_future(self) -> Self::IntoFuture {
        match self {
            Statement::Insert(insert) => {
                Box::pin(async move { insert.await.map(|_| WrittenDocuments::default()) })
            }
            Statement::Update(update) => update.into_future(),
            Statement::Delete(delete) => delete.into_future(),
        }
    }
}

impl Collections {
    /// Carries out a part of a command that its caller may send again, since it may not have got the answer: for servers.
    ///
    /// The writes are one unit. In it, the answer that `answer` makes of the answer so far and of the results of the writes is stored for
    /// the caller, with the number of statements that are done. If these are done already, also before a crash, nothing is written, and
    /// their stored answer is returned. An error leaves nothing done.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::{doc, rawdoc}, collections::{Retryable, Statement}, mql::{Filter, Update}};
    ///
    /// let collections = Collections::of(&shop);
    /// for _ in 0..2 {
    ///     let part = Retryable { caller: "a client".into(), command: 1, begin: 0, end: 1 };
    ///     let taken = Update::parse(&doc! { "$inc": { "qty": -1_i64 } }, &[])?;
    ///     let taken = collections.collection("parts").update(Filter::default(), taken);
    ///     let answer = |_: Option<&_>, written: &[odm::collections::WrittenDocuments]| {
    ///         Ok(rawdoc! { "modified": written[0].modified as i64 })
    ///     };
    ///     let done = collections.once(part, vec![Statement::Update(taken)], answer).await?;
    ///     assert_eq!(done.answer, rawdoc! { "modified": 3_i64 });
    /// }
    /// assert_eq!(shop.parts.get(1).await?.qty, 89); // not 88
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the first write that fails; `Stale` if the caller has sent a later command; `InvalidQuery` in a transaction, and if
    /// statements before the part are not done.
    pub async fn once(
        &self,
        part: Retryable,
        writes: Vec<Statement>,
        answer: impl Fn(Option<&RawDocument>, &[WrittenDocuments]) -> Result<RawDocumentBuf>
        + Send
        + Sync
        + 'static,
    ) -> Result<DoneStatements> {
        let mut named = Vec::with_capacity(writes.len());
        let mut returned = Vec::with_capacity(writes.len());
        for write in writes {
            let (write, of) = match write {
                Statement::Insert(insert) => insert.into_statement()?,
                Statement::Update(update) => update.into_statement()?,
                Statement::Delete(delete) => delete.into_statement()?,
            };
            named.push(NamedWrite { write, named: None });
            returned.push(of);
        }
        let answer = move |before: Option<&RawDocument>, outcomes: &[_]| {
            let written = returned.iter().zip(outcomes);
            let written = written.map(|(returned, outcome)| returned.with(outcome));
            answer(before, &written.collect::<Vec<_>>())
        };
        self.session.write_once(part, named, Box::new(answer)).await
    }

    /// Returns how far the command of a part is done.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, collections::Retryable};
    ///
    /// let part = Retryable { caller: "a client".into(), command: 1, begin: 0, end: 1 };
    /// assert_eq!(Collections::of(&shop).done(&part).await?, None);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `Stale` if the caller has sent a later command.
    pub async fn done(&self, part: &Retryable) -> Result<Option<DoneStatements>> {
        self.session.done_of(part).await
    }

    /// Removes the stored answers of callers that have sent no command for so long.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use std::time::Duration;
    ///
    /// let collections = odm::Collections::of(&shop);
    /// collections.forget_answers(Duration::from_secs(30 * 60)).await?; // of clients that have been silent for half an hour
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn forget_answers(&self, unused_for: Duration) -> Result<()> {
        self.session.forget_retries(unused_for).await
    }
}
