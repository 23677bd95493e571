//! What the derives accept, and the stored paths, shapes and implementations that come of it.

#![deny(warnings, missing_docs, unreachable_pub)]

use odm::model::{ChildOf, Container, FieldKind, FieldShape, Index, IntoId, Link, ReferenceShape};
use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Money {
    value: String,
    currency: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "suppliers")]
struct Supplier {
    #[serde(rename = "_id")]
    id: String,
    name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: ObjectId,
    #[index(unique)]
    partno: String,
    qty: u32,
    #[reference(child, unchecked)]
    supplier: Option<Ref<Supplier>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    note: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Bare {
    #[reference(child)]
    part: Ref<Part>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Audit {
    by: String,
    at: DateTime,
}

/// A product.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[serde(rename_all = "camelCase")]
#[document(
    collection = "products",
    index(fields = "price.currency, -catalog_number", name = "by_price"),
    index(fields = "parts.id, audit.by", unique),
    index(fields = "old_price.value"),
    index(fields = "-r#type, catalog_number")
)]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    /// Its number in the catalog.
    #[index]
    catalog_number: i64,
    r#type: String,
    #[embed]
    price: Money,
    #[embed]
    old_price: Option<Box<Money>>,
    #[embed]
    parts: Vec<PartLink>,
    #[reference(child)]
    spare_parts: Vec<Ref<Part>>,
    #[serde(flatten)]
    #[embed]
    audit: Audit,
    #[serde(skip)]
    #[allow(dead_code)]
    cache: Option<Money>,
    #[version]
    revision: i64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[index(unique)]
    slug: Option<String>,
    #[serde(with = "hex")]
    blob: Vec<u8>,
    #[embed]
    by_name: std::collections::BTreeMap<String, Money>,
}

mod hex {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        String::deserialize(deserializer).map(String::into_bytes)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: ObjectId,
    #[reference(parent)]
    product_id: Ref<Product>,
    #[reference(parent, one)]
    supplier: Option<Ref<Supplier>>,
    #[reference(parent)]
    part: Ref<Part>,
    #[reference(parent)]
    other_part: Option<Ref<Part>>,
    #[reference(parent)]
    parents: Vec<Ref<Review>>,
    review_author: String,
    #[serde(rename = "date")]
    published_date: DateTime,
    #[serde(flatten)]
    #[embed]
    audit: Audit,
    #[embed]
    price: Money,
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Review")]
struct ReviewSummary {
    review_author: String,
    #[serde(rename = "date")]
    published_date: DateTime,
    #[embed]
    price: Money,
    #[serde(flatten)]
    #[embed]
    audit: Audit,
    product_id: Ref<Product>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Comment {
    text: String,
    #[embed]
    replies: Vec<Comment>,
    #[embed]
    top: Option<Box<Self>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Left {
    #[embed(recursive)]
    right: Option<Box<Right>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Right {
    #[embed]
    left: Option<Box<Left>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
#[serde(transparent)]
struct Price {
    #[embed]
    money: Money,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Newtype(#[embed] Money);

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "trees", index(fields = "id, comments.text"))]
struct Tree {
    #[serde(rename = "_id")]
    id: i32,
    #[embed]
    comments: Vec<Comment>,
    #[reference(parent)]
    parent: Option<Ref<Tree>>,
    #[embed]
    price: Price,
    #[embed]
    newtype: Newtype,
    #[embed]
    left: Left,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    products: Repository<Product>,
    parts: Repository<Part>,
    suppliers: Repository<Supplier>,
    reviews: Repository<Review>,
    trees: Repository<Tree>,
}

fn names(shape: &[FieldShape]) -> Vec<&'static str> {
    shape.iter().map(|field| field.name).collect()
}

#[test]
fn paths_are_stored_names() {
    let f = Product::fields();
    assert_eq!(f.id.path(), "_id");
    assert_eq!(f.catalog_number.path(), "catalogNumber");
    assert_eq!(f.r#type.path(), "type");
    assert_eq!(f.price.currency.path(), "price.currency");
    assert_eq!(f.old_price.value.path(), "oldPrice.value");
    assert_eq!(f.audit.by.path(), "by");
    assert_eq!(f.blob.path(), "blob");
    assert_eq!(size_of_val(f), 0);
    assert_eq!(Tree::fields().price.currency.path(), "price.currency");
    assert_eq!(Tree::fields().newtype.value.path(), "newtype.value");
    assert_eq!(
        Tree::fields().left.right.left.right.path(),
        "left.right.left.right"
    );
    assert_eq!(Comment::fields().top.top.text.path(), "top.top.text");
    assert_eq!(ReviewSummary::fields().published_date.path(), "date");
    assert_eq!(ReviewSummary::fields().audit.at.path(), "at");
}

#[test]
fn shapes_hold_the_stored_fields() {
    let shape = Product::shape();
    assert_eq!(shape.name, "Product");
    assert_eq!(
        names(shape.fields),
        [
            "_id",
            "catalogNumber",
            "type",
            "price",
            "oldPrice",
            "parts",
            "spareParts",
            "",
            "revision",
            "slug",
            "blob",
            "byName"
        ]
    );
    let container = |name: &str| match shape.fields.iter().find(|f| f.name == name).unwrap().kind {
        FieldKind::Embed { container, .. } => container,
        FieldKind::Reference(reference) => reference.container,
        FieldKind::Plain | FieldKind::Subset(_) => panic!("{name} has no container"),
    };
    assert_eq!(container("price"), Container::One);
    assert_eq!(container("oldPrice"), Container::Optional);
    assert_eq!(container("parts"), Container::Many);
    assert_eq!(container("spareParts"), Container::Many);
    assert_eq!(container("byName"), Container::Map);
    assert_eq!(names(Price::shape().fields), ["value", "currency"]);
    let reference = |field: &FieldShape| match field.kind {
        FieldKind::Reference(reference) => reference,
        _ => panic!("no reference"),
    };
    let ReferenceShape {
        collection,
        parent,
        one,
        unchecked,
        container,
    } = reference(&Review::shape().fields[2]);
    assert_eq!(
        (collection, parent, one, unchecked),
        ("suppliers", true, true, false)
    );
    assert_eq!(container, Container::Optional);
    assert!(reference(&Part::shape().fields[3]).unchecked);
}

#[test]
fn models_hold_indexes_and_versions() {
    let model = Product::model();
    assert_eq!((model.name, model.collection), ("Product", "products"));
    assert_eq!(model.version, Some("revision"));
    let text = |index: &Index| {
        let fields: Vec<_> = index
            .fields
            .iter()
            .map(|f| {
                format!(
                    "{:?} {}{}",
                    f.direction,
                    f.path,
                    if f.optional { "?" } else { "" }
                )
            })
            .collect();
        (fields.join(", "), index.unique, index.name)
    };
    let indexes: Vec<_> = model.indexes.iter().map(text).collect();
    assert_eq!(
        indexes,
        [
            ("Ascending catalogNumber".into(), false, None),
            ("Ascending slug?".into(), true, None),
            (
                "Ascending price.currency, Descending catalogNumber".into(),
                false,
                Some("by_price")
            ),
            ("Ascending parts.id?, Ascending by".into(), true, None),
            ("Ascending oldPrice.value?".into(), false, None),
            (
                "Descending type, Ascending catalogNumber".into(),
                false,
                None
            ),
        ]
    );
    assert_eq!(Part::model().version, None);
    assert!(Part::model().indexes[0].unique);
}

#[test]
fn documents_are_named_by_their_ids() {
    fn id<M: Document>(id: impl IntoId<M>) -> M::Id {
        id.into_id()
    }
    let supplier = Supplier {
        id: "s".into(),
        name: "S".into(),
    };
    assert_eq!(supplier.id(), "s");
    assert_eq!(id::<Supplier>("s"), "s");
    assert_eq!(id::<Supplier>(String::from("s")), "s");
    assert_eq!(id::<Supplier>(&String::from("s")), "s");
    assert_eq!(id::<Supplier>(&supplier), "s");
    assert_eq!(id::<Product>(5), 5);
    assert_eq!(id::<Product>(&5), 5);
    let _ = Supplier::fields().name.eq("x");
    assert_eq!(Supplier::COLLECTION, "suppliers");
}

#[test]
fn children_and_links() {
    assert_eq!(<Review as ChildOf<Product>>::PATH, "product_id");
    assert_eq!(<Review as ChildOf<Supplier>>::PATH, "supplier");
    assert_eq!(<Tree as ChildOf<Tree>>::PATH, "parent");
    let part = Part {
        id: ObjectId::new(),
        partno: "1".into(),
        qty: 1,
        supplier: None,
    };
    let link = PartLink {
        id: Ref::from(&part),
        note: None,
    };
    assert_eq!(link.target().id(), part.id());
    assert_eq!(<PartLink as Link>::PATH, "id");
    assert_eq!(Bare::from(&part).part.id(), part.id());
    let _ = (Part::fields().qty.gt(3), Part::fields().supplier.eq("s"));
}

#[test]
fn a_database_has_its_models() {
    assert_eq!((Shop::NAME, Shop::VERSION), ("shop", 1));
    let names: Vec<_> = Shop::models().iter().map(|model| model.name).collect();
    assert_eq!(names, ["Product", "Part", "Supplier", "Review", "Tree"]);
}

// ---- enums, in the four forms

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
#[serde(rename_all = "snake_case")]
enum Event {
    Started,
    Moved {
        from_place: String,
        #[embed]
        cost: Money,
    },
    #[serde(rename = "sold", rename_all = "camelCase")]
    SoldOff {
        unit_price: i64,
        #[reference(child)]
        buyer: Ref<Supplier>,
    },
    Paid(#[embed] Money),
    Referred(#[reference(child)] Ref<Supplier>),
    Noted(String),
    Pair(i32, i32),
    #[serde(skip)]
    #[allow(dead_code)]
    Never {
        x: i32,
    },
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
enum Shape {
    Circle { the_radius: f64 },
    Square(#[embed] Side),
    Nothing,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Side {
    length: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
#[serde(tag = "kind", content = "of")]
enum Adjacent {
    Circle { radius: f64 },
    Square(#[embed] Side),
    Text(String),
    Unit,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
#[serde(untagged)]
enum Untagged {
    Circle { radius: f64 },
    Square(#[embed] Side),
    Many(#[embed] Vec<Side>),
    Text(String),
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(
    collection = "canvases",
    index(fields = "shape.circle.the_radius, shape.type, shape.square.length"),
    index(
        fields = "events.sold_off.buyer, adjacent.kind, adjacent.circle.radius",
        unique
    )
)]
struct Canvas {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    shape: Shape,
    #[embed]
    events: Vec<Event>,
    #[embed]
    adjacent: Adjacent,
    #[embed]
    untagged: Untagged,
    #[embed]
    tagged: Tagged,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
#[serde(tag = "t")]
struct Tagged {
    x: i32,
}

#[test]
fn enums_lead_into_their_variants() {
    let f = Canvas::fields();
    assert_eq!(f.shape.r#type.path(), "shape.type");
    assert_eq!(f.shape.circle.the_radius.path(), "shape.theRadius");
    assert_eq!(f.shape.square.length.path(), "shape.length");
    assert_eq!(f.adjacent.kind.path(), "adjacent.kind");
    assert_eq!(f.adjacent.circle.radius.path(), "adjacent.of.radius");
    assert_eq!(f.adjacent.square.length.path(), "adjacent.of.length");
    assert_eq!(f.adjacent.text.path(), "adjacent.of");
    assert_eq!(f.untagged.circle.radius.path(), "untagged.radius");
    assert_eq!(f.untagged.square.length.path(), "untagged.length");
    assert_eq!(f.tagged.t.path(), "tagged.t");
    let e = Event::fields();
    assert_eq!(e.moved.from_place.path(), "moved.from_place");
    assert_eq!(e.moved.cost.currency.path(), "moved.cost.currency");
    assert_eq!(e.sold_off.unit_price.path(), "sold.unitPrice");
    assert_eq!(e.paid.value.path(), "paid.value");
    assert_eq!(e.referred.path(), "referred");
    assert_eq!(e.noted.path(), "noted");
    let _ = f
        .events
        .any(|event| event.sold_off.buyer.eq("s") & event.noted.eq("x"));
    assert_eq!(
        names(Event::shape().fields),
        ["moved", "sold", "paid", "referred", "noted"]
    );
    assert_eq!(names(Shape::shape().fields), ["type", "", ""]);
    assert_eq!(names(Adjacent::shape().fields), ["kind", "of", "of", "of"]);
    assert_eq!(names(Untagged::shape().fields), ["", "", ""]);
    let indexed: Vec<_> = Canvas::model()
        .indexes
        .iter()
        .flat_map(|index| index.fields)
        .map(|field| (field.path, field.optional))
        .collect();
    assert_eq!(
        indexed,
        [
            ("shape.theRadius", true),
            ("shape.type", false),
            ("shape.length", true),
            ("events.sold.buyer", true),
            ("adjacent.kind", false),
            ("adjacent.of.radius", true)
        ]
    );
}

#[test]
fn enums_are_stored_where_their_paths_say() {
    let canvas = Canvas {
        id: 1,
        shape: Shape::Square(Side { length: 2.0 }),
        events: vec![Event::SoldOff {
            unit_price: 1,
            buyer: Ref::new("s".into()),
        }],
        adjacent: Adjacent::Circle { radius: 1.0 },
        untagged: Untagged::Circle { radius: 3.0 },
        tagged: Tagged { x: 1 },
    };
    let stored = odm::bson::serialize_to_document(&canvas).unwrap();
    let at = |path: &str| {
        let mut parts = path.split('.');
        let first = stored.get(parts.next().unwrap()).unwrap();
        parts
            .try_fold(first, |value, part| match value {
                odm::bson::Bson::Document(inner) => inner.get(part),
                odm::bson::Bson::Array(items) => items[0].as_document()?.get(part),
                _ => None,
            })
            .is_some()
    };
    for path in [
        "_id",
        "shape.type",
        "shape.length",
        "events.sold.buyer",
        "adjacent.kind",
        "adjacent.of.radius",
        "untagged.radius",
        "tagged.t",
    ] {
        assert!(at(path), "{path} in {stored}");
    }
}

// ---- generic, hidden and shadowed

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
    #[allow(clippy::enum_variant_names)]
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
            #[allow(non_snake_case)]
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
                #[allow(non_camel_case_types)]
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
    assert_eq!(<Details as ChildOf<Part>>::PATH, "_id");
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
