//! The questions.

use anyhow::{Context, bail};
use surrealdb::types::{Array, Object, RecordId, RecordIdKey, SurrealValue, Value};

use super::{SurrealDb, link};
use crate::peers::{
    data::{Account, Part, PartCopy, Product, ProductPage, ProductWithCopies, Review, ShownReview},
    digest::digest,
    system::{Question, missing},
};

const PARTS: &str = "SELECT * FROM ONLY $product FETCH parts";
const PAGE_BY_JOIN: &str = "
    SELECT * FROM ONLY $product;
    SELECT * FROM reviews WHERE product = $product ORDER BY published DESC LIMIT 10";
const SUBSET_BY_JOIN: &str = "
    SELECT * FROM ONLY $product;
    SELECT * FROM page_reviews WHERE product = $product ORDER BY published DESC LIMIT 10";
const BALANCE: &str = "SELECT VALUE balance FROM accounts";

impl SurrealDb {
    pub(super) async fn answer(&self, question: Question) -> anyhow::Result<u64> {
        match question {
            Question::Product(id) => Ok(digest(&product(&mut self.get("products", id).await?)?)),
            Question::Parts(id) => {
                let variables = [("product", link("products_with_parts", id))];
                let found = self.run(PARTS, variables).await?.take(0)?;
                let mut found = Fields::of(found)?;
                Ok(digest(&(product(&mut found)?, found.list("parts", part)?)))
            }
            Question::CopiedNames(id) => {
                let mut found = self.get("products_with_copies", id).await?;
                Ok(digest(&ProductWithCopies {
                    id: found.id("id")?,
                    catalog_number: found.take("catalog_number")?,
                    name: found.take("name")?,
                    parts: found.list("parts", copy)?,
                }))
            }
            Question::PageByJoin(id) => self.joined(PAGE_BY_JOIN, link("products", id)).await,
            Question::PageFromSubset(id) => {
                let mut found = self.get("pages", id).await?;
                let product = product(&mut found)?;
                Ok(digest(&ProductPage {
                    id: product.id,
                    catalog_number: product.catalog_number,
                    name: product.name,
                    description: product.description,
                    price_cents: product.price_cents,
                    created_at: product.created_at,
                    newest_reviews: found.list("newest_reviews", shown)?,
                }))
            }
            Question::SubsetByJoin(id) => self.joined(SUBSET_BY_JOIN, link("pages", id)).await,
            Question::ReviewCount(id) => {
                let group = Array::from(vec![link("products", id)]);
                let mut found = self.get("review_counts", group).await?;
                Ok(digest(&found.take::<i64>("number")?))
            }
            Question::Account(id) => {
                let mut found = self.get("accounts", id).await?;
                Ok(digest(&Account {
                    id: found.id("id")?,
                    owner: found.take("owner")?,
                    balance: found.take("balance")?,
                    visits: found.take("visits")?,
                }))
            }
            Question::Balance => {
                let balances: Vec<i64> = self.run(BALANCE, []).await?.take(0)?;
                Ok(digest(&balances.iter().sum::<i64>()))
            }
            Question::ProductWithParts(_)
            | Question::ProductByCatalogNumber(_)
            | Question::ProductsByCatalogNumber(_)
            | Question::PartsFetched(_)
            | Question::ListByJoin(_)
            | Question::ListFromSubsets(_)
            | Question::Messages(_) => missing(),
        }
    }

    /// The record with an id, without a statement.
    async fn get(&self, table: &str, id: impl Into<RecordIdKey>) -> anyhow::Result<Fields> {
        let found: Option<Value> = self.database.select(RecordId::new(table, id)).await?;
        Fields::of(found.context("there is no such record")?)
    }

    /// A product with the reviews that a statement finds.
    async fn joined(&self, statements: &str, product_id: Value) -> anyhow::Result<u64> {
        let mut found = self.run(statements, [("product", product_id)]).await?;
        let product = product(&mut Fields::of(found.take(0)?)?)?;
        let reviews: Vec<Value> = found.take(1)?;
        let reviews = reviews.into_iter().map(|found| review(Fields::of(found)?));
        let reviews: Vec<Review> = reviews.collect::<anyhow::Result<_>>()?;
        Ok(digest(&(product, reviews)))
    }
}

/// The fields of a record that are not yet taken.
struct Fields(Object);

impl Fields {
    fn of(value: Value) -> anyhow::Result<Fields> {
        match value {
            Value::Object(object) => Ok(Fields(object)),
            other => bail!("{other:?} is no record"),
        }
    }

    fn take<T: SurrealValue>(&mut self, name: &str) -> anyhow::Result<T> {
        let value = self.0.remove(name).context("a field is missing")?;
        Ok(value.into_t()?)
    }

    /// The number in a record id.
    fn id(&mut self, name: &str) -> anyhow::Result<i64> {
        match self.take::<RecordId>(name)?.key {
            RecordIdKey::Number(id) => Ok(id),
            other => bail!("{other:?} is no number"),
        }
    }

    fn list<T>(
        &mut self,
        name: &str,
        one: fn(Fields) -> anyhow::Result<T>,
    ) -> anyhow::Result<Vec<T>> {
        let list: Vec<Value> = self.take(name)?;
        list.into_iter()
            .map(|found| one(Fields::of(found)?))
            .collect()
    }
}

fn product(found: &mut Fields) -> anyhow::Result<Product> {
    Ok(Product {
        id: found.id("id")?,
        catalog_number: found.take("catalog_number")?,
        name: found.take("name")?,
        description: found.take("description")?,
        price_cents: found.take("price_cents")?,
        created_at: found.take("created_at")?,
    })
}

fn part(mut found: Fields) -> anyhow::Result<Part> {
    Ok(Part {
        id: found.id("id")?,
        name: found.take("name")?,
        number: found.take("number")?,
        price_cents: found.take("price_cents")?,
        weight: found.take("weight")?,
    })
}

fn copy(mut found: Fields) -> anyhow::Result<PartCopy> {
    Ok(PartCopy {
        id: found.id("part")?,
        name: found.take("name")?,
    })
}

fn review(mut found: Fields) -> anyhow::Result<Review> {
    Ok(Review {
        id: found.id("id")?,
        product: found.id("product")?,
        author: found.take("author")?,
        text: found.take("text")?,
        published: found.take("published")?,
        rating: found.take("rating")?,
    })
}

fn shown(mut found: Fields) -> anyhow::Result<ShownReview> {
    Ok(ShownReview {
        id: found.id("review")?,
        author: found.take("author")?,
        text: found.take("text")?,
        published: found.take("published")?,
        rating: found.take("rating")?,
    })
}
