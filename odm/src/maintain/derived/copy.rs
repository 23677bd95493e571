//! Copies of fields of other documents.
//!
//! A copy may be wrong if its holder or its source was written. All copies in a written holder are compared with their
//! definitions. The holders of a source are found by the index on their reference; if nothing else in a holder has changed, only
//! the copies of that source are compared, and no other source is read. Each holder is changed once, in the fields that differ.

mod held;
mod recompute;
mod stale;

use std::collections::BTreeMap;

use async_trait::async_trait;
use bson::RawBson;

use super::{Derivation, DerivedKind, Inputs, deferred_step, of_kind, step_name};
use crate::{
    catalog::{Along, CopyDefinition, DerivedField, FieldDefinition, FromDerived, OrderedField},
    maintain::{
        places::FieldValues,
        unit::{Doc, DocumentPages, Unit},
    },
};
use odm_store::{Result, mutants::mutant};
use recompute::{followed, wrong};
use stale::{FollowedSources, StaleCopies, stale};

/// The kind `#[denormalize]`.
pub(super) struct Copies;

#[async_trait]
impl Derivation for Copies {
    async fn refresh(&self, unit: &mut Unit<'_>, level: &[OrderedField<'_>]) -> Result<()> {
        // The copies beside one reference depend on the same fields of their holder.
        let mut groups: BTreeMap<(&str, &str, &Along), CopyGroup<'_>> = BTreeMap::new();
        for ordered in level {
            if let Some(copy) = CopyDefinition::from_derived(ordered.field) {
                let key = (&*copy.holder, &*copy.within, &copy.along);
                let group = groups.entry(key).or_default();
                group.copies.push(copy);
                group.is_holder_read = ordered.is_holder_read;
                group.paths.push(ordered.field.path().into_owned());
            }
        }
        for ((holder, ..), group) in groups {
            let stale = stale(unit, holder, &group.copies)?;
            refresh_whole(unit, holder, &group, &stale).await?;
            if let Some(follow) = &stale.followed {
                refresh_followers(unit, holder, &group, &stale, follow).await?;
            }
            refresh_due(unit, holder, &group, &stale).await?;
            unit.end_step(|| step_name(group.paths.iter().map(String::as_str), holder));
            if !mutant("deferred copy") {
                unit.queue_refreshes(stale.deferred).await?;
            }
            let deferred = group.copies.iter().filter(|copy| copy.is_deferred());
            let deferred: Vec<String> = deferred.map(|copy| copy.path().into_owned()).collect();
            unit.end_step(|| deferred_step(step_name(deferred.iter().map(String::as_str), holder)));
        }
        Ok(())
    }

    async fn differences(
        &self,
        lookup: &mut dyn Inputs,
        fields: &[&DerivedField],
        documents: &[Doc],
    ) -> Result<Vec<FieldValues>> {
        let copies: Vec<&CopyDefinition> = of_kind(fields);
        let before: Vec<Option<Doc>> = documents.iter().cloned().map(Some).collect();
        wrong(lookup, &copies, documents, &before).await
    }

    fn kind(&self) -> DerivedKind {
        DerivedKind::Copy
    }
}

/// The copies of a level beside one reference in documents of one collection, or along one reference
/// of their sources.
#[derive(Default)]
struct CopyGroup<'c> {
    copies: Vec<&'c CopyDefinition>,
    is_holder_read: bool,
    /// The paths of the copies.
    paths: Vec<String>,
}

/// Compares all copies in stale documents with their definitions.
async fn refresh_whole(
    unit: &mut Unit<'_>,
    holder: &str,
    group: &CopyGroup<'_>,
    stale: &StaleCopies<'_>,
) -> Result<()> {
    let ids: Vec<RawBson> = stale.whole.values().cloned().collect();
    let mut along = group.copies.iter().map(|copy| &copy.along);
    if along.any(|along| matches!(along, Along::Reverse(_))) {
        // No unit searches for a holder that does not exist yet.
        unit.share(holder, &ids);
    }
    for chunk in ids.chunks(unit.bounds.chunk) {
        let positions = unit.load_existing(holder, chunk).await?;
        let images = unit.images(holder);
        let images = positions.iter().map(|&at| images.at(at));
        let images = images
            .filter_map(|image| Some((image.now()?.clone(), image.before_or_origin().cloned())));
        let (documents, before): (Vec<Doc>, Vec<Option<Doc>>) = images.unzip();
        let wrong = wrong(unit, &group.copies, &documents, &before).await?;
        for (at, fields) in positions.into_iter().zip(wrong) {
            unit.set_derived(holder, at, fields).await?;
        }
        if ids.len() > unit.bounds.chunk {
            unit.end_chunk(holder, group.is_holder_read).await?;
        }
    }
    Ok(())
}

/// Changes the copies of some sources in all their referrers.
async fn refresh_followers(
    unit: &mut Unit<'_>,
    holder: &str,
    group: &CopyGroup<'_>,
    stale: &StaleCopies<'_>,
    follow: &FollowedSources<'_>,
) -> Result<()> {
    let holders = follow.holders(unit, holder);
    unit.expect_followers(&holders);
    if unit.leaves_followers(holder)
        && let Some(updates) = follow.updates()
    {
        unit.unread.update_followers(holder, updates);
        return Ok(());
    }
    let mut pages = DocumentPages::new(holders);
    let mut is_chunked = false;
    loop {
        let page = unit.next_page(&mut pages).await?;
        if page.is_empty() {
            return Ok(());
        }
        is_chunked |= pages.has_more();
        change_page(unit, holder, stale, follow, &page).await?;
        if mutant("second page of followers") {
            return Ok(());
        }
        if is_chunked {
            unit.end_chunk(holder, group.is_holder_read).await?;
        }
    }
}

/// Changes the copies of the sources that records of the outbox name, in the documents that are due.
async fn refresh_due(
    unit: &mut Unit<'_>,
    holder: &str,
    group: &CopyGroup<'_>,
    stale: &StaleCopies<'_>,
) -> Result<()> {
    // A frozen copy is filled in at once, and is never refreshed later.
    let copies = group.copies.iter().copied().filter(|copy| !copy.frozen);
    let copies: Vec<&CopyDefinition> = copies.collect();
    let Some((first, reference)) = copies
        .first()
        .and_then(|first| Some((*first, first.reference()?)))
    else {
        return Ok(());
    };
    for (source, holders) in unit.outbox.due_along(holder, &reference) {
        let follow = FollowedSources {
            reference: reference.clone(),
            source: &first.source,
            copies: copies.clone(),
            sources: unit
                .get(&first.source, vec![source])
                .await?
                .into_iter()
                .collect(),
        };
        if mutant("refresh of a record") {
            continue;
        }
        let page = unit.load_existing(holder, &holders).await?;
        change_page(unit, holder, stale, &follow, &page).await?;
    }
    Ok(())
}

async fn change_page(
    unit: &mut Unit<'_>,
    holder: &str,
    stale: &StaleCopies<'_>,
    follow: &FollowedSources<'_>,
    page: &[usize],
) -> Result<()> {
    for &at in page {
        let Some(document) = unit.document(holder, at) else {
            continue;
        };
        if stale.is_whole(document) {
            continue;
        }
        let fields = followed(&follow.copies, document, &follow.sources);
        if !fields.is_empty() && !mutant("followed copy") {
            unit.set_derived(holder, at, fields).await?;
        }
    }
    Ok(())
}
