//! The models of the library, which make up its schema.
//!
//! Reviews are in two collections, since an insert cannot leave the subset out: the parent of a [`Review`] shows no reviews, the parent of
//! a [`PageReview`] the newest.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

use crate::peers::{
    data,
    digest::{Answer, Digest, answer},
};

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "products")]
pub(super) struct Product {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    #[index(unique)]
    pub(super) catalog_number: String,
    name: String,
    description: String,
    price_cents: i64,
    created_at: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
pub(super) struct Part {
    #[serde(rename = "_id")]
    id: i64,
    pub(super) name: String,
    number: String,
    price_cents: i64,
    weight: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "products_with_parts")]
pub(super) struct ProductWithParts {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    catalog_number: String,
    name: String,
    description: String,
    price_cents: i64,
    created_at: i64,
    #[reference(child)]
    pub(super) parts: Vec<Ref<Part>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "products_with_copies")]
pub(super) struct ProductWithCopies {
    #[serde(rename = "_id")]
    id: i64,
    catalog_number: String,
    name: String,
    #[embed]
    parts: Vec<PartCopy>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
pub(super) struct PartCopy {
    #[reference(child)]
    #[serde(rename = "_id")]
    id: Ref<Part>,
    #[denormalize(from = "Part.name")]
    name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "reviews", index(fields = "product, -published"))]
pub(super) struct Review {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    pub(super) product: Ref<Product>,
    author: String,
    text: String,
    pub(super) published: i64,
    rating: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "pages")]
pub(super) struct ProductPage {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    catalog_number: String,
    name: String,
    description: String,
    price_cents: i64,
    created_at: i64,
    #[subset(limit = 10, sort = "-published")]
    newest_reviews: Subset<ShownReview>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "page_reviews")]
pub(super) struct PageReview {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    pub(super) product: Ref<ProductPage>,
    author: String,
    text: String,
    pub(super) published: i64,
    rating: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "PageReview")]
pub(super) struct ShownReview {
    #[serde(rename = "_id")]
    id: i64,
    author: String,
    text: String,
    published: i64,
    rating: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "messages", index(fields = "host, -time"))]
pub(super) struct Message {
    #[serde(rename = "_id")]
    id: i64,
    pub(super) host: i64,
    pub(super) time: i64,
    level: i64,
    text: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "accounts")]
pub(super) struct Account {
    #[serde(rename = "_id")]
    id: i64,
    owner: String,
    pub(super) balance: i64,
    pub(super) visits: i64,
}

#[derive(Database)]
#[database(name = "peers", version = 1)]
pub(super) struct Shop {
    pub(super) products: Repository<Product>,
    pub(super) parts: Repository<Part>,
    pub(super) products_with_parts: Repository<ProductWithParts>,
    pub(super) products_with_copies: Repository<ProductWithCopies>,
    pub(super) reviews: Repository<Review>,
    pub(super) pages: Repository<ProductPage>,
    pub(super) page_reviews: Repository<PageReview>,
    pub(super) messages: Repository<Message>,
    pub(super) accounts: Repository<Account>,
}

answer!(Product: id, catalog_number, name, description, price_cents, created_at);
answer!(Part: id, name, number, price_cents, weight);
answer!(ProductWithParts: id, catalog_number, name, description, price_cents, created_at);
answer!(ProductWithCopies: id, name, parts);
answer!(PartCopy: id, name);
answer!(Review: id, author, text, published, rating);
answer!(ProductPage: id, catalog_number, name, description, price_cents, created_at, newest_reviews);
answer!(PageReview: id, author, text, published, rating);
answer!(ShownReview: id, author, text, published, rating);
answer!(Message: id, host, time, level, text);
answer!(Account: id, owner, balance, visits);

impl<M: Document<Id = i64>> Answer for Ref<M> {
    fn add_to(&self, digest: &mut Digest) {
        self.id().add_to(digest);
    }
}

impl<T: Answer> Answer for Subset<T> {
    fn add_to(&self, digest: &mut Digest) {
        self.as_ref().add_to(digest);
    }
}

impl ProductPage {
    pub(super) fn without_reviews(self) -> Product {
        Product {
            id: self.id,
            catalog_number: self.catalog_number,
            name: self.name,
            description: self.description,
            price_cents: self.price_cents,
            created_at: self.created_at,
        }
    }
}

impl From<data::Product> for Product {
    fn from(product: data::Product) -> Product {
        Product {
            id: product.id,
            catalog_number: product.catalog_number,
            name: product.name,
            description: product.description,
            price_cents: product.price_cents,
            created_at: product.created_at,
        }
    }
}

impl From<data::Product> for ProductPage {
    fn from(product: data::Product) -> ProductPage {
        ProductPage {
            id: product.id,
            catalog_number: product.catalog_number,
            name: product.name,
            description: product.description,
            price_cents: product.price_cents,
            created_at: product.created_at,
            newest_reviews: Subset::new(),
        }
    }
}

impl From<data::Product> for ProductWithParts {
    fn from(product: data::Product) -> ProductWithParts {
        let parts = data::parts_of(product.id);
        ProductWithParts {
            id: product.id,
            catalog_number: product.catalog_number,
            name: product.name,
            description: product.description,
            price_cents: product.price_cents,
            created_at: product.created_at,
            parts: parts.into_iter().map(Ref::new).collect(),
        }
    }
}

impl From<data::Product> for ProductWithCopies {
    fn from(product: data::Product) -> ProductWithCopies {
        let copy = |copy: data::PartCopy| PartCopy {
            id: Ref::new(copy.id),
            name: copy.name,
        };
        let parts = data::copies_of(product.id);
        ProductWithCopies {
            id: product.id,
            catalog_number: product.catalog_number,
            name: product.name,
            parts: parts.into_iter().map(copy).collect(),
        }
    }
}

impl From<data::Part> for Part {
    fn from(part: data::Part) -> Part {
        Part {
            id: part.id,
            name: part.name,
            number: part.number,
            price_cents: part.price_cents,
            weight: part.weight,
        }
    }
}

impl From<data::Review> for Review {
    fn from(review: data::Review) -> Review {
        Review {
            id: review.id,
            product: Ref::new(review.product),
            author: review.author,
            text: review.text,
            published: review.published,
            rating: review.rating,
        }
    }
}

impl From<data::Review> for PageReview {
    fn from(review: data::Review) -> PageReview {
        PageReview {
            id: review.id,
            product: Ref::new(review.product),
            author: review.author,
            text: review.text,
            published: review.published,
            rating: review.rating,
        }
    }
}

impl From<data::Message> for Message {
    fn from(message: data::Message) -> Message {
        Message {
            id: message.id,
            host: message.host,
            time: message.time,
            level: message.level,
            text: message.text,
        }
    }
}

impl From<data::Account> for Account {
    fn from(account: data::Account) -> Account {
        Account {
            id: account.id,
            owner: account.owner,
            balance: account.balance,
            visits: account.visits,
        }
    }
}
