//! The program of the guide's page on writes.

use examples::shop::{NewPart, Part, Shop};
use odm::{Embedded, ErrorKind, prelude::*};

/// Takes parts from one stock to another, or none if there are not enough.
async fn convert(shop: &Shop, from: i64, to: i64, number: i64) -> odm::Result<()> {
    shop.transaction(async |shop| {
        let stock = Part::fields().stock;
        if shop.parts.get(from).await?.stock < number {
            return Err(odm::Error::new(ErrorKind::Invalid, "there are not enough"));
        }
        shop.parts.update(from).inc(stock, -number).await?;
        shop.parts.update(to).inc(stock, number).await?;
        Ok(())
    })
    .await
}

#[tokio::main]
async fn main() -> odm::Result<()> {
    let shop = Shop::open(Embedded::memory().await?).await?;
    let part = |name: &str, stock| NewPart { name: name.into(), cents: 20, stock };
    let parts = shop.parts.insert_many([part("bolt", 100), part("screw", 0)]).await?;
    let (bolt, screw) = (parts[0].id, parts[1].id);
    let stock = Part::fields().stock;

    // The condition is part of the write: two customers cannot both get the last one.
    let enough = Part::fields().id.eq(bolt) & stock.gte(60);
    let sold = shop.parts.update_where(enough.clone()).inc(stock, -60).await?;
    let sold_again = shop.parts.update_where(enough).inc(stock, -60).await?;
    println!("{} sold, then {}", sold.matched, sold_again.matched);

    // Several writes as one, without reads between them.
    let restock = (shop.parts.update(bolt).inc(stock, 10), shop.parts.update(screw).inc(stock, 10));
    shop.bulk(restock).await?;

    // A write that is computed from what was read.
    convert(&shop, bolt, screw, 50).await?;
    println!("{}", convert(&shop, bolt, screw, 50).await.unwrap_err());
    let left = shop.parts.modify(screw, |screw| screw.stock /= 2).await?;
    println!("{} screws", left.stock);

    // Sixteen tasks at a time.
    let tasks: Vec<_> = (0..16)
        .map(|_| {
            let shop = shop.clone();
            tokio::spawn(async move { convert(&shop, screw, bolt, 1).await })
        })
        .collect();
    for task in tasks {
        task.await.expect("the task has not panicked")?;
    }
    let parts = shop.parts.all().sort(Part::fields().id.asc()).await?;
    println!("{} bolts, {} screws", parts[0].stock, parts[1].stock);
    Ok(())
}
