//! The code of `docs/model.md`.

use std::collections::BTreeMap;

use odm::{Embedded, Result, prelude::*};
use serde::{Deserialize, Serialize};

/// Ids of one's own, and types of other crates.
mod types {
    use chrono::Utc;
    use rust_decimal::Decimal;
    use uuid::Uuid;

    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
    struct TaskId(ObjectId);
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
    struct Token(#[serde(with = "odm::native")] Uuid);

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "tasks")]
    struct Task {
        #[serde(rename = "_id")]
        id: TaskId,
        #[index(unique)]
        token: Token,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "orders")]
    struct Order {
        #[serde(rename = "_id", with = "odm::native")]
        id: Uuid,
        #[index]
        #[serde(with = "odm::native")]
        created: chrono::DateTime<Utc>,
        #[serde(default, with = "odm::native")]
        paid: Option<Decimal>,
    }

    #[derive(Database)]
    #[database(name = "types", version = 1)]
    struct Types {
        tasks: Repository<Task>,
        orders: Repository<Order>,
    }

    #[tokio::test]
    async fn values_of_other_crates_are_filtered_and_read_back() -> Result<()> {
        let db = Types::open(Embedded::memory().await?).await?;
        let id = Uuid::from_u128(7);
        let task = Task { id: TaskId(ObjectId::new()), token: Token(id) };
        db.tasks.insert(task.clone()).await?;
        assert_eq!(db.tasks.find(Task::fields().token.eq(Token(id))).one().await?, task);
        let created = "2030-01-01T00:00:00Z".parse().expect("it is a date");
        let order = Order { id, created, paid: Some(Decimal::new(1999, 2)) };
        db.orders.insert(order.clone()).await?;
        let later = Order::fields().created.gt(chrono::DateTime::<Utc>::UNIX_EPOCH);
        assert_eq!(db.orders.find(later).await?, [order]);
        Ok(())
    }
}

/// A partial index.
mod users {
    use super::*;

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[document(collection = "users", index(fields = "team, seen", filter = active))]
    struct User {
        #[serde(rename = "_id")]
        id: i64,
        #[index(unique, filter = active)]
        email: String,
        active: bool,
        team: String,
        seen: DateTime,
    }

    fn active() -> Filter<User> {
        User::fields().active.eq(true)
    }

    #[derive(Database)]
    #[database(name = "users", version = 1)]
    struct Users {
        users: Repository<User>,
    }

    #[tokio::test]
    async fn an_address_is_unique_among_active_users() -> Result<()> {
        let db = Users::open(Embedded::memory().await?).await?;
        let user = |id, active| User {
            id,
            email: "ann@example.com".into(),
            active,
            team: "red".into(),
            seen: DateTime::now(),
        };
        db.users.insert_many([user(1, true), user(2, false)]).await?;
        assert!(db.users.insert(user(3, true)).await.unwrap_err().is_duplicate_key());
        Ok(())
    }
}

/// Everything else, on one shop.
mod shop {
    use odm::{MongoDb, Public, query::count};

    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
    struct Money {
        value: f64,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "products")]
    struct Product {
        #[serde(rename = "_id")]
        id: i64,
        name: String,
        #[embed]
        price: Money,
        tags: Vec<String>,
        stock: i32,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "reviews")]
    struct Review {
        #[serde(rename = "_id")]
        id: i64,
        #[reference(parent)]
        product: Ref<Product>,
        stars: i32,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
    struct Line {
        product: String,
        quantity: i64,
        note: String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "orders")]
    struct Order {
        #[serde(rename = "_id")]
        id: i64,
        customer: String,
        placed: DateTime,
        total: i64,
        #[embed]
        lines: Vec<Line>,
        names: BTreeMap<String, String>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "carts")]
    struct Cart {
        #[serde(rename = "_id")]
        id: i64,
        #[embed]
        lines: Vec<ProductLink>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
    struct ProductLink {
        #[reference(child)]
        product: Ref<Product>,
        #[denormalize(from = "Product.name")]
        name: String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "offers")]
    struct Offer {
        #[serde(rename = "_id")]
        id: i64,
        title: String,
        until: Option<DateTime>,
        #[embed]
        price: Money,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "entries")]
    struct Entry {
        #[serde(rename = "_id")]
        id: i64,
        #[validate(min = 0, max = 1000)]
        quantity: i32,
        #[validate(min_length = 1, pattern = r"^[a-z]+\z")]
        slug: String,
        #[validate(max_items = 10, unique_items)]
        tags: Vec<String>,
        #[validate(with = even)] // fn even(number: &i64) -> Result<(), String>
        number: i64,
    }

    fn even(number: &i64) -> std::result::Result<(), String> {
        match number % 2 {
            0 => Ok(()),
            _ => Err("it is odd".into()),
        }
    }

    #[derive(Deserialize, Patch)]
    #[patch(of = "Offer")]
    struct OfferPatch {
        title: Option<String>,
        #[serde(default, deserialize_with = "odm::present")] // `null` empties it
        until: Option<Option<DateTime>>,
        #[patch(path = "price.value")]
        price: Option<f64>,
    }

    #[derive(Database)]
    #[database(name = "shop", version = 1)]
    struct Shop {
        products: Repository<Product>,
        reviews: Repository<Review>,
        orders: Repository<Order>,
        carts: Repository<Cart>,
        offers: Repository<Offer>,
        entries: Repository<Entry>,
    }

    async fn filled() -> Result<Shop> {
        let shop = Shop::open(Embedded::memory().await?).await?;
        let product = |id, name: &str, value| Product {
            id,
            name: name.into(),
            price: Money { value },
            tags: vec!["new".into()],
            stock: 20,
        };
        shop.products.insert_many([product(1, "bolt", 12.0), product(2, "nut", 8.0)]).await?;
        let review = |id, product, stars| Review { id, product: Ref::new(product), stars };
        shop.reviews.insert_many([review(1, 1, 5), review(2, 2, 3)]).await?;
        let line = |product: &str, quantity| Line {
            product: product.into(),
            quantity,
            note: String::new(),
        };
        let order = |id, hour: i64| Order {
            id,
            customer: "Ann".into(),
            placed: DateTime::from_millis(hour * 3_600_000),
            total: 10 * id,
            lines: vec![line("bolt", 1), line("nut", 4)],
            names: BTreeMap::new(),
        };
        shop.orders.insert_many([order(1, 1), order(2, 2), order(3, 30)]).await?;
        Ok(shop)
    }

    #[tokio::test]
    async fn documents_are_found_by_the_other_side() -> Result<()> {
        let shop = filled().await?;
        let cheap = Product::fields().price.value.lt(20.0);
        let (product, review) = (Product::fields(), Review::fields());
        // The products that have a review of five stars, and the reviews whose product is a bolt.
        let loved = shop.products.find(cheap).any_referrer(review.product, review.stars.eq(5));
        let loved = loved.sort(product.name.asc()).page(20).await?;
        let bolts =
            shop.reviews.all().whose(review.product, product.name.eq("bolt")).count().await?;
        assert_eq!((loved.items.len(), bolts), (1, 1));
        Ok(())
    }

    #[tokio::test]
    async fn what_does_not_conform_is_refused() -> Result<()> {
        let shop = filled().await?;
        let tags = vec!["a".into(), "a".into()];
        let mut entry = Entry { id: 1, quantity: -1, slug: "A".into(), tags, number: 3 };
        let error = shop.entries.insert(entry.clone()).await.unwrap_err();
        let paths: Vec<_> = error.violations().iter().map(|violation| &violation.path).collect();
        assert_eq!(paths, ["quantity", "slug", "tags"]);
        (entry.quantity, entry.slug, entry.tags) = (1, "a".into(), vec![]);
        let error = shop.entries.insert(entry).await.unwrap_err();
        assert_eq!(error.violations()[0].path, "number");
        Ok(())
    }

    #[tokio::test]
    async fn a_patch_sets_what_it_names() -> Result<()> {
        let shop = filled().await?;
        let until = Some(DateTime::now());
        let offer = Offer { id: 1, title: "Now".into(), until, price: Money { value: 3.0 } };
        shop.offers.insert(offer).await?;
        let patch: OfferPatch =
            serde_json::from_str(r#"{ "until": null, "price": 2.5 }"#).expect("it is a patch");
        let offer = shop.offers.update(1).set_all(patch).returning().await?;
        assert_eq!((offer.title.as_str(), offer.until, offer.price.value), ("Now", None, 2.5));
        Ok(())
    }

    #[tokio::test]
    async fn single_elements_are_changed() -> Result<()> {
        let shop = filled().await?;
        let id = 1;
        let order = Order::fields();
        shop.orders
            .update(id)
            .update_each(
                order.lines,
                |line| line.product.eq("nut"),
                |line, changes| changes.inc(line.quantity, 5),
            )
            .update_at(order.lines, 0, |line, changes| changes.set(line.note, "first"))
            .set_entry(order.names, "en", "Order")
            .await?;
        let many = order.lines.at(1, |line| line.quantity.gt(5));
        let found =
            shop.orders.find(many & order.names.entry("en", |name| name.eq("Order"))).await?;
        assert_eq!((found[0].lines[1].quantity, found[0].lines[0].note.as_str()), (9, "first"));
        Ok(())
    }

    #[tokio::test]
    async fn an_export_is_imported() -> Result<()> {
        let shop = filled().await?;
        let other = Shop::open(Embedded::memory().await?).await?;
        let folder = tempfile::tempdir().expect("there is a folder");
        let path = folder.path().join("shop.jsonl");
        let write = async || -> std::result::Result<(), Box<dyn std::error::Error>> {
            let file = tokio::fs::File::create(&path).await?;
            shop.export(file)
                .on_progress(|progress| println!("{} of {}", progress.documents, progress.of))
                .await?;
            let file = tokio::io::BufReader::new(tokio::fs::File::open(&path).await?);
            other.import(file).await?;
            Ok(())
        };
        write().await.expect("the file is written and read");
        assert_eq!(other.orders.all().count().await?, 3);
        Ok(())
    }

    #[tokio::test]
    async fn files_of_other_programs_are_imported() -> Result<()> {
        use tokio::{fs::File, io::BufReader};

        let shop = filled().await?;
        let other = Shop::open(Embedded::memory().await?).await?;
        let folder = tempfile::tempdir().expect("there is a folder");
        let folder = folder.path();
        let dump = shop.products.raw().get(1).await?.into_bytes();
        let orders = r#"[{"_id":1,"customer":"Ann","placed":{"$date":"2014-03-28T09:42:41.382+0100"},
            "total":5,"lines":[],"names":{}}]"#;
        let read = async || -> std::result::Result<u64, Box<dyn std::error::Error>> {
            tokio::fs::write(folder.join("products.bson"), dump).await?;
            tokio::fs::write(folder.join("orders.json"), orders).await?;
            let products = BufReader::new(File::open(folder.join("products.bson")).await?); // of tokio
            let orders = BufReader::new(File::open(folder.join("orders.json")).await?);
            let number = other
                .import_files()
                .file::<Product>(products) // by the model
                .file_into("orders", orders) // or by the name of its collection
                .on_progress(|progress| println!("{} bytes", progress.bytes))
                .await?;
            Ok(number)
        };
        assert_eq!(read().await.expect("the files are read"), 2);
        assert_eq!(other.products.get(1).await?.name, "bolt");
        Ok(())
    }

    #[tokio::test]
    #[ignore = "shown, and needs a MongoDB server"]
    async fn a_database_is_copied() -> Result<()> {
        let shop = filled().await?;
        let server = MongoDb::connect("mongodb://localhost:27017/shop").await?;
        let server = Shop::open(server).await?;
        let done = shop.copy_to(&server).on_progress(|progress| println!("{progress:?}")).await?;
        assert_eq!(done.documents, 7);
        Ok(())
    }

    #[tokio::test]
    async fn changes_are_watched() -> Result<()> {
        let shop = filled().await?;
        let mut seen = Vec::new();
        let db = shop.clone();
        let watching = async move {
            let few = Product::fields().stock.lt(10);
            let mut changes = db.products.watch(few).buffer(256).await?;
            while let Some(change) = changes.try_next().await? {
                // change.before and change.after, each an Option<Product>; change.cause: Write or Relation
                seen.push((change.id, change.token));
            }
            Ok::<_, odm::Error>(seen)
        };
        let watching = tokio::spawn(watching);
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        shop.products.update(1).set(Product::fields().stock, 3).await?;
        shop.close().await?;
        let seen = watching.await.expect("it ends")?;
        let ids: Vec<i64> = seen.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, [1]);
        Ok(())
    }

    #[tokio::test]
    async fn groups_are_computed() -> Result<()> {
        let shop = filled().await?;
        let order = Order::fields();
        let days: Vec<((String, DateTime), (u64, i64))> = shop
            .orders
            .find(order.total.gt(0))
            .group_by((order.customer, order.placed.start_of_day())) // one key, or up to four
            .select((count(), order.total.sum())) // one of count(), sum, avg, min, max, or up to six
            .having(count().gte(2))
            .sort(order.total.sum().desc()) // else by the keys; they are the last tie-breaker
            .limit(10)
            .await?;
        let sold: Vec<(String, i64)> = shop
            .orders
            .all()
            .unwind(order.lines) // each line of an order by itself
            .group_by(Line::fields().product)
            .select(Line::fields().quantity.sum())
            .await?;
        assert_eq!(days, [(("Ann".to_owned(), DateTime::from_millis(0)), (2, 30))]);
        assert_eq!(sold, [("bolt".to_owned(), 3), ("nut".to_owned(), 12)]);
        Ok(())
    }

    #[derive(Serialize, Deserialize, Document)]
    #[document(collection = "accounts")]
    struct Account {
        #[serde(rename = "_id")]
        #[public(rename = "id")]
        id: i64,
        name: String,
        #[public(skip)]
        password_hash: String,
    }

    #[derive(Serialize)]
    struct AccountView {
        #[serde(flatten)]
        account: Public<Account>, // {"id":1,"name":"Ann"}
        is_me: bool,
    }

    #[test]
    fn clients_see_what_is_public() {
        let account = Account { id: 1, name: "Ann".into(), password_hash: "5ebe22".into() };
        let view = AccountView { account: Public(account), is_me: true };
        let shown = serde_json::to_string(&view).expect("it is JSON");
        assert_eq!(shown, r#"{"id":1,"name":"Ann","is_me":true}"#);
    }

    // GET /products?sort=-price.value,name&price.value[gte]=10&tags[in]=new,steel
    #[derive(Deserialize)]
    struct Listing {
        #[serde(default)]
        sort: String,
        #[serde(flatten)]
        conditions: BTreeMap<String, String>,
    }

    async fn listed(shop: &Shop, listing: Listing) -> Result<Vec<Product>> {
        let asked = Product::allow(["name", "price", "tags"]); // or `Product::` itself, for all fields
        let found = shop.products.find(asked.filter_from_query(&listing.conditions)?);
        let page = found.sort(asked.sort_by(&listing.sort)?).page(20).await?;
        Ok(page.items) // The same filter as JSON: { "price.value": { "gte": 10 }, "tags": ["new", "steel"] }
    }

    #[tokio::test]
    async fn a_request_filters_and_sorts() -> Result<()> {
        let shop = filled().await?;
        let json =
            r#"{ "sort": "-price.value,name", "price.value[gte]": "10", "tags[in]": "new,steel" }"#;
        let found = listed(&shop, serde_json::from_str(json).expect("it is a listing")).await?;
        assert_eq!(found.iter().map(|product| product.id).collect::<Vec<_>>(), [1]);
        Ok(())
    }

    #[tokio::test]
    async fn a_request_finds_documents_by_links_in_them() -> Result<()> {
        let shop = filled().await?;
        let cart = |id, product: i64| Cart { id, lines: vec![Ref::new(product).into()] };
        shop.carts.insert_many([cart(1, 1), cart(2, 2)]).await?;
        // GET /carts?lines.product=1, and GET /carts?lines.name=bolt
        let by_product = shop.carts.find(Cart::filter_from_query([("lines.product", "1")])?);
        let by_name = shop.carts.find(Cart::filter_from_query([("lines.name", "bolt")])?);
        for found in [by_product, by_name] {
            assert_eq!(found.one().await?.id, 1);
        }
        Ok(())
    }
}

/// Computed fields.
mod orders {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
    struct OrderLine {
        part: String,
        quantity: i64,
        cents: i64,
        #[computed(quantity * cents)]
        total: i64,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "orders", index(fields = "-total"))]
    struct Order {
        #[serde(rename = "_id")]
        id: i64,
        #[embed]
        lines: Vec<OrderLine>,
        discount: Option<i64>,
        #[computed(lines.iter().map(|line| line.total).sum::<i64>() - discount.unwrap_or(0))]
        total: i64,
        #[computed(if lines.is_empty() { None } else { Some(total / lines.len() as i64) })]
        mean: Option<i64>,
        #[computed(lines.iter().filter(|line| line.quantity > 0).map(|line| line.cents).min())]
        lowest: Option<i64>,
    }

    #[derive(Database)]
    #[database(name = "orders", version = 1)]
    struct Orders {
        orders: Repository<Order>,
    }

    #[tokio::test]
    async fn the_totals_of_an_order_are_computed() -> Result<()> {
        let db = Orders::open(Embedded::memory().await?).await?;
        let line = |quantity, cents| OrderLine { part: "nut".into(), quantity, cents, total: 0 };
        let lines = vec![line(2, 10), line(0, 1), line(3, 25)];
        let order = Order { id: 1, lines, discount: Some(5), total: 0, mean: None, lowest: None };
        let order = db.orders.insert(order).await?;
        assert_eq!((order.total, order.mean, order.lowest), (90, Some(30), Some(10)));
        db.orders.update(1).set(Order::fields().lines, Vec::new()).await?;
        let order = db.orders.get(1).await?;
        assert_eq!((order.total, order.mean, order.lowest), (-5, None, None));
        Ok(())
    }
}
