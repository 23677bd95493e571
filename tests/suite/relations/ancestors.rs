//! `#[ancestors(via = "..")]`: the documents above a document in a tree.

mod deferred;
mod old;
mod rings;

use std::collections::BTreeMap;

use odm::{DerivedKind, Embedded, ErrorKind, OpenOptions, Problem, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, behind_the_back, insert_behind_the_back, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "categories")]
struct Category {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent, on_delete = "nullify")]
    #[serde(rename = "parentId")]
    parent: Option<Ref<Category>>,
    #[ancestors(via = "parent")]
    #[serde(rename = "ancestorIds")]
    path: Ancestors<Category>,
    /// The documents of the same tree below.
    #[count(of = "Category", via = "path")]
    categories: i64,
    #[count(of = "Product", via = "category")]
    own: i64,
    /// Of the list of the products, and of the copy of the category's own list.
    #[sum(of = "Product.price", via = "above")]
    total: i64,
    #[count(of = "Product", via = "shelf.path")]
    below: i64,
    #[computed(own + below)]
    products: i64,
    #[max(of = "Product.price", via = "above")]
    dearest: Option<i64>,
    #[exists(of = "Product", via = "above", filter = free)]
    has_free: bool,
    #[subset(limit = 2, sort = "-price", via = "above")]
    best: Subset<ProductLine>,
    /// A chain: the sum of the counts below.
    #[sum(of = "Category.own", via = "path")]
    counted: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    price: i64,
    #[reference(parent, on_delete = "cascade")]
    category: Ref<Category>,
    #[ancestors(via = "category")]
    above: Ancestors<Category>,
    #[embed]
    shelf: Shelf,
}

/// A link with a copy of the list of its category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Shelf {
    #[reference(child, on_delete = "nullify")]
    category: Option<Ref<Category>>,
    #[denormalize(from = "Category.path")]
    path: Option<Ancestors<Category>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Product")]
struct ProductLine {
    price: i64,
}

fn free() -> Filter<Product> {
    Product::fields().price.eq(0)
}

#[derive(Database)]
#[database(name = "shop", version = 2)]
struct Shop {
    categories: Repository<Category>,
    products: Repository<Product>,
}

fn category(id: i64, parent: impl Into<Option<i64>>) -> Category {
    Category {
        id,
        parent: parent.into().map(Ref::new),
        // What the caller sends is ignored.
        path: from_ids(&[7, 7]),
        categories: 7,
        own: 7,
        total: 7,
        below: 7,
        products: 7,
        dearest: None,
        has_free: true,
        best: Subset::new(),
        counted: 7,
    }
}

fn product(id: i64, category: i64, price: i64) -> Product {
    let shelf = Shelf { category: Some(Ref::new(category)), path: None };
    Product { id, price, category: Ref::new(category), above: Ancestors::new(), shelf }
}

fn from_ids(ids: &[i64]) -> Ancestors<Category> {
    serde_json::from_value(serde_json::json!(ids)).unwrap()
}

fn ids(ancestors: &Ancestors<Category>) -> Vec<i64> {
    ancestors.iter().map(|ancestor| *ancestor.id()).collect()
}

/// 1 is above 2 and 3, 2 is above 4, 4 is above 5; 6 is above 7.
async fn shop(store: impl TestStore) -> Shop {
    let shop = Shop::open(store).await.unwrap();
    let tree = [
        (4, Some(2)),
        (1, None),
        (2, Some(1)),
        (3, Some(1)),
        (5, Some(4)),
        (6, None),
        (7, Some(6)),
    ];
    let tree = tree.map(|(id, parent)| category(id, parent));
    shop.categories.insert_many(tree).await.unwrap();
    let products = [
        product(1, 5, 10),
        product(2, 4, 0),
        product(3, 3, 30),
        product(4, 7, 40),
        product(5, 1, 50),
    ];
    shop.products.insert_many(products).await.unwrap();
    shop
}

async fn move_to(shop: &Shop, id: i64, parent: Option<i64>) -> odm::Result<()> {
    let parent = parent.map(Ref::new);
    shop.categories.update(id).set(Category::fields().parent, parent).await.map(drop)
}

/// All lists and all that follows from them agree with the references, followed without the library.
async fn assert_right(shop: &Shop) -> BTreeMap<i64, Category> {
    let all = shop.categories.all().await.unwrap();
    let all: BTreeMap<i64, Category> = all.into_iter().map(|one| (one.id, one)).collect();
    let products = shop.products.all().await.unwrap();
    let above = |mut parent: Option<Ref<Category>>| {
        let mut above = Vec::new();
        while let Some(next) = parent {
            above.insert(0, *next.id());
            parent = all.get(next.id()).and_then(|next| next.parent);
        }
        above
    };
    for product in &products {
        assert_eq!(ids(&product.above), above(Some(product.category)), "{product:?}");
        let shelf = product.shelf.category.map(|of| above(all[of.id()].parent));
        assert_eq!(product.shelf.path.as_ref().map(ids), shelf, "{product:?}");
    }
    for category in all.values() {
        let id = category.id;
        assert_eq!(ids(&category.path), above(category.parent), "{category:?}");
        let is_below = |other: &&Category| above(other.parent).contains(&id);
        let below: Vec<&Category> = all.values().filter(is_below).collect();
        assert_eq!(category.categories, below.len() as i64, "{category:?}");
        let own =
            |id: i64| products.iter().filter(|product| *product.category.id() == id).count() as i64;
        assert_eq!(category.own, own(id), "{category:?}");
        assert_eq!(
            category.counted,
            below.iter().map(|below| own(below.id)).sum::<i64>(),
            "{category:?}"
        );
        let mut prices: Vec<i64> = products
            .iter()
            .filter(|product| above(Some(product.category)).contains(&id))
            .map(|product| product.price)
            .collect();
        prices.sort_by_key(|price| -price);
        assert_eq!(category.total, prices.iter().sum::<i64>(), "{category:?}");
        assert_eq!(category.dearest, prices.first().copied(), "{category:?}");
        assert_eq!(category.has_free, prices.contains(&0), "{category:?}");
        let best: Vec<i64> = category.best.iter().map(|line| line.price).collect();
        assert_eq!(best, prices.into_iter().take(2).collect::<Vec<_>>(), "{category:?}");
        let on_shelves = products.iter().filter(|product| {
            product.shelf.category.is_some_and(|of| above(all[of.id()].parent).contains(&id))
        });
        assert_eq!(category.below, on_shelves.count() as i64, "{category:?}");
        assert_eq!(category.products, category.own + category.below, "{category:?}");
    }
    assert_eq!(shop.audit().await.unwrap(), []);
    all
}

on_every_store! {
    async fn an_insert_has_the_documents_above_it(store: AnyStore) {
        let shop = shop(store).await;
        let all = assert_right(&shop).await;
        assert_eq!(ids(&all[&5].path), [1, 2, 4]);
        let inserted = shop.categories.insert(category(8, 5)).await.unwrap();
        assert_eq!((ids(&inserted.path), inserted.path.depth()), (vec![1, 2, 4, 5], 4), "the insert returns it");
        assert_eq!(ids(&shop.products.insert(product(9, 8, 1)).await.unwrap().above), [1, 2, 4, 5, 8]);
        assert_right(&shop).await;
    }

    async fn a_move_takes_all_that_is_below_with_it(store: AnyStore) {
        let shop = shop(store).await;
        move_to(&shop, 2, Some(7)).await.unwrap();
        let all = assert_right(&shop).await;
        assert_eq!(ids(&all[&5].path), [6, 7, 2, 4]);
        assert_eq!((all[&1].total, all[&6].total), (80, 50));
        move_to(&shop, 4, None).await.unwrap();
        assert_eq!(ids(&assert_right(&shop).await[&5].path), [4]);
        // A document, and one above it, in one write.
        let [mut four, mut six] = [all[&4].clone(), all[&6].clone()];
        four.parent = Some(Ref::new(3));
        six.parent = Some(Ref::new(5));
        shop.categories.upsert_many([six, four]).await.unwrap();
        assert_eq!(ids(&assert_right(&shop).await[&7].path), [1, 3, 4, 5, 6]);
    }

    async fn a_product_that_goes_elsewhere_is_counted_there(store: AnyStore) {
        let shop = shop(store).await;
        shop.products.update(1).set(Product::fields().category, Ref::new(7)).await.unwrap();
        shop.products.update_where(Product::fields().above.within(2)).set(Product::fields().price, 3).await.unwrap();
        shop.products.update(3).set(Product::fields().shelf.category, Some(Ref::new(5))).await.unwrap();
        shop.products.delete(4).await.unwrap();
        let all = assert_right(&shop).await;
        assert_eq!((all[&6].total, all[&2].total), (10, 3));
    }

    async fn a_delete_follows_the_rule_of_the_reference(store: AnyStore) {
        let shop = shop(store).await;
        shop.categories.delete(2).await.unwrap();
        let all = assert_right(&shop).await;
        assert_eq!(ids(&all[&5].path), [4], "the rule empties the reference of the documents right below");
        shop.categories.delete_where(Category::fields().id.in_([1, 4])).await.unwrap();
        assert_right(&shop).await;
    }

    async fn queries_find_what_is_below(store: AnyStore) {
        let shop = shop(store).await;
        let fields = Category::fields();
        let find = async |filter| {
            let found = shop.categories.find(filter).await.unwrap();
            found.into_iter().map(|category| category.id).collect::<Vec<_>>()
        };
        assert_eq!(find(fields.path.within(2)).await, [4, 5]);
        let one = shop.categories.get(1).await.unwrap();
        assert_eq!(find(fields.path.within(&one)).await, [2, 3, 4, 5], "a document is not below itself");
        assert_eq!(find(fields.path.within(one.id) & fields.path.len(1)).await, [2, 3]);
        assert_eq!(find(fields.path.len(0)).await, [1, 6]);
        let shelf = Product::fields().shelf.path.contains(4);
        assert_eq!(shop.products.find(shelf).one().await.unwrap().id, 1);
        let query = BTreeMap::from([("ancestorIds".to_owned(), "2".to_owned())]);
        let asked = Category::allow(["ancestorIds"]).filter_from_query(&query).unwrap();
        assert_eq!(find(asked).await, [4, 5], "a request names a document of the list");
    }

    async fn what_a_caller_sends_is_no_list(store: AnyStore) {
        let shop = shop(store.clone()).await;
        let mut five = shop.categories.get(5).await.unwrap();
        five.path = from_ids(&[6]);
        shop.categories.replace(five).await.unwrap();
        assert_right(&shop).await;
        let raw = shop.categories.update_where(Category::fields().id.eq(5)).raw(doc! { "$set": { "ancestorIds": [6] } });
        assert_eq!(raw.await.unwrap_err().kind(), ErrorKind::InvalidQuery);
        let raw = shop.categories.update_where(Category::fields().id.eq(4)).raw(doc! { "$set": { "parentId": 6_i64 } });
        raw.await.unwrap();
        assert_eq!(ids(&assert_right(&shop).await[&5].path), [6, 4], "a raw move is a move");
    }

    async fn a_plan_names_the_lists_that_a_move_changes(store: AnyStore) {
        let shop = shop(store).await;
        let plan = shop.categories.update(2).set(Category::fields().parent, Some(Ref::new(6))).plan().await.unwrap();
        let step = plan.steps.iter().find(|step| step.name == "`ancestorIds` of `categories`").expect("a step");
        assert_eq!(step.cost.documents_written, 3, "the moved one and two below: {plan:?}");
        assert_right(&shop).await;
    }

    async fn an_audit_finds_each_wrong_list_and_a_repair_corrects_it(store: AnyStore) {
        let shop = shop(store.clone()).await;
        behind_the_back(&store, "categories", doc! { "_id": 4_i64 }, doc! { "$set": { "ancestorIds": [9_i64] } }).await;
        behind_the_back(&store, "categories", doc! { "_id": 7_i64 }, doc! { "$unset": { "ancestorIds": "" } }).await;
        behind_the_back(&store, "products", doc! { "_id": 3_i64 }, doc! { "$set": { "above": [1_i64] } }).await;
        let found = shop.audit().await.unwrap();
        let wrong = |collection: &str, problem: &Problem| {
            let found = found.iter().filter(|found| found.collection == collection && found.problem == *problem);
            found.map(|found| found.id.as_i64().unwrap()).collect::<Vec<_>>()
        };
        let ancestors = Problem::Derived(DerivedKind::Ancestors);
        assert_eq!(wrong("categories", &ancestors), [4, 7], "not the lists below: they are right");
        assert!(wrong("products", &ancestors).contains(&3));
        let findings = shop.repair().await.unwrap();
        assert!(findings.iter().all(|finding| finding.repaired), "{findings:?}");
        assert_right(&shop).await;
    }
}

#[tokio::test]
async fn an_index_finds_what_is_below() {
    let shop = shop(Embedded::memory().await.unwrap()).await;
    let explained =
        shop.categories.find(Category::fields().path.within(4)).explain().await.unwrap();
    assert_eq!(
        (explained.index.as_deref(), explained.cost.documents_examined),
        (Some("ancestorIds_1"), 1)
    );
    let explained =
        shop.products.find(Product::fields().shelf.path.within(4)).explain().await.unwrap();
    assert_eq!(
        explained.index.as_deref(),
        Some("shelf.path_1"),
        "a copy of a list by which documents are counted has an index"
    );
}

/// A tree of 3,000 documents in 30 depths moves in one update.
#[tokio::test]
async fn a_move_of_a_large_subtree_is_one_update() {
    let store = Embedded::memory().await.unwrap();
    let shop = Shop::open(store).await.unwrap();
    shop.categories
        .insert_many([category(1, None), category(2, None), category(3, 1)])
        .await
        .unwrap();
    let nodes = (10_i64..3010).map(|id| category(id, if id < 110 { 3 } else { id - 100 }));
    shop.categories.insert_many(nodes).await.unwrap();
    shop.products.insert_many((0..100).map(|id| product(id, 10 + id * 30, id))).await.unwrap();
    move_to(&shop, 3, Some(2)).await.unwrap();
    let all = shop.categories.all().await.unwrap();
    for node in &all {
        let mut above = Vec::new();
        let mut parent = node.parent;
        while let Some(next) = parent {
            above.insert(0, *next.id());
            parent = all.iter().find(|node| node.id == *next.id()).unwrap().parent;
        }
        assert_eq!(ids(&node.path), above);
    }
    let top = |id: i64| all.iter().find(|node| node.id == id).unwrap();
    assert_eq!((top(1).total, top(2).total), (0, (0..100).sum::<i64>()));
    assert_eq!((top(1).categories, top(2).categories), (0, 3001));
    assert_eq!(shop.audit().await.unwrap(), []);
}
