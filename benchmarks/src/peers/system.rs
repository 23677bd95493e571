//! The interface of every system.

use std::{fmt, pin::Pin};

use super::data::Review;

/// A question. The answer is a [digest](super::digest).
#[derive(Debug, Clone, Copy)]
pub(super) enum Question {
    Product(i64),
    /// The product with the references to its parts.
    ProductWithParts(i64),
    /// The product with this id, found by its catalog number.
    ProductByCatalogNumber(i64),
    /// Fifty products in the order of their catalog numbers, from this product on.
    ProductsByCatalogNumber(i64),
    /// A product and its parts in their order.
    Parts(i64),
    /// The same, with a second read for the parts after the product.
    PartsFetched(i64),
    /// The names of the parts of a product, from their copies.
    CopiedNames(i64),
    /// A product and its newest reviews, by a join.
    PageByJoin(i64),
    /// The same, from the subset in the product.
    PageFromSubset(i64),
    /// The same as [`PageFromSubset`](Question::PageFromSubset), by a join.
    SubsetByJoin(i64),
    /// Fifty products from this one on, with their newest reviews, by a join.
    ListByJoin(i64),
    ListFromSubsets(i64),
    /// The newest messages of a host.
    Messages(i64),
    /// The number of reviews of a product, from a view if the system has one.
    ReviewCount(i64),
    Account(i64),
    /// The sum of the balances of all accounts.
    Balance,
}

#[derive(Debug, Clone)]
pub(super) enum Write {
    /// Inserts a review that no product keeps.
    Review(Review),
    /// Inserts a review whose product keeps the newest.
    PageReview(Review),
    Rename {
        part: i64,
        name: String,
    },
    /// The same, if each product holds the copies in one JSON text.
    RenameInJson {
        part: i64,
        name: String,
    },
    /// Adds one to the visits of an account.
    Visit {
        account: i64,
    },
    /// Moves an amount between two accounts.
    Transfer {
        from: i64,
        to: i64,
        amount: i64,
    },
}

/// A single operation.
#[derive(Debug)]
pub(super) enum Operation {
    Ask(Question),
    Write(Write),
    /// A write through a thread that commits waiting writes together, for systems where that is written by hand.
    WriteInGroup(Write),
}

pub(super) type Doing<'a, T> = Pin<Box<dyn Future<Output = anyhow::Result<T>> + Send + 'a>>;

/// A database with the documents of [`data`](super::data).
///
/// A question or write for which a system has no own way fails with [`Missing`].
pub(super) trait System: Send + Sync {
    fn name(&self) -> &'static str;

    /// Answers with a digest.
    fn ask(&self, question: Question) -> Doing<'_, u64>;

    /// Writes durably. Returns the number of changed documents or rows. A rename counts the copies of the name, but not the part.
    fn write(&self, write: Write) -> Doing<'_, u64>;

    fn write_in_group(&self, write: Write) -> Doing<'_, u64>;

    /// Closes the file.
    fn close(&self) -> Doing<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}

impl dyn System {
    pub(super) async fn run(&self, operation: Operation) -> anyhow::Result<u64> {
        match operation {
            Operation::Ask(question) => self.ask(question).await,
            Operation::Write(write) => self.write(write).await,
            Operation::WriteInGroup(write) => self.write_in_group(write).await,
        }
    }
}

/// A system has no own way for a question or a write.
#[derive(Debug)]
pub(super) struct Missing;

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this system has no own way to do this")
    }
}

impl std::error::Error for Missing {}

pub(super) fn missing<T>() -> anyhow::Result<T> {
    Err(Missing.into())
}

/// The result, or `None` if the system has no own way.
pub(super) fn if_there<T>(result: anyhow::Result<T>) -> anyhow::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is::<Missing>() => Ok(None),
        Err(error) => Err(error),
    }
}
