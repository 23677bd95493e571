//! Enums in the four forms of serde, each in several containers.

use std::collections::BTreeMap;

use odm::{bson, prelude::*};
use serde::{Deserialize, Serialize};

use crate::readable::values::{Any, Rng, any_struct, model};

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
pub(crate) struct Content {
    text: String,
    id: ObjectId,
    number: Option<f64>,
}
any_struct!(Content { text, id, number });

/// An enum of these variants: one without content, one with fields, one around a value and, if the form supports it, one around several.
macro_rules! form {
    (
        $type:ident, $document:ident, $collection:literal, [$($attribute:meta),*], null: $null:literal
        $(, $several:ident)?
    ) => {
        #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
        $(#[$attribute])*
        pub(crate) enum $type {
            Nothing,
            #[serde(rename_all = "UPPERCASE")]
            Fields {
                made_at: DateTime,
                #[serde(rename = "size")]
                how_large: u32,
                #[serde(default, skip_serializing_if = "Vec::is_empty")]
                tags: Vec<String>,
                decimal: bson::Decimal128,
            },
            #[serde(rename = "around")]
            Around(#[embed] Content),
            $($several(i32, String),)?
        }

        impl Any for $type {
            fn any(rng: &mut Rng) -> Self {
                match rng.below(4) {
                    0 => $type::Fields {
                        made_at: Any::any(rng),
                        how_large: Any::any(rng),
                        tags: Any::any(rng),
                        decimal: Any::any(rng),
                    },
                    1 => $type::Around(Any::any(rng)),
                    $(2 => $type::$several(Any::any(rng), Any::any(rng)),)?
                    _ => $type::Nothing,
                }
            }
        }

        #[derive(Debug, Clone, Serialize, Deserialize, Document)]
        #[document(collection = $collection)]
        pub(crate) struct $document {
            #[serde(rename = "_id")]
            id: i64,
            #[embed]
            one: $type,
            #[embed]
            option: Option<Box<$type>>,
            #[embed]
            list: Vec<$type>,
            #[embed]
            map: BTreeMap<String, $type>,
            after: i32,
        }
        model!(
            $document: one option list map after;
            set one option list map after;
            eq after;
            // If `Nothing` is stored as null, it is `None` in an option.
            read |value| value.option = value.option.filter(|one| !($null && matches!(**one, $type::Nothing)))
        );
    };
}

form!(External, Externals, "external", [], null: false, Several);
form!(
    Internal,
    Internals,
    "internal",
    [serde(tag = "type", rename_all = "snake_case")],
    null: false
);
form!(
    Adjacent,
    Adjacents,
    "adjacent",
    [serde(
        tag = "t",
        content = "c",
        rename_all_fields = "camelCase"
    )],
    null: false,
    Several
);
form!(Untagged, Untaggeds, "untagged", [serde(untagged)], null: true, Several);

/// Variants that are distinguished in other ways.
#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
#[serde(tag = "kind", deny_unknown_fields)]
pub(crate) enum Mixed {
    A {
        number: i64,
    },
    B(#[embed] Content),
    #[serde(untagged)]
    Bare {
        text: String,
    },
}

impl Any for Mixed {
    fn any(rng: &mut Rng) -> Self {
        match rng.below(3) {
            0 => Mixed::A { number: Any::any(rng) },
            1 => Mixed::B(Any::any(rng)),
            _ => Mixed::Bare { text: Any::any(rng) },
        }
    }
}

/// An enum of names alone, and a flattened one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub(crate) enum Name {
    TheFirst,
    #[serde(other)]
    TheOthers,
}

impl Any for Name {
    fn any(rng: &mut Rng) -> Self {
        match rng.below(2) {
            0 => Name::TheFirst,
            _ => Name::TheOthers,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "mixed")]
pub(crate) struct Mixture {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    mixed: Vec<Mixed>,
    #[embed]
    name: Name,
    #[embed]
    #[serde(flatten)]
    flat: Internal,
    after: i32,
}
model!(Mixture: mixed name flat after; set mixed name after; eq after);
