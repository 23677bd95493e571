//! Generic models, models in unusual places, and unusual names.

use super::*;

/// A generic document.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "envelopes", index(fields = "body.value"))]
pub struct Envelope<T, P: Clone, const N: usize = 3>
where
    T: Embed + Clone,
{
    /// The id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    #[serde(bound(serialize = "T: Serialize", deserialize = "T: Deserialize<'de>"))]
    #[embed]
    body: Paired<T>,
    /// More.
    /// A plain one.
    pub array: Option<Vec<P>>,
    /// Nothing.
    #[serde(skip)]
    pub rest: std::marker::PhantomData<[P; N]>,
}

/// A generic value.
#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
#[serde(bound(serialize = "T: Serialize", deserialize = "T: Deserialize<'de>"))]
pub struct Paired<T: Clone> {
    #[embed]
    value: T,
    #[embed]
    many: Vec<T>,
    #[embed]
    nested: Option<Box<Paired<T>>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
#[serde(bound(serialize = "T: Serialize", deserialize = "T: Deserialize<'de>"))]
enum Either<T> {
    Left {
        #[embed]
        left: T,
    },
    Right(#[embed] T),
    Skipped(#[serde(skip)] Option<T>),
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Linked<D: Document> {
    #[serde(bound = "")]
    #[reference(child)]
    id: Ref<D>,
}

#[test]
fn generic_models() {
    type E = Envelope<Money, i64>;
    let f = E::fields();
    assert_eq!(f.body.value.currency.path(), "body.value.currency");
    assert_eq!(f.body.nested.value.value.path(), "body.nested.value.value");
    assert_eq!(f.array.path(), "array");
    assert_eq!(E::model().indexes[0].fields[0].path, "body.value");
    assert_eq!(
        Either::<Money>::fields().left.left.currency.path(),
        "Left.left.currency"
    );
    assert_eq!(
        Either::<Money>::fields().right.currency.path(),
        "Right.currency"
    );
    assert_eq!(<Linked<Part> as Link>::PATH, "id");
    let _ = <ObjectId as IntoId<E>>::into_id;
}

mod shadowed {
    //! Models with the names of the standard library's types.

    use odm::prelude::{Document, Embed, ObjectId, Projection};
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
    pub(crate) struct String {
        pub(crate) text: std::string::String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
    pub(crate) struct Vec {
        #[embed]
        pub(crate) r#fn: String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
    #[allow(
        clippy::enum_variant_names,
        reason = "named like those of the standard library"
    )]
    pub(crate) enum Result {
        Ok {
            #[embed]
            value: Vec,
        },
        Type(#[embed] Vec),
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "options")]
    pub(crate) struct Option {
        #[serde(rename = "_id")]
        pub(crate) id: ObjectId,
        #[embed]
        pub(crate) vec: Vec,
        #[embed]
        pub(crate) result: Result,
        #[opaque]
        pub(crate) option_fields: OptionFields,
    }

    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub(crate) struct OptionFields;

    #[derive(Debug, Clone, Serialize, Deserialize, Projection)]
    #[projection(of = "Option")]
    pub(crate) struct Some {
        #[embed]
        pub(crate) vec: Vec,
        pub(crate) option_fields: OptionFields,
    }
}

#[test]
fn names_of_the_standard_library_are_free() {
    let f = shadowed::Option::fields();
    assert_eq!(f.vec.r#fn.text.path(), "vec.fn.text");
    assert_eq!(f.result.ok.value.r#fn.path(), "result.Ok.value.fn");
    assert_eq!(f.result.r#type.r#fn.path(), "result.Type.fn");
    assert_eq!(f.option_fields.path(), "option_fields");
}

#[test]
fn models_in_functions() {
    #[derive(Debug, Serialize, Deserialize, Embed)]
    struct Inner {
        x: i32,
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[document(collection = "local", index(fields = "inner.x"))]
    struct Local {
        _id: ObjectId,
        #[embed]
        inner: Inner,
        #[reference(parent)]
        part: Ref<Part>,
    }
    #[derive(Deserialize, Projection)]
    #[projection(of = "Local")]
    struct Part2 {
        #[serde(rename = "_id")]
        _id: ObjectId,
    }
    #[derive(Database)]
    #[database(name = "local", version = 2)]
    struct Db {
        locals: Repository<Local>,
        parts: Repository<Part>,
        suppliers: Repository<Supplier>,
    }
    assert_eq!(Local::fields().inner.x.path(), "inner.x");
    assert_eq!(Part2::fields()._id.path(), "_id");
    assert_eq!(Db::VERSION, 2);
}

mod renamed {
    //! With the library under another name.

    use odm as mapper;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize, mapper::prelude::Embed)]
    #[embed(crate = "mapper")]
    struct Inner {
        x: i32,
    }

    #[derive(Serialize, Deserialize, mapper::prelude::Document)]
    #[document(collection = "renamed", crate = "mapper")]
    struct Renamed {
        _id: i32,
        #[embed]
        inner: Inner,
        #[reference(child, inverse = "other")]
        other: Option<mapper::prelude::Ref<Renamed>>,
        #[embed]
        links: Vec<RenamedLink>,
        #[count(of = "Renamed", via = "other")]
        others: u32,
    }

    #[derive(Serialize, Deserialize, mapper::prelude::Embed)]
    #[embed(crate = "mapper")]
    struct RenamedLink {
        #[reference(child, on_delete = "pull")]
        to: mapper::prelude::Ref<Renamed>,
        #[denormalize(from = "Renamed.inner.x")]
        x: i32,
    }

    #[derive(Serialize, Deserialize, mapper::prelude::Projection)]
    #[projection(of = "Renamed", crate = "mapper")]
    struct Part {
        #[embed]
        inner: Inner,
    }

    #[derive(mapper::prelude::Database)]
    #[database(name = "renamed", version = 1, crate = "mapper")]
    struct Db {
        renamed: mapper::prelude::Repository<Renamed>,
    }

    #[test]
    fn compiles() {
        use mapper::prelude::*;
        assert_eq!(Renamed::fields().inner.x.path(), "inner.x");
        assert_eq!(Part::fields().inner.x.path(), "inner.x");
        assert_eq!(Db::NAME, "renamed");
    }
}

#[test]
fn rename_rules_are_those_of_serde() {
    macro_rules! rule {
        ($($rule:literal)*) => { $({
            #[derive(Default, Serialize, Deserialize, Embed)]
            #[serde(rename_all = $rule)]
            #[allow(non_snake_case, reason = "a rule is tried on such names")]
            struct Fields {
                outcome: i32,
                very_tasty: i32,
                a: i32,
                z42_b: i32,
                _private: i32,
                double__underscore: i32,
                trailing_: i32,
                r#type: i32,
            }
            let stored = odm::bson::serialize_to_document(&Fields::default()).unwrap();
            let stored: Vec<&str> = stored.keys().map(|key| key.as_str()).collect();
            assert_eq!(names(Fields::shape().fields), stored, $rule);

            #[derive(Serialize, Deserialize, Embed)]
            #[serde(rename_all = $rule)]
            enum Variants {
                Outcome(i32),
                VeryTasty(i32),
                A(i32),
                Z42(i32),
                HTTPServer(i32),
                #[allow(non_camel_case_types, reason = "a rule is tried on such names")]
                r#fn(i32),
            }
            let stored: Vec<String> = [
                Variants::Outcome(1),
                Variants::VeryTasty(1),
                Variants::A(1),
                Variants::Z42(1),
                Variants::HTTPServer(1),
                Variants::r#fn(1),
            ]
            .iter()
            .map(|variant| {
                let stored = odm::bson::serialize_to_document(variant).unwrap();
                stored.keys().next().unwrap().clone()
            })
            .collect();
            assert_eq!(names(Variants::shape().fields), stored, $rule);
        })* };
    }
    rule!("lowercase" "UPPERCASE" "PascalCase" "camelCase" "snake_case" "SCREAMING_SNAKE_CASE"
        "kebab-case" "SCREAMING-KEBAB-CASE");
}

#[test]
fn a_document_can_have_the_id_of_another() {
    #[derive(Serialize, Deserialize, Document)]
    #[document(collection = "details")]
    struct Details {
        #[serde(rename = "_id")]
        #[reference(parent)]
        part: Ref<Part>,
        text: String,
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
    struct Key {
        a: i32,
        b: i32,
    }
    #[derive(Serialize, Deserialize, Document)]
    #[document(collection = "keyed", index(fields = "id.a, -id.b"))]
    struct Keyed {
        #[serde(rename = "_id")]
        #[embed]
        id: Key,
        #[embed]
        of: Marked<i32>,
    }
    #[derive(Serialize, Deserialize, Embed)]
    #[serde(transparent)]
    struct Marked<T> {
        #[embed]
        key: Key,
        marker: std::marker::PhantomData<T>,
    }
    assert_eq!(
        <Details as ChildOf<Part, odm::repository::Any, 0>>::PATH,
        "_id"
    );
    let id = ObjectId::new();
    assert_eq!(
        IntoId::<Details>::into_id(Ref::<Part>::new(id)),
        Ref::new(id)
    );
    let _ = (Details::fields().part.eq(id), Details::fields().text.path());
    assert_eq!(Keyed::fields().id.a.path(), "_id.a");
    assert_eq!(Keyed::fields().of.b.path(), "of.b");
    assert_eq!(Keyed::model().indexes[0].fields[1].path, "_id.b");
}
