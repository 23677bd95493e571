//! The questions, each on one connection.

use anyhow::Context;
use turso::{Connection, Row, params::IntoParams};

use crate::peers::{
    data::{Account, Message, Part, PartCopy, Product, ProductPage, Review, catalog_number},
    digest::digest,
    sqlite::read::{
        ACCOUNT, COPIED_NAMES, MESSAGES, NEWEST_PAGE_REVIEWS, NEWEST_REVIEWS, PAGE, PAGES, PARTS,
        PRODUCT, PRODUCT_BY_CATALOG_NUMBER, PRODUCTS, PRODUCTS_BY_CATALOG_NUMBER,
    },
    system::{Question, missing},
};

type Read<T> = fn(&Row) -> turso::Result<T>;

pub(super) async fn answer(connection: &Connection, question: Question) -> anyhow::Result<u64> {
    match question {
        Question::Product(id) => Ok(digest(&one(connection, PRODUCT, [id], product).await?)),
        Question::ProductByCatalogNumber(id) => {
            let number = [catalog_number(id)];
            let product = one(connection, PRODUCT_BY_CATALOG_NUMBER, number, product).await?;
            Ok(digest(&product))
        }
        Question::ProductsByCatalogNumber(first) => {
            let number = [catalog_number(first)];
            let products = all(connection, PRODUCTS_BY_CATALOG_NUMBER, number, product).await?;
            Ok(digest(&products))
        }
        Question::Parts(id) => {
            let product = one(connection, PRODUCT, [id], product).await?;
            Ok(digest(&(
                product,
                all(connection, PARTS, [id], part).await?,
            )))
        }
        Question::ProductWithParts(_) | Question::PartsFetched(_) => missing(),
        Question::CopiedNames(id) => {
            let name = "SELECT id, name FROM products WHERE id = ?1";
            let product = one(connection, name, [id], copy).await?;
            let copies = all(connection, COPIED_NAMES, [id], copy).await?;
            Ok(digest(&(product, copies)))
        }
        Question::PageByJoin(id) => joined(connection, NEWEST_REVIEWS, id).await,
        Question::PageFromSubset(id) => Ok(digest(&one(connection, PAGE, [id], page).await??)),
        Question::SubsetByJoin(id) => joined(connection, NEWEST_PAGE_REVIEWS, id).await,
        Question::ListByJoin(first) => {
            let mut list = Vec::with_capacity(50);
            for product in all(connection, PRODUCTS, [first], product).await? {
                let newest = all(connection, NEWEST_REVIEWS, [product.id], review).await?;
                list.push((product, newest));
            }
            Ok(digest(&list))
        }
        Question::ListFromSubsets(first) => {
            let pages = all(connection, PAGES, [first], page).await?;
            let pages: Vec<ProductPage> = pages.into_iter().collect::<Result<_, _>>()?;
            Ok(digest(&pages))
        }
        Question::Messages(host) => Ok(digest(&all(connection, MESSAGES, [host], message).await?)),
        Question::ReviewCount(id) => {
            let count = "SELECT number FROM review_counts WHERE product = ?1";
            Ok(digest(&one(connection, count, [id], number).await?))
        }
        Question::Account(id) => Ok(digest(&one(connection, ACCOUNT, [id], account).await?)),
        Question::Balance => {
            let sum = "SELECT sum(balance) FROM accounts";
            Ok(digest(&one(connection, sum, (), number).await?))
        }
    }
}

/// A product with the reviews that a query finds.
async fn joined(connection: &Connection, newest: &str, id: i64) -> anyhow::Result<u64> {
    let product = one(connection, PRODUCT, [id], product).await?;
    Ok(digest(&(
        product,
        all(connection, newest, [id], review).await?,
    )))
}

async fn all<T>(
    connection: &Connection,
    query: &str,
    params: impl IntoParams,
    read: Read<T>,
) -> anyhow::Result<Vec<T>> {
    let mut statement = connection.prepare_cached(query).await?;
    let mut rows = statement.query(params).await?;
    let mut all = Vec::new();
    while let Some(row) = rows.next().await? {
        all.push(read(&row)?);
    }
    Ok(all)
}

pub(super) async fn one<T>(
    connection: &Connection,
    query: &str,
    params: impl IntoParams,
    read: Read<T>,
) -> anyhow::Result<T> {
    let rows = all(connection, query, params, read).await?;
    let one = rows.into_iter().next();
    one.with_context(|| format!("no row: {query}"))
}

fn number(row: &Row) -> turso::Result<i64> {
    row.get(0)
}

fn copy(row: &Row) -> turso::Result<PartCopy> {
    Ok(PartCopy {
        id: row.get(0)?,
        name: row.get(1)?,
    })
}

fn product(row: &Row) -> turso::Result<Product> {
    Ok(Product {
        id: row.get(0)?,
        catalog_number: row.get(1)?,
        name: row.get(2)?,
        description: row.get(3)?,
        price_cents: row.get(4)?,
        created_at: row.get(5)?,
    })
}

fn page(row: &Row) -> turso::Result<serde_json::Result<ProductPage>> {
    let product = product(row)?;
    let newest = row.get::<String>(6)?;
    Ok(
        serde_json::from_str(&newest).map(|newest_reviews| ProductPage {
            id: product.id,
            catalog_number: product.catalog_number,
            name: product.name,
            description: product.description,
            price_cents: product.price_cents,
            created_at: product.created_at,
            newest_reviews,
        }),
    )
}

fn part(row: &Row) -> turso::Result<Part> {
    Ok(Part {
        id: row.get(0)?,
        name: row.get(1)?,
        number: row.get(2)?,
        price_cents: row.get(3)?,
        weight: row.get(4)?,
    })
}

fn review(row: &Row) -> turso::Result<Review> {
    Ok(Review {
        id: row.get(0)?,
        product: row.get(1)?,
        author: row.get(2)?,
        text: row.get(3)?,
        published: row.get(4)?,
        rating: row.get(5)?,
    })
}

fn message(row: &Row) -> turso::Result<Message> {
    Ok(Message {
        id: row.get(0)?,
        host: row.get(1)?,
        time: row.get(2)?,
        level: row.get(3)?,
        text: row.get(4)?,
    })
}

fn account(row: &Row) -> turso::Result<Account> {
    Ok(Account {
        id: row.get(0)?,
        owner: row.get(1)?,
        balance: row.get(2)?,
        visits: row.get(3)?,
    })
}
