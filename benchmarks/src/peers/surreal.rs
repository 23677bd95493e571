//! SurrealDB embedded, in a folder of SurrealKV: record links for joins, a table view for the number of reviews of each product, and an event
//! that keeps the newest reviews of a page.

mod load;
mod read;

use std::path::Path;

use surrealdb::{
    IndexedResults, Surreal,
    engine::local::{Db, SurrealKv},
    types::{Object, QueryError, RecordId, SurrealValue, Value},
};

pub(super) use self::load::load;
use super::{
    data::Review,
    system::{Doing, Question, System, Write, missing},
};

/// A rename counts the copies of the name, but not the part.
const RENAME: &str = "{
    UPDATE $part SET name = $name RETURN NONE;
    LET $renamed = (UPDATE products_with_copies SET parts[WHERE part = $part].name = $name
        WHERE parts.*.part CONTAINS $part RETURN VALUE id);
    RETURN count($renamed);
}";
const INSERT_REVIEW: &str = "CREATE $id CONTENT $review RETURN NONE";
const VISIT: &str = "UPDATE $account SET visits += 1 RETURN NONE";
const TRANSFER: &str = "{
    UPDATE $from SET balance -= $amount RETURN NONE;
    UPDATE $to SET balance += $amount RETURN NONE;
}";

pub(super) struct SurrealDb {
    database: Surreal<Db>,
}

impl SurrealDb {
    /// Opens a folder, each commit to which is synced before it is confirmed.
    pub(super) async fn open(path: &Path) -> anyhow::Result<SurrealDb> {
        let config = "sync=every";
        let path = format!("{}?{config}", path.display());
        let database = Surreal::new::<SurrealKv>(path).await?;
        database.use_ns("peers").use_db("peers").await?;
        Ok(SurrealDb { database })
    }

    /// Runs statements, again after each lost conflict.
    async fn run<const N: usize>(
        &self,
        statements: &str,
        variables: [(&str, Value); N],
    ) -> anyhow::Result<IndexedResults> {
        let variables: Object = variables
            .map(|(name, value)| (name.to_owned(), value))
            .into_iter()
            .collect();
        loop {
            let query = self.database.query(statements).bind(variables.clone());
            match query.await.and_then(IndexedResults::check) {
                Err(error) if error.query_details() == Some(&QueryError::TransactionConflict) => {
                    tokio::task::yield_now().await;
                }
                results => return Ok(results?),
            }
        }
    }

    async fn change(&self, write: Write) -> anyhow::Result<u64> {
        match write {
            Write::Review(review) => {
                let product = link("products", review.product);
                self.insert("reviews", review, product).await
            }
            Write::PageReview(review) => {
                let page = link("pages", review.product);
                self.insert("page_reviews", review, page).await
            }
            Write::Rename { part, name } => {
                let variables = [("part", link("parts", part)), ("name", name.into_value())];
                let renamed: Option<i64> = self.run(RENAME, variables).await?.take(0)?;
                Ok(renamed.unwrap_or_default() as u64)
            }
            Write::RenameInJson { .. } => missing(),
            Write::Visit { account } => {
                let variables = [("account", link("accounts", account))];
                self.run(VISIT, variables).await?;
                Ok(1)
            }
            Write::Transfer { from, to, amount } => {
                let variables = [
                    ("from", link("accounts", from)),
                    ("to", link("accounts", to)),
                    ("amount", amount.into_value()),
                ];
                self.run(TRANSFER, variables).await?;
                Ok(2)
            }
        }
    }

    async fn insert(&self, table: &str, review: Review, product: Value) -> anyhow::Result<u64> {
        let id = link(table, review.id);
        let review = load::review(review, product).into_value();
        let variables = [("id", id), ("review", review)];
        self.run(INSERT_REVIEW, variables).await?;
        Ok(1)
    }
}

fn link(table: &str, id: i64) -> Value {
    Value::RecordId(RecordId::new(table, id))
}

impl System for SurrealDb {
    fn name(&self) -> &'static str {
        "SurrealDB"
    }

    fn ask(&self, question: Question) -> Doing<'_, u64> {
        Box::pin(self.answer(question))
    }

    fn write(&self, write: Write) -> Doing<'_, u64> {
        Box::pin(self.change(write))
    }

    /// The commits that wait together are synced together by SurrealDB itself.
    fn write_in_group(&self, _: Write) -> Doing<'_, u64> {
        Box::pin(async { missing() })
    }
}
