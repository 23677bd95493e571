//! The code of `docs/how-do-i.md`: one test for each answer, on one small shop.

use odm::{Embedded, ErrorKind, Result, prelude::*, query::count, store::Durability};
use serde::{Deserialize, Serialize};

/// The models of the answers.
mod shop {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "users", new = "NewUser")]
    struct User {
        #[serde(rename = "_id")]
        #[id(auto)]
        id: ObjectId,
        email: String,
        #[computed(fold_case(&email))]
        #[index(unique)]
        email_folded: String, // the same in any case
        name: String,
        #[created_at]
        created_at: DateTime,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "products", new(name = "NewProduct", derive(Clone)))]
    struct Product {
        #[serde(rename = "_id")]
        #[id(sequence)]
        id: i64,
        #[index(unique)]
        name: String,
        #[validate(min = 0)]
        price: i64, // cents
        stock: i32,
        tags: Vec<String>,
        note: Option<String>,
        #[subset(limit = 3, sort = "-stars")]
        best: Subset<ReviewLine>,
        #[count(of = "Review")]
        reviews: i64,
        #[version]
        revision: i64,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "reviews", new = "NewReview")]
    struct Review {
        #[serde(rename = "_id")]
        #[id(sequence)]
        id: i64,
        #[reference(parent, on_delete = "cascade")]
        product: Ref<Product>,
        #[reference(child)]
        author: Ref<User>,
        #[denormalize(from = "User.name")]
        author_name: String,
        #[validate(min = 1, max = 5)]
        stars: i32,
        text: String,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
    #[projection(of = "Review")]
    struct ReviewLine {
        stars: i32,
        author_name: String,
    }

    #[derive(Database)]
    #[database(name = "shop", version = 1)]
    struct Shop {
        users: Repository<User>,
        products: Repository<Product>,
        reviews: Repository<Review>,
    }

    fn product(name: &str, price: i64) -> NewProduct {
        NewProduct { name: name.into(), price, stock: 10, tags: vec!["new".into()], note: None }
    }

    /// A chair (1) with four reviews of 2 to 5 stars by Ann, and a table (2).
    async fn filled() -> Result<Shop> {
        let shop = Shop::open(Embedded::memory().await?).await?;
        let email = "Ann@example.com".to_owned();
        let ann = shop.users.insert(NewUser { email, name: "Ann".into() }).await?;
        shop.products.insert_many([product("chair", 4_900), product("table", 19_900)]).await?;
        for stars in [3, 5, 2, 4] {
            let review = NewReview {
                product: Ref::new(1),
                author: Ref::from(&ann),
                stars,
                text: format!("{stars} stars"),
            };
            shop.reviews.insert(review).await?;
        }
        Ok(shop)
    }

    #[tokio::test]
    async fn open_a_file() -> Result<()> {
        let folder = tempfile::tempdir().expect("there is a folder");
        let path = folder.path().join("shop.odm");
        let shop = Shop::open(Embedded::open(&path).await?).await?;
        shop.close().await?; // waits for the writes under way
        let shop = Shop::open(Embedded::memory().await?).await?; // no file: for tests
        assert!(path.exists());
        assert_eq!(shop.users.all().count().await?, 0);
        Ok(())
    }

    #[test]
    #[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
    fn the_models_open_on_a_server_on_mongodb() {
        tests::on_mongodb(|store| async { drop(Shop::open(store).await.unwrap()) });
    }

    #[tokio::test]
    async fn insert() -> Result<()> {
        let shop = Shop::open(Embedded::memory().await?).await?;
        let (chair, table) = (product("chair", 1), product("table", 2));
        let chair = shop.products.insert(chair).await?; // with its `_id`, and its derived fields
        let more = shop.products.insert_many([table]).await?; // all of them, or none
        assert_eq!((chair.id, chair.reviews, more[0].id), (1, 0, 2));
        Ok(())
    }

    #[tokio::test]
    async fn get() -> Result<()> {
        let shop = filled().await?;
        let chair = shop.products.get(1).await?; // `NotFound` if there is none
        let none = shop.products.get(7).optional().await?;
        let folded = odm::fold_case("ANN@example.com");
        let ann = shop.users.find(User::fields().email_folded.eq(folded)).one().await?;
        assert_eq!((chair.name.as_str(), none, ann.name.as_str()), ("chair", None, "Ann"));
        Ok(())
    }

    #[tokio::test]
    async fn filter() -> Result<()> {
        let shop = filled().await?;
        let (name, least, most) = (None::<&str>, Some(5_000), None::<i64>);
        let product = Product::fields();
        let wanted =
            product.name.eq_opt(name) & product.price.gte_opt(least) & product.price.lte_opt(most);
        let found = shop.products.find(wanted & !product.tags.contains("used")).await?;
        assert_eq!(found.iter().map(|found| found.id).collect::<Vec<_>>(), [2]);
        Ok(())
    }

    #[tokio::test]
    async fn page() -> Result<()> {
        let shop = filled().await?;
        let sorted = || {
            shop.products
                .all()
                .sort(Product::fields().price.desc().then(Product::fields().name.asc()))
        };
        let page = sorted().with_total().page(1).await?; // page.items, page.next, page.previous, page.total
        let next = sorted().after(&page.next.expect("there are more")).page(1).await?;
        assert_eq!((page.items[0].id, page.total, next.items[0].id), (2, Some(2), 1));
        assert!(next.next.is_none());
        Ok(())
    }

    #[tokio::test]
    async fn stream() -> Result<()> {
        let shop = filled().await?;
        let mut sum = 0;
        let mut reviews = shop.reviews.all().stream();
        while let Some(review) = reviews.try_next().await? {
            sum += review.stars;
        }
        assert_eq!(sum, 14);
        Ok(())
    }

    #[tokio::test]
    async fn count_and_exists() -> Result<()> {
        let shop = filled().await?;
        let (cheap, price) = (Product::fields().price.lt(5_000), Product::fields().price);
        let number = shop.products.find(cheap.clone()).count().await?;
        let any = shop.products.find(cheap).exists().await?;
        let prices = shop.products.all().distinct(price).await?;
        assert_eq!((number, any, prices), (1, true, vec![4_900, 19_900]));
        Ok(())
    }

    #[tokio::test]
    async fn group() -> Result<()> {
        let shop = filled().await?;
        let review = Review::fields();
        let by_author: Vec<(String, (u64, Option<f64>))> = shop
            .reviews
            .all()
            .group_by(review.author_name)
            .select((count(), review.stars.avg()))
            .sort(count().desc())
            .await?;
        assert_eq!(by_author, [("Ann".to_owned(), (4, Some(3.5)))]);
        Ok(())
    }

    #[tokio::test]
    async fn update() -> Result<()> {
        let shop = filled().await?;
        let product = Product::fields();
        shop.products.update(1).set(product.name, "armchair").inc(product.stock, -1).await?;
        shop.products.update(1).push(product.tags, "wood").unset(product.note).await?;
        let changed =
            shop.products.update_where(product.stock.lt(10)).set(product.stock, 0).await?;
        let armchair = shop.products.get(1).await?;
        assert_eq!(
            (armchair.stock, armchair.tags.join(" "), changed.modified),
            (0, "new wood".into(), 1)
        );
        Ok(())
    }

    #[tokio::test]
    async fn update_and_return() -> Result<()> {
        let shop = filled().await?;
        let after = shop.products.update(1).inc(Product::fields().stock, -1).returning().await?;
        let before =
            shop.products.update(1).inc(Product::fields().stock, -1).returning_before().await?;
        assert_eq!((after.stock, before.stock), (9, 9));
        Ok(())
    }

    #[tokio::test]
    async fn modify() -> Result<()> {
        let shop = filled().await?;
        let taken = shop.products.try_modify(1, |product| {
            if product.stock == 0 {
                return Err(odm::Error::new(ErrorKind::Invalid, "sold out")); // or an error of your own
            }
            product.stock -= 1;
            Ok(())
        });
        assert_eq!(taken.await?.stock, 9);
        Ok(())
    }

    #[derive(Deserialize, Patch)]
    #[patch(of = "Product")]
    struct ProductPatch {
        price: Option<i64>,
        tags: Option<Vec<String>>,
    }

    #[tokio::test]
    async fn patch() -> Result<()> {
        let shop = filled().await?;
        let body: ProductPatch =
            serde_json::from_str(r#"{ "price": 5000 }"#).expect("it is a patch");
        let if_match = 1;
        let update = shop.products.update(1).if_version(if_match).set_all(body); // `Stale` if it has changed
        let patched = update.returning().await?;
        assert_eq!((patched.price, patched.revision, patched.tags.len()), (5_000, 2, 1));
        let again =
            shop.products.update(1).if_version(if_match).set(Product::fields().price, 1).await;
        assert!(again.unwrap_err().is_stale());
        Ok(())
    }

    #[tokio::test]
    async fn upsert() -> Result<()> {
        let shop = filled().await?;
        let chair = product("chair", 5_900);
        let chair = shop.products.upsert_by(Product::fields().name, chair).await?; // the unique name decides
        assert_eq!((chair.id, chair.price, chair.reviews), (1, 5_900, 4));
        Ok(())
    }

    #[tokio::test]
    async fn delete() -> Result<()> {
        let shop = filled().await?;
        let plan = shop.products.delete(1).plan().await?; // what would be written and deleted, and nothing is
        println!("{plan}");
        assert_eq!(shop.reviews.all().count().await?, 4);
        let was_there = shop.products.delete(1).await?; // and its reviews with it: `on_delete = "cascade"`
        let refused = shop.users.delete_where(User::fields().name.eq("Ann")).await;
        assert!(was_there && refused.is_ok());
        assert_eq!(shop.reviews.all().count().await?, 0);
        Ok(())
    }

    #[tokio::test]
    async fn join() -> Result<()> {
        let shop = filled().await?;
        let (product, review) = (Product::fields(), Review::fields());
        let worst =
            review.product.referrers().sort(review.stars.asc()).limit(2).join(review.author);
        let rows: Vec<(Product, Vec<(Review, User)>)> =
            shop.products.find(product.price.lt(5_000)).join(worst).await?;
        let stars: Vec<_> =
            rows[0].1.iter().map(|(review, user)| (review.stars, user.name.as_str())).collect();
        assert_eq!(stars, [(2, "Ann"), (3, "Ann")]);
        Ok(())
    }

    #[tokio::test]
    async fn semi_join() -> Result<()> {
        let shop = filled().await?;
        let review = Review::fields();
        let loved = shop.products.all().any_referrer(review.product, review.stars.eq(5)).await?;
        let of_chairs = shop
            .reviews
            .all()
            .whose(review.product, Product::fields().name.eq("chair"))
            .count()
            .await?;
        assert_eq!((loved.len(), of_chairs), (1, 4));
        Ok(())
    }

    #[tokio::test]
    async fn bulk() -> Result<()> {
        let shop = filled().await?;
        let product = Product::fields();
        let (updated, deleted) = shop
            .bulk((shop.products.update(2).inc(product.stock, 1), shop.reviews.delete(1)))
            .await?; // both, or none of them
        let () = updated;
        assert!(deleted);
        assert_eq!(shop.products.get(1).await?.reviews, 3);
        Ok(())
    }

    #[tokio::test]
    async fn exchange() -> Result<()> {
        let shop = filled().await?;
        let before = shop.products.get(1).await?.name;
        let name = Product::fields().name;
        let kept = shop.products.get(1).await?.name;
        let taken = shop.products.get(2).await?.name;
        let exchange = (
            shop.products.update(1).set(name, taken), // in between, two products have this name
            shop.products.update(2).set(name, kept),
        );
        shop.bulk(exchange).await?;
        assert_eq!(shop.products.get(2).await?.name, before);
        Ok(())
    }

    #[tokio::test]
    async fn transaction() -> Result<()> {
        let shop = filled().await?;
        let moved = shop.transaction(async |shop| {
            let stock = shop.products.get(1).await?.stock;
            shop.products.update(1).set(Product::fields().stock, 0).await?;
            shop.products.update(2).inc(Product::fields().stock, stock).await?;
            Ok(stock)
        });
        assert_eq!(moved.await?, 10);
        assert_eq!(shop.products.get(2).await?.stock, 20);
        Ok(())
    }

    #[tokio::test]
    async fn snapshot() -> Result<()> {
        let shop = filled().await?;
        let (products, reviews) = shop
            .snapshot(async |shop| {
                Ok((shop.products.all().count().await?, shop.reviews.all().count().await?)) // of one state
            })
            .await?;
        assert_eq!((products, reviews), (2, 4));
        Ok(())
    }

    #[tokio::test]
    async fn durability() -> Result<()> {
        let shop = filled().await?;
        let rows = vec![product("stool", 900)];
        let fast = shop.durability(Durability::Eventual); // does not wait for the disk
        fast.products.insert_many(rows).await?;
        assert_eq!(shop.products.all().count().await?, 3);
        Ok(())
    }

    #[tokio::test]
    async fn violations() -> Result<()> {
        let shop = filled().await?;
        let error = shop.products.update(1).set(Product::fields().price, -5).await.unwrap_err();
        for violation in error.violations() {
            println!("{}: {}, {}", violation.path, violation.rule, violation.message);
        }
        assert_eq!((error.kind(), error.violations().len()), (ErrorKind::Invalid, 1));
        Ok(())
    }

    #[tokio::test]
    async fn watch() -> Result<()> {
        let shop = filled().await?;
        let mut changes = shop.products.watch(Product::fields().stock.lt(5)).await?;
        shop.products.update(1).set(Product::fields().stock, 4).await?;
        let change = changes.try_next().await?.expect("the database is open");
        println!("{:?} -> {:?}", change.before, change.after);
        assert_eq!(change.after.map(|product| product.stock), Some(4));
        Ok(())
    }

    #[tokio::test]
    async fn raw() -> Result<()> {
        let shop = filled().await?;
        use odm::bson::doc;
        let filter =
            Filter::raw(doc! { "$expr": { "$gt": ["$price", { "$multiply": ["$stock", 1000] }] } });
        let documents = shop.products.find(filter).raw().await?; // as they are stored
        assert_eq!(documents[0].get_str("name").expect("it has a name"), "table");
        Ok(())
    }

    #[tokio::test]
    async fn explain() -> Result<()> {
        let shop = filled().await?;
        let query = || shop.products.find(Product::fields().name.eq("chair"));
        println!("{:?}", query().explain().await?); // the index, and the keys and documents that it examined
        let (found, cost) = odm::measure(query().one()).await;
        odm::assert_queries!(<= 1, query().one())?; // in a test
        assert_eq!((found?.id, cost.documents_examined), (1, 1));
        Ok(())
    }

    #[tokio::test]
    async fn audit() -> Result<()> {
        let shop = filled().await?;
        for finding in shop.audit().await? {
            println!("{finding}"); // a field, its document, what it is and what it should be
        }
        shop.repair().await?;
        assert_eq!(shop.audit().await?, []);
        Ok(())
    }

    #[tokio::test]
    async fn backup() -> Result<()> {
        let folder = tempfile::tempdir().expect("there is a folder");
        let path = folder.path().join("shop.odm");
        let copy = folder.path().join("copy.odm");
        let store = Embedded::open(&path).await?;
        let shop = Shop::open(store.clone()).await?;
        store.backup(&copy).await?; // while others write
        shop.close().await?;
        assert!(Shop::open(Embedded::open(&copy).await?).await.is_ok());
        Ok(())
    }

    #[tokio::test]
    async fn export() -> Result<()> {
        let shop = filled().await?;
        let other = Shop::open(Embedded::memory().await?).await?;
        let mut lines = Vec::new(); // or a file of tokio
        shop.export(&mut lines).await?;
        other.import(lines.as_slice()).await?;
        assert_eq!(other.products.get(1).await?, shop.products.get(1).await?);
        Ok(())
    }

    #[tokio::test]
    async fn import_files() -> Result<()> {
        let shop = filled().await?;
        let lines = r#"{"_id":{"$numberLong":"9"},"name":"stool","price":900,"stock":0,"tags":[]}"#;
        shop.import_files().file::<Product>(lines.as_bytes()).await?; // or a file of tokio
        assert_eq!(shop.products.get(9).await?.revision, 1);
        Ok(())
    }
}
