//! The questions, each on one connection.

use rusqlite::{Connection, Row};

use crate::peers::{
    data::{
        Account, Message, NEWEST_MESSAGES, Part, PartCopy, Product, ProductPage, Review,
        catalog_number,
    },
    digest::digest,
    system::{Question, missing},
};

pub(in crate::peers) const PRODUCT: &str = "
    SELECT id, catalog_number, name, description, price_cents, created_at
    FROM products WHERE id = ?1";
pub(in crate::peers) const PRODUCT_BY_CATALOG_NUMBER: &str = "
    SELECT id, catalog_number, name, description, price_cents, created_at
    FROM products WHERE catalog_number = ?1";
pub(in crate::peers) const PRODUCTS_BY_CATALOG_NUMBER: &str = "
    SELECT id, catalog_number, name, description, price_cents, created_at
    FROM products WHERE catalog_number >= ?1 ORDER BY catalog_number LIMIT 50";
pub(in crate::peers) const PRODUCTS: &str = "
    SELECT id, catalog_number, name, description, price_cents, created_at
    FROM products WHERE id >= ?1 ORDER BY id LIMIT 50";
pub(in crate::peers) const PARTS: &str = "
    SELECT parts.id, parts.name, parts.number, parts.price_cents, parts.weight
    FROM product_parts JOIN parts ON parts.id = product_parts.part
    WHERE product_parts.product = ?1 ORDER BY product_parts.position";
pub(in crate::peers) const COPIED_NAMES: &str = "
    SELECT part, part_name FROM product_parts WHERE product = ?1 ORDER BY position";
pub(in crate::peers) const NEWEST_REVIEWS: &str = "
    SELECT id, product, author, text, published, rating
    FROM reviews WHERE product = ?1 ORDER BY published DESC, id DESC LIMIT 10";
pub(in crate::peers) const NEWEST_PAGE_REVIEWS: &str = "
    SELECT id, product, author, text, published, rating
    FROM page_reviews WHERE product = ?1 ORDER BY published DESC, id DESC LIMIT 10";
pub(in crate::peers) const PAGE: &str = "
    SELECT products.id, catalog_number, name, description, price_cents, created_at, reviews
    FROM products JOIN newest_reviews ON newest_reviews.product = products.id
    WHERE products.id = ?1";
pub(in crate::peers) const PAGES: &str = "
    SELECT products.id, catalog_number, name, description, price_cents, created_at, reviews
    FROM products JOIN newest_reviews ON newest_reviews.product = products.id
    WHERE products.id >= ?1 ORDER BY products.id LIMIT 50";
pub(in crate::peers) const MESSAGES: &str = "
    SELECT id, host, time, level, text
    FROM messages WHERE host = ?1 ORDER BY time DESC LIMIT 5000";
pub(in crate::peers) const ACCOUNT: &str =
    "SELECT id, owner, balance, visits FROM accounts WHERE id = ?1";

pub(super) fn answer(connection: &mut Connection, question: Question) -> anyhow::Result<u64> {
    match question {
        Question::Product(id) => Ok(digest(&one_product(connection, id)?)),
        Question::ProductByCatalogNumber(id) => {
            let mut statement = connection.prepare_cached(PRODUCT_BY_CATALOG_NUMBER)?;
            let product = statement.query_row([catalog_number(id)], product)?;
            Ok(digest(&product))
        }
        Question::ProductsByCatalogNumber(first) => {
            let mut statement = connection.prepare_cached(PRODUCTS_BY_CATALOG_NUMBER)?;
            let page = statement.query_map([catalog_number(first)], product)?;
            let page: Vec<Product> = page.collect::<Result<_, _>>()?;
            Ok(digest(&page))
        }
        Question::Parts(id) => {
            let product = one_product(connection, id)?;
            let mut statement = connection.prepare_cached(PARTS)?;
            let parts: Vec<Part> = statement.query_map([id], part)?.collect::<Result<_, _>>()?;
            Ok(digest(&(product, parts)))
        }
        Question::ProductWithParts(_) | Question::PartsFetched(_) => missing(),
        Question::CopiedNames(id) => copied_names(connection, id),
        Question::PageByJoin(id) => {
            let product = one_product(connection, id)?;
            Ok(digest(&(product, newest(connection, NEWEST_REVIEWS, id)?)))
        }
        Question::PageFromSubset(id) => {
            let mut statement = connection.prepare_cached(PAGE)?;
            let mut rows = statement.query([id])?;
            match rows.next()? {
                Some(row) => Ok(digest(&page(row)?)),
                None => anyhow::bail!("there is no product {id}"),
            }
        }
        Question::SubsetByJoin(id) => {
            let product = one_product(connection, id)?;
            let newest = newest(connection, NEWEST_PAGE_REVIEWS, id)?;
            Ok(digest(&(product, newest)))
        }
        Question::ListByJoin(first) => list_by_join(connection, first),
        Question::ListFromSubsets(first) => {
            let mut statement = connection.prepare_cached(PAGES)?;
            let mut rows = statement.query([first])?;
            let mut list: Vec<ProductPage> = Vec::with_capacity(50);
            while let Some(row) = rows.next()? {
                list.push(page(row)?);
            }
            Ok(digest(&list))
        }
        Question::Messages(host) => {
            let mut statement = connection.prepare_cached(MESSAGES)?;
            let mut rows = statement.query([host])?;
            let mut newest: Vec<Message> = Vec::with_capacity(NEWEST_MESSAGES);
            while let Some(row) = rows.next()? {
                newest.push(message(row)?);
            }
            Ok(digest(&newest))
        }
        Question::ReviewCount(id) => {
            let count = "SELECT count(*) FROM reviews WHERE product = ?1";
            let mut statement = connection.prepare_cached(count)?;
            let count: i64 = statement.query_row([id], |row| row.get(0))?;
            Ok(digest(&count))
        }
        Question::Account(id) => {
            let mut statement = connection.prepare_cached(ACCOUNT)?;
            Ok(digest(&statement.query_row([id], account)?))
        }
        Question::Balance => {
            let mut statement = connection.prepare_cached("SELECT sum(balance) FROM accounts")?;
            let balance: i64 = statement.query_row([], |row| row.get(0))?;
            Ok(digest(&balance))
        }
    }
}

fn one_product(connection: &Connection, id: i64) -> anyhow::Result<Product> {
    let mut statement = connection.prepare_cached(PRODUCT)?;
    Ok(statement.query_row([id], product)?)
}

fn newest(connection: &Connection, query: &str, product: i64) -> anyhow::Result<Vec<Review>> {
    let mut statement = connection.prepare_cached(query)?;
    let reviews = statement.query_map([product], review)?;
    Ok(reviews.collect::<Result<_, _>>()?)
}

fn copied_names(connection: &Connection, id: i64) -> anyhow::Result<u64> {
    let mut statement = connection.prepare_cached("SELECT name FROM products WHERE id = ?1")?;
    let name: String = statement.query_row([id], |row| row.get(0))?;
    let mut statement = connection.prepare_cached(COPIED_NAMES)?;
    let copies = statement.query_map([id], |row| {
        Ok(PartCopy {
            id: row.get(0)?,
            name: row.get(1)?,
        })
    })?;
    let copies: Vec<PartCopy> = copies.collect::<Result<_, _>>()?;
    Ok(digest(&((id, name), copies)))
}

fn list_by_join(connection: &mut Connection, first: i64) -> anyhow::Result<u64> {
    let transaction = connection.transaction()?;
    let mut list: Vec<(Product, Vec<Review>)> = Vec::with_capacity(50);
    {
        let mut statement = transaction.prepare_cached(PRODUCTS)?;
        for product in statement.query_map([first], product)? {
            let product = product?;
            let newest = newest(&transaction, NEWEST_REVIEWS, product.id)?;
            list.push((product, newest));
        }
    }
    transaction.commit()?;
    Ok(digest(&list))
}

fn product(row: &Row<'_>) -> rusqlite::Result<Product> {
    Ok(Product {
        id: row.get(0)?,
        catalog_number: row.get(1)?,
        name: row.get(2)?,
        description: row.get(3)?,
        price_cents: row.get(4)?,
        created_at: row.get(5)?,
    })
}

fn page(row: &Row<'_>) -> anyhow::Result<ProductPage> {
    Ok(ProductPage {
        id: row.get(0)?,
        catalog_number: row.get(1)?,
        name: row.get(2)?,
        description: row.get(3)?,
        price_cents: row.get(4)?,
        created_at: row.get(5)?,
        newest_reviews: serde_json::from_str(row.get_ref(6)?.as_str()?)?,
    })
}

fn part(row: &Row<'_>) -> rusqlite::Result<Part> {
    Ok(Part {
        id: row.get(0)?,
        name: row.get(1)?,
        number: row.get(2)?,
        price_cents: row.get(3)?,
        weight: row.get(4)?,
    })
}

fn review(row: &Row<'_>) -> rusqlite::Result<Review> {
    Ok(Review {
        id: row.get(0)?,
        product: row.get(1)?,
        author: row.get(2)?,
        text: row.get(3)?,
        published: row.get(4)?,
        rating: row.get(5)?,
    })
}

fn message(row: &Row<'_>) -> rusqlite::Result<Message> {
    Ok(Message {
        id: row.get(0)?,
        host: row.get(1)?,
        time: row.get(2)?,
        level: row.get(3)?,
        text: row.get(4)?,
    })
}

fn account(row: &Row<'_>) -> rusqlite::Result<Account> {
    Ok(Account {
        id: row.get(0)?,
        owner: row.get(1)?,
        balance: row.get(2)?,
        visits: row.get(3)?,
    })
}
