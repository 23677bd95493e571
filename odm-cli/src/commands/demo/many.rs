//! A large shop, the same whenever it is made.

use odm::{Database, DateTime, prelude::Ref};

use super::shop::{Customer, Line, Order, Product, Review, Shop};
use crate::{
    error::Result,
    progress::{Progress, Unit},
};

/// The documents of one unit, in tens: for each customer there is a product, and there are four reviews and four orders.
const UNIT: i64 = 200;

/// The first number, behind those of the small shop.
const FIRST: i64 = 1_000;

/// The milliseconds from 1970 to 2026.
const BEGIN: i64 = 1_767_225_600_000;

const TAGS: [&str; 7] = ["wood", "wall", "light", "new", "garden", "red", "blue"];

/// Adds documents, about this number, in tens.
pub(super) async fn add(shop: &Shop, documents: u32) -> Result<()> {
    let last = FIRST + i64::from(documents) / 10;
    let of = u64::from(documents);
    let progress = Progress::new("documents", of, Unit::Documents);
    let mut first = FIRST;
    while first < last {
        let end = last.min(first + UNIT);
        let each = || first..end;
        let fours = || 4 * first..4 * end;
        let added = (
            shop.customers.insert_many(each().map(customer)),
            shop.products.insert_many(each().map(product)),
            shop.reviews.insert_many(fours().map(review)),
            shop.orders
                .insert_many(fours().map(|id| order(id, first, end))),
        );
        shop.bulk(added).await?;
        first = end;
        progress.at(((first - FIRST) * 10) as u64, of);
    }
    progress.end();
    Ok(())
}

/// A number that looks like chance, below `below`.
fn chance(of: i64, below: i64) -> i64 {
    let mixed = of.wrapping_mul(6_364_136_223_846_793_005);
    let mixed = (mixed >> 33) ^ mixed.wrapping_mul(1_442_695_040_888_963_407);
    mixed.rem_euclid(below)
}

fn time(of: i64) -> DateTime {
    DateTime::from_millis(BEGIN + chance(of, 15_000_000) * 1_000)
}

fn customer(id: i64) -> Customer {
    let cities = ["Leeds", "York", "Hull", "Bath", "Ely"];
    Customer {
        id: format!("c{id}"),
        name: format!("Customer {id}"),
        city: cities[chance(id, 5) as usize].into(),
        orders: 0,
    }
}

fn product(id: i64) -> Product {
    let tags = (0..chance(id, 4)).map(|at| TAGS[chance(id + at, 7) as usize].into());
    Product {
        id,
        name: format!("article {id}"),
        price: chance(id, 20_000) as f64 / 100.0,
        tags: tags.collect(),
        review_count: 0,
        reviews: Default::default(),
    }
}

/// Four of each product.
fn review(id: i64) -> Review {
    Review {
        id,
        product: Ref::new(id / 4),
        stars: 1 + chance(id, 5) as i32,
        text: "It does what it should. ".repeat(1 + chance(id, 6) as usize),
        published: time(id),
    }
}

/// An order of customers and products between these numbers.
fn order(id: i64, first: i64, end: i64) -> Order {
    let line = |at| Line {
        product: Ref::new(first + chance(id + at, end - first)),
        product_name: String::new(),
        quantity: 1 + chance(at, 3),
    };
    Order {
        id,
        customer: Ref::new(format!("c{}", id / 4)),
        customer_name: String::new(),
        lines: (1..=1 + chance(id, 3)).map(line).collect(),
        total: chance(id, 50_000) as f64 / 100.0,
        placed: time(id),
    }
}
