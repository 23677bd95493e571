//! The library: models with attributes, and one call of its API for each question and each write.
//!
//! The documents have the form of [`RawRedb`](super::raw_redb::RawRedb), and are in the same collections.

mod load;
mod models;

use std::path::Path;

use odm::{
    Embedded,
    prelude::*,
    store::{Durability, contract::Store},
};

pub(super) use self::load::load;
use self::models::{
    Account, Message, PageReview, Part, Product, ProductPage, ProductWithParts, Review, Shop,
};
use super::{
    CACHE,
    data::{self, LISTED, NEWEST_MESSAGES, SHOWN},
    digest::digest,
    system::{Doing, Question, System, Write, missing},
};

pub(super) struct Library {
    store: Embedded,
    shop: Shop,
}

impl Library {
    pub(super) async fn open(path: &Path) -> odm::Result<Library> {
        Library::open_with(path, Durability::Immediate).await
    }

    async fn open_with(path: &Path, durability: Durability) -> odm::Result<Library> {
        let builder = Embedded::builder().cache_size(CACHE).durability(durability);
        let store = builder.open(path).await?;
        let shop = Shop::open(store.clone()).await?;
        Ok(Library { store, shop })
    }

    /// The number of findings of the library's own audit of the derived data.
    pub(super) async fn audit(&self) -> odm::Result<usize> {
        Ok(self.shop.audit().await?.len())
    }

    async fn product(&self, id: i64) -> anyhow::Result<u64> {
        Ok(digest(&self.shop.products.get(id).await?))
    }

    async fn product_with_parts(&self, id: i64) -> anyhow::Result<u64> {
        let product = self.shop.products_with_parts.get(id).await?;
        Ok(digest(&(&product, &product.parts)))
    }

    async fn product_by_catalog_number(&self, id: i64) -> anyhow::Result<u64> {
        let number = Product::fields()
            .catalog_number
            .eq(data::catalog_number(id));
        Ok(digest(&self.shop.products.find(number).one().await?))
    }

    async fn products_by_catalog_number(&self, first: i64) -> anyhow::Result<u64> {
        let number = Product::fields().catalog_number;
        let products = self
            .shop
            .products
            .find(number.gte(data::catalog_number(first)));
        let page = products.sort(number.asc()).page(LISTED as u64).await?;
        Ok(digest(&page.items))
    }

    async fn parts(&self, id: i64) -> anyhow::Result<u64> {
        let fields = ProductWithParts::fields();
        let product = self.shop.products_with_parts.find(fields.id.eq(id));
        Ok(digest(&product.join(fields.parts).one().await?))
    }

    async fn parts_fetched(&self, id: i64) -> anyhow::Result<u64> {
        let product = self.shop.products_with_parts.get(id).await?;
        let parts = self.shop.parts.fetch(&product.parts).await?;
        Ok(digest(&(product, parts)))
    }

    async fn copied_names(&self, id: i64) -> anyhow::Result<u64> {
        Ok(digest(&self.shop.products_with_copies.get(id).await?))
    }

    async fn page_by_join(&self, id: i64) -> anyhow::Result<u64> {
        let fields = Review::fields();
        let newest = fields
            .product
            .referrers()
            .sort(fields.published.desc())
            .limit(SHOWN as u64);
        let product = self.shop.products.find(Product::fields().id.eq(id));
        Ok(digest(&product.join(newest).one().await?))
    }

    async fn page_from_subset(&self, id: i64) -> anyhow::Result<u64> {
        Ok(digest(&self.shop.pages.get(id).await?))
    }

    async fn subset_by_join(&self, id: i64) -> anyhow::Result<u64> {
        let fields = PageReview::fields();
        let newest = fields
            .product
            .referrers()
            .sort(fields.published.desc())
            .limit(SHOWN as u64);
        let page = self.shop.pages.find(ProductPage::fields().id.eq(id));
        let (page, reviews) = page.join(newest).one().await?;
        Ok(digest(&(page.without_reviews(), reviews)))
    }

    async fn list_by_join(&self, first: i64) -> anyhow::Result<u64> {
        let fields = Review::fields();
        let newest = fields
            .product
            .referrers()
            .sort(fields.published.desc())
            .limit(SHOWN as u64);
        let products = self.shop.products.find(Product::fields().id.gte(first));
        let products = products.limit(LISTED as u64).join(newest);
        Ok(digest(&products.await?))
    }

    async fn list_from_subsets(&self, first: i64) -> anyhow::Result<u64> {
        let pages = self.shop.pages.find(ProductPage::fields().id.gte(first));
        Ok(digest(&pages.limit(LISTED as u64).await?))
    }

    async fn messages(&self, host: i64) -> anyhow::Result<u64> {
        let fields = Message::fields();
        let messages = self.shop.messages.find(fields.host.eq(host));
        let messages = messages.sort(fields.time.desc());
        Ok(digest(&messages.limit(NEWEST_MESSAGES as u64).await?))
    }

    async fn review_count(&self, id: i64) -> anyhow::Result<u64> {
        let reviews = self.shop.reviews.find(Review::fields().product.eq(id));
        Ok(digest(&(reviews.count().await? as i64)))
    }

    async fn account(&self, id: i64) -> anyhow::Result<u64> {
        Ok(digest(&self.shop.accounts.get(id).await?))
    }

    async fn balance(&self) -> anyhow::Result<u64> {
        let accounts = self.shop.accounts.find(Filter::all()).await?;
        let balance: i64 = accounts.iter().map(|account| account.balance).sum();
        Ok(digest(&balance))
    }

    async fn insert_review(&self, review: data::Review) -> anyhow::Result<u64> {
        self.shop.reviews.insert(Review::from(review)).await?;
        Ok(1)
    }

    async fn insert_page_review(&self, review: data::Review) -> anyhow::Result<u64> {
        let review = PageReview::from(review);
        self.shop.page_reviews.insert(review).await?;
        Ok(1)
    }

    async fn rename(&self, part: i64, name: String) -> anyhow::Result<u64> {
        let rename = self.shop.parts.update(part);
        let rename = rename.set(Part::fields().name, name);
        let (renamed, cost) = odm::measure(rename.into_future()).await;
        renamed?;
        Ok(cost.documents_written - 1)
    }

    async fn visit(&self, account: i64) -> anyhow::Result<u64> {
        let visit = self.shop.accounts.update(account);
        visit.inc(Account::fields().visits, 1).await?;
        Ok(1)
    }

    async fn transfer(&self, from: i64, to: i64, amount: i64) -> anyhow::Result<u64> {
        let balance = Account::fields().balance;
        self.shop
            .transaction(async |shop| {
                shop.accounts.update(from).inc(balance, -amount).await?;
                shop.accounts.update(to).inc(balance, amount).await
            })
            .await?;
        Ok(2)
    }
}

impl System for Library {
    fn name(&self) -> &'static str {
        "odm"
    }

    fn ask(&self, question: Question) -> Doing<'_, u64> {
        match question {
            Question::Product(id) => Box::pin(self.product(id)),
            Question::ProductWithParts(id) => Box::pin(self.product_with_parts(id)),
            Question::ProductByCatalogNumber(id) => Box::pin(self.product_by_catalog_number(id)),
            Question::ProductsByCatalogNumber(first) => {
                Box::pin(self.products_by_catalog_number(first))
            }
            Question::Parts(id) => Box::pin(self.parts(id)),
            Question::PartsFetched(id) => Box::pin(self.parts_fetched(id)),
            Question::CopiedNames(id) => Box::pin(self.copied_names(id)),
            Question::PageByJoin(id) => Box::pin(self.page_by_join(id)),
            Question::PageFromSubset(id) => Box::pin(self.page_from_subset(id)),
            Question::SubsetByJoin(id) => Box::pin(self.subset_by_join(id)),
            Question::ListByJoin(first) => Box::pin(self.list_by_join(first)),
            Question::ListFromSubsets(first) => Box::pin(self.list_from_subsets(first)),
            Question::Messages(host) => Box::pin(self.messages(host)),
            Question::ReviewCount(id) => Box::pin(self.review_count(id)),
            Question::Account(id) => Box::pin(self.account(id)),
            Question::Balance => Box::pin(self.balance()),
        }
    }

    fn write(&self, write: Write) -> Doing<'_, u64> {
        match write {
            Write::Review(review) => Box::pin(self.insert_review(review)),
            Write::PageReview(review) => Box::pin(self.insert_page_review(review)),
            Write::Rename { part, name } => Box::pin(self.rename(part, name)),
            Write::RenameInJson { .. } => Box::pin(async { missing() }),
            Write::Visit { account } => Box::pin(self.visit(account)),
            Write::Transfer { from, to, amount } => Box::pin(self.transfer(from, to, amount)),
        }
    }

    /// The library itself commits waiting writes together.
    fn write_in_group(&self, _: Write) -> Doing<'_, u64> {
        Box::pin(async { missing() })
    }

    fn close(&self) -> Doing<'_, ()> {
        Box::pin(async { Ok(self.store.close().await?) })
    }
}
