//! One-to-few: a person's addresses, embedded.

use odm::{Embedded, measure, prelude::*};
use serde::{Deserialize, Serialize};

use super::{found, stored, title};

/// An address inside a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct Address {
    /// Street and number.
    pub street: String,
    /// City.
    pub city: String,
    /// Country code.
    pub cc: String,
}

/// A person with a few addresses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "person")]
pub struct Person {
    /// Made by chance.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// The full name.
    pub name: String,
    /// The social security number.
    #[index(unique)]
    pub ssn: String,
    /// Where the person lives.
    #[embed]
    pub addresses: Vec<Address>,
}

/// People.
#[derive(Database)]
#[database(name = "people", version = 1)]
pub struct People {
    /// People.
    pub person: Repository<Person>,
}

/// Kate Monster.
pub fn kate() -> Person {
    let address = |street: &str, city: &str| Address {
        street: street.into(),
        city: city.into(),
        cc: "USA".into(),
    };
    Person {
        id: ObjectId::new(),
        name: "Kate Monster".into(),
        ssn: "123-456-7890".into(),
        addresses: vec![
            address("123 Sesame St", "Anytown"),
            address("123 Avenue Q", "New York"),
        ],
    }
}

/// Runs the guides' queries.
pub async fn run(store: &Embedded) -> odm::Result<()> {
    let db = People::open(store.clone()).await?;
    db.person.insert(kate()).await?;

    title("S2: one-to-few, a person's addresses");
    stored(store, "person").await?;
    let (kate, cost) = measure(async {
        db.person
            .find(Person::fields().ssn.eq("123-456-7890"))
            .one()
            .await
    })
    .await;
    found(
        "the person with this social security number:",
        &[kate?],
        cost,
    );
    Ok(())
}
