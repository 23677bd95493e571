//! One-to-one and one-to-few: a patron's address embedded, and the normalized form, joined.

use odm::{Finding, prelude::*};
use serde::{Deserialize, Serialize};

use crate::show::{Screen, change, query};

const SOURCE: &str = include_str!("patrons.rs");

/// An address inside a patron.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct Address {
    /// Street and number.
    pub street: String,
    /// City.
    pub city: String,
    /// State.
    pub state: String,
    /// Postal code.
    pub zip: String,
}

/// A patron with one address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "patrons_with_address")]
pub struct PatronWithAddress {
    /// The login name.
    #[serde(rename = "_id")]
    pub id: String,
    /// The full name.
    pub name: String,
    /// Where the patron lives.
    #[embed]
    pub address: Address,
}

/// A patron with a few addresses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "patrons_with_addresses")]
pub struct PatronWithAddresses {
    /// The login name.
    #[serde(rename = "_id")]
    pub id: String,
    /// The full name.
    pub name: String,
    /// Where the patron lives.
    #[embed]
    pub addresses: Vec<Address>,
}

/// A patron whose addresses are documents of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "patrons")]
pub struct Patron {
    /// The login name.
    #[serde(rename = "_id")]
    pub id: String,
    /// The full name.
    pub name: String,
}

/// An address that refers to its patron.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "addresses")]
pub struct PatronAddress {
    /// The id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// Who lives there.
    #[reference(parent)]
    pub patron_id: Ref<Patron>,
    /// Street and number.
    pub street: String,
    /// City.
    pub city: String,
    /// State.
    pub state: String,
    /// Postal code.
    pub zip: String,
}

/// The three forms side by side.
#[derive(Database)]
#[database(name = "patrons", version = 1)]
pub struct Patrons {
    /// One address embedded.
    pub with_address: Repository<PatronWithAddress>,
    /// A few addresses embedded.
    pub with_addresses: Repository<PatronWithAddresses>,
    /// Normalized: patrons.
    pub patrons: Repository<Patron>,
    /// Normalized: addresses.
    pub addresses: Repository<PatronAddress>,
}

/// The guides' two addresses.
pub fn addresses() -> [Address; 2] {
    let address = |street: &str, city: &str| Address {
        street: street.into(),
        city: city.into(),
        state: "MA".into(),
        zip: "12345".into(),
    };
    [
        address("123 Fake Street", "Faketon"),
        address("1 Some Other Street", "Boston"),
    ]
}

/// Stores the guides' documents.
pub async fn load(db: &Patrons) -> odm::Result<()> {
    let (id, name) = ("joe".to_owned(), "Joe Bookreader".to_owned());
    let [first, second] = addresses();
    let patron = PatronWithAddress {
        id: id.clone(),
        name: name.clone(),
        address: first.clone(),
    };
    db.with_address.insert(patron).await?;
    let addresses = vec![first, second];
    let patron = PatronWithAddresses {
        id: id.clone(),
        name: name.clone(),
        addresses,
    };
    let patron = db.with_addresses.insert(patron).await?;

    let joe = db.patrons.insert(Patron { id, name }).await?;
    let addresses = patron.addresses.into_iter().map(|address| PatronAddress {
        id: ObjectId::new(),
        patron_id: Ref::from(&joe),
        street: address.street,
        city: address.city,
        state: address.state,
        zip: address.zip,
    });
    db.addresses.insert_many(addresses).await?;
    Ok(())
}

/// S1: the address in its patron, and as a document of its own.
pub async fn one_address(screen: &mut Screen) -> odm::Result<Vec<Finding>> {
    let db = Patrons::open(screen.store()).await?;
    load(&db).await?;
    screen.model(SOURCE, &["PatronWithAddress", "Address", "PatronAddress"]);
    screen
        .stored(["patrons_with_address", "patrons", "addresses"])
        .await?;

    query!(
        screen,
        "patron `joe` with the address, by one query",
        db.with_address.get("joe")
    );
    query!(
        screen,
        "normalized, it takes a join",
        db.patrons
            .find(Patron::fields().id.eq("joe"))
            .join(PatronAddress::fields().patron_id.referrers())
    );
    change!(
        screen,
        "the patron moves",
        db.with_address
            .update("joe")
            .set(PatronWithAddress::fields().address.street, "9 New Street")
    );
    db.audit().await
}

/// S2: a few addresses in their patron.
pub async fn few_addresses(screen: &mut Screen) -> odm::Result<Vec<Finding>> {
    let db = Patrons::open(screen.store()).await?;
    load(&db).await?;
    screen.model(SOURCE, &["PatronWithAddresses"]);
    screen.stored(["patrons_with_addresses"]).await?;

    query!(
        screen,
        "patrons with an address in Boston",
        db.with_addresses.find(
            PatronWithAddresses::fields()
                .addresses
                .any(|address| address.city.eq("Boston"))
        )
    );
    change!(
        screen,
        "one of the addresses changes",
        db.with_addresses.update("joe").update_each(
            PatronWithAddresses::fields().addresses,
            |address| address.city.eq("Boston"),
            |address, changes| changes.set(address.street, "2 Some Other Street")
        )
    );
    db.audit().await
}
