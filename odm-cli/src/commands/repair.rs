//! `repair` and `backfill`: make derived data right.

use super::audit::run_audit;
use crate::{
    error::{Exit, Result},
    output::Output,
    source::Source,
};

/// Repairs the findings of an audit.
pub(super) async fn run(source: &Source<'_>, output: &mut Output) -> Result<Exit> {
    let target = source.open_collections().await?;
    let collections = &target.collections;
    let left = run_audit(collections.repair(), "repair", |_| true, output).await?;
    target.close().await?;
    Ok(if left == 0 {
        Exit::Done
    } else {
        Exit::Findings
    })
}

/// Computes the fields that were declared over existing documents.
pub(super) async fn backfill(source: &Source<'_>, output: &mut Output) -> Result<Exit> {
    let target = source.open_collections().await?;
    let collections = &target.collections;
    let pending = collections.pending_backfills().await?;
    let mut left = 0;
    if pending.is_empty() {
        output.note("No field is pending.")?;
    } else {
        output.note(&format!("pending: {}", pending.join(", ")))?;
        left = run_audit(
            collections.backfill(),
            "backfill",
            |finding| !finding.repaired,
            output,
        )
        .await?;
    }
    target.close().await?;
    Ok(if left == 0 {
        Exit::Done
    } else {
        Exit::Findings
    })
}
