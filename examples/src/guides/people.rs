//! One-to-few: a person's addresses, embedded.

use odm::{Finding, prelude::*};
use serde::{Deserialize, Serialize};

use crate::show::{Screen, query};

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
    /// The id.
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

/// S2: the same with the person of another guide.
pub async fn run(screen: &mut Screen) -> odm::Result<Vec<Finding>> {
    let db = People::open(screen.store()).await?;
    db.person.insert(kate()).await?;
    screen.model(include_str!("people.rs"), &["Person", "Address"]);
    screen.stored(["person"]).await?;

    query!(
        screen,
        "the person with this social security number",
        db.person
            .find(Person::fields().ssn.eq("123-456-7890"))
            .one()
    );
    db.audit().await
}
