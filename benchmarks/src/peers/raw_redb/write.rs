//! The writes, in a transaction that the caller commits.

use redb::{ReadableTable, WriteTransaction};

use super::tables::{
    ACCOUNTS, Documents, HOLDERS, Index, NEWEST_PAGE_REVIEWS, NEWEST_REVIEWS, PAGE_REVIEWS, PAGES,
    PARTS, PRODUCTS_WITH_COPIES, REVIEWS, encode, get,
};
use crate::peers::{
    data::{Account, Part, ProductPage, ProductWithCopies, Review, show},
    system::{Write, missing},
};

/// Returns the number of changed documents. A rename counts the copies of the name, but not the part.
pub(super) fn apply(transaction: &WriteTransaction, write: &Write) -> anyhow::Result<u64> {
    match write {
        Write::Review(review) => {
            insert(transaction, REVIEWS, NEWEST_REVIEWS, review)?;
            Ok(1)
        }
        Write::PageReview(review) => {
            insert(transaction, PAGE_REVIEWS, NEWEST_PAGE_REVIEWS, review)?;
            let mut pages = transaction.open_table(PAGES)?;
            let mut page: ProductPage = get(&pages, review.product)?;
            if show(&mut page.newest_reviews, review) {
                pages.insert(review.product, encode(&page)?.as_slice())?;
            }
            Ok(1)
        }
        Write::Rename { part, name } => rename(transaction, *part, name),
        Write::RenameInJson { .. } => missing(),
        Write::Visit { account } => {
            change(transaction, *account, |account| account.visits += 1)?;
            Ok(1)
        }
        Write::Transfer { from, to, amount } => {
            change(transaction, *from, |account| account.balance -= amount)?;
            change(transaction, *to, |account| account.balance += amount)?;
            Ok(2)
        }
    }
}

fn insert(
    transaction: &WriteTransaction,
    documents: Documents,
    index: Index,
    review: &Review,
) -> anyhow::Result<()> {
    let bytes = encode(review)?;
    let mut documents = transaction.open_table(documents)?;
    documents.insert(review.id, bytes.as_slice())?;
    let mut index = transaction.open_table(index)?;
    index.insert((review.product, review.published, review.id), ())?;
    Ok(())
}

fn change(
    transaction: &WriteTransaction,
    id: i64,
    change: impl FnOnce(&mut Account),
) -> anyhow::Result<()> {
    let mut accounts = transaction.open_table(ACCOUNTS)?;
    let mut account: Account = get(&accounts, id)?;
    change(&mut account);
    accounts.insert(id, encode(&account)?.as_slice())?;
    Ok(())
}

fn rename(transaction: &WriteTransaction, part: i64, name: &str) -> anyhow::Result<u64> {
    let mut parts = transaction.open_table(PARTS)?;
    let mut renamed: Part = get(&parts, part)?;
    renamed.name = name.to_owned();
    parts.insert(part, encode(&renamed)?.as_slice())?;
    let holders = transaction.open_table(HOLDERS)?;
    let mut products = transaction.open_table(PRODUCTS_WITH_COPIES)?;
    let mut changed = 0;
    for entry in holders.range((part, i64::MIN)..=(part, i64::MAX))? {
        let (_, id) = entry?.0.value();
        let mut product: ProductWithCopies = get(&products, id)?;
        for copy in product.parts.iter_mut().filter(|copy| copy.id == part) {
            name.clone_into(&mut copy.name);
        }
        products.insert(id, encode(&product)?.as_slice())?;
        changed += 1;
    }
    Ok(changed)
}
