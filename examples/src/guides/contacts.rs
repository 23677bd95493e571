//! Validation: contacts from before each needed a phone number, under both levels and both actions.

use odm::{
    Finding,
    bson::{self, doc},
    prelude::*,
};

use crate::show::{Screen, change, refused};

/// The requirement of the tightened schema, in addition to the types.
fn phone_required() -> bson::Document {
    doc! { "required": ["phone"] }
}

/// The result of three writes, each of which leaves a contact without a phone number, and the nonconforming documents after them.
#[derive(Debug)]
pub struct Outcome {
    /// A contact without a phone number moves to another city.
    pub moved: odm::Result<()>,
    /// A contact with a phone number loses it.
    pub phone_given_up: odm::Result<()>,
    /// A contact without a phone number is inserted.
    pub added: odm::Result<()>,
    /// The findings of `validate()`.
    pub invalid: Vec<Finding>,
}

/// A collection of contacts before and after its schema was tightened, with a level and an action.
macro_rules! contacts {
    ($(#[$doc:meta])* $collection:ident, $name:literal, level = $level:literal, action = $action:literal) => {
        $(#[$doc])*
        pub mod $collection {
            use odm::{bson::doc, prelude::*, store::contract::Store};
            use serde::{Deserialize, Serialize};

            use super::{Outcome, phone_required};

            /// A contact, as it was.
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = $name)]
            pub struct OldContact {
                /// Its number.
                #[serde(rename = "_id")]
                pub id: i32,
                /// The name.
                pub name: String,
                /// The city.
                pub city: String,
                /// The phone number.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub phone: Option<String>,
            }

            /// The database, as it was.
            #[derive(Database)]
            #[database(name = $name, version = 1)]
            pub struct OldContacts {
                /// All contacts.
                pub contacts: Repository<OldContact>,
            }

            /// A contact, which needs a phone number.
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(
                collection = $name,
                validation(level = $level, action = $action, schema = phone_required)
            )]
            pub struct Contact {
                /// Its number.
                #[serde(rename = "_id")]
                pub id: i32,
                /// The name.
                pub name: String,
                /// The city.
                pub city: String,
                /// The phone number, which older contacts lack.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub phone: Option<String>,
            }

            /// The database.
            #[derive(Database)]
            #[database(name = $name, version = 2)]
            pub struct Contacts {
                /// All contacts.
                pub contacts: Repository<Contact>,
            }

            /// Stores two contacts, tightens the schema, and writes.
            pub async fn tighten(store: &(impl Store + Clone)) -> odm::Result<Outcome> {
                let before = OldContacts::open(store.clone()).await?;
                let contact = |id, name: &str, city: &str, phone: Option<&str>| OldContact {
                    id,
                    name: name.into(),
                    city: city.into(),
                    phone: phone.map(Into::into),
                };
                let contacts = [
                    contact(1, "Anne", "London", Some("+1 555 123 456")),
                    contact(2, "Ivan", "Vancouver", None),
                ];
                before.contacts.insert_many(contacts).await?;

                let Contacts { contacts } = Contacts::open(store.clone()).await?;
                let city = Contact::fields().city;
                let moved = contacts.update(2).set(city, "Toronto").await;
                let give_up = doc! { "$unset": { "phone": "" } };
                let given_up = contacts.update(1).raw(give_up).await;
                let ida = Contact { id: 3, name: "Ida".into(), city: "Oslo".into(), phone: None };
                Ok(Outcome {
                    moved: moved.map(drop),
                    phone_given_up: given_up.map(drop),
                    added: contacts.insert(ida).await.map(drop),
                    invalid: contacts.validate().await?,
                })
            }
        }
    };
}

contacts!(
    /// The default: each write of an invalid contact fails.
    strict_error, "contacts_strict_error", level = "strict", action = "error"
);
contacts!(
    /// Each write of an invalid contact is stored, with a warning.
    strict_warn, "contacts_strict_warn", level = "strict", action = "warn"
);
contacts!(
    /// A write fails, unless the contact was invalid before.
    moderate_error, "contacts_moderate_error", level = "moderate", action = "error"
);
contacts!(
    /// A write is stored with a warning, and without one if the contact was invalid before.
    moderate_warn, "contacts_moderate_warn", level = "moderate", action = "warn"
);

/// S14: the same writes under all levels and actions.
pub async fn run(screen: &mut Screen) -> odm::Result<Vec<Finding>> {
    let store = screen.store();
    let outcomes = [
        ("strict, error", strict_error::tighten(&store).await?),
        ("strict, warn", strict_warn::tighten(&store).await?),
        ("moderate, error", moderate_error::tighten(&store).await?),
        ("moderate, warn", moderate_warn::tighten(&store).await?),
    ];
    screen.model(include_str!("contacts.rs"), &["OldContact", "Contact"]);
    screen
        .stored(["contacts_strict_error", "contacts_moderate_error"])
        .await?;

    screen.title(
        "level, action     an invalid one moves   a valid one loses its phone   a new one without",
        "",
    );
    let shown = |result: &odm::Result<()>| if result.is_ok() { "stored" } else { "refused" };
    for (combination, outcome) in &outcomes {
        screen.text(&format!(
            "{combination:<16}{:<23}{:<30}{}",
            shown(&outcome.moved),
            shown(&outcome.phone_given_up),
            shown(&outcome.added),
        ));
    }

    let strict = strict_error::Contacts::open(screen.store()).await?;
    refused!(
        screen,
        "strict: an invalid contact cannot even move",
        strict
            .contacts
            .update(2)
            .set(strict_error::Contact::fields().city, "Ottawa")
    );
    let moderate = moderate_error::Contacts::open(screen.store()).await?;
    change!(
        screen,
        "moderate: it can",
        moderate
            .contacts
            .update(2)
            .set(moderate_error::Contact::fields().city, "Ottawa")
    );
    refused!(
        screen,
        "moderate: a valid contact stays valid",
        moderate
            .contacts
            .update(1)
            .raw(doc! { "$unset": { "phone": "" } })
    );
    for (combination, outcome) in &outcomes {
        screen.title(&format!("contacts.validate() under {combination}"), "");
        for finding in &outcome.invalid {
            screen.text(&finding.to_string());
        }
    }
    let mut findings = strict.audit().await?;
    findings.extend(moderate.audit().await?);
    Ok(findings)
}
