//! Conditions on, and changes of, single elements of lists and entries of maps.

use std::collections::{BTreeMap, HashMap};

use odm::{Embedded, ErrorKind, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "orders", index(fields = "prices[eur]"), unique(fields = "titles[pt-BR]"))]
struct Order {
    #[serde(rename = "_id")]
    id: i32,
    #[embed]
    #[serde(rename = "rows")]
    lines: Vec<Line>,
    tags: Vec<String>,
    #[embed]
    names: BTreeMap<String, Name>,
    prices: HashMap<String, i64>,
    titles: Option<BTreeMap<String, String>>,
    history: Option<Vec<i32>>,
    #[opaque]
    #[serde(default)]
    extras: BTreeMap<String, Hidden>,
    #[version]
    revision: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Line {
    #[reference(child)]
    product: Ref<Product>,
    #[denormalize(from = "Product.name")]
    name: String,
    #[serde(rename = "qty")]
    quantity: i32,
    #[embed]
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Part {
    code: String,
    count: i32,
    #[opaque]
    #[serde(default)]
    extra: Option<Hidden>,
}

/// A type of another crate, with a reference in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Hidden {
    product: Option<Ref<Product>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Name {
    text: String,
    short: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    orders: Repository<Order>,
    products: Repository<Product>,
}

fn line(product: i32, quantity: i32) -> Line {
    let part = |code: &str, count| Part { code: code.into(), count, extra: None };
    Line {
        product: Ref::new(product),
        name: String::new(),
        quantity,
        parts: vec![part("a", quantity), part("b", 1)],
    }
}

async fn shop(store: impl TestStore) -> Shop {
    let shop = Shop::open(store).await.unwrap();
    let products = [1, 2, 3].map(|id| Product { id, name: format!("product {id}") });
    shop.products.insert_many(products).await.unwrap();
    let order = |id: i32| Order {
        id,
        lines: vec![line(1, id), line(2, 10), line(1, 20)],
        tags: vec!["new".into(), format!("tag {id}")],
        names: [("en".into(), Name { text: format!("order {id}"), short: None })].into(),
        prices: [("eur".into(), i64::from(id) * 100)].into(),
        titles: (id > 1).then(|| [("pt-BR".into(), format!("Pedido {}", 9 - id))].into()),
        history: (id == 2).then(|| vec![1, 2, 3]),
        extras: BTreeMap::new(),
        revision: 0,
    };
    shop.orders.insert_many([1, 2, 3].map(order)).await.unwrap();
    shop
}

async fn found(shop: &Shop, filter: Filter<Order>) -> Vec<i32> {
    let orders = shop.orders.find(filter).await.unwrap();
    orders.iter().map(|order| order.id).collect()
}

on_every_store! {
    async fn a_filter_is_of_an_element_at_a_position_or_an_entry(store: AnyStore) {
        let shop = shop(store).await;
        let order = Order::fields();
        assert_eq!(found(&shop, order.lines.at(0, |line| line.quantity.gt(1))).await, [2, 3]);
        assert_eq!(found(&shop, order.lines.at(1, |line| line.quantity.eq(10) & line.product.eq(2))).await, [1, 2, 3]);
        assert!(found(&shop, order.lines.at(9, |line| line.quantity.gt(0))).await.is_empty());
        assert_eq!(found(&shop, order.lines.at(0, |line| line.parts.at(0, |part| part.count.lt(3)))).await, [1, 2]);
        assert_eq!(found(&shop, order.lines.at(0, |line| line.parts.any(|part| part.count.eq(3)))).await, [3]);
        assert_eq!(found(&shop, order.tags.at(1, |tag| tag.eq("tag 2") | tag.eq("tag 3"))).await, [2, 3]);
        assert_eq!(found(&shop, order.history.at(2, |number| number.eq(3))).await, [2]);
        assert_eq!(found(&shop, order.names.entry("en", |name| !name.text.eq("order 2"))).await, [1, 3]);
        assert_eq!(found(&shop, order.prices.entry("eur", |price| price.gte(200))).await, [2, 3]);
        assert!(found(&shop, order.prices.entry("usd", |price| price.gte(0))).await.is_empty());
        for key in ["", "a.b", "$a", "a\0"] {
            let error = shop.orders.find(order.prices.entry(key, |price| price.eq(1))).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{key:?}");
        }
    }

    async fn a_sort_is_by_an_entry(store: AnyStore) {
        let shop = shop(store).await;
        let order = Order::fields();
        let ids = async |sort: Sort<Order>| {
            let orders = shop.orders.all().sort(sort).await.unwrap();
            orders.iter().map(|order| order.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(order.titles.sort_by_entry("pt-BR", |title| title.asc())).await, [1, 3, 2]);
        assert_eq!(ids(order.prices.sort_by_entry("eur", |price| price.desc())).await, [3, 2, 1]);
        let short = order.names.sort_by_entry("en", |name| name.short.asc().then(name.text.desc()));
        assert_eq!(ids(short).await, [3, 2, 1]);
        let none = order.prices.sort_by_entry("usd", |price| price.asc());
        assert_eq!(ids(none.then(order.id.desc())).await, [3, 2, 1]);
        for key in ["", "a.b", "$a", "a\0"] {
            let sort = order.prices.sort_by_entry(key, |price| price.asc()).then(order.id.asc());
            let error = shop.orders.all().sort(sort).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{key:?}");
        }
    }

    async fn an_index_of_an_entry_finds_and_sorts_and_is_unique_where_it_is_there(store: AnyStore) {
        let shop = shop(store).await;
        let order = Order::fields();
        let cheap = order.prices.entry("eur", |price| price.lt(200));
        assert_eq!(found(&shop, cheap).await, [1]);
        let title = |id: i32, title: &str| shop.orders.update(id).set_entry(order.titles, "pt-BR", title);
        title(2, "pedido").await.unwrap();
        assert!(title(3, "pedido").await.unwrap_err().is_duplicate_key());
        // Two documents without the entry are no duplicates.
        shop.orders.update(3).unset_entry(order.titles, "pt-BR").await.unwrap();
        let of_two = order.titles.entry("pt-BR", |title| title.eq("pedido"));
        assert_eq!(found(&shop, of_two).await, [2]);
    }

    async fn a_request_names_entries(store: AnyStore) {
        let shop = shop(store).await;
        let by = async |pairs: &[(&str, &str)]| found(&shop, Order::filter_from_query(pairs.iter().copied()).unwrap()).await;
        assert_eq!(by(&[("prices.eur[gte]", "200")]).await, [2, 3]);
        assert_eq!(by(&[("titles.pt-BR", "Pedido 7")]).await, [2]);
        assert_eq!(by(&[("names.en.text[ne]", "order 2")]).await, [1, 3]);
        assert_eq!(by(&[("titles.pt-BR[exists]", "false")]).await, [1]);
        let json = serde_json::json!({ "titles.pt-BR": null });
        assert_eq!(found(&shop, Order::filter_from_json(&json).unwrap()).await, [1]);
        let sorted = shop.orders.all().sort(Order::sort_by("-prices.eur").unwrap()).await.unwrap();
        assert_eq!(sorted[0].id, 3);
        let allowed = Order::allow(["prices.eur", "names.de", "names.en.text"]);
        assert!(allowed.filter_from_query([("prices.eur", "100"), ("names.de.short", "x")]).is_ok());
        for (name, names) in [
            ("prices.usd", "use `names.de.text`, `names.en.text`, `names.de.short`, `prices.eur`"),
            ("prices", ""),
            ("names.en", ""),
            ("names.en.short", ""),
            ("prices.eur.more", ""),
            ("prices.$a", ""),
        ] {
            let error = allowed.filter_from_query([(name, "1")]).unwrap_err();
            assert!(error.is_invalid_request(), "{name}: {error}");
            assert!(error.to_string().contains(names), "{error}");
        }
        assert!(Order::filter_from_query([("prices.eur", "much")]).unwrap_err().is_invalid_request());
        assert!(Order::sort_by("names.en.text").unwrap_err().is_invalid_request());
    }

    async fn a_request_names_references_and_copies_in_a_list_of_links(store: AnyStore) {
        let shop = shop(store).await;
        let order = Order::fields();
        let third = shop.orders.update(3).update_at(order.lines, 1, |line, changes| changes.set(line.product, 3));
        third.await.unwrap();
        let by = async |pairs: &[(&str, &str)]| found(&shop, Order::filter_from_query(pairs.iter().copied()).unwrap()).await;
        assert_eq!(by(&[("rows.product", "2")]).await, [1, 2]);
        assert_eq!(by(&[("rows.product[in]", "3,4")]).await, [3]);
        assert_eq!(by(&[("rows.product[ne]", "2")]).await, [3], "by all elements");
        assert_eq!(by(&[("rows.name[gt]", "product 2")]).await, [3]);
        let json = serde_json::json!({ "rows.product": [2, 3], "rows.name": { "ne": "product 3" } });
        assert_eq!(found(&shop, Order::filter_from_json(&json).unwrap()).await, [1, 2]);
        shop.products.update(2).set(Product::fields().name, "nut").await.unwrap();
        assert!(by(&[("rows.name", "product 2")]).await.is_empty());
        assert_eq!(by(&[("rows.name", "nut")]).await, [1, 2]);
        // Any element may fulfill each condition.
        assert_eq!(by(&[("rows.name", "nut"), ("rows.product", "1")]).await, [1, 2]);
        for (name, value) in [("rows.product", "nut"), ("rows.product.name", "nut"), ("lines.product", "2"), ("rows", "2")] {
            let error = Order::filter_from_query([(name, value)]).unwrap_err();
            assert!(error.is_invalid_request(), "{name}: {error}");
        }
        assert!(Order::sort_by("rows.name").unwrap_err().is_invalid_request());
    }

    async fn changes_of_an_element_or_an_entry_leave_the_others(store: AnyStore) {
        let shop = shop(store).await;
        let order = Order::fields();
        let update = shop
            .orders
            .update(2)
            .update_at(order.lines, 1, |line, changes| changes.inc(line.quantity, 1).set(line.product, 3))
            .update_at(order.tags, 0, |tag, changes| changes.set(*tag, "old"))
            .update_entry(order.names, "en", |name, changes| changes.set(name.short, "o2"))
            .set_entry(order.names, "de", Name { text: "Bestellung".into(), short: None })
            .set_entry(order.prices, "usd", 220)
            .unset_entry(order.prices, "eur")
            .update_at(order.history, 2, |number, changes| changes.mul(*number, 5));
        let changed = update.returning().await.unwrap();
        let lines: Vec<_> = changed.lines.iter().map(|line| (line.quantity, line.name.as_str())).collect();
        assert_eq!(lines, [(2, "product 1"), (11, "product 3"), (20, "product 1")], "the copy follows the reference");
        assert_eq!(changed.tags, ["old", "tag 2"]);
        assert_eq!(changed.names["en"], Name { text: "order 2".into(), short: Some("o2".into()) });
        assert_eq!(changed.names["de"].text, "Bestellung");
        assert_eq!(changed.prices, [("usd".into(), 220)].into());
        assert_eq!((changed.history, changed.revision), (Some(vec![1, 2, 15]), 2));
        assert_eq!(shop.audit().await.unwrap(), []);
    }

    async fn changes_of_each_element_that_matches_leave_the_others(store: AnyStore) {
        let shop = shop(store).await;
        let order = Order::fields();
        let of_product_1 = |update: Update<Order>| {
            update.update_each(order.lines, |line| line.product.eq(1), |line, changes| changes.mul(line.quantity, 2))
        };
        let changed = shop.orders.update(3).with(of_product_1(Update::new())).returning().await.unwrap();
        assert_eq!(changed.lines.iter().map(|line| line.quantity).collect::<Vec<_>>(), [6, 10, 40]);
        // Nested in each other, and several in one update.
        let nested = shop
            .orders
            .update(3)
            .update_each(order.lines, |line| line.quantity.gte(10), |line, changes| {
                changes
                    .set(line.quantity, 9)
                    .update_each(line.parts, |part| part.code.eq("b"), |part, changes| changes.inc(part.count, 5))
                    .update_each(line.parts, |part| part.code.eq("a"), |part, changes| changes.set(part.code, "A"))
            })
            .update_each(order.tags, |tag| tag.starts_with("tag"), |tag, changes| changes.set(*tag, "x"));
        let changed = nested.returning().await.unwrap();
        assert_eq!(changed.lines.iter().map(|line| line.quantity).collect::<Vec<_>>(), [6, 9, 9]);
        let parts: Vec<_> = changed.lines.iter().flat_map(|line| &line.parts).map(|part| (part.code.as_str(), part.count)).collect();
        assert_eq!(parts, [("a", 3), ("b", 1), ("A", 10), ("b", 6), ("A", 20), ("b", 6)]);
        assert_eq!(changed.tags, ["new", "x"]);
        let all = shop.orders.update_where(Filter::all());
        let all = all.update_each(order.lines, |_| Filter::all(), |line, changes| changes.set(line.quantity, 0));
        assert_eq!(all.await.unwrap().modified, 3);
        assert!(shop.orders.all().await.unwrap().iter().all(|order| order.lines.iter().all(|line| line.quantity == 0)));
        let nothing = shop.orders.update(1).update_each(order.lines, |_| Filter::all(), |_, changes| changes);
        nothing.await.unwrap();
        assert_eq!(shop.audit().await.unwrap(), []);
    }

    async fn changes_of_an_element_and_of_those_that_match_are_one_update(store: AnyStore) {
        let shop = shop(store).await;
        let order = Order::fields();
        let update = shop
            .orders
            .update(1)
            .update_each(order.lines, |line| line.product.eq(1), |line, changes| changes.inc(line.quantity, 5))
            .update_at(order.lines, 0, |line, changes| changes.set(line.product, 2))
            .update_at(order.lines, 1, |line, changes| changes.mul(line.quantity, 7));
        let changed = update.returning().await.unwrap();
        let lines: Vec<_> = changed.lines.iter().map(|line| (line.name.as_str(), line.quantity)).collect();
        assert_eq!(lines, [("product 2", 6), ("product 2", 70), ("product 1", 25)]);
        // Two changes of one field of one element.
        let twice = shop
            .orders
            .update(1)
            .update_each(order.lines, |line| line.product.eq(1), |line, changes| changes.inc(line.quantity, 5))
            .update_at(order.lines, 2, |line, changes| changes.inc(line.quantity, 1));
        let error = twice.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
        let raw = shop.orders.update(1).raw(odm::bson::doc! { "$set": { "tags.$[0]": "x" } }).await.unwrap_err();
        assert_eq!(raw.kind(), ErrorKind::InvalidQuery, "{raw}");
        assert_eq!(shop.audit().await.unwrap(), []);
    }

    async fn a_rename_in_an_entry_stays_in_it(store: AnyStore) {
        let shop = shop(store).await;
        let order = Order::fields();
        let short = Name { text: "long".into(), short: Some("o".into()) };
        shop.orders.update(1).set_entry(order.names, "en", short).await.unwrap();
        let rename = odm::bson::doc! { "$rename": { "short": "text" } };
        let renamed = shop.orders.update(1).update_entry(order.names, "en", |_, changes| changes.raw(rename));
        let renamed = renamed.returning().await.unwrap();
        assert_eq!(renamed.names["en"], Name { text: "o".into(), short: None });
        shop.orders.update(1).set_entry(order.extras, "x", Hidden { product: None }).await.unwrap();
        assert_eq!(shop.audit().await.unwrap(), []);
    }

    async fn no_change_of_an_element_leaves_what_cannot_be_read(store: AnyStore) {
        let shop = shop(store).await;
        let order = Order::fields();
        let before = shop.orders.all().await.unwrap();
        let refused = [
            // Beyond the end.
            shop.orders.update(1).update_at(order.lines, 7, |line, changes| changes.set(line.quantity, 1)),
            shop.orders.update(1).update_at(order.tags, 7, |tag, changes| changes.set(*tag, "x")),
            // At the end.
            shop.orders.update(1).update_at(order.tags, 2, |tag, changes| changes.set(*tag, "x")),
            shop.orders.update(2).update_at(order.history, 3, |number, changes| changes.inc(*number, 1)),
            // In another element, and in the element of a filter.
            shop.orders.update(1).update_at(order.lines, 0, |line, changes| {
                changes.update_at(line.parts, 2, |part, changes| changes.set(part.code, "c").set(part.count, 1))
            }),
            shop.orders.update(1).update_each(order.lines, |line| line.quantity.eq(10), |line, changes| {
                changes.update_at(line.parts, 2, |part, changes| changes.set(part.code, "c").set(part.count, 1))
            }),
            // A part of a missing value.
            shop.orders.update(1).update_entry(order.names, "fr", |name, changes| changes.set(name.short, "x")),
            // A missing product.
            shop.orders.update(1).update_at(order.lines, 0, |line, changes| changes.set(line.product, 9)),
            shop.orders.update(1).set_entry(order.prices, "a.b", 1),
            shop.orders.update(1).unset_entry(order.prices, ""),
            shop.orders.update(1).update_entry(order.prices, "$x", |price, changes| changes.inc(*price, 1)),
            // A reference that the library would not maintain.
            shop.orders.update(1).set_entry(order.extras, "x", Hidden { product: Some(Ref::new(1)) }),
            shop.orders.update(1).update_at(order.lines, 0, |line, changes| {
                let hidden = Hidden { product: Some(Ref::new(1)) };
                changes.update_at(line.parts, 0, |part, changes| changes.set(part.extra, Some(hidden)))
            }),
            // A missing list.
            shop.orders.update(1).update_each(order.history, |_| Filter::all(), |number, changes| changes.set(*number, 1)),
        ];
        for update in refused {
            let error = update.await.unwrap_err();
            assert!(!error.to_string().is_empty(), "{error}");
        }
        assert_eq!(shop.orders.all().await.unwrap(), before);
    }
}

#[tokio::test]
async fn a_query_by_an_entry_reads_its_index_alone() {
    let shop = shop(Embedded::memory().await.unwrap()).await;
    let order = Order::fields();
    let cheap =
        shop.orders.find(order.prices.entry("eur", |price| price.lt(200))).explain().await.unwrap();
    assert_eq!((cheap.index.as_deref(), cheap.cost.documents_examined), (Some("prices.eur_1"), 1));
    let cheapest =
        shop.orders.all().sort(order.prices.sort_by_entry("eur", |price| price.asc())).limit(1);
    assert_eq!(cheapest.explain().await.unwrap().cost.keys_examined, 1);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "labels", unique(fields = "texts[en]", case_insensitive))]
struct Label {
    #[serde(rename = "_id")]
    id: i32,
    texts: BTreeMap<String, String>,
}

#[derive(Database)]
#[database(name = "labels", version = 1)]
struct Labels {
    labels: Repository<Label>,
}

#[tokio::test]
async fn an_index_of_an_entry_ignores_case() {
    let db = Labels::open(Embedded::memory().await.unwrap()).await.unwrap();
    let label = |id: i32, language: &str| Label {
        id,
        texts: [(language.to_owned(), "Bolt".to_owned())].into(),
    };
    db.labels.insert_many([label(1, "en"), label(2, "de"), label(3, "fr")]).await.unwrap();
    let set = |text: &str| db.labels.update(2).set_entry(Label::fields().texts, "en", text);
    assert!(set("BOLT").await.unwrap_err().is_duplicate_key());
    set("Nut").await.unwrap();
    let found =
        db.labels.find(Label::fields().texts.entry("en", |text| text.eq_ignore_case("nUT")));
    let explain = found.clone().explain().await.unwrap();
    assert_eq!(
        (explain.index.is_some(), explain.cost.documents_examined, found.one().await.unwrap().id),
        (true, 1, 2)
    );
}
