//! Models in unusual surroundings.

/// No name is in scope but those of the module itself.
mod without_a_prelude {
    #![no_implicit_prelude]

    #[derive(::serde::Serialize, ::serde::Deserialize, ::odm::prelude::Embed)]
    pub(crate) struct Link {
        #[reference(child)]
        part: ::odm::Ref<Part>,
        #[denormalize(from = "Part.name")]
        name: ::std::string::String,
    }

    #[derive(::serde::Serialize, ::serde::Deserialize, ::odm::prelude::Embed)]
    pub(crate) enum Way {
        Linked(#[embed] Link),
        Counted {
            #[validate(min = 0, with = super::any_number)]
            count: i64,
        },
        Nothing,
    }

    #[derive(::serde::Serialize, ::serde::Deserialize, ::odm::prelude::Document)]
    #[document(
        collection = "parts",
        index(fields = "name"),
        validation(level = "moderate")
    )]
    pub(crate) struct Part {
        #[serde(rename = "_id")]
        #[validate(with = super::any_number)]
        id: i64,
        #[validate(min_length = 1, pattern = "^.", one_of("a", "b"))]
        name: ::std::string::String,
        #[count(of = "Child")]
        children: i64,
        #[subset(limit = 3, sort = "-id")]
        first: ::odm::Subset<Child>,
        #[opaque]
        free: ::core::option::Option<Free>,
    }

    #[derive(::serde::Serialize, ::serde::Deserialize)]
    pub(crate) struct Free;

    #[derive(::serde::Serialize, ::serde::Deserialize, ::odm::prelude::Document)]
    #[document(collection = "children")]
    pub(crate) struct Child {
        #[serde(rename = "_id")]
        id: i64,
        #[reference(parent)]
        part: ::odm::Ref<Part>,
        #[embed]
        way: ::core::option::Option<Way>,
        #[split(collection = "cold", key = "child")]
        cold: ::odm::Cold<Link>,
        #[version]
        revision: i64,
    }

    #[derive(::serde::Deserialize, ::odm::prelude::Projection)]
    #[projection(of = "Part")]
    pub(crate) struct Brief {
        pub(crate) name: ::std::string::String,
    }

    #[derive(::odm::prelude::Database)]
    #[database(name = "bare", version = 1)]
    pub(crate) struct Bare {
        parts: ::odm::Repository<Part>,
        children: ::odm::Repository<Child>,
    }
}

/// All lints are errors, those of clippy among them.
pub(crate) mod strict {
    #![deny(warnings, missing_docs, clippy::pedantic)]

    use odm::prelude::*;
    use serde::{Deserialize, Serialize};

    /// A model with two unique indexes.
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[document(
        collection = "strict",
        unique(fields = "name, -size"),
        unique(fields = "size, name", name = "by_size")
    )]
    pub(crate) struct Strict {
        /// Its number.
        #[serde(rename = "_id")]
        pub id: i64,
        /// Its name.
        pub name: String,
        /// Its size.
        #[validate(exclusive_min = 0, multiple_of = 2, with = super::any_size)]
        pub size: i32,
        /// Its shape.
        #[embed]
        pub shape: Shape,
    }

    /// An enum with one variant.
    #[derive(Debug, Serialize, Deserialize, Embed)]
    pub(crate) enum Shape {
        /// A square.
        Square {
            /// Its side.
            #[validate(with = super::any_size)]
            side: i32,
        },
    }

    /// A database of it.
    #[derive(Debug, Database)]
    #[database(name = "strict", version = 1)]
    pub(crate) struct Stricts {
        /// Its repository.
        pub all: Repository<Strict>,
    }
}

fn any_size(_: &i32) -> Result<(), String> {
    Ok(())
}

fn any_number(_: &i64) -> Result<(), String> {
    Ok(())
}

/// Models are made by macros, of fragments.
mod by_macro {
    use odm::prelude::*;
    use serde::{Deserialize, Serialize};

    macro_rules! model {
        ($name:ident, $collection:literal, $check:path, $min:expr, $($field:ident: $type:ty),*) => {
            #[derive(Serialize, Deserialize, Document)]
            #[document(collection = $collection)]
            pub(crate) struct $name {
                #[serde(rename = "_id")]
                pub(crate) id: i64,
                $(#[index] #[validate(with = $check, min_length = $min)] pub(crate) $field: $type,)*
                #[reference(child)]
                pub(crate) other: Option<Ref<$name>>,
            }
        };
    }

    fn any<T>(_: &T) -> Result<(), String> {
        Ok(())
    }

    model!(Made, "made", any, 1, r#type: String, size: Option<String>);

    /// A rule as a fragment, with a path in it.
    macro_rules! checked {
        ($name:ident, $rule:meta) => {
            #[derive(Serialize, Deserialize, Embed)]
            pub(crate) struct $name {
                #[$rule]
                pub(crate) value: i64,
            }
        };
    }

    checked!(Checked, validate(min = 0, with = any));
}

#[test]
fn a_projection_needs_no_prelude() {
    let brief = odm::bson::doc! { "name": "grommet" };
    let brief: without_a_prelude::Brief = odm::bson::deserialize_from_document(brief).unwrap();
    assert_eq!(brief.name, "grommet");
}

#[test]
fn a_database_needs_no_prelude() {
    use odm::Database as _;
    let catalog = without_a_prelude::Bare::catalog().unwrap();
    assert!(catalog.mermaid().contains("children"));
}

#[test]
fn an_index_is_unique_by_its_own_key() {
    use odm::Document as _;
    let indexes = strict::Strict::model().indexes;
    let described: Vec<_> = indexes
        .iter()
        .map(|index| (index.name, index.unique))
        .collect();
    assert_eq!(described, [(None, true), (Some("by_size"), true)]);
}

#[test]
fn models_of_macros_have_the_fields_of_their_fragments() {
    use odm::model::Structure as _;
    assert_eq!(by_macro::Made::fields().r#type.path(), "type");
    assert_eq!(by_macro::Made::fields().size.path(), "size");
}
