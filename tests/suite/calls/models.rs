//! A shop whose writes are counted.

use odm::{prelude::*, store::contract::Store};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
pub(crate) struct Part {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "makers")]
pub(crate) struct Maker {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
pub(crate) struct PartLink {
    #[reference(child)]
    pub(crate) id: Ref<Part>,
    #[denormalize(from = "Part.name")]
    pub(crate) name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "products")]
pub(crate) struct Product {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) name: String,
    #[reference(child)]
    pub(crate) maker: Ref<Maker>,
    #[denormalize(from = "Maker.name")]
    pub(crate) maker_name: String,
    #[embed]
    pub(crate) parts: Vec<PartLink>,
    #[reference(parent)]
    pub(crate) category: Ref<Category>,
    #[subset(limit = 10, sort = "-score")]
    pub(crate) reviews: Subset<ReviewLine>,
    #[count(of = "Review")]
    pub(crate) review_count: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
pub(crate) struct Review {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[reference(parent, on_delete = "cascade")]
    pub(crate) product: Ref<Product>,
    pub(crate) text: String,
    pub(crate) score: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Review")]
pub(crate) struct ReviewLine {
    pub(crate) text: String,
    pub(crate) score: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "categories")]
pub(crate) struct Category {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[subset(limit = 100, sort = "name")]
    pub(crate) products: Subset<ProductLine>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Product")]
pub(crate) struct ProductLine {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) name: String,
    #[embed]
    pub(crate) parts: Vec<PartLink>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "people")]
pub(crate) struct Person {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) name: String,
    #[reference(child, inverse = "owner")]
    pub(crate) tasks: Vec<Ref<Task>>,
    #[version]
    pub(crate) version: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
pub(crate) struct Task {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) note: String,
    #[reference(parent, inverse = "tasks")]
    pub(crate) owner: Option<Ref<Person>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "tags")]
pub(crate) struct Tag {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[denormalize(from = "Post.title", via = "Post.tags")]
    pub(crate) posts: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "posts")]
pub(crate) struct Post {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) title: String,
    #[reference(child)]
    pub(crate) tags: Vec<Ref<Tag>>,
}

/// Its writes have no consequences.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "visits")]
pub(crate) struct Visit {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) page: String,
}

/// It has a total of each kind.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "stocks")]
pub(crate) struct Stock {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[sum(of = "Sale.amount")]
    #[serde(default)]
    pub(crate) sold: i64,
    #[count(of = "Receipt")]
    #[serde(default)]
    pub(crate) receipts: i64,
    #[max(of = "Sale.amount")]
    pub(crate) most: Option<i64>,
    #[exists(of = "Sale")]
    #[serde(default)]
    pub(crate) is_sold: bool,
}

/// It is numbered and counted within its stock.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "receipts")]
pub(crate) struct Receipt {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[reference(parent)]
    pub(crate) stock: Ref<Stock>,
    #[sequence(within = "stock")]
    #[serde(default)]
    pub(crate) number: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "sales")]
pub(crate) struct Sale {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[reference(parent)]
    pub(crate) stock: Ref<Stock>,
    pub(crate) amount: i64,
}

/// It is in a tree.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "folders")]
pub(crate) struct Folder {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[reference(parent)]
    pub(crate) parent: Option<Ref<Folder>>,
    #[ancestors(via = "parent")]
    pub(crate) path: Ancestors<Folder>,
}

#[derive(Database)]
#[database(name = "calls", version = 1)]
pub(crate) struct Shop {
    pub(crate) stocks: Repository<Stock>,
    pub(crate) sales: Repository<Sale>,
    pub(crate) receipts: Repository<Receipt>,
    pub(crate) folders: Repository<Folder>,
    pub(crate) visits: Repository<Visit>,
    pub(crate) parts: Repository<Part>,
    pub(crate) makers: Repository<Maker>,
    pub(crate) products: Repository<Product>,
    pub(crate) reviews: Repository<Review>,
    pub(crate) categories: Repository<Category>,
    pub(crate) people: Repository<Person>,
    pub(crate) tasks: Repository<Task>,
    pub(crate) tags: Repository<Tag>,
    pub(crate) posts: Repository<Post>,
}

pub(crate) fn folder(id: i32, parent: Option<i32>) -> Folder {
    Folder { id, parent: parent.map(Ref::new), path: Ancestors::new() }
}

/// Inserts a tree of two depths below its root.
pub(crate) async fn grow_tree(shop: &Shop) {
    let folders = (0..7).map(|id| folder(id, (id > 0).then(|| (id - 1) / 2)));
    shop.folders.insert_many(folders).await.unwrap();
}

pub(crate) fn receipt(id: i32) -> Receipt {
    Receipt { id, stock: Ref::new(1), number: 0 }
}

pub(crate) fn sale(id: i32, amount: i64) -> Sale {
    Sale { id, stock: Ref::new(1), amount }
}

pub(crate) fn product(id: i32, category: i32, parts: &[i32]) -> Product {
    let link = |&id: &i32| PartLink { id: Ref::new(id), name: String::new() };
    Product {
        id,
        name: format!("product {id}"),
        maker: Ref::new(1),
        maker_name: String::new(),
        parts: parts.iter().map(link).collect(),
        category: Ref::new(category),
        reviews: Subset::new(),
        review_count: 0,
    }
}

pub(crate) fn review(id: i32, product: i32, score: i32) -> Review {
    Review { id, product: Ref::new(product), text: "good".to_owned(), score }
}

/// A shop with 100 products of one part in ten categories, and 22 reviews of each of the first two.
pub(crate) async fn shop(store: impl Store) -> Shop {
    let shop = Shop::open(store).await.unwrap();
    let name = |id: i32| format!("name {id}");
    let parts = (1..=3).map(|id| Part { id, name: name(id) });
    shop.parts.insert_many(parts).await.unwrap();
    let maker = Maker { id: 1, name: name(1) };
    shop.makers.insert(maker).await.unwrap();
    let categories = (0..10).map(|id| Category { id, products: Subset::new() });
    shop.categories.insert_many(categories).await.unwrap();
    let products = (0..100).map(|id| product(id, id % 10, &[1, 2]));
    shop.products.insert_many(products).await.unwrap();
    let reviews = (0..44).map(|id| review(id, id % 2, id));
    shop.reviews.insert_many(reviews).await.unwrap();
    let tasks = (0..30).map(|id| Task { id, note: name(id), owner: None });
    shop.tasks.insert_many(tasks).await.unwrap();
    let people = (0..12).map(|id| Person {
        id,
        name: name(id),
        tasks: if id < 2 { vec![Ref::new(id)] } else { Vec::new() },
        version: 0,
    });
    shop.people.insert_many(people).await.unwrap();
    let stock = Stock { id: 1, sold: 0, receipts: 0, most: None, is_sold: false };
    shop.stocks.insert(stock).await.unwrap();
    shop.receipts.insert(receipt(0)).await.unwrap();
    shop.sales.insert_many((0..10).map(|id| sale(id, 10 + i64::from(id)))).await.unwrap();
    shop
}
