//! The one path from the builder of a write to its result.

use std::fmt;

use odm_store::Result;

use super::rows::ReadBack;
use crate::{
    maintain::{NamedDocument, NamedWrite, Write, WriteOutcome, WritePlan},
    model::Document,
    session::Session,
};

/// A builder of a write: of an insert, an update, a replacement or a delete.
///
/// A function that is generic over writes:
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{plan::WritePlan, repository::WriteBuilder};
///
/// async fn in_a_unit<W: WriteBuilder>(shop: &Shop, write: W) -> odm::Result<W::Returned> {
///     shop.bulk(write).await
/// }
/// let part = in_a_unit(&shop, shop.parts.update(1).inc(Part::fields().qty, 1).returning()).await?;
/// assert_eq!(part.qty, 91);
/// # Ok(()) });
/// ```
pub trait WriteBuilder: Sized + Send {
    /// The result of the write.
    type Returned: Send + 'static;

    #[doc(hidden)]
    fn prepare(self) -> Result<PreparedWrite<Self::Returned>>;
}

/// A write that its builder has made, and how its result is read.
#[doc(hidden)]
pub struct PreparedWrite<T> {
    session: Session,
    write: Write,
    /// The document that the write must match.
    named: Option<NamedDocument>,
    finish: Finish<T>,
}

type Finish<T> = Box<dyn FnOnce(WriteOutcome) -> Result<T> + Send>;

impl<T> fmt::Debug for PreparedWrite<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedWrite")
            .field("write", &self.write)
            .finish_non_exhaustive()
    }
}

impl<T: Send + 'static> PreparedWrite<T> {
    pub(crate) fn new(
        session: Session,
        write: Write,
        finish: impl FnOnce(WriteOutcome) -> Result<T> + Send + 'static,
    ) -> Self {
        PreparedWrite {
            session,
            write,
            named: None,
            finish: Box::new(finish),
        }
    }

    /// A write that returns whole documents, which are read within its unit.
    pub(super) fn returning<M: Document>(
        session: Session,
        write: Write,
        read_back: ReadBack<M>,
        returned: fn(Vec<M>) -> T,
    ) -> Self {
        PreparedWrite::new(session, write, move |_| read_back.take().map(returned))
    }

    /// Sets the document that the write must match.
    pub(super) fn of_one(mut self, named: NamedDocument) -> Self {
        self.named = Some(named);
        self
    }

    /// Runs the write, and returns its result.
    pub(crate) async fn run(self) -> Result<T> {
        let outcome = match self.write.is_empty() {
            true => WriteOutcome::default(),
            false => self.session.write(self.write).await?,
        };
        match self.named {
            Some(named) if outcome.matched == 0 => Err(self.session.unmatched(&named).await?),
            _ => (self.finish)(outcome),
        }
    }

    /// The write as a part of a unit of another session, and how its result is read.
    pub(super) fn into_part(self) -> (Session, NamedWrite, Finish<T>) {
        let PreparedWrite {
            session,
            write,
            named,
            finish,
        } = self;
        (session, NamedWrite { write, named }, finish)
    }

    /// Runs the write, rolls it back, and returns the changes that it would make.
    pub(crate) async fn plan(self) -> Result<WritePlan> {
        let plan = self.session.plan(&self.write).await?;
        match self.named {
            Some(named) if plan.matched == 0 => Err(self.session.unmatched(&named).await?),
            _ => Ok(plan),
        }
    }
}

/// Implements `IntoFuture` for builders of writes.
macro_rules! impl_write_future {
    ($($builder:ty),+ $(,)?) => { $(
        impl<M: crate::model::Document> std::future::IntoFuture for $builder {
            type Output = Result<<Self as WriteBuilder>::Returned>;
            type IntoFuture = futures_core::future::BoxFuture<'static, Self::Output>;

            fn into_future(self) -> Self::IntoFuture {
                Box::pin(async move { self.prepare()?.run().await })
            }
        }
    )+ };
}

pub(super) use impl_write_future;
