//! The program of the guide's page on documents.

use odm::{Embedded, ErrorKind, prelude::*};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "parts", new = "NewPart")]
struct Part {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: i64,
    #[index(unique)]
    number: String,
    name: String,
    #[validate(min = 0)]
    cents: i64,
    tags: Vec<String>,
}

#[derive(Debug, Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    parts: Repository<Part>,
}

fn new(number: &str, name: &str, cents: i64, tags: &[&str]) -> NewPart {
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    NewPart { number: number.into(), name: name.into(), cents, tags }
}

#[tokio::main]
async fn main() -> odm::Result<()> {
    let shop = Shop::open(Embedded::open("first.odm").await?).await?;
    let bolt = shop.parts.insert(new("B-1", "bolt", 20, &["steel"])).await?;
    println!("{bolt:?}");
    let more = [new("N-1", "nut", 10, &["steel"]), new("S-1", "seat", 2_500, &["wood"])];
    shop.parts.insert_many(more).await?;

    let part = Part::fields();
    let cheap = shop.parts.find(part.tags.contains("steel") & part.cents.lt(15)).await?;
    println!("{}", cheap[0].name);
    let dearest = shop.parts.all().sort(part.cents.desc()).first().await?;
    println!("{:?}", dearest.map(|part| part.name));

    shop.parts.update(bolt.id).inc(part.cents, 5).push(part.tags, "M8").await?;
    let changed = shop.parts.update_where(part.cents.lt(100)).inc(part.cents, 1).await?;
    println!("{} parts cost a cent more", changed.matched);

    let error = shop.parts.insert(new("B-1", "bolt", 30, &[])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DuplicateKey);
    println!("{error}");
    let error = shop.parts.update(bolt.id).set(part.cents, -1).await.unwrap_err();
    println!("{error}");

    shop.close().await?;
    let shop = Shop::open(Embedded::open("first.odm").await?).await?;
    println!("{:?}", shop.parts.get(bolt.id).await?);

    shop.parts.delete(bolt.id).await?;
    println!("{} more deleted", shop.parts.delete_where(part.cents.gt(0)).await?);
    shop.close().await?;
    Ok(())
}
