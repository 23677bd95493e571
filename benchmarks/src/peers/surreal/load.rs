//! Fills a new folder, with the indexes, the view and the event made afterwards.

use std::{ops::RangeInclusive, path::Path};

use surrealdb::types::{Object, SurrealValue, Value};

use super::{SurrealDb, link};
use crate::peers::data::{self, PartCopy, Product, Review, ShownReview, chunks};

/// The number of records in a statement, of products with parts a tenth of it.
const CHUNK: i64 = 2_000;

const DEFINITIONS: &str = "
DEFINE INDEX holders ON products_with_copies FIELDS parts.*.part;
DEFINE INDEX by_product ON reviews FIELDS product, published;
DEFINE INDEX by_product ON page_reviews FIELDS product, published;
DEFINE TABLE review_counts AS SELECT product, count() AS number FROM reviews GROUP BY product;
DEFINE EVENT newest ON page_reviews WHEN $event = 'CREATE' THEN {
    LET $shown = {
        review: $after.id, author: $after.author, text: $after.text, published: $after.published, rating: $after.rating
    };
    LET $all = array::append($after.product.newest_reviews, $shown);
    UPDATE $after.product SET newest_reviews = (SELECT * FROM $all ORDER BY published DESC LIMIT 10) RETURN NONE;
};
";

pub(in crate::peers) async fn load(path: &Path) -> anyhow::Result<()> {
    let system = SurrealDb::open(path).await?;
    insert(&system, "parts", 1..=data::PARTS, CHUNK, part).await?;
    let products = 1..=data::PRODUCTS;
    insert(&system, "products", products.clone(), CHUNK, |id| {
        product(data::product(id))
    })
    .await?;
    insert(
        &system,
        "products_with_parts",
        products.clone(),
        CHUNK / 10,
        with_parts,
    )
    .await?;
    insert(
        &system,
        "products_with_copies",
        products.clone(),
        CHUNK / 10,
        with_copies,
    )
    .await?;
    let mut newest = vec![Vec::new(); data::PRODUCTS as usize];
    insert(&system, "reviews", 1..=data::REVIEWS, CHUNK, |id| {
        let loaded = data::review(id);
        data::show(&mut newest[loaded.product as usize - 1], &loaded);
        let product = link("products", loaded.product);
        review(loaded, product)
    })
    .await?;
    insert(&system, "page_reviews", 1..=data::REVIEWS, CHUNK, |id| {
        let loaded = data::review(id);
        let page = link("pages", loaded.product);
        review(loaded, page)
    })
    .await?;
    insert(&system, "pages", products, CHUNK, |id| {
        let mut page = product(data::product(id));
        let newest = std::mem::take(&mut newest[id as usize - 1]);
        page.insert(
            "newest_reviews",
            newest.into_iter().map(shown).collect::<Vec<_>>(),
        );
        page
    })
    .await?;
    insert(&system, "accounts", 1..=data::ACCOUNTS, CHUNK, account).await?;
    system.run(DEFINITIONS, []).await?;
    Ok(())
}

async fn insert(
    system: &SurrealDb,
    table: &str,
    ids: RangeInclusive<i64>,
    chunk: i64,
    mut one: impl FnMut(i64) -> Object,
) -> anyhow::Result<()> {
    let statement = format!("INSERT INTO {table} $records RETURN NONE");
    for ids in chunks(*ids.end(), chunk) {
        let records: Vec<Object> = ids
            .map(|id| {
                let mut record = one(id);
                record.insert("id", id);
                record
            })
            .collect();
        let variables = [("records", records.into_value())];
        system.run(&statement, variables).await?;
    }
    Ok(())
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Object {
    let fields = fields.into_iter();
    fields
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn part(id: i64) -> Object {
    let part = data::part(id);
    object([
        ("name", part.name.into_value()),
        ("number", part.number.into_value()),
        ("price_cents", part.price_cents.into_value()),
        ("weight", part.weight.into_value()),
    ])
}

fn product(product: Product) -> Object {
    object([
        ("catalog_number", product.catalog_number.into_value()),
        ("name", product.name.into_value()),
        ("description", product.description.into_value()),
        ("price_cents", product.price_cents.into_value()),
        ("created_at", product.created_at.into_value()),
    ])
}

fn with_parts(id: i64) -> Object {
    let parts = data::parts_of(id).into_iter();
    let parts: Vec<Value> = parts.map(|part| link("parts", part)).collect();
    let mut product = product(data::product(id));
    product.insert("parts", parts);
    product
}

fn with_copies(id: i64) -> Object {
    let product = data::product(id);
    let copy = |copy: PartCopy| {
        object([
            ("part", link("parts", copy.id)),
            ("name", copy.name.into_value()),
        ])
    };
    let parts: Vec<Object> = data::copies_of(id).into_iter().map(copy).collect();
    object([
        ("catalog_number", product.catalog_number.into_value()),
        ("name", product.name.into_value()),
        ("parts", parts.into_value()),
    ])
}

/// The fields of a review besides its id.
pub(super) fn review(review: Review, product: Value) -> Object {
    object([
        ("product", product),
        ("author", review.author.into_value()),
        ("text", review.text.into_value()),
        ("published", review.published.into_value()),
        ("rating", review.rating.into_value()),
    ])
}

fn shown(shown: ShownReview) -> Object {
    object([
        ("review", link("page_reviews", shown.id)),
        ("author", shown.author.into_value()),
        ("text", shown.text.into_value()),
        ("published", shown.published.into_value()),
        ("rating", shown.rating.into_value()),
    ])
}

fn account(id: i64) -> Object {
    let account = data::account(id);
    object([
        ("owner", account.owner.into_value()),
        ("balance", account.balance.into_value()),
        ("visits", account.visits.into_value()),
    ])
}
