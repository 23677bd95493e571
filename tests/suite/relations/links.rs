//! Links that are made of a reference alone, such as a link in a request.

use odm::prelude::*;
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "makers")]
struct Maker {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[embed]
    home: Home,
    note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Home {
    city: String,
    since: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct MakerLink {
    #[reference(child)]
    id: Ref<Maker>,
    #[denormalize(from = "Maker.name")]
    name: String,
    #[denormalize(from = "Maker.name", freeze)]
    name_then: String,
    #[denormalize(from = "Maker.home.since")]
    since: i64,
    #[denormalize(from = "Maker.note")]
    note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    maker: MakerLink,
    #[embed]
    seller: Option<MakerLink>,
    #[embed]
    others: Vec<MakerLink>,
}

#[derive(Database)]
#[database(name = "works", version = 1)]
struct Works {
    makers: Repository<Maker>,
    products: Repository<Product>,
}

async fn works(store: impl TestStore) -> (Works, Vec<Maker>) {
    let db = Works::open(store).await.unwrap();
    let maker = |id: i64| Maker {
        id,
        name: format!("maker {id}"),
        home: Home { city: "Oslo".into(), since: 1900 + id },
        note: Some(format!("note {id}")),
    };
    let makers = db.makers.insert_many((1..=3).map(maker)).await.unwrap();
    (db, makers)
}

fn link(id: i64) -> MakerLink {
    MakerLink::from(Ref::new(id))
}

on_every_store! {
    async fn an_insert_fills_the_copies_of_a_link_that_is_made_of_a_reference(store: AnyStore) {
        let (db, makers) = works(store).await;
        assert_eq!((link(1).name.as_str(), link(1).since), ("", 0), "there is nothing in it yet");
        let product = |id| Product {
            id,
            maker: link(1),
            seller: Some(link(2)),
            others: vec![link(3), link(1)],
        };
        let full = |id| Product {
            id,
            maker: MakerLink::from(&makers[0]),
            seller: Some(MakerLink::from(&makers[1])),
            others: vec![MakerLink::from(&makers[2]), MakerLink::from(&makers[0])],
        };
        assert_eq!(full(1).maker.name_then, "maker 1");
        assert_eq!(db.products.insert(product(1)).await.unwrap(), full(1));
        assert_eq!(db.products.insert_many([product(2), product(3)]).await.unwrap(), [full(2), full(3)]);
        assert_eq!(db.products.all().await.unwrap(), [full(1), full(2), full(3)]);
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn each_other_write_fills_them_as_well(store: AnyStore) {
        let (db, makers) = works(store).await;
        let product = Product { id: 1, maker: link(1), seller: None, others: Vec::new() };
        let product = db.products.insert(product).await.unwrap();
        let replaced = db.products.replace(Product { maker: link(2), ..product }).await.unwrap();
        assert_eq!(replaced.maker, MakerLink::from(&makers[1]));
        let fields = Product::fields();
        let update = db.products.update(1).set(fields.seller, link(3)).push(fields.others, link(1));
        let updated = update.returning().await.unwrap();
        assert_eq!(updated.seller, Some(MakerLink::from(&makers[2])));
        assert_eq!(updated.others, [MakerLink::from(&makers[0])]);
        let nobody = db.products.update(1).push(fields.others, link(9)).await.unwrap_err();
        assert!(nobody.is_dangling_reference(), "{nobody}");
        assert_eq!(db.products.get(1).await.unwrap(), updated);
        assert_eq!(db.audit().await.unwrap(), []);
    }
}
