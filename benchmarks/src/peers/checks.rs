//! Checks that all systems give the same answers, before and after writes, and that each keeps its derived data right.

use std::sync::Arc;

use anyhow::{bail, ensure};

use super::{
    data::{BUSY_HOSTS, BUSY_PRODUCT, PART_OF_ALL, PRODUCTS, new_part_name, new_review, pick},
    system::{Question, System, Write, if_there},
    workloads::{any_transfer, any_visit},
};
use crate::shared::random::Random;

/// Asks all systems, writes the same to all, and asks them again.
pub(super) async fn same_answers(systems: &[Arc<dyn System>]) -> anyhow::Result<()> {
    for question in questions() {
        same_answer(systems, question).await?;
    }
    for system in systems {
        write(system.as_ref()).await?;
        right_subsets(system.as_ref(), 1).await?;
    }
    for question in questions() {
        same_answer(systems, question).await?;
    }
    Ok(())
}

fn questions() -> Vec<Question> {
    let mut questions = vec![Question::Balance];
    for id in [BUSY_PRODUCT, 2, 77, 301, 399, 400, 5_000, 9_999, PRODUCTS] {
        questions.extend([
            Question::Product(id),
            Question::ProductWithParts(id),
            Question::ProductByCatalogNumber(id),
            Question::Parts(id),
            Question::PartsFetched(id),
            Question::CopiedNames(id),
            Question::PageByJoin(id),
            Question::PageFromSubset(id),
            Question::SubsetByJoin(id),
            Question::ReviewCount(id),
            Question::Account(id),
        ]);
    }
    for first in [1, 51, 5_001] {
        questions.extend([
            Question::ProductsByCatalogNumber(first),
            Question::ListByJoin(first),
            Question::ListFromSubsets(first),
        ]);
    }
    questions.extend([1, 7, BUSY_HOSTS].map(Question::Messages));
    questions
}

async fn same_answer(systems: &[Arc<dyn System>], question: Question) -> anyhow::Result<()> {
    let mut first = None;
    for system in systems {
        let Some(answer) = if_there(system.ask(question).await)? else {
            continue;
        };
        let (other, expected) = *first.get_or_insert((system.name(), answer));
        ensure!(
            answer == expected,
            "{} and {other} answer {question:?} differently",
            system.name()
        );
    }
    Ok(())
}

/// Does the same writes on each system, some of them through a group commit if it has one.
async fn write(system: &dyn System) -> anyhow::Result<()> {
    let mut random = Random(4242);
    // Ids below the loaded ones, which no workload uses.
    for id in 1..=200 {
        let mut review = new_review(-id, &mut random);
        review.product = pick(&mut random, 1..=50);
        one(system, id, Write::Review(review.clone())).await?;
        one(system, id, Write::PageReview(review)).await?;
        one(system, id, any_visit(&mut random)).await?;
        one(system, id, any_transfer(&mut random)).await?;
    }
    for (part, holders) in [(PART_OF_ALL, PRODUCTS), (5, 100)] {
        let name = new_part_name(part, &mut random);
        let rename = Write::Rename {
            part,
            name: name.clone(),
        };
        let rename_in_json = Write::RenameInJson { part, name };
        for write in [rename, rename_in_json] {
            if let Some(renamed) = if_there(system.write(write).await)? {
                ensure!(
                    renamed == holders as u64,
                    "{} renamed {renamed} copies, not {holders}",
                    system.name()
                );
            }
        }
    }
    Ok(())
}

async fn one(system: &dyn System, nth: i64, write: Write) -> anyhow::Result<()> {
    if nth % 2 == 0 {
        let in_group = system.write_in_group(write.clone()).await;
        if if_there(in_group)?.is_some() {
            return Ok(());
        }
    }
    system.write(write).await?;
    Ok(())
}

/// Compares the newest reviews in a product with a join over all reviews, for every `step`th product.
pub(super) async fn right_subsets(system: &dyn System, step: usize) -> anyhow::Result<()> {
    let mut wrong = Vec::new();
    for id in (1..=PRODUCTS).step_by(step) {
        let kept = system.ask(Question::PageFromSubset(id)).await?;
        if system.ask(Question::SubsetByJoin(id)).await? != kept {
            wrong.push(id);
        }
    }
    if !wrong.is_empty() {
        bail!(
            "{} keeps wrong reviews in products {wrong:?}",
            system.name()
        );
    }
    Ok(())
}

/// Checks the invariants of any writes: transfers leave the sum of all balances as it is.
pub(super) async fn still_right(systems: &[Arc<dyn System>]) -> anyhow::Result<()> {
    same_answer(systems, Question::Balance).await?;
    for system in systems {
        right_subsets(system.as_ref(), 7).await?;
    }
    Ok(())
}
