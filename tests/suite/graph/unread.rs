//! Derived fields that depend on each other, or on one write, if a store may refresh documents without reading them.

use odm::{Finding, Problem, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, behind_the_back, on_every_store, rounds, stored};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "countries")]
struct Country {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "makers")]
struct Maker {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[reference(child)]
    country: Ref<Country>,
    #[denormalize(from = "Country.name")]
    country_name: String,
}

/// A product with copies of two levels at one reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[reference(child)]
    maker: Ref<Maker>,
    #[denormalize(from = "Maker.name")]
    maker_name: String,
    #[denormalize(from = "Maker.country_name")]
    maker_country: String,
    #[count(of = "Review")]
    reviews: i32,
    #[subset(limit = 2, sort = "-day")]
    newest: Subset<ReviewDay>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: i32,
    #[count(of = "Review")]
    reviews: i32,
}

/// A review that copies from the product that counts and shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent, on_delete = "cascade")]
    product: Ref<Product>,
    #[denormalize(from = "Product.name")]
    product_name: String,
    #[reference(parent, on_delete = "keep")]
    user: Ref<User>,
    day: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Review")]
struct ReviewDay {
    day: i32,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    countries: Repository<Country>,
    makers: Repository<Maker>,
    products: Repository<Product>,
    users: Repository<User>,
    reviews: Repository<Review>,
}

fn review(id: i32, product: i32, user: i32, day: i32) -> Review {
    Review {
        id,
        product: Ref::new(product),
        product_name: String::new(),
        user: Ref::new(user),
        day,
    }
}

async fn shop(store: impl TestStore, products: i32) -> Shop {
    let shop = Shop::open(store).await.unwrap();
    let countries = [1, 2].map(|id| Country { id, name: format!("country {id}") });
    shop.countries.insert_many(countries).await.unwrap();
    let maker = Maker {
        id: 1,
        name: "maker".to_owned(),
        country: Ref::new(1),
        country_name: String::new(),
    };
    shop.makers.insert(maker).await.unwrap();
    let products = (0..products).map(|id| Product {
        id,
        name: format!("product {id}"),
        maker: Ref::new(1),
        maker_name: String::new(),
        maker_country: String::new(),
        reviews: 0,
        newest: Subset::new(),
    });
    shop.products.insert_many(products).await.unwrap();
    let users = [1, 2].map(|id| User { id, reviews: 0 });
    shop.users.insert_many(users).await.unwrap();
    shop
}

async fn assert_right(shop: &Shop) {
    let findings = shop.audit().await.unwrap();
    let is_derived = |finding: &Finding| matches!(finding.problem, Problem::Derived(_));
    let findings: Vec<Finding> = findings.into_iter().filter(is_derived).collect();
    assert_eq!(findings, []);
}

on_every_store! {
    async fn an_array_in_the_place_of_a_reference_is_none(store: AnyStore) {
        let shop = shop(store.clone(), 3).await;
        behind_the_back(&store, "products", doc! { "_id": 2 }, doc! { "$set": { "maker": [1] } }).await;
        shop.makers.update(1).set(Maker::fields().name, "renamed").await.unwrap();
        let names = stored(&store, "products").await;
        let names = names.iter().map(|product| product.get_str("maker_name").unwrap());
        assert_eq!(names.collect::<Vec<_>>(), ["renamed", "renamed", "maker"]);
    }

    async fn copies_of_two_levels_beside_one_reference_follow_one_write(store: AnyStore) {
        let shop = shop(store, 3).await;
        let fields = Maker::fields();
        let update = shop.makers.update(1).set(fields.name, "renamed").set(fields.country, Ref::new(2));
        update.await.unwrap();
        let product = shop.products.get(2).await.unwrap();
        assert_eq!((&*product.maker_name, &*product.maker_country), ("renamed", "country 2"));
        assert_right(&shop).await;
        shop.countries.update(2).set(Country::fields().name, "named").await.unwrap();
        assert_eq!(shop.products.get(0).await.unwrap().maker_country, "named");
        shop.makers.update(1).set(Maker::fields().name, "again").await.unwrap();
        assert_right(&shop).await;
    }

    async fn more_parents_than_a_unit_holds_are_each_refreshed_once(store: AnyStore) {
        let products = rounds(&store, 1_010) as i32;
        let shop = shop(store, products).await;
        let reviews = (0..products).map(|id| review(id, id, 1, id % 7));
        shop.reviews.insert_many(reviews).await.unwrap();
        assert_right(&shop).await;
        let again = (0..products).map(|id| review(products + id, id, 2, id % 5));
        shop.reviews.insert_many(again).await.unwrap();
        assert_eq!(shop.products.get(7).await.unwrap().reviews, 2);
        assert_right(&shop).await;
        // One of their users is gone, and has no count.
        shop.users.delete(2).await.unwrap();
        shop.reviews.delete_where(Review::fields().id.gte(products)).await.unwrap();
        assert_eq!(shop.products.get(7).await.unwrap().reviews, 1);
        assert_right(&shop).await;
    }

    async fn a_parent_that_is_gone_leaves_the_refresh_of_the_others_as_it_is(store: AnyStore) {
        let shop = shop(store, 1).await;
        let reviews = [review(1, 0, 2, 50), review(2, 0, 1, 50)];
        shop.reviews.insert_many(reviews).await.unwrap();
        shop.users.delete(2).await.unwrap();
        // Both have the same day, by which the subset sorts them.
        shop.reviews.delete(1).await.unwrap();
        assert_eq!(shop.products.get(0).await.unwrap().newest.to_vec(), [ReviewDay { day: 50 }]);
        assert_right(&shop).await;
    }
}
