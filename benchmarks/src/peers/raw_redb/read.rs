//! The questions, each in a read transaction of its own.

use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable};

use super::tables::{
    self, ACCOUNTS, BY_CATALOG_NUMBER, MESSAGES, NEWEST_PAGE_REVIEWS, NEWEST_REVIEWS, PAGE_REVIEWS,
    PAGES, PARTS, PRODUCTS, PRODUCTS_WITH_COPIES, PRODUCTS_WITH_PARTS, REVIEWS, get, newest,
};
use crate::peers::{
    data::{
        Account, LISTED, Message, NEWEST_MESSAGES, Part, Product, ProductPage, ProductWithCopies,
        ProductWithParts, Review, SHOWN, catalog_number,
    },
    digest::digest,
    system::{Question, missing},
};

pub(super) fn answer(database: &Database, question: Question) -> anyhow::Result<u64> {
    let transaction = &database.begin_read()?;
    match question {
        Question::Product(id) => {
            let product: Product = get(&transaction.open_table(PRODUCTS)?, id)?;
            Ok(digest(&product))
        }
        Question::ProductWithParts(id) => {
            let products = transaction.open_table(PRODUCTS_WITH_PARTS)?;
            let product: ProductWithParts = get(&products, id)?;
            Ok(digest(&(&product, &product.parts)))
        }
        Question::ProductByCatalogNumber(id) => {
            let by_number = transaction.open_table(BY_CATALOG_NUMBER)?;
            match by_number.get(catalog_number(id).as_str())? {
                Some(id) => {
                    let product: Product = get(&transaction.open_table(PRODUCTS)?, id.value())?;
                    Ok(digest(&product))
                }
                None => anyhow::bail!("there is no product {id}"),
            }
        }
        Question::ProductsByCatalogNumber(first) => {
            let products = transaction.open_table(PRODUCTS)?;
            let by_number = transaction.open_table(BY_CATALOG_NUMBER)?;
            let mut page: Vec<Product> = Vec::with_capacity(LISTED as usize);
            let numbers = by_number.range(catalog_number(first).as_str()..)?;
            for entry in numbers.take(LISTED as usize) {
                page.push(get(&products, entry?.1.value())?);
            }
            Ok(digest(&page))
        }
        Question::Parts(id) => with_parts(transaction, id),
        Question::PartsFetched(_) => missing(),
        Question::CopiedNames(id) => {
            let products = transaction.open_table(PRODUCTS_WITH_COPIES)?;
            let product: ProductWithCopies = get(&products, id)?;
            Ok(digest(&product))
        }
        Question::PageByJoin(id) => {
            let product: Product = get(&transaction.open_table(PRODUCTS)?, id)?;
            let reviews = transaction.open_table(REVIEWS)?;
            let index = transaction.open_table(NEWEST_REVIEWS)?;
            let newest: Vec<Review> = newest(&reviews, &index, id, SHOWN)?;
            Ok(digest(&(product, newest)))
        }
        Question::PageFromSubset(id) => {
            let page: ProductPage = get(&transaction.open_table(PAGES)?, id)?;
            Ok(digest(&page))
        }
        Question::SubsetByJoin(id) => {
            let product: Product = get(&transaction.open_table(PRODUCTS)?, id)?;
            let reviews = transaction.open_table(PAGE_REVIEWS)?;
            let index = transaction.open_table(NEWEST_PAGE_REVIEWS)?;
            let newest: Vec<Review> = newest(&reviews, &index, id, SHOWN)?;
            Ok(digest(&(product, newest)))
        }
        Question::ListByJoin(first) => list_by_join(transaction, first),
        Question::ListFromSubsets(first) => {
            let pages = transaction.open_table(PAGES)?;
            let mut list: Vec<ProductPage> = Vec::with_capacity(LISTED as usize);
            for entry in pages.range(first..)?.take(LISTED as usize) {
                list.push(tables::decode(entry?.1.value())?);
            }
            Ok(digest(&list))
        }
        Question::Messages(host) => {
            let messages = transaction.open_table(MESSAGES)?;
            let index = transaction.open_table(tables::NEWEST_MESSAGES)?;
            let newest: Vec<Message> = newest(&messages, &index, host, NEWEST_MESSAGES)?;
            Ok(digest(&newest))
        }
        Question::ReviewCount(id) => {
            let index = transaction.open_table(NEWEST_REVIEWS)?;
            let all = (id, i64::MIN, i64::MIN)..=(id, i64::MAX, i64::MAX);
            Ok(digest(&(index.range(all)?.count() as i64)))
        }
        Question::Account(id) => {
            let account: Account = get(&transaction.open_table(ACCOUNTS)?, id)?;
            Ok(digest(&account))
        }
        Question::Balance => {
            let mut balance = 0;
            for entry in transaction.open_table(ACCOUNTS)?.iter()? {
                balance += tables::decode::<Account>(entry?.1.value())?.balance;
            }
            Ok(digest(&balance))
        }
    }
}

fn with_parts(transaction: &ReadTransaction, id: i64) -> anyhow::Result<u64> {
    let product: ProductWithParts = get(&transaction.open_table(PRODUCTS_WITH_PARTS)?, id)?;
    let table = transaction.open_table(PARTS)?;
    let mut parts: Vec<Part> = Vec::with_capacity(product.parts.len());
    for &part in &product.parts {
        parts.push(get(&table, part)?);
    }
    Ok(digest(&(product, parts)))
}

fn list_by_join(transaction: &ReadTransaction, first: i64) -> anyhow::Result<u64> {
    let products = transaction.open_table(PRODUCTS)?;
    let reviews = transaction.open_table(REVIEWS)?;
    let index = transaction.open_table(NEWEST_REVIEWS)?;
    let mut list: Vec<(Product, Vec<Review>)> = Vec::with_capacity(LISTED as usize);
    for entry in products.range(first..)?.take(LISTED as usize) {
        let product: Product = tables::decode(entry?.1.value())?;
        let newest = newest(&reviews, &index, product.id, SHOWN)?;
        list.push((product, newest));
    }
    Ok(digest(&list))
}
