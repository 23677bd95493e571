//! The rows of the table: what is done, by how many tasks, and for how long.

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
    /// Each operation is in a task of its own.
    pub(super) is_spawned: bool,
    pub(super) millis: u64,
    /// At most so many operations, where each is large.
    pub(super) most: usize,
    /// Documents are counted, not operations.
    pub(super) counts_documents: bool,
    pub(super) operation: fn(&mut Random) -> Operation,
}

impl Workload {
    const fn new(
        row: &'static str,
        work: &'static str,
        tasks: u64,
        millis: u64,
        operation: fn(&mut Random) -> Operation,
    ) -> Workload {
        Workload {
            row,
            work,
            tasks,
            is_spawned: false,
            millis,
            most: usize::MAX,
            counts_documents: false,
            operation,
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

    /// The row of the same work without a group commit by hand, if this one has such a commit.
    pub(super) fn without_group(&self) -> Option<&'static str> {
        self.row.strip_suffix('g')
    }
}

pub(super) static WORKLOADS: &[Workload] = &[
    Workload::new("1", "product by id", 1, 300, a_product),
    Workload::new("1t8", "the same, 8 tasks", 8, 300, a_product),
    Workload::new("1s", "the same, each in a spawned task", 8, 300, a_product).spawned(),
    Workload::new("1r", "product with its 100 references", 1, 300, |random| {
        Operation::Ask(Question::ProductWithParts(any_product(random)))
    }),
    Workload::new("2", "product by unique catalog number", 1, 300, |random| {
        Operation::Ask(Question::ProductByCatalogNumber(any_product(random)))
    }),
    Workload::new("2l", "50 products by catalog number", 1, 300, |random| {
        Operation::Ask(Question::ProductsByCatalogNumber(first_of_list(random)))
    }),
    Workload::new("3", "product and its 100 parts, in order", 1, 400, parts),
    Workload::new("3t8", "the same, 8 tasks", 8, 400, parts),
    Workload::new("3f", "the same by `get` and `fetch`", 1, 400, |random| {
        Operation::Ask(Question::PartsFetched(any_product(random)))
    }),
    Workload::new(
        "3d",
        "product, copied names of its 100 parts",
        1,
        300,
        |random| Operation::Ask(Question::CopiedNames(any_product(random))),
    ),
    Workload::new(
        "4j",
        "page: product, ten newest reviews, by a join",
        1,
        300,
        page_by_join,
    ),
    Workload::new("4jt8", "the same, 8 tasks", 8, 300, page_by_join),
    Workload::new(
        "4jh",
        "the same, of a product with 100,000 reviews",
        1,
        300,
        |_| Operation::Ask(Question::PageByJoin(BUSY_PRODUCT)),
    ),
    Workload::new("4e", "page from the subset", 1, 300, page_from_subset),
    Workload::new("4et8", "the same, 8 tasks", 8, 300, page_from_subset),
    Workload::new("5j", "list of 50 pages, by a join", 1, 500, list_by_join),
    Workload::new(
        "5js",
        "the same, each in a spawned task, 8 tasks",
        8,
        500,
        list_by_join,
    )
    .spawned(),
    Workload::new(
        "5e",
        "list of 50 pages, from the subsets",
        1,
        500,
        |random| Operation::Ask(Question::ListFromSubsets(first_of_list(random))),
    ),
    Workload::new("6A1", "insert of a review", 1, 800, review),
    Workload::new("6A64", "the same, 64 tasks", 64, 800, review),
    Workload::new(
        "6A64g",
        "the same, group commit by hand",
        64,
        800,
        |random| Operation::WriteInGroup(Write::Review(any_review(random))),
    ),
    Workload::new(
        "6B1",
        "insert of a review, ten newest kept",
        1,
        800,
        page_review,
    ),
    Workload::new("6B64", "the same, 64 tasks", 64, 800, page_review),
    Workload::new(
        "6B64g",
        "the same, group commit by hand",
        64,
        800,
        |random| Operation::WriteInGroup(Write::PageReview(any_review(random))),
    ),
    Workload::new(
        "7x100",
        "rename of a part copied 100 times, documents",
        1,
        600,
        |random| {
            let part = pick(random, PARTS_OF_A_HUNDRED);
            let name = new_part_name(part, random);
            Operation::Write(Write::Rename { part, name })
        },
    )
    .documents(40),
    Workload::new(
        "7jx100",
        "the same in one JSON text each",
        1,
        600,
        |random| {
            let part = pick(random, PARTS_OF_A_HUNDRED);
            let name = new_part_name(part, random);
            Operation::Write(Write::RenameInJson { part, name })
        },
    )
    .documents(40),
    Workload::new(
        "7x10k",
        "rename of a part copied 10,000 times, documents",
        1,
        600,
        |random| {
            let part = PART_OF_ALL;
            let name = new_part_name(part, random);
            Operation::Write(Write::Rename { part, name })
        },
    )
    .documents(2),
    Workload::new(
        "7jx10k",
        "the same in one JSON text each",
        1,
        600,
        |random| {
            let part = PART_OF_ALL;
            let name = new_part_name(part, random);
            Operation::Write(Write::RenameInJson { part, name })
        },
    )
    .documents(2),
    Workload::new("8", "newest 5,000 messages of a host", 1, 600, |random| {
        Operation::Ask(Question::Messages(pick(random, 1..=BUSY_HOSTS)))
    }),
    Workload::new(
        "9j",
        "90 % row 4j, 10 % row 6B, 8 tasks",
        8,
        800,
        |random| match is_write(random) {
            true => page_review(random),
            false => page_by_join(random),
        },
    ),
    Workload::new(
        "9e",
        "90 % row 4e, 10 % row 6B, 8 tasks",
        8,
        800,
        |random| match is_write(random) {
            true => page_review(random),
            false => page_from_subset(random),
        },
    ),
    Workload::new(
        "9eg",
        "the same, group commit by hand",
        8,
        800,
        |random| match is_write(random) {
            true => Operation::WriteInGroup(Write::PageReview(any_review(random))),
            false => page_from_subset(random),
        },
    ),
    Workload::new("10tx1", "transaction of two updates", 1, 800, transfer),
    Workload::new("10tx8", "the same, 8 tasks", 8, 800, transfer),
    Workload::new("10tx64", "the same, 64 tasks", 64, 800, transfer),
    Workload::new(
        "10tx64g",
        "the same, group commit by hand",
        64,
        800,
        |random| Operation::WriteInGroup(any_transfer(random)),
    ),
    Workload::new("11u1", "update of one field", 1, 800, visit),
    Workload::new("11u8", "the same, 8 tasks", 8, 800, visit),
    Workload::new("11u64", "the same, 64 tasks", 64, 800, visit),
    Workload::new(
        "11u64g",
        "the same, group commit by hand",
        64,
        800,
        |random| Operation::WriteInGroup(any_visit(random)),
    ),
];

fn any_product(random: &mut Random) -> i64 {
    pick(random, 1..=PRODUCTS)
}

/// A product whose reviews are about as many as those of any other.
fn usual_product(random: &mut Random) -> i64 {
    pick(random, BUSY_PRODUCT + 1..=PRODUCTS)
}

/// The first of a list of usual products.
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

fn a_product(random: &mut Random) -> Operation {
    Operation::Ask(Question::Product(any_product(random)))
}

fn parts(random: &mut Random) -> Operation {
    Operation::Ask(Question::Parts(any_product(random)))
}

fn page_by_join(random: &mut Random) -> Operation {
    Operation::Ask(Question::PageByJoin(usual_product(random)))
}

fn page_from_subset(random: &mut Random) -> Operation {
    Operation::Ask(Question::PageFromSubset(any_product(random)))
}

fn list_by_join(random: &mut Random) -> Operation {
    Operation::Ask(Question::ListByJoin(first_of_list(random)))
}

fn review(random: &mut Random) -> Operation {
    Operation::Write(Write::Review(any_review(random)))
}

fn page_review(random: &mut Random) -> Operation {
    Operation::Write(Write::PageReview(any_review(random)))
}

fn transfer(random: &mut Random) -> Operation {
    Operation::Write(any_transfer(random))
}

fn visit(random: &mut Random) -> Operation {
    Operation::Write(any_visit(random))
}
