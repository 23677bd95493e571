//! Models that the derives accept, and their stored paths, shapes and implementations.

#![deny(warnings, missing_docs, unreachable_pub)]

mod aliases;
mod chains;
mod derived;
mod enums;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "only the code emitted for them is of interest"
)]
mod golden;
mod hygiene;
mod inverse;
mod many;
mod names;

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
    #[allow(dead_code, reason = "it is skipped, and so never read")]
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
        _ => panic!("{name} has no container"),
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
        on_delete,
        inverse,
    } = reference(&Review::shape().fields[2]);
    assert_eq!(
        (collection, parent, one, unchecked),
        ("suppliers", true, true, false)
    );
    assert_eq!(container, Container::Optional);
    assert_eq!((on_delete, inverse), (None, None));
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
    assert_eq!(
        <Review as ChildOf<Product, odm::repository::Any, 0>>::PATH,
        "product_id"
    );
    assert_eq!(
        <Review as ChildOf<Supplier, odm::repository::AtMostOne, 1>>::PATH,
        "supplier"
    );
    assert_eq!(
        <Tree as ChildOf<Tree, odm::repository::Any, 0>>::PATH,
        "parent"
    );
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
