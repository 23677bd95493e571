//! The rows of the table: the work, the number of tasks, and the time.

use std::sync::atomic::{AtomicI64, Ordering};

use super::{
    data::{
        ACCOUNTS, BUSY_HOSTS, BUSY_PRODUCT, LISTED, PART_OF_ALL, PARTS_OF_A_HUNDRED, PRODUCTS,
        REVIEWS, Review, new_part_name, new_review, pick,
    },
    system::{Operation, Question, Write},
};
use crate::shared::random::Random;

/// A row of the table.
pub(super) struct Workload {
    pub(super) row: &'static str,
    pub(super) work: &'static str,
    pub(super) tasks: u64,
    /// Whether each operation is in a task of its own.
    pub(super) is_spawned: bool,
    pub(super) millis: u64,
    /// The largest number of operations, for large ones.
    pub(super) most: usize,
    /// Whether documents are counted instead of operations.
    pub(super) counts_documents: bool,
    pub(super) operation: fn(&mut Random) -> Operation,
}

impl Workload {
    const fn reads(
        row: &'static str,
        work: &'static str,
        tasks: u64,
        operation: fn(&mut Random) -> Operation,
    ) -> Workload {
        Workload {
            row,
            work,
            tasks,
            is_spawned: false,
            millis: 400,
            most: usize::MAX,
            counts_documents: false,
            operation,
        }
    }

    const fn writes(
        row: &'static str,
        work: &'static str,
        tasks: u64,
        operation: fn(&mut Random) -> Operation,
    ) -> Workload {
        Workload {
            millis: 800,
            ..Workload::reads(row, work, tasks, operation)
        }
    }

    const fn spawned(self) -> Workload {
        Workload {
            is_spawned: true,
            ..self
        }
    }

    const fn documents(self, most: usize) -> Workload {
        Workload {
            most,
            counts_documents: true,
            ..self
        }
    }

    /// The row of the same work without a group commit by hand, if this row has one.
    pub(super) fn without_group(&self) -> Option<&'static str> {
        self.row.strip_suffix('g')
    }
}

const SPAWNED: &str = "the same, each in a spawned task, 8 tasks";
const IN_JSON: &str = "the same in one JSON text each";
const EIGHT: &str = "the same, 8 tasks";
const MANY: &str = "the same, 64 tasks";
const IN_GROUP: &str = "the same, group commit by hand";

pub(super) static WORKLOADS: &[Workload] = &[
    Workload::reads("1", "product by id", 1, product),
    Workload::reads("1t8", EIGHT, 8, product),
    Workload::reads("1s", SPAWNED, 8, product).spawned(),
    Workload::reads("1r", "product with its 100 references", 1, with_parts),
    Workload::reads("2", "product by unique catalog number", 1, by_number),
    Workload::reads("2l", "50 products by catalog number", 1, list_by_number),
    Workload::reads("3", "product and its 100 parts, in order", 1, parts),
    Workload::reads("3t8", EIGHT, 8, parts),
    Workload::reads("3f", "row 3 by `get` and `fetch`", 1, parts_fetched),
    Workload::reads("3d", "product, copied names of 100 parts", 1, copied_names),
    Workload::reads(
        "4j",
        "page: product, ten newest reviews, joined",
        1,
        page_by_join,
    ),
    Workload::reads("4jt8", EIGHT, 8, page_by_join),
    Workload::reads(
        "4jh",
        "row 4j of a product with 100,000 reviews",
        1,
        busy_page,
    ),
    Workload::reads("4e", "page from the subset", 1, page_from_subset),
    Workload::reads("4et8", EIGHT, 8, page_from_subset),
    Workload::reads("5j", "list of 50 pages, joined", 1, list_by_join),
    Workload::reads("5js", SPAWNED, 8, list_by_join).spawned(),
    Workload::reads(
        "5e",
        "list of 50 pages, from the subsets",
        1,
        list_from_subsets,
    ),
    Workload::writes("6A1", "insert of a review", 1, review),
    Workload::writes("6A64", MANY, 64, review),
    Workload::writes("6A64g", IN_GROUP, 64, review_in_group),
    Workload::writes("6B1", "insert of a review, ten newest kept", 1, page_review),
    Workload::writes("6B64", MANY, 64, page_review),
    Workload::writes("6B64g", IN_GROUP, 64, page_review_in_group),
    Workload::writes("7x100", "rename of a part copied 100 times", 1, rename).documents(40),
    Workload::writes("7jx100", IN_JSON, 1, rename_in_json).documents(40),
    Workload::writes(
        "7x10k",
        "rename of a part copied 10,000 times",
        1,
        large_rename,
    )
    .documents(2),
    Workload::writes("7jx10k", IN_JSON, 1, large_rename_in_json).documents(2),
    Workload::reads("8", "newest 5,000 messages of a host", 1, messages),
    Workload::writes("9j", "90 % row 4j, 10 % row 6B, 8 tasks", 8, mixed_by_join),
    Workload::writes("9e", "90 % row 4e, 10 % row 6B, 8 tasks", 8, mixed),
    Workload::writes("9eg", IN_GROUP, 8, mixed_in_group),
    Workload::writes("10tx1", "transaction of two updates", 1, transfer),
    Workload::writes("10tx8", EIGHT, 8, transfer),
    Workload::writes("10tx64", MANY, 64, transfer),
    Workload::writes("10tx64g", IN_GROUP, 64, transfer_in_group),
    Workload::writes("11u1", "update of one field", 1, visit),
    Workload::writes("11u8", EIGHT, 8, visit),
    Workload::writes("11u64", MANY, 64, visit),
    Workload::writes("11u64g", IN_GROUP, 64, visit_in_group),
];

fn any_product(random: &mut Random) -> i64 {
    pick(random, 1..=PRODUCTS)
}

/// A product with an average number of reviews.
fn usual_product(random: &mut Random) -> i64 {
    pick(random, BUSY_PRODUCT + 1..=PRODUCTS)
}

/// The first product of a list without the busy one.
fn first_of_list(random: &mut Random) -> i64 {
    1 + LISTED * pick(random, 1..=PRODUCTS / LISTED - 1)
}

fn any_review(random: &mut Random) -> Review {
    static NEXT: AtomicI64 = AtomicI64::new(REVIEWS + 1);
    new_review(NEXT.fetch_add(1, Ordering::Relaxed), random)
}

pub(super) fn any_transfer(random: &mut Random) -> Write {
    let from = pick(random, 1..=ACCOUNTS);
    let others = pick(random, 1..=ACCOUNTS - 1);
    Write::Transfer {
        from,
        to: 1 + (from - 1 + others) % ACCOUNTS,
        amount: pick(random, 1..=100),
    }
}

pub(super) fn any_visit(random: &mut Random) -> Write {
    let account = pick(random, 1..=ACCOUNTS);
    Write::Visit { account }
}

fn is_write(random: &mut Random) -> bool {
    random.below(10) == 0
}

fn product(random: &mut Random) -> Operation {
    Operation::Ask(Question::Product(any_product(random)))
}

fn with_parts(random: &mut Random) -> Operation {
    Operation::Ask(Question::ProductWithParts(any_product(random)))
}

fn by_number(random: &mut Random) -> Operation {
    Operation::Ask(Question::ProductByCatalogNumber(any_product(random)))
}

fn list_by_number(random: &mut Random) -> Operation {
    Operation::Ask(Question::ProductsByCatalogNumber(first_of_list(random)))
}

fn parts(random: &mut Random) -> Operation {
    Operation::Ask(Question::Parts(any_product(random)))
}

fn parts_fetched(random: &mut Random) -> Operation {
    Operation::Ask(Question::PartsFetched(any_product(random)))
}

fn copied_names(random: &mut Random) -> Operation {
    Operation::Ask(Question::CopiedNames(any_product(random)))
}

fn page_by_join(random: &mut Random) -> Operation {
    Operation::Ask(Question::PageByJoin(usual_product(random)))
}

fn busy_page(_: &mut Random) -> Operation {
    Operation::Ask(Question::PageByJoin(BUSY_PRODUCT))
}

fn page_from_subset(random: &mut Random) -> Operation {
    Operation::Ask(Question::PageFromSubset(any_product(random)))
}

fn list_by_join(random: &mut Random) -> Operation {
    Operation::Ask(Question::ListByJoin(first_of_list(random)))
}

fn list_from_subsets(random: &mut Random) -> Operation {
    Operation::Ask(Question::ListFromSubsets(first_of_list(random)))
}

fn messages(random: &mut Random) -> Operation {
    Operation::Ask(Question::Messages(pick(random, 1..=BUSY_HOSTS)))
}

fn review(random: &mut Random) -> Operation {
    Operation::Write(Write::Review(any_review(random)))
}

fn review_in_group(random: &mut Random) -> Operation {
    Operation::WriteInGroup(Write::Review(any_review(random)))
}

fn page_review(random: &mut Random) -> Operation {
    Operation::Write(Write::PageReview(any_review(random)))
}

fn page_review_in_group(random: &mut Random) -> Operation {
    Operation::WriteInGroup(Write::PageReview(any_review(random)))
}

fn transfer(random: &mut Random) -> Operation {
    Operation::Write(any_transfer(random))
}

fn transfer_in_group(random: &mut Random) -> Operation {
    Operation::WriteInGroup(any_transfer(random))
}

fn visit(random: &mut Random) -> Operation {
    Operation::Write(any_visit(random))
}

fn visit_in_group(random: &mut Random) -> Operation {
    Operation::WriteInGroup(any_visit(random))
}

fn rename(random: &mut Random) -> Operation {
    let part = pick(random, PARTS_OF_A_HUNDRED);
    let name = new_part_name(part, random);
    Operation::Write(Write::Rename { part, name })
}

fn rename_in_json(random: &mut Random) -> Operation {
    let part = pick(random, PARTS_OF_A_HUNDRED);
    let name = new_part_name(part, random);
    Operation::Write(Write::RenameInJson { part, name })
}

fn large_rename(random: &mut Random) -> Operation {
    let part = PART_OF_ALL;
    let name = new_part_name(part, random);
    Operation::Write(Write::Rename { part, name })
}

fn large_rename_in_json(random: &mut Random) -> Operation {
    let part = PART_OF_ALL;
    let name = new_part_name(part, random);
    Operation::Write(Write::RenameInJson { part, name })
}

fn mixed_by_join(random: &mut Random) -> Operation {
    match is_write(random) {
        true => page_review(random),
        false => page_by_join(random),
    }
}

fn mixed(random: &mut Random) -> Operation {
    match is_write(random) {
        true => page_review(random),
        false => page_from_subset(random),
    }
}

fn mixed_in_group(random: &mut Random) -> Operation {
    match is_write(random) {
        true => page_review_in_group(random),
        false => page_from_subset(random),
    }
}
