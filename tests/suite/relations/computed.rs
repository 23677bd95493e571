//! `#[computed]`: the value of an expression of the fields beside it.

use odm::{DerivedKind, ErrorKind, Problem, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, behind_the_back, on_every_store};

macro_rules! version {
    ($module:ident = $version:literal, $(#[$rating:meta])* rating, $(#[$label:meta])* label) => {
        mod $module {
            use odm::prelude::*;
            use serde::{Deserialize, Serialize};

            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "products")]
            pub(super) struct Product {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                pub(super) name: String,
                #[serde(default)]
                pub(super) state: State,
                #[count(of = "Review")]
                pub(super) reviews: i64,
                #[sum(of = "Review.stars")]
                pub(super) stars: i64,
                $(#[$rating])*
                pub(super) rating: Option<f64>,
                $(#[$label])*
                pub(super) label: String,
            }

            #[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, Embed)]
            #[serde(rename_all = "snake_case")]
            pub(super) enum State {
                #[default]
                OnSale,
                SoldOut,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = "reviews")]
            pub(super) struct Review {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                #[reference(parent)]
                pub(super) product: Ref<Product>,
                pub(super) stars: i32,
                #[denormalize(from = "Product.label")]
                pub(super) label: String,
            }

            #[derive(Database)]
            #[database(name = "shop", version = $version)]
            pub(super) struct Shop {
                pub(super) products: Repository<Product>,
                pub(super) reviews: Repository<Review>,
            }
        }
    };
}
version!(before = 1, rating, label);
version!(
    now = 2,
    #[computed(if reviews == 0 { None } else { Some(stars as f64 / reviews as f64) })]
    rating,
    #[computed(if state == State::SoldOut { format!("{name} (sold out)") } else { name })]
    label
);

use now::{Product, Review, Shop, State};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "orders", index(fields = "-total"))]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    lines: Vec<Line>,
    #[serde(default = "usual")]
    shipping: i64,
    discount: Option<i64>,
    #[computed(
        lines.iter().map(|line| line.total).sum::<i64>() + shipping
            - discount.unwrap_or(0).min(shipping)
    )]
    total: i64,
    #[computed(lines.iter().filter(|line| line.quantity > 1).map(|line| line.cents).max())]
    #[serde(default, rename = "dearestOfMany")]
    dearest: Option<i64>,
    #[computed(total < 1_000 && lines.iter().any(|line| line.part == "nut"))]
    #[index]
    cheap_nuts: bool,
}

fn usual() -> i64 {
    5
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Line {
    part: String,
    quantity: i64,
    cents: i64,
    #[computed(quantity * cents)]
    total: i64,
}

#[derive(Database)]
#[database(name = "orders", version = 1)]
struct Orders {
    orders: Repository<Order>,
}

fn line(part: &str, quantity: i64, cents: i64) -> Line {
    Line { part: part.to_owned(), quantity, cents, total: 77 }
}

fn order(id: i64, lines: Vec<Line>) -> Order {
    // What the caller sends is no value.
    Order { id, lines, shipping: 5, discount: None, total: 77, dearest: Some(77), cheap_nuts: true }
}

fn product(id: i64) -> Product {
    let name = format!("product {id}");
    Product {
        id,
        name,
        state: State::OnSale,
        reviews: 0,
        stars: 0,
        rating: Some(9.0),
        label: String::new(),
    }
}

fn review(id: i64, stars: i32) -> Review {
    Review { id, product: Ref::new(1), stars, label: String::new() }
}

async fn orders(store: impl TestStore) -> Orders {
    Orders::open(store).await.unwrap()
}

/// What is computed in the order 1.
async fn computed(db: &Orders) -> (Vec<i64>, i64, Option<i64>, bool) {
    assert_eq!(db.audit().await.unwrap(), []);
    let order = db.orders.get(1).await.unwrap();
    let totals = order.lines.iter().map(|line| line.total).collect();
    (totals, order.total, order.dearest, order.cheap_nuts)
}

on_every_store! {
    async fn a_computed_field_follows_each_write_of_its_document(store: AnyStore) {
        let db = orders(store).await;
        let inserted = db.orders.insert(order(1, vec![line("nut", 2, 10), line("bolt", 1, 300)])).await.unwrap();
        assert_eq!((inserted.total, inserted.lines[0].total), (325, 20));
        assert_eq!(computed(&db).await, (vec![20, 300], 325, Some(10), true));
        let fields = Order::fields();
        db.orders.update(1).inc(fields.shipping, 700).await.unwrap();
        assert_eq!(computed(&db).await, (vec![20, 300], 1_025, Some(10), false));
        db.orders.update(1).set(fields.discount, Some(25)).await.unwrap();
        assert_eq!(computed(&db).await, (vec![20, 300], 1_000, Some(10), false));
        db.orders.update(1).push(fields.lines, line("washer", 3, -10)).await.unwrap();
        assert_eq!(computed(&db).await, (vec![20, 300, -30], 970, Some(10), true));
        db.orders.update(1).set(fields.lines, Vec::new()).await.unwrap();
        assert_eq!(computed(&db).await, (vec![], 680, None, false));
        db.orders.replace(order(1, vec![line("nut", 4, 1)])).await.unwrap();
        assert_eq!(computed(&db).await, (vec![4], 9, Some(1), true));
        db.orders.update(1).raw(doc! { "$set": { "lines.0.quantity": 5_i64 } }).await.unwrap();
        assert_eq!(computed(&db).await, (vec![5], 10, Some(1), true));
    }

    async fn a_computed_field_cannot_be_written_and_is_found_by_its_index(store: AnyStore) {
        let db = orders(store).await;
        for id in 1..=3 {
            db.orders.insert(order(id, vec![line("nut", 1, id * 400)])).await.unwrap();
        }
        let refused = db.orders.update(1).raw(doc! { "$set": { "total": 1_i64 } }).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidQuery, "{refused}");
        let refused = db.orders.update(1).raw(doc! { "$set": { "lines.0.total": 1_i64 } }).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidQuery, "{refused}");
        let fields = Order::fields();
        let cheap = db.orders.find(fields.cheap_nuts.eq(true)).sort(fields.total.desc()).await.unwrap();
        assert_eq!(cheap.iter().map(|order| (order.id, order.total)).collect::<Vec<_>>(), [(2, 805), (1, 405)]);
    }

    async fn a_computed_field_follows_derived_fields_and_is_the_source_of_others(store: AnyStore) {
        let db = Shop::open(store).await.unwrap();
        db.products.insert(product(1)).await.unwrap();
        assert_eq!(db.products.get(1).await.unwrap().rating, None);
        db.reviews.insert_many([review(1, 5), review(2, 4)]).await.unwrap();
        assert_eq!(db.products.get(1).await.unwrap().rating, Some(4.5));
        db.reviews.delete(1).await.unwrap();
        db.reviews.update(2).set(Review::fields().stars, 1).await.unwrap();
        assert_eq!(db.products.get(1).await.unwrap().rating, Some(1.0));
        assert_eq!(db.reviews.get(2).await.unwrap().label, "product 1");
        db.products.update(1).set(Product::fields().state, State::SoldOut).await.unwrap();
        assert_eq!(db.reviews.get(2).await.unwrap().label, "product 1 (sold out)");
        assert_eq!(db.audit().await.unwrap(), []);
        let plan = db.products.update(1).set(Product::fields().name, "lamp").plan().await.unwrap();
        assert!(plan.to_string().contains("`label` of `products`"), "{plan}");
    }

    async fn a_value_that_cannot_be_computed_refuses_the_write_and_names_the_field(store: AnyStore) {
        let db = orders(store).await;
        db.orders.insert(order(1, vec![line("nut", 2, 10)])).await.unwrap();
        let refused = [
            db.orders.insert(order(2, vec![line("nut", 1, 1), line("nut", i64::MAX, 2)])).await.map(drop),
            db.orders.update(1).set(Order::fields().shipping, i64::MAX).await.map(drop),
        ];
        let wanted = [
            ("lines.1.total", 2, "9223372036854775807 * 2 overflows: the result is not an `i64`"),
            ("total", 1, "20 + 9223372036854775807 overflows: the result is not an `i64`"),
        ];
        for (refused, (path, id, why)) in refused.into_iter().zip(wanted) {
            let error = refused.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Uncomputable, "{error}");
            let text = format!("uncomputable value: `orders.{path}` of the document with `_id` = {id}: {why}");
            assert_eq!(error.to_string(), text);
            let location = error.location().unwrap();
            assert_eq!((&*location.collection, location.path.as_deref()), ("orders", Some(path)));
        }
        assert_eq!(db.orders.all().await.unwrap().len(), 1);
        assert_eq!(computed(&db).await, (vec![20], 25, Some(10), true));
    }

    async fn a_value_that_cannot_be_computed_is_a_finding_until_its_document_is_changed(store: AnyStore) {
        let db = orders(store.clone()).await;
        db.orders.insert_many([order(1, vec![line("nut", 2, 10)]), order(2, Vec::new())]).await.unwrap();
        behind_the_back(&store, "orders", doc! { "_id": 1 }, doc! { "$set": { "lines.0.cents": i64::MAX } }).await;
        behind_the_back(&store, "orders", doc! { "_id": 2 }, doc! { "$set": { "total": 4_i64 } }).await;
        for findings in [db.audit().await.unwrap(), db.repair().await.unwrap()] {
            let failed = findings.iter().find(|finding| finding.path == "lines.total").unwrap();
            assert!(matches!(&failed.problem, Problem::CheckFailed(text) if text.contains("overflows")), "{failed:?}");
            let wrong = Problem::Derived(DerivedKind::Computed);
            assert!(findings.iter().any(|finding| finding.problem == wrong && finding.path == "total"), "{findings:?}");
        }
        // A write of another field does not fail.
        db.orders.update(1).raw(doc! { "$set": { "note": "late" } }).await.unwrap();
        db.orders.update(1).set(Order::fields().lines, vec![line("nut", 1, 1)]).await.unwrap();
        db.repair().await.unwrap();
        assert_eq!(computed(&db).await, (vec![1], 6, None, true));
        assert_eq!(db.orders.get(2).await.unwrap().total, 5);
    }

    async fn a_field_that_a_document_lacks_has_its_default(store: AnyStore) {
        let db = orders(store.clone()).await;
        db.orders.insert(order(1, vec![line("nut", 2, 10)])).await.unwrap();
        behind_the_back(&store, "orders", doc! { "_id": 1 }, doc! { "$unset": { "shipping": "", "discount": "" } }).await;
        assert_eq!(computed(&db).await, (vec![20], 25, Some(10), true));
        db.orders.update(1).set(Order::fields().discount, Some(1)).await.unwrap();
        assert_eq!(computed(&db).await, (vec![20], 24, Some(10), true));
    }

    async fn a_computed_field_over_old_documents_is_pending_until_the_backfill(store: AnyStore) {
        let old = before::Shop::open(store.clone()).await.unwrap();
        let kept = before::Product {
            id: 1,
            name: "lamp".to_owned(),
            state: before::State::SoldOut,
            reviews: 0,
            stars: 0,
            rating: None,
            label: "kept".to_owned(),
        };
        old.products.insert(kept).await.unwrap();
        let review = |id| before::Review { id, product: Ref::new(1), stars: 3, label: String::new() };
        old.reviews.insert_many([review(1), review(2)]).await.unwrap();
        assert_eq!(old.reviews.get(1).await.unwrap().label, "kept");
        drop(old);
        let db = Shop::open(store).await.unwrap();
        db.backfill().await.unwrap();
        let product = db.products.get(1).await.unwrap();
        assert_eq!((product.rating, &*product.label), (Some(3.0), "lamp (sold out)"));
        assert_eq!(db.reviews.get(1).await.unwrap().label, "lamp (sold out)");
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_computed_field_that_is_wrong_is_found_and_repaired(store: AnyStore) {
        let db = orders(store.clone()).await;
        db.orders.insert(order(1, vec![line("nut", 2, 10)])).await.unwrap();
        // A value of another type is none of this one.
        for (path, value) in [("total", odm::bson::bson!(25)), ("lines.0.total", odm::bson::bson!(21_i64)), ("dearestOfMany", odm::bson::Bson::Null)] {
            behind_the_back(&store, "orders", doc! { "_id": 1 }, doc! { "$set": { path: value } }).await;
            let found = db.audit().await.unwrap();
            let wrong = Problem::Derived(DerivedKind::Computed);
            assert!(found.iter().any(|found| found.problem == wrong && found.path == path), "{found:?}");
            db.repair().await.unwrap();
            assert_eq!(computed(&db).await, (vec![20], 25, Some(10), true));
        }
    }
}

/// Models with a computed field in a value that no path names, or that documents hold in part.
mod misplaced {
    use std::collections::BTreeMap;

    use odm::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize, Embed)]
    pub(super) struct Square {
        width: i64,
        #[computed(width * width)]
        area: i64,
    }

    #[derive(Serialize, Deserialize, Embed)]
    struct Circle {
        radius: i64,
    }

    macro_rules! holder {
        ($module:ident, $(#[$mark:meta])* $type:ty) => {
            pub(super) mod $module {
                use super::*;

                #[derive(Serialize, Deserialize, Document)]
                #[document(collection = "shapes")]
                struct Shape {
                    #[serde(rename = "_id")]
                    id: i64,
                    #[embed]
                    $(#[$mark])*
                    of: $type,
                }

                #[derive(Database)]
                #[database(name = "shapes", version = 1)]
                pub(in super::super) struct Shapes {
                    shapes: Repository<Shape>,
                }
            }
        };
    }

    #[derive(Serialize, Deserialize, Embed)]
    #[serde(tag = "kind")]
    enum Tagged {
        Square(#[embed] Square),
        Circle(#[embed] Circle),
    }

    #[derive(Serialize, Deserialize, Embed)]
    #[serde(tag = "kind", content = "content")]
    enum Adjacent {
        Square(#[embed] Square),
        Circle(#[embed] Circle),
    }

    #[derive(Serialize, Deserialize, Embed)]
    #[serde(untagged)]
    enum Untagged {
        Square(#[embed] Square),
        Circle(#[embed] Circle),
    }

    #[derive(Serialize, Deserialize, Embed)]
    enum External {
        Square(#[embed] Square),
        Circle(#[embed] Circle),
    }

    #[derive(Serialize, Deserialize, Embed)]
    struct Node {
        #[embed]
        parts: Vec<Node>,
        #[computed(parts.len() as i64)]
        number: i64,
    }

    holder!(in_a_map, BTreeMap<String, Square>);
    holder!(in_nested_lists, Vec<Vec<Square>>);
    holder!(flattened, #[serde(flatten)] Option<Square>);
    holder!(tagged, Tagged);
    holder!(adjacent, Adjacent);
    holder!(untagged, Untagged);
    holder!(recursive, Node);
    holder!(external, External);
}

#[test]
fn a_computed_field_that_no_path_names_or_that_shares_its_place_is_refused() {
    let refused = |catalog: odm::Result<odm::Relations>, wanted: &str| {
        let error = catalog.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Schema, "{error}");
        assert!(error.to_string().contains(wanted), "{error}");
    };
    refused(
        misplaced::in_a_map::Shapes::catalog(),
        "is a map with references or derived fields in it",
    );
    refused(misplaced::in_nested_lists::Shapes::catalog(), "is a list of lists");
    let shared = "computed field without a place of its own";
    refused(misplaced::flattened::Shapes::catalog(), shared);
    refused(misplaced::tagged::Shapes::catalog(), shared);
    refused(misplaced::adjacent::Shapes::catalog(), shared);
    refused(misplaced::untagged::Shapes::catalog(), shared);
    refused(misplaced::recursive::Shapes::catalog(), "recursive embed: `Node`");
    misplaced::external::Shapes::catalog().unwrap();
}

mod forms {
    use super::*;

    /// Renamed, generic, optional, in a cold part, and in a variant.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "boxes", new = "NewBox")]
    #[serde(rename_all = "camelCase")]
    pub(super) struct Box {
        #[serde(rename = "_id")]
        #[id(sequence)]
        pub(super) id: i64,
        pub(super) unit_price: i64,
        #[embed]
        pub(super) pair: Pair<i64>,
        #[embed]
        pub(super) maybe: Option<Pair<String>>,
        #[computed(unit_price * pair.first - pair.both_given as i64)]
        pub(super) whole_price: i64,
        #[split(collection = "box_texts", key = "box", optional)]
        pub(super) text: Cold<BoxText>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
    #[serde(rename_all = "SCREAMING-KEBAB-CASE")]
    pub(super) struct Pair<T: Clone + odm::model::Known> {
        pub(super) first: i64,
        pub(super) second_of_both: Option<T>,
        #[computed(first > 0 && second_of_both.is_some())]
        pub(super) both_given: bool,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
    pub(super) struct BoxText {
        pub(super) text: String,
        #[computed(text.chars().count() as i32)]
        pub(super) length: i32,
    }

    #[derive(Database)]
    #[database(name = "boxes", version = 1)]
    pub(super) struct Boxes {
        pub(super) boxes: Repository<Box>,
    }

    pub(super) fn pair<T: Clone + odm::model::Known>(first: i64, second: Option<T>) -> Pair<T> {
        Pair { first, second_of_both: second, both_given: false }
    }
}

on_every_store! {
    async fn a_computed_field_is_right_under_other_names_in_generics_options_and_cold_parts(store: AnyStore) {
        use forms::{BoxText, Boxes, NewBox, pair};
        let db = Boxes::open(store).await.unwrap();
        let new = NewBox {
            unit_price: 7,
            pair: pair(3, Some(1)),
            maybe: Some(pair(0, Some("x".to_owned()))),
            text: Cold::new(BoxText { text: "größer".to_owned(), length: 0 }),
        };
        let stored = db.boxes.insert(new).await.unwrap();
        assert_eq!((stored.whole_price, stored.pair.both_given), (20, true));
        assert_eq!(stored.maybe.map(|pair| pair.both_given), Some(false));
        let fields = forms::Box::fields();
        let whole = db.boxes.get(1).with(fields.text).await.unwrap();
        assert_eq!(whole.text.get().map(|text| text.length), Some(6));
        db.boxes.update(1).set(fields.text.text, "kurz".to_owned()).await.unwrap();
        db.boxes.update(1).set(fields.pair.second_of_both, None).await.unwrap();
        let whole = db.boxes.get(1).with(fields.text).await.unwrap();
        assert_eq!(whole.text.get().map(|text| text.length), Some(4));
        assert_eq!((whole.whole_price, whole.pair.both_given), (21, false));
        assert_eq!(db.audit().await.unwrap(), []);
    }
}
