//! The one pipeline of a unit: base data, effects, derived fields, checks, in this order, for every kind of work.
//!
//! A write, an import, a repair and a deferred refresh are [`Work`]s. [`run`] carries one out:
//!
//! 1. the changes of *base data* that the work itself makes;
//! 2. to a fixed point, their effects on base data: delete rules, cold parts, inverse references. Versions are a function of
//!    the base data, and join its writes;
//! 3. derived fields, in the order of the graph, each once for every holder that may be wrong. A refresh has no effects;
//! 4. the validation of the documents that the work names;
//! 5. one batch that writes everything;
//! 6. the checks: every added reference names a document, and the caller can read the returned documents. An error rolls
//!    everything back.
//!
//! So a unit may delete a document together with all its referrers, and a field is refreshed once, however many of its sources
//! changed.
//!
//! A delete of more documents than the unit should hold goes by *pages*: steps 1 to 3 run for a page, which is flushed and
//! forgotten, and then for the next one. Restricting references are checked after the last page, when all referrers that the
//! unit removes are gone.
//!
//! The larger steps return boxed futures. The compiler copies the body of an `async fn`, with all that it awaits, into each codegen unit
//! that awaits it; these copies were an eighth of a program. An allocation costs little beside a step.

use std::future::Future;

use futures_core::future::BoxFuture;
use odm_store::{Durability, Error, ErrorKind, Result, Store, Transaction};

use super::{
    delete_rules::DeleteRules,
    derived,
    policy::Policy,
    references,
    remote::{Unread, unread::Settled},
    rewrites::Told,
    rights::Rights,
    unit::{Bounds, HeldBack, Totals, Unit},
    versions::Earlier,
};
use crate::catalog::Catalog;

/// The work of one unit.
pub(crate) trait Work: Send + Sync + 'static {
    /// The state of the work between its pages.
    type Progress: Default + Send;
    /// The result for the caller.
    type Outcome: Send;

    fn policy(&self) -> Policy;

    /// The rights of its caller.
    fn rights(&self) -> Rights {
        None
    }

    /// Whether its caller bypasses the rule of a collection that no model declares. Nothing bypasses the rules of models.
    fn bypasses_rule(&self) -> bool {
        false
    }

    /// The number of documents that the caller sends.
    fn documents(&self) -> u64 {
        0
    }

    /// The name of its first step.
    fn step(&self) -> String;

    /// Refuses work that is invalid whatever is stored.
    fn check(&self, _catalog: &Catalog) -> Result<()> {
        Ok(())
    }

    /// Carries out the next page of changes of base data. Returns whether another page follows.
    fn change(
        &self,
        unit: &mut Unit<'_>,
        progress: &mut Self::Progress,
    ) -> impl Future<Output = Result<bool>> + Send;

    /// Whether a unit with many effects may flush and forget documents between their pages: no later step of the work reads the
    /// documents.
    fn is_paged(&self) -> bool {
        false
    }

    /// The positions of the documents that the page has changed, by collection. Their inverse references are updated next.
    fn changed<'p>(&'p self, progress: &'p Self::Progress) -> Vec<(&'p str, &'p [usize])>;

    /// Makes the changes that depend on the refreshed fields.
    fn settle(
        &self,
        _unit: &mut Unit<'_>,
        _progress: &mut Self::Progress,
    ) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    /// Validates the documents that the work names, which do not change any more.
    fn validate(&self, _unit: &Unit<'_>, _progress: &Self::Progress) -> Result<()> {
        Ok(())
    }

    /// Runs the check of the documents that the work returns.
    fn check_returned(
        &self,
        _unit: &mut Unit<'_>,
        _progress: &mut Self::Progress,
    ) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    fn outcome(progress: Self::Progress, totals: Totals) -> Self::Outcome;

    /// Whether refreshes are left to the worker of the outbox.
    fn has_queued(outcome: &Self::Outcome) -> bool;

    /// Returns the part of the outcome that the caller sees; `None` for work that must not be done again.
    fn told(_outcome: &Self::Outcome) -> Option<Told> {
        None
    }

    /// Carries out the work without a transaction, or does nothing and returns `None`.
    fn write_single(
        &self,
        _store: &dyn Store,
        _catalog: &Catalog,
        _durability: Durability,
        _with_steps: bool,
    ) -> impl Future<Output = Result<Option<Self::Outcome>>> + Send {
        async { Ok(None) }
    }
}

/// Carries out work in a transaction, with all its consequences.
///
/// After an error the transaction may hold a part of the unit, and must not be committed. An error of kind `Stale` or
/// `NotFound` of a write of one document comes before anything is written.
pub(super) async fn apply<W: Work>(
    catalog: &Catalog,
    transaction: &mut dyn Transaction,
    work: &W,
    with_steps: bool,
) -> Result<W::Outcome> {
    apply_within(catalog, transaction, work, Bounds::default(), with_steps).await
}

/// [`apply`] with other bounds.
pub(super) async fn apply_within<W: Work>(
    catalog: &Catalog,
    transaction: &mut dyn Transaction,
    work: &W,
    bounds: Bounds,
    with_steps: bool,
) -> Result<W::Outcome> {
    let mut unit = Unit::new(catalog, transaction, work.policy(), bounds, with_steps);
    unit.rights = work.rights();
    unit.bypasses_rule = work.bypasses_rule();
    let ran = run(&mut unit, work).await;
    let (progress, settled) = ran.map_err(|error| unit.without_secrets(error))?;
    Ok(W::outcome(progress, unit.into_totals(settled)))
}

/// The state that units pass to the next unit of the same commit.
#[derive(Debug, Default)]
pub(super) struct Predecessors {
    earlier: Earlier,
    pub(super) held_back: HeldBack,
}

/// [`apply`], as one of several units that are committed together: uniqueness holds at the end of the last one. Until then
/// documents are held back.
pub(super) async fn apply_part<W: Work>(
    catalog: &Catalog,
    transaction: &mut dyn Transaction,
    work: &W,
    with_steps: bool,
    (before, is_last): (&mut Predecessors, bool),
) -> Result<W::Outcome> {
    let (policy, bounds) = (work.policy(), Bounds::default());
    let unit = Unit::new(catalog, transaction, policy, bounds, with_steps);
    let mut unit = unit.after(std::mem::take(&mut before.held_back), !is_last);
    unit.earlier = std::mem::take(&mut before.earlier);
    unit.rights = work.rights();
    unit.bypasses_rule = work.bypasses_rule();
    let ran = run(&mut unit, work).await;
    let (progress, settled) = ran.map_err(|error| unit.without_secrets(error))?;
    before.earlier = unit.take_earlier()?;
    before.held_back = unit.take_held_back();
    Ok(W::outcome(progress, unit.into_totals(settled)))
}

/// Runs all steps.
pub(super) fn run<'f, W: Work>(
    unit: &'f mut Unit<'_>,
    work: &'f W,
) -> BoxFuture<'f, Result<(W::Progress, Settled)>> {
    Box::pin(async move {
        work.check(unit.catalog)?;
        let mut progress = W::Progress::default();
        let mut rules = DeleteRules::default();
        loop {
            let has_more = work.change(unit, &mut progress).await?;
            unit.end_step(|| work.step());
            while rules.apply(unit, work.is_paged()).await? {
                end_page(unit, work, &mut progress).await?;
            }
            if !has_more {
                break;
            }
            end_page(unit, work, &mut progress).await?;
        }
        rules.restrict(unit).await?;
        let unread = consequences(unit, work, &mut progress).await?;
        let settled = unread.finish(unit).await?;
        unit.end_step(|| "batch of writes".to_owned());
        references::check(unit).await?;
        unit.end_step(|| "added references".to_owned());
        work.check_returned(unit, &mut progress).await?;
        Ok((progress, settled))
    })
}

/// Computes the consequences of a page, writes it, and forgets its documents.
async fn end_page<W: Work>(
    unit: &mut Unit<'_>,
    work: &W,
    progress: &mut W::Progress,
) -> Result<()> {
    let unread = consequences(unit, work, progress).await?;
    unread.finish_page(unit).await?;
    unit.end_page().await
}

/// The consequences of the changes so far.
fn consequences<'f, 'c, W: Work>(
    unit: &'f mut Unit<'c>,
    work: &'f W,
    progress: &'f mut W::Progress,
) -> BoxFuture<'f, Result<Unread<'c>>> {
    Box::pin(async move {
        let unread = follow(unit, work.changed(progress)).await?;
        work.settle(unit, progress).await?;
        if let Err(error) = work.validate(unit, progress) {
            return Err(reason(unit, error).await);
        }
        Ok(unread)
    })
}

/// Updates the inverse references of the documents at the positions, and refreshes the derived fields.
fn follow<'f, 'c>(
    unit: &'f mut Unit<'c>,
    changed: Vec<(&'f str, &'f [usize])>,
) -> BoxFuture<'f, Result<Unread<'c>>> {
    Box::pin(async move {
        unit.end_step(|| "delete rules".to_owned());
        let mut unread = Unread::default();
        for (collection, positions) in changed {
            unread
                .follow_references(unit, collection, positions)
                .await?;
        }
        unit.end_step(|| "inverse references".to_owned());
        unread.begin_refresh(unit);
        if let Err(error) = derived::refresh(unit).await {
            return Err(reason(unit, error).await);
        }
        unread.queue(unit).await?;
        Ok(unread)
    })
}

/// Why a unit fails with an error of its derived fields, or of the documents with them. They may lack the copy of a source that does not
/// exist, which is the reason then.
fn reason<'f>(unit: &'f mut Unit<'_>, error: Error) -> BoxFuture<'f, Error> {
    Box::pin(async move {
        match error.kind() {
            ErrorKind::Uncomputable | ErrorKind::InvalidUpdate => {
                references::check(unit).await.err().unwrap_or(error)
            }
            _ => error,
        }
    })
}
