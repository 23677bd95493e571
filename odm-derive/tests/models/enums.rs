//! Enums, in the four forms in which serde stores them.

use super::*;

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
    #[allow(dead_code, reason = "it is skipped, and so never made")]
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
