//! Copies and counts, which are derived from other documents.

use odm::derive::{ChildrenShape, CopyShape, DerivedShape, Via};

use super::*;

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Place {
    city: String,
    #[serde(rename = "postcode", skip_serializing_if = "Option::is_none")]
    zip: Option<String>,
    #[embed]
    gps: Option<Box<Position>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Position {
    north: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[serde(rename_all = "camelCase")]
#[document(
    collection = "makers",
    index(fields = "best_price.currency, parts_in_use")
)]
struct Maker {
    #[serde(rename = "_id")]
    id: i64,
    full_name: String,
    nick: Option<String>,
    #[embed]
    place: Place,
    #[serde(flatten)]
    #[embed]
    audit: Audit,
    tags: Vec<String>,
    #[reference(child)]
    favourite: Option<Ref<Item>>,
    #[denormalize(from = "Item.price")]
    best_price: Option<Money>,
    #[count(of = "Item")]
    #[index]
    all_parts: u32,
    #[count(of = "Item", via = "maker", filter = in_use)]
    parts_in_use: i64,
}

fn in_use() -> Filter<Item> {
    Item::fields().sold.eq(true)
}

/// A part.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "items")]
struct Item {
    #[serde(rename = "_id")]
    id: ObjectId,
    #[reference(parent)]
    maker: Ref<Maker>,
    #[denormalize(from = "Maker.full_name")]
    #[serde(rename = "makerName")]
    #[index]
    maker_name: String,
    #[denormalize(from = "self::Maker.place.city")]
    city: String,
    #[denormalize(from = "Maker.place.zip", freeze)]
    zip: Option<String>,
    #[denormalize(from = "Maker.place.gps.north")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    north: Option<f64>,
    #[denormalize(from = "Maker.audit.by")]
    checked_by: Option<String>,
    #[denormalize(from = "Maker.tags")]
    maker_tags: Vec<String>,
    #[denormalize(from = "Basket.label", via = "Basket.items.id")]
    labels: Vec<String>,
    #[denormalize(from = "Basket.maker_name", via = "Basket.chosen")]
    choosers: Vec<Option<String>>,
    #[embed]
    price: Money,
    sold: bool,
}

/// A link that is made of the item.
#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct ItemLink {
    #[reference(child)]
    id: Ref<Item>,
    /// A copy of a copy.
    #[denormalize(from = "Item.maker_name")]
    #[serde(rename = "maker")]
    maker_name: String,
    #[denormalize(from = "Item.price.currency", freeze)]
    currency: String,
    #[denormalize(from = "Item.price")]
    price: Option<Money>,
    #[denormalize(from = "Item.sold")]
    sold: Option<bool>,
}

/// Copies beside values that depend on a parameter.
#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Noted<T: Clone> {
    #[reference(child)]
    item: Ref<Item>,
    #[denormalize(from = "Item.sold")]
    sold: bool,
    note: T,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
enum Choice {
    One {
        #[reference(child)]
        of: Ref<Item>,
        #[denormalize(from = "Item.price.value", via = "of")]
        value: String,
    },
    Two {
        #[reference(child)]
        left: Ref<Item>,
        #[reference(child)]
        right: Option<Ref<Item>>,
        #[denormalize(from = "Item.sold", via = "left")]
        left_sold: bool,
        #[denormalize(from = "Item.sold", via = "right")]
        right_sold: Option<bool>,
    },
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "baskets")]
struct Basket {
    #[serde(rename = "_id")]
    id: ObjectId,
    label: String,
    #[embed]
    items: Vec<ItemLink>,
    #[reference(child)]
    chosen: Vec<Ref<Item>>,
    #[embed]
    noted: Vec<Noted<String>>,
    #[embed]
    choice: Option<Choice>,
    #[reference(parent)]
    maker: Option<Ref<Maker>>,
    #[denormalize(from = "Maker.nick")]
    maker_name: Option<String>,
    #[reference(child)]
    before: Option<Ref<Self>>,
    #[denormalize(from = "Basket.label")]
    label_before: Option<String>,
}

#[derive(Database)]
#[database(name = "baskets", version = 1)]
struct Baskets {
    makers: Repository<Maker>,
    items: Repository<Item>,
    baskets: Repository<Basket>,
}

fn field(fields: &'static [FieldShape], name: &str) -> FieldKind {
    fields.iter().find(|field| field.name == name).unwrap().kind
}

fn copy(fields: &'static [FieldShape], name: &str) -> CopyShape {
    match field(fields, name) {
        FieldKind::Derived(DerivedShape::Copy(copy)) => copy,
        _ => panic!("{name} is no copy"),
    }
}

fn source(fields: &'static [FieldShape], name: &str) -> (&'static str, &'static str, Via) {
    let copy = copy(fields, name);
    (copy.source, copy.path, copy.via)
}

#[test]
fn copies_beside_a_reference() {
    let item = Item::shape().fields;
    let beside = Via::Beside("maker");
    assert_eq!(source(item, "makerName"), ("makers", "fullName", beside));
    assert_eq!(source(item, "city"), ("makers", "place.city", beside));
    assert_eq!(source(item, "zip"), ("makers", "place.postcode", beside));
    assert_eq!(source(item, "north"), ("makers", "place.gps.north", beside));
    assert_eq!(source(item, "checked_by"), ("makers", "by", beside));
    assert_eq!(source(item, "maker_tags"), ("makers", "tags", beside));
    let flags = |name| {
        let copy = copy(item, name);
        (copy.frozen, copy.optional)
    };
    assert_eq!(flags("makerName"), (false, false));
    assert_eq!(flags("zip"), (true, true));
    assert_eq!(flags("checked_by"), (false, true));
    assert_eq!(flags("maker_tags"), (false, false));
    let maker = Maker::shape().fields;
    assert_eq!(
        source(maker, "bestPrice"),
        ("items", "price", Via::Beside("favourite"))
    );
    let basket = Basket::shape().fields;
    assert_eq!(
        source(basket, "label_before"),
        ("baskets", "label", Via::Beside("before"))
    );
    assert_eq!(
        Maker::fields().best_price.currency.path(),
        "bestPrice.currency"
    );
    assert_eq!(Baskets::models().len(), 3);
}

#[test]
fn copies_backwards() {
    let item = Item::shape().fields;
    assert_eq!(
        source(item, "labels"),
        ("baskets", "label", Via::Back("items.id"))
    );
    assert!(!copy(item, "labels").frozen);
    assert_eq!(
        source(item, "choosers"),
        ("baskets", "maker_name", Via::Back("chosen"))
    );
    assert!(!copy(item, "choosers").frozen);
}

#[test]
fn copies_in_links_and_variants() {
    let link = ItemLink::shape().fields;
    let beside = Via::Beside("id");
    assert_eq!(source(link, "maker"), ("items", "makerName", beside));
    assert_eq!(
        source(link, "currency"),
        ("items", "price.currency", beside)
    );
    assert_eq!(source(link, "price"), ("items", "price", beside));
    assert_eq!(<ItemLink as Link>::PATH, "id");
    let noted = Noted::<String>::shape().fields;
    assert_eq!(
        source(noted, "sold"),
        ("items", "sold", Via::Beside("item"))
    );
    let variant = |name| match field(Choice::shape().fields, name) {
        FieldKind::Embed { shape, .. } => shape().fields,
        _ => panic!("a variant is embedded"),
    };
    assert_eq!(
        source(variant("One"), "value"),
        ("items", "price.value", Via::Beside("of"))
    );
    assert_eq!(
        source(variant("Two"), "right_sold"),
        ("items", "sold", Via::Beside("right"))
    );
}

#[test]
fn a_link_is_made_of_the_referenced_document() {
    let item = Item {
        id: ObjectId::new(),
        maker: Ref::new(1),
        maker_name: "M".into(),
        city: "C".into(),
        zip: None,
        north: None,
        checked_by: None,
        maker_tags: Vec::new(),
        labels: Vec::new(),
        choosers: Vec::new(),
        price: Money {
            value: "1".into(),
            currency: "EUR".into(),
        },
        sold: true,
    };
    let link = ItemLink::from(&item);
    assert_eq!(link.id.id(), &item.id);
    assert_eq!(link.maker_name, "M");
    assert_eq!(link.currency, "EUR");
    assert_eq!(link.price.as_ref(), Some(&item.price));
    assert_eq!(link.sold, Some(true));
}

#[test]
fn counts() {
    let maker = Maker::shape().fields;
    let count = |name| match field(maker, name) {
        FieldKind::Derived(DerivedShape::Count(count)) => count,
        _ => panic!("{name} is no count"),
    };
    let ChildrenShape {
        collection,
        via,
        filter,
        deferred,
    } = count("allParts");
    assert_eq!((collection, via), ("items", "maker"));
    assert!(filter.is_none() && !deferred);
    let filtered = count("partsInUse");
    assert_eq!((filtered.collection, filtered.via), ("items", "maker"));
    assert!(filtered.filter.unwrap()().is_ok());
    let indexes: Vec<_> = Maker::model()
        .indexes
        .iter()
        .flat_map(|index| index.fields)
        .map(|field| field.path)
        .collect();
    assert_eq!(indexes, ["allParts", "bestPrice.currency", "partsInUse"]);
}
