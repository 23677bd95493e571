//! Several writes as one unit.

use std::vec;

use futures_core::future::BoxFuture;
use odm_store::{Error, ErrorKind, Result};

use super::WriteBuilder;
use crate::{
    maintain::{NamedWrite, WriteOutcome},
    session::Session,
};

/// Writes that are carried out as one unit, by [`Database::bulk`](crate::Database::bulk): the builder of a write, or a
/// tuple, a `Vec` or an `Option` of such writes.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// // A tuple of writes of several models, with a `Vec` of as many as there are lines.
/// let qty = Part::fields().qty;
/// let taken: Vec<_> = [(1, 4), (2, 4)].map(|(id, number)| shop.parts.update(id).inc(qty, -number)).into();
/// let ship = shop.orders.update(1).set(Order::fields().shipped, DateTime::now());
/// shop.bulk((taken, ship)).await?;
/// assert_eq!(shop.parts.get(2).await?.qty, 1);
/// # Ok(()) });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no write, and no tuple, `Vec` or `Option` of writes",
    label = "not a write",
    note = "the builders of writes are those of `insert`, `update`, `replace`, `upsert`, `delete` and their like, \
            before they are awaited"
)]
pub trait Writes: Sized + Send {
    /// The results of the writes, in the same form.
    type Returned: Send + 'static;

    #[doc(hidden)]
    fn add_to(self, bulk: &mut Bulk<'_>) -> Result<ReadOutcomes<Self::Returned>>;
}

/// The writes of a unit.
#[doc(hidden)]
#[derive(Debug)]
pub struct Bulk<'a> {
    session: &'a Session,
    writes: Vec<NamedWrite>,
}

/// Takes the outcomes of the writes that were added, in their order.
#[doc(hidden)]
pub(super) type ReadOutcomes<T> = Box<dyn FnOnce(&mut Outcomes) -> Result<T> + Send>;

/// The outcomes of all writes, in their order.
#[doc(hidden)]
#[derive(Debug)]
pub struct Outcomes(vec::IntoIter<WriteOutcome>);

/// Runs the writes as one unit, and returns their results.
pub(crate) fn run<W: Writes>(
    session: &Session,
    writes: W,
) -> BoxFuture<'static, Result<W::Returned>> {
    let session = session.clone();
    let mut bulk = Bulk {
        session: &session,
        writes: Vec::new(),
    };
    let added = writes.add_to(&mut bulk).map(|read| (read, bulk.writes));
    Box::pin(async move {
        let (read, writes) = added?;
        let outcomes = match writes.is_empty() {
            true => Vec::new(),
            false => session.write_all(writes).await?,
        };
        read(&mut Outcomes(outcomes.into_iter()))
    })
}

impl<W: WriteBuilder> Writes for W {
    type Returned = W::Returned;

    fn add_to(self, bulk: &mut Bulk<'_>) -> Result<ReadOutcomes<W::Returned>> {
        let (session, write, finish) = self.prepare()?.into_part();
        if !session.is_of_same(bulk.session) {
            let message = format!(
                "bulk with a write of `{}` by a repository of another database or transaction: take the \
                 repositories of the database on which `bulk` is called",
                write.write.collection()
            );
            return Err(Error::new(ErrorKind::InvalidQuery, message));
        }
        bulk.writes.push(write);
        Ok(Box::new(|outcomes| {
            finish(outcomes.0.next().unwrap_or_default())
        }))
    }
}

impl<W: Writes> Writes for Vec<W> {
    type Returned = Vec<W::Returned>;

    fn add_to(self, bulk: &mut Bulk<'_>) -> Result<ReadOutcomes<Vec<W::Returned>>> {
        let added = self.into_iter().map(|write| write.add_to(bulk));
        let added: Vec<_> = added.collect::<Result<_>>()?;
        Ok(Box::new(|outcomes| {
            added.into_iter().map(|read| read(outcomes)).collect()
        }))
    }
}

impl<W: Writes> Writes for Option<W> {
    type Returned = Option<W::Returned>;

    fn add_to(self, bulk: &mut Bulk<'_>) -> Result<ReadOutcomes<Option<W::Returned>>> {
        let added = self.map(|write| write.add_to(bulk)).transpose()?;
        Ok(Box::new(|outcomes| {
            added.map(|read| read(outcomes)).transpose()
        }))
    }
}

macro_rules! impl_writes {
    ($($write:ident)+) => {
        #[allow(non_snake_case, reason = "each variable has the name of its type")]
        impl<$($write: Writes),+> Writes for ($($write,)+) {
            type Returned = ($($write::Returned,)+);

            fn add_to(self, bulk: &mut Bulk<'_>) -> Result<ReadOutcomes<Self::Returned>> {
                let ($($write,)+) = self;
                $(let $write = $write.add_to(bulk)?;)+
                Ok(Box::new(|outcomes| Ok(($($write(outcomes)?,)+))))
            }
        }
    };
}

impl_writes!(A);
impl_writes!(A B);
impl_writes!(A B C);
impl_writes!(A B C D);
impl_writes!(A B C D E);
impl_writes!(A B C D E F);
impl_writes!(A B C D E F G);
impl_writes!(A B C D E F G H);
