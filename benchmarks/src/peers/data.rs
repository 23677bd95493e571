//! The documents that all systems store, and how they are made from their ids.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::shared::random::{Random, hash, text};

pub(super) const PRODUCTS: i64 = 10_000;
pub(super) const PARTS: i64 = 50_000;
pub(super) const PARTS_OF_A_PRODUCT: usize = 100;
pub(super) const REVIEWS: i64 = 500_000;
/// The product of a fifth of all reviews.
pub(super) const BUSY_PRODUCT: i64 = 1;
/// The number of the newest reviews on a page.
pub(super) const SHOWN: usize = 10;
/// The number of products in a list.
pub(super) const LISTED: i64 = 50;
pub(super) const MESSAGES: i64 = 1_000_000;
/// The number of messages in an answer.
pub(super) const NEWEST_MESSAGES: usize = 5_000;
pub(super) const ACCOUNTS: i64 = 10_000;
const HOSTS: i64 = 1_000;
/// The number of busy hosts, the first ones: they have two fifths of all messages, in equal shares.
pub(super) const BUSY_HOSTS: i64 = 20;

const EPOCH: i64 = 1_700_000_000_000;
const DAY: i64 = 86_400_000;
const REVIEWED_DAYS: i64 = 700;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Product {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    pub(super) catalog_number: String,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) price_cents: i64,
    pub(super) created_at: i64,
}

/// A product with the ordered list of its parts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ProductWithParts {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    pub(super) catalog_number: String,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) price_cents: i64,
    pub(super) created_at: i64,
    pub(super) parts: Vec<i64>,
}

/// A product with the names of its parts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ProductWithCopies {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    pub(super) catalog_number: String,
    pub(super) name: String,
    pub(super) parts: Vec<PartCopy>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PartCopy {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    pub(super) name: String,
}

/// A product with its newest reviews.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ProductPage {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    pub(super) catalog_number: String,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) price_cents: i64,
    pub(super) created_at: i64,
    pub(super) newest_reviews: Vec<ShownReview>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ShownReview {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    pub(super) author: String,
    pub(super) text: String,
    pub(super) published: i64,
    pub(super) rating: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Part {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) number: String,
    pub(super) price_cents: i64,
    pub(super) weight: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Review {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    pub(super) product: i64,
    pub(super) author: String,
    pub(super) text: String,
    pub(super) published: i64,
    pub(super) rating: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Message {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    pub(super) host: i64,
    pub(super) time: i64,
    pub(super) level: i64,
    pub(super) text: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Account {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    pub(super) owner: String,
    pub(super) balance: i64,
    pub(super) visits: i64,
}

/// A random one of the ids.
pub(super) fn pick(random: &mut Random, ids: RangeInclusive<i64>) -> i64 {
    ids.start() + random.below((ids.end() - ids.start() + 1) as u64) as i64
}

/// The ids from 1 on, in chunks for loading.
pub(super) fn chunks(last: i64, size: i64) -> impl Iterator<Item = RangeInclusive<i64>> {
    (1..=last)
        .step_by(size as usize)
        .map(move |first| first..=last.min(first + size - 1))
}

pub(super) fn catalog_number(product: i64) -> String {
    format!("CAT-{product:08}")
}

pub(super) fn product(id: i64) -> Product {
    let seed = id as u64;
    Product {
        id,
        catalog_number: catalog_number(id),
        name: format!("Product {id} {}", text(seed * 7, 14)),
        description: text(seed * 11, 200),
        price_cents: 100 + (hash(seed) % 100_000) as i64,
        created_at: EPOCH + id,
    }
}

/// The part of all products.
pub(super) const PART_OF_ALL: i64 = 1;
/// The parts of a hundred products each.
pub(super) const PARTS_OF_A_HUNDRED: RangeInclusive<i64> = 2..=101;

/// The parts of a product in their order, without duplicates.
pub(super) fn parts_of(product: i64) -> Vec<i64> {
    let others = PARTS_OF_A_HUNDRED.end() + 1..=PARTS;
    let mut random = Random(product as u64 ^ 0xAB_CDEF);
    let mut parts = vec![
        PART_OF_ALL,
        PARTS_OF_A_HUNDRED.start() + (product - 1) / 100,
    ];
    while parts.len() < PARTS_OF_A_PRODUCT {
        let part = pick(&mut random, others.clone());
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

/// The copies of the names of its parts that a product holds.
pub(super) fn copies_of(product: i64) -> Vec<PartCopy> {
    let copy = |id| PartCopy {
        id,
        name: part_name(id),
    };
    parts_of(product).into_iter().map(copy).collect()
}

fn part_name(id: i64) -> String {
    format!("Part {id:06} {}", text(id as u64 * 13, 10))
}

/// A new name for a part.
pub(super) fn new_part_name(id: i64, random: &mut Random) -> String {
    format!("Part {id:06} renamed {:06}", random.below(1_000_000))
}

pub(super) fn part(id: i64) -> Part {
    Part {
        id,
        name: part_name(id),
        number: format!("PART-{id:07}"),
        price_cents: (hash(id as u64) % 9_999) as i64,
        weight: (hash(id as u64 + 9) % 5_000) as i64,
    }
}

pub(super) fn review(id: i64) -> Review {
    let seed = id as u64;
    let product = match id % 5 {
        0 => BUSY_PRODUCT,
        _ => pick(&mut Random(seed ^ 0x5151), BUSY_PRODUCT + 1..=PRODUCTS),
    };
    Review {
        id,
        product,
        author: format!("author_{:05}", hash(seed + 77) % 60_000),
        text: text(seed * 3 + 1, 240),
        published: EPOCH + (hash(seed + 5) % (REVIEWED_DAYS * DAY) as u64) as i64,
        rating: 1 + id % 5,
    }
}

/// A review to add: four of five are newer than all others, the rest somewhere among the loaded ones.
pub(super) fn new_review(id: i64, random: &mut Random) -> Review {
    let product = pick(random, 1..=PRODUCTS);
    let published = match random.below(5) {
        0 => EPOCH + random.below((REVIEWED_DAYS * DAY) as u64) as i64,
        _ => EPOCH + (REVIEWED_DAYS + 100) * DAY + (id - REVIEWS),
    };
    Review {
        id,
        product,
        author: format!("author_{:05}", random.below(60_000)),
        text: text(id as u64, 240),
        published,
        rating: pick(random, 1..=5),
    }
}

pub(super) fn message(id: i64) -> Message {
    let host = match id % 5 {
        nth @ (0 | 1) => 1 + (id / 5 * 2 + nth) % BUSY_HOSTS,
        _ => pick(&mut Random(id as u64 ^ 0x77), BUSY_HOSTS + 1..=HOSTS),
    };
    Message {
        id,
        host,
        time: EPOCH + id * 1_000,
        level: id % 6,
        text: text(id as u64 * 17, 100),
    }
}

pub(super) fn account(id: i64) -> Account {
    Account {
        id,
        owner: text(id as u64 * 19, 20),
        balance: 1_000_000,
        visits: 0,
    }
}

/// Adds a review to the newest of its product, by hand. Returns whether it is one of them.
pub(super) fn show(newest: &mut Vec<ShownReview>, review: &Review) -> bool {
    let at =
        newest.partition_point(|shown| (shown.published, shown.id) > (review.published, review.id));
    if at >= SHOWN {
        return false;
    }
    let shown = ShownReview {
        id: review.id,
        author: review.author.clone(),
        text: review.text.clone(),
        published: review.published,
        rating: review.rating,
    };
    newest.insert(at, shown);
    newest.truncate(SHOWN);
    true
}
