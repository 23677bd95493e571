//! All derivations from other documents, together: copies, counts, inverse references, delete rules and subsets in one schema.

mod ancestors;
mod audit;
mod catalogs;
mod chains;
mod computed;
mod copies;
mod crash;
mod deletes;
mod exists;
mod extremes;
mod found;
mod history;
mod inverse;
mod links;
mod museum;
mod parents;
mod sequences;
mod sums;
mod unread;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "makers")]
struct Maker {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[embed]
    home: Home,
    #[count(of = "Product")]
    products: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Home {
    city: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[reference(parent, on_delete = "nullify")]
    maker: Option<Ref<Maker>>,
    #[denormalize(from = "Maker.name")]
    maker_name: Option<String>,
    #[denormalize(from = "Maker.home.city")]
    #[serde(rename = "madeIn")]
    city: Option<String>,
    #[embed]
    parts: Vec<PartLink>,
    #[subset(limit = 2, sort = "-score")]
    reviews: Subset<ReviewLine>,
    #[count(of = "Review", filter = good)]
    good_reviews: i32,
    #[version]
    revision: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child, on_delete = "pull")]
    id: Ref<Part>,
    #[denormalize(from = "Part.name")]
    name: String,
    #[denormalize(from = "Part.name", freeze)]
    name_then: String,
    quantity: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[denormalize(from = "Product.name", via = "Product.parts.id")]
    product_names: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent, on_delete = "cascade")]
    product: Ref<Product>,
    #[denormalize(from = "Product.name")]
    product_name: String,
    /// A copy of a copy.
    #[denormalize(from = "Product.maker_name")]
    maker_name: Option<String>,
    score: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Review")]
struct ReviewLine {
    product_name: String,
    maker_name: Option<String>,
    score: i32,
}

fn good() -> Filter<Review> {
    Review::fields().score.gte(3)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "people")]
struct Person {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[reference(child, inverse = "owner")]
    tasks: Vec<Ref<Task>>,
    #[reference(child, inverse = "spouse")]
    spouse: Option<Ref<Person>>,
    #[reference(child, inverse = "members")]
    teams: Vec<Ref<Team>>,
    /// Inverse references. One of the two cannot be empty.
    #[reference(child, inverse = "holder")]
    badges: Vec<Ref<Badge>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent, inverse = "tasks")]
    owner: Option<Ref<Person>>,
    #[denormalize(from = "Person.name")]
    owner_name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "teams")]
struct Team {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(child, inverse = "teams")]
    members: Vec<Ref<Person>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "badges")]
struct Badge {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent, inverse = "badges")]
    holder: Ref<Person>,
}

#[derive(Database)]
#[database(name = "works", version = 1)]
struct Works {
    makers: Repository<Maker>,
    products: Repository<Product>,
    parts: Repository<Part>,
    reviews: Repository<Review>,
    people: Repository<Person>,
    tasks: Repository<Task>,
    teams: Repository<Team>,
    badges: Repository<Badge>,
}

fn maker(id: i32) -> Maker {
    Maker {
        id,
        name: format!("maker {id}"),
        home: Home { city: format!("city {id}") },
        products: 0,
    }
}

fn product(id: i32, maker: Option<i32>, parts: &[i32]) -> Product {
    let link = |part: &i32| PartLink {
        id: Ref::new(*part),
        name: "ignored".into(),
        name_then: "ignored".into(),
        quantity: *part,
    };
    Product {
        id,
        name: format!("product {id}"),
        maker: maker.map(Ref::new),
        maker_name: Some("ignored".into()),
        city: None,
        parts: parts.iter().map(link).collect(),
        reviews: Subset::new(),
        good_reviews: 99,
        revision: 0,
    }
}

fn part(id: i32) -> Part {
    Part { id, name: format!("part {id}"), product_names: vec!["ignored".into()] }
}

fn review(id: i32, product: i32, score: i32) -> Review {
    Review {
        id,
        product: Ref::new(product),
        product_name: "ignored".into(),
        maker_name: None,
        score,
    }
}

fn person(id: i32) -> Person {
    Person {
        id,
        name: format!("person {id}"),
        tasks: Vec::new(),
        spouse: None,
        teams: Vec::new(),
        badges: Vec::new(),
    }
}

fn task(id: i32, owner: Option<i32>) -> Task {
    Task { id, owner: owner.map(Ref::new), owner_name: None }
}

fn ids<T: Document<Id = i32>>(refs: &[Ref<T>]) -> BTreeSet<i32> {
    refs.iter().map(|to| *to.id()).collect()
}

/// All stored documents, to detect changes.
#[derive(Debug, PartialEq)]
struct Everything {
    makers: BTreeMap<i32, Maker>,
    products: BTreeMap<i32, Product>,
    parts: BTreeMap<i32, Part>,
    reviews: BTreeMap<i32, Review>,
    people: BTreeMap<i32, Person>,
    tasks: BTreeMap<i32, Task>,
    teams: BTreeMap<i32, Team>,
    badges: BTreeMap<i32, Badge>,
}

async fn all<M: Document<Id = i32> + 'static>(repository: &Repository<M>) -> BTreeMap<i32, M> {
    let all = repository.all().await.unwrap().into_iter();
    all.map(|document| (*document.id(), document)).collect()
}

async fn everything(db: &Works) -> Everything {
    Everything {
        makers: all(&db.makers).await,
        products: all(&db.products).await,
        parts: all(&db.parts).await,
        reviews: all(&db.reviews).await,
        people: all(&db.people).await,
        tasks: all(&db.tasks).await,
        teams: all(&db.teams).await,
        badges: all(&db.badges).await,
    }
}

/// Every derived field agrees with its definition, recomputed from the base data without the library.
async fn assert_right(db: &Works) -> Everything {
    let all = everything(db).await;
    for maker in all.makers.values() {
        let of = |product: &&Product| product.maker.as_ref().is_some_and(|of| *of.id() == maker.id);
        let number = all.products.values().filter(of).count() as i64;
        assert_eq!(maker.products, number, "{maker:?}");
    }
    for product in all.products.values() {
        let maker = product.maker.as_ref().map(|maker| &all.makers[maker.id()]);
        assert_eq!(product.maker_name.as_ref(), maker.map(|maker| &maker.name), "{product:?}");
        assert_eq!(product.city.as_ref(), maker.map(|maker| &maker.home.city), "{product:?}");
        for link in &product.parts {
            assert_eq!(link.name, all.parts[link.id.id()].name, "{product:?}");
            assert_ne!(link.name_then, "ignored", "{product:?}");
        }
        let mut of: Vec<&Review> =
            all.reviews.values().filter(|review| *review.product.id() == product.id).collect();
        let good = of.iter().filter(|review| review.score >= 3).count() as i32;
        assert_eq!(product.good_reviews, good, "{product:?}");
        of.sort_by_key(|review| (std::cmp::Reverse(review.score), review.id));
        let lines = of.iter().take(2).map(|review| ReviewLine {
            product_name: review.product_name.clone(),
            maker_name: review.maker_name.clone(),
            score: review.score,
        });
        assert_eq!(*product.reviews, *lines.collect::<Vec<_>>(), "{product:?}");
    }
    for part in all.parts.values() {
        let mut names: Vec<&String> = Vec::new();
        for product in all.products.values() {
            let holds = product.parts.iter().any(|link| *link.id.id() == part.id);
            if holds && !names.contains(&&product.name) {
                names.push(&product.name);
            }
        }
        assert_eq!(part.product_names.iter().collect::<Vec<_>>(), names, "{part:?}");
    }
    for review in all.reviews.values() {
        let product = &all.products[review.product.id()];
        assert_eq!(review.product_name, product.name, "{review:?}");
        assert_eq!(review.maker_name, product.maker_name, "{review:?}");
    }
    for person in all.people.values() {
        let owned = |task: &&Task| task.owner.as_ref().is_some_and(|of| *of.id() == person.id);
        let tasks: BTreeSet<i32> = all.tasks.values().filter(owned).map(|task| task.id).collect();
        assert_eq!(ids(&person.tasks), tasks, "{person:?}");
        assert_eq!(person.tasks.len(), tasks.len(), "{person:?}");
        let held = |badge: &&Badge| *badge.holder.id() == person.id;
        let badges: BTreeSet<i32> = all.badges.values().filter(held).map(|of| of.id).collect();
        assert_eq!(ids(&person.badges), badges, "{person:?}");
        if let Some(spouse) = &person.spouse {
            assert_eq!(all.people[spouse.id()].spouse, Some(Ref::new(person.id)), "{person:?}");
        }
        let member = |team: &&Team| ids(&team.members).contains(&person.id);
        let teams: BTreeSet<i32> = all.teams.values().filter(member).map(|team| team.id).collect();
        assert_eq!(ids(&person.teams), teams, "{person:?}");
    }
    for task in all.tasks.values() {
        let owner = task.owner.as_ref().map(|owner| all.people[owner.id()].name.clone());
        assert_eq!(task.owner_name, owner, "{task:?}");
    }
    for team in all.teams.values() {
        assert!(ids(&team.members).iter().all(|id| all.people.contains_key(id)), "{team:?}");
        assert_eq!(ids(&team.members).len(), team.members.len(), "{team:?}");
    }
    assert_eq!(db.audit().await.unwrap(), []);
    all
}
