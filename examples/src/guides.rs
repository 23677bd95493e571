//! One module for each kind of relationship in the guides. Each has the models, the guides'
//! documents, and the guides' queries with what they print.

pub mod blogs;
pub mod contacts;
pub mod favourites;
pub mod hosts;
pub mod messages;
pub mod movies;
pub mod part_names;
pub mod patrons;
pub mod people;
pub mod product_names;
pub mod products;
pub mod publishers;
pub mod reviews;
pub mod tasks;

use std::fmt::Debug;
use std::ops::ControlFlow;

use odm::{
    bson,
    store::{Cost, Find, Store, embedded::Embedded},
};

/// Runs all systems on one store.
pub async fn run(store: &Embedded) -> odm::Result<()> {
    patrons::run(store).await?;
    people::run(store).await?;
    publishers::run(store).await?;
    products::run(store).await?;
    hosts::run(store).await?;
    tasks::run(store).await?;
    part_names::run(store).await?;
    product_names::run(store).await?;
    messages::run(store).await?;
    reviews::run(store).await?;
    movies::run(store).await?;
    favourites::run(store).await?;
    blogs::run(store).await?;
    contacts::run(store).await
}

/// Prints a change, and how many documents it wrote.
fn written(change: &str, cost: Cost) {
    let documents = number(cost.documents_written, "document", "documents");
    println!("\n{change}\n  -> {documents} written");
}

fn number(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn title(text: &str) {
    println!("\n=== {text} ===");
}

/// Prints the documents of a collection, as they are stored.
async fn stored(store: &Embedded, collection: &str) -> odm::Result<()> {
    const SHOWN: usize = 3;
    println!("\nstored in `{collection}`:");
    let find = Find {
        collection: collection.to_owned(),
        ..Find::default()
    };
    let mut more = 0;
    store
        .reader()?
        .find(&find, &mut |position, document| {
            match bson::Document::try_from(document) {
                Ok(document) if position < SHOWN => println!("  {document}"),
                _ => more += 1,
            }
            Ok(ControlFlow::Continue(()))
        })
        .await?;
    if more > 0 {
        println!("  .. and {more} more");
    }
    Ok(())
}

/// Prints what a query found, and what it cost.
fn found(question: &str, rows: &[impl Debug], cost: Cost) {
    const SHOWN: usize = 3;
    println!("\n{question}");
    for row in rows.iter().take(SHOWN) {
        println!("  {row:?}");
    }
    if rows.len() > SHOWN {
        println!("  .. and {} more", rows.len() - SHOWN);
    }
    println!(
        "  -> {} found by {}, which looked at {} and {}",
        rows.len(),
        number(cost.queries, "query", "queries"),
        number(cost.keys_examined, "index entry", "index entries"),
        number(cost.documents_examined, "document", "documents"),
    );
}
