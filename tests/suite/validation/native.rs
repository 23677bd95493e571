//! Every process refuses values that the types of other crates cannot hold, and the removal of a value that a copy or a subset requires.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr},
};

use odm::{
    ErrorKind,
    bson::{Binary, Bson, DateTime as BsonDate, Decimal128, doc, rawdoc, spec::BinarySubtype},
    prelude::*,
};
use rust_decimal::Decimal;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use tests::{insert_behind_the_back, on_every_store};
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "prices")]
struct Price {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(default, with = "odm::native")]
    price: Option<Decimal>,
    #[serde(with = "odm::native")]
    day: chrono::NaiveDate,
    #[serde(with = "odm::native")]
    at: chrono::DateTime<chrono::Utc>,
    #[serde(with = "odm::native")]
    days: Vec<time::Date>,
    #[serde(with = "odm::native")]
    times: BTreeMap<String, jiff::Timestamp>,
    #[serde(with = "odm::native")]
    ip: IpAddr,
    #[serde(with = "odm::native")]
    v4: Ipv4Addr,
    #[serde(with = "odm::native")]
    key: Uuid,
    letter: char,
    small: i8,
    weight: f32,
    #[embed]
    paid: Paid,
    #[opaque]
    even: Even,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(tag = "by")]
enum Paid {
    Card {
        #[serde(with = "odm::native")]
        fee: Decimal,
    },
    Cash,
}

/// A type with a `Deserialize` by hand, which no schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Even(i64);

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match i64::deserialize(deserializer)? {
            number if number % 2 == 0 => Ok(Even(number)),
            odd => Err(D::Error::custom(format!("{odd} is odd"))),
        }
    }
}

#[derive(Database)]
#[database(name = "prices", version = 1)]
struct Prices {
    prices: Repository<Price>,
}

/// The same documents in a program without the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "prices", validation(level = "off"))]
struct Bare {
    #[serde(rename = "_id")]
    id: i64,
}

#[derive(Database)]
#[database(name = "bare", version = 1)]
struct BarePrices {
    prices: Repository<Bare>,
}

fn price() -> Price {
    Price {
        id: 1,
        price: "12.50".parse().ok(),
        day: "2026-03-10".parse().unwrap(),
        at: "2026-03-10T10:00:00Z".parse().unwrap(),
        days: Vec::new(),
        times: BTreeMap::new(),
        ip: "::1".parse().unwrap(),
        v4: "127.0.0.1".parse().unwrap(),
        key: Uuid::from_u128(7),
        letter: 'a',
        small: 1,
        weight: 2e38,
        paid: Paid::Card { fee: "0.3".parse().unwrap() },
        even: Even(2),
    }
}

fn decimal(text: &str) -> Bson {
    text.parse::<Decimal128>().unwrap().into()
}

/// Updates after which the model could not read the document.
fn unreadable() -> Vec<odm::bson::Document> {
    let date = |millis| Bson::from(BsonDate::from_millis(millis));
    let bytes = |subtype, len| Bson::from(Binary { subtype, bytes: vec![1; len] });
    vec![
        doc! { "$mul": { "price": decimal("0.333333333333333333333333333333333") } },
        doc! { "$inc": { "price": decimal("1E-29") } },
        doc! { "$set": { "price": decimal("79228162514264337593543950336") } },
        doc! { "$set": { "price": decimal("NaN") } },
        doc! { "$set": { "paid.fee": decimal("1E-40") } },
        doc! { "$currentDate": { "day": true } },
        doc! { "$set": { "day": date(5) } },
        doc! { "$set": { "day": date(i64::MAX / 86_400_000 * 86_400_000) } },
        doc! { "$set": { "at": date(i64::MAX) } },
        doc! { "$push": { "days": date(86_400_001) } },
        doc! { "$push": { "days": date(86_400_000 * 4_000_000) } },
        doc! { "$set": { "times.a": date(400_000_000_000_000) } },
        doc! { "$set": { "ip": "localhost" } },
        doc! { "$set": { "v4": "::1" } },
        doc! { "$set": { "key": bytes(BinarySubtype::Generic, 16) } },
        doc! { "$set": { "key": bytes(BinarySubtype::Uuid, 15) } },
        doc! { "$set": { "letter": "ab" } },
        doc! { "$set": { "letter": "" } },
        doc! { "$inc": { "small": 127 } },
        doc! { "$mul": { "weight": 2.0 } },
        doc! { "$set": { "weight": -1e300 } },
    ]
}

on_every_store! {
    async fn what_native_types_cannot_hold_is_refused_by_every_program(store: AnyStore) {
        let db = Prices::open(store.clone()).await.unwrap();
        let bare = BarePrices::open(store).await.unwrap();
        db.prices.insert(price()).await.unwrap();
        for update in unreadable() {
            let refused = db.prices.update(1).raw(update.clone()).await;
            assert!(refused.as_ref().is_err_and(odm::Error::is_invalid), "{update}: {refused:?}");
            let refused = bare.prices.update(1).raw(update.clone()).await;
            assert!(refused.as_ref().is_err_and(odm::Error::is_invalid), "{update}: {refused:?}");
            let many = bare.prices.update_where(Filter::all()).raw(update.clone()).await;
            assert!(many.is_err_and(|error| error.is_invalid()), "{update}");
        }
        assert_eq!(db.prices.get(1).await.unwrap(), price());
        // Values that they can hold are stored.
        for update in [
            doc! { "$set": { "price": decimal("1.0000000000000000000000000000") } },
            doc! { "$set": { "day": BsonDate::from_millis(-86_400_000), "letter": "ä", "v4": "10.0.0.1" } },
            doc! { "$push": { "days": BsonDate::from_millis(86_400_000) } },
            doc! { "$set": { "price": Bson::Null } },
        ] {
            bare.prices.update(1).raw(update).await.unwrap();
        }
        assert_eq!(db.prices.get(1).await.unwrap().letter, 'ä');
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_program_with_the_model_reads_what_a_raw_update_leaves(store: AnyStore) {
        let db = Prices::open(store.clone()).await.unwrap();
        db.prices.insert(price()).await.unwrap();
        let odd = || doc! { "$inc": { "even": 1_i64 } };
        let refused = db.prices.update(1).raw(odd()).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidUpdate, "{refused}");
        let many = db.prices.update_where(Filter::all()).raw(odd()).await.unwrap_err();
        assert_eq!(many.kind(), ErrorKind::InvalidUpdate, "{many}");
        assert_eq!(db.prices.get(1).await.unwrap(), price());
        // The limit of the promise: a process without the model does not know it.
        let bare = BarePrices::open(store).await.unwrap();
        bare.prices.update(1).raw(odd()).await.unwrap();
        assert_eq!(db.prices.get(1).await.unwrap_err().kind(), ErrorKind::Decode);
        db.prices.update(1).raw(odd()).await.unwrap();
        assert_eq!(db.prices.get(1).await.unwrap().even, Even(4));
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[serde(default)]
    color: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    #[embed]
    parts: Vec<PartLink>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    #[denormalize(from = "Part.color")]
    color: String,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    parts: Repository<Part>,
    products: Repository<Product>,
}

/// The parts in a program without the models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts", validation(level = "off"))]
struct BarePart {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Database)]
#[database(name = "bare parts", version = 1)]
struct BareParts {
    parts: Repository<BarePart>,
}

on_every_store! {
    async fn a_value_that_others_always_copy_is_not_removed(store: AnyStore) {
        // A part from before the model had a color.
        insert_behind_the_back(&store, "parts", doc! { "_id": 2, "name": "nut" }).await;
        let db = Shop::open(store.clone()).await.unwrap();
        let bare = BareParts::open(store).await.unwrap();
        let bolt = Part { id: 1, name: "bolt".into(), color: "red".into() };
        db.parts.insert(bolt.clone()).await.unwrap();
        let link = PartLink { id: Ref::new(1), color: String::new() };
        db.products.insert(Product { id: 1, parts: vec![link] }).await.unwrap();
        let unset = || doc! { "$unset": { "color": "" } };
        let named = "`products.parts.color` is a copy";
        for refused in [
            db.parts.update(1).raw(unset()).await.map(drop),
            bare.parts.update(1).raw(unset()).await.map(drop),
            bare.parts.update_where(Filter::all()).raw(doc! { "$rename": { "color": "was" } }).await.map(drop),
            db.parts.raw().replace(rawdoc! { "_id": 1, "name": "bolt" }).await.map(drop),
            db.parts.raw().upsert(rawdoc! { "_id": 3, "name": "washer" }).await.map(drop),
        ] {
            let error = refused.unwrap_err();
            assert!(error.is_invalid() && error.to_string().contains(named), "{error}");
        }
        assert_eq!(db.products.get(1).await.unwrap().parts[0].color, "red");
        assert_eq!(db.products.all().await.unwrap().len(), 1);
        // A part without a color is left alone, and can get one.
        db.parts.update(2).raw(doc! { "$set": { "name": "wing nut" } }).await.unwrap();
        db.parts.update(2).set(Part::fields().color, "blue").await.unwrap();
        assert!(db.parts.update(2).raw(unset()).await.unwrap_err().is_invalid());
        assert_eq!(db.parts.get(1).await.unwrap(), bolt);
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "wheels")]
struct Wheel {
    #[serde(rename = "_id")]
    id: i32,
    #[subset(limit = 2, sort = "-teeth")]
    cogs: Subset<CogLine>,
}

/// A child whose own documents are not validated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "cogs", validation(level = "off"))]
struct Cog {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent)]
    wheel: Option<Ref<Wheel>>,
    teeth: i32,
    color: String,
    note: Option<String>,
    /// In no subset.
    shelf: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Cog")]
struct CogLine {
    color: String,
    note: Option<String>,
}

#[derive(Database)]
#[database(name = "clocks", version = 1)]
struct Clocks {
    wheels: Repository<Wheel>,
    cogs: Repository<Cog>,
}

on_every_store! {
    async fn a_value_that_the_elements_of_a_subset_need_is_not_removed(store: AnyStore) {
        let db = Clocks::open(store.clone()).await.unwrap();
        db.wheels.insert(Wheel { id: 1, cogs: Subset::new() }).await.unwrap();
        let (note, shelf) = (Some("new".to_owned()), "a".to_owned());
        let cog = Cog { id: 1, wheel: Some(Ref::new(1)), teeth: 8, color: "red".into(), note, shelf };
        db.cogs.insert(cog).await.unwrap();
        // A cog of another program, without a color.
        insert_behind_the_back(&store, "cogs", doc! { "_id": 2, "teeth": 9 }).await;
        for refused in [
            db.cogs.update(1).raw(doc! { "$unset": { "color": "" } }).await.map(drop),
            db.cogs.update(1).raw(doc! { "$set": { "color": null } }).await.map(drop),
            db.cogs.update_where(Filter::all()).raw(doc! { "$rename": { "color": "was" } }).await.map(drop),
            db.cogs.raw().replace(rawdoc! { "_id": 1, "wheel": 1, "teeth": 8 }).await.map(drop),
            db.cogs.raw().upsert(rawdoc! { "_id": 3, "wheel": 1, "teeth": 7 }).await.map(drop),
        ] {
            let error = refused.unwrap_err();
            let named = "no `color`, which the elements of the subset `wheels.cogs` need";
            assert!(error.is_invalid() && error.to_string().contains(named), "{error}");
        }
        // A field that may be missing in an element can be removed, and so can a field that is in no element.
        db.cogs.update(1).raw(doc! { "$unset": { "note": "", "shelf": "" } }).await.unwrap();
        assert_eq!(db.wheels.get(1).await.unwrap().cogs[0], CogLine { color: "red".into(), note: None });
        // A cog without a color is left alone.
        db.cogs.update(2).raw(doc! { "$set": { "teeth": 10 } }).await.unwrap();
    }
}
