//! Several programs on one store, each of which knows a part: mistakes that the compiler refuses to one program, the catalog of all
//! refuses, or maintains.

use odm::{ErrorKind, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{on_every_store, stored};

/// It derives a field that the other program takes for base data.
mod shop {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "products")]
    pub(super) struct Product {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[count(of = "Review")]
        pub(super) reviews: i64,
        #[subset(limit = 2, sort = "-score")]
        pub(super) top: Subset<Line>,
        #[version]
        pub(super) revision: i64,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
    #[projection(of = "Review")]
    pub(super) struct Line {
        pub(super) score: i32,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "reviews")]
    pub(super) struct Review {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[reference(parent, on_delete = "cascade")]
        pub(super) product: Ref<Product>,
        pub(super) score: i32,
    }

    #[derive(Database)]
    #[database(name = "shop", version = 1)]
    pub(super) struct Shop {
        pub(super) products: Repository<Product>,
        pub(super) reviews: Repository<Review>,
    }
}

/// It copies, counts by and shows a count, a subset and a version.
mod shelves {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) struct Line {
        pub(super) score: i32,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "products")]
    pub(super) struct Product {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) reviews: i64,
        #[opaque]
        pub(super) top: Vec<Line>,
        pub(super) revision: i64,
        #[reference(parent)]
        pub(super) range: Option<Ref<Range>>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "ranges")]
    pub(super) struct Range {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[count(of = "Product", filter = unreviewed)]
        pub(super) unreviewed: i64,
        #[subset(limit = 1, sort = "-reviews", filter = praised)]
        pub(super) best: Subset<ProductLine>,
    }

    fn unreviewed() -> Filter<Product> {
        Product::fields().top.len(0)
    }

    fn praised() -> Filter<Product> {
        Filter::raw(doc! { "top": { "$elemMatch": { "score": { "$gte": 3 } } } })
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
    #[projection(of = "Product")]
    pub(super) struct ProductLine {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) reviews: i64,
        pub(super) revision: i64,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "shelves")]
    pub(super) struct Shelf {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[reference(child, on_delete = "cascade")]
        pub(super) product: Ref<Product>,
        #[denormalize(from = "Product.reviews")]
        pub(super) reviews: i64,
        #[denormalize(from = "Product.top")]
        pub(super) top: Vec<Line>,
        #[denormalize(from = "Product.revision")]
        pub(super) revision: i64,
    }

    #[derive(Database)]
    #[database(name = "shelves", version = 1)]
    pub(super) struct Shelves {
        pub(super) products: Repository<Product>,
        pub(super) ranges: Repository<Range>,
        pub(super) shelves: Repository<Shelf>,
    }
}

/// The derived fields of the one product, as both see it.
async fn derived(db: &shelves::Shelves) -> (i64, Vec<i32>, i64, (i64, Vec<shelves::ProductLine>)) {
    let shelf = db.shelves.get(1).await.unwrap();
    let range = db.ranges.get(1).await.unwrap();
    let scores = shelf.top.iter().map(|line| line.score).collect();
    (shelf.reviews, scores, shelf.revision, (range.unreviewed, range.best.to_vec()))
}

on_every_store! {
    async fn what_one_program_derives_another_derives_from(store: AnyStore) {
        let shelves = shelves::Shelves::open(store.clone()).await.unwrap();
        let shop = shop::Shop::open(store).await.unwrap();
        let range = shelves::Range { id: 1, unreviewed: 9, best: Subset::new() };
        shelves.ranges.insert(range).await.unwrap();
        shelves.products.insert(shelves::Product {
            id: 1, reviews: 9, top: Vec::new(), revision: 0, range: Some(Ref::new(1)),
        }).await.unwrap();
        shelves.shelves.insert(shelves::Shelf {
            id: 1, product: Ref::new(1), reviews: 9, top: Vec::new(), revision: 9,
        }).await.unwrap();
        assert_eq!(derived(&shelves).await, (0, vec![], 1, (1, vec![])));
        let review = |id, score| shop::Review { id, product: Ref::new(1), score };
        shop.reviews.insert_many([review(1, 1), review(2, 5)]).await.unwrap();
        let line = |reviews, revision| shelves::ProductLine { id: 1, reviews, revision };
        assert_eq!(derived(&shelves).await, (2, vec![5, 1], 1, (0, vec![line(2, 1)])));
        shop.products.update(1).raw(doc! { "$set": { "name": "new" } }).await.unwrap();
        assert_eq!(derived(&shelves).await, (2, vec![5, 1], 2, (0, vec![line(2, 2)])));
        shop.reviews.delete(2).await.unwrap();
        assert_eq!(derived(&shelves).await, (1, vec![1], 2, (0, vec![])));
        shop.reviews.delete_where(Filter::all()).await.unwrap();
        assert_eq!(derived(&shelves).await, (0, vec![], 2, (1, vec![])));
        assert_eq!(shelves.audit().await.unwrap(), []);
        assert_eq!(shop.audit().await.unwrap(), []);
    }

    async fn the_collection_of_a_cold_part_is_nobody_elses(store: AnyStore) {
        let _movies = movies::Movies::open(store.clone()).await.unwrap();
        let error = details::Details::open(store.clone()).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("`movie_details`"), "{error}");
        movies::Movies::open(store.clone()).await.unwrap();
    }

    async fn a_collection_with_documents_gets_no_cold_parts(store: AnyStore) {
        let _details = details::Details::open(store.clone()).await.unwrap();
        let error = movies::Movies::open(store.clone()).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("`movie_details`"), "{error}");
        details::Details::open(store.clone()).await.unwrap();
    }

    async fn who_knows_one_side_of_inverse_references_stores_the_other_side(store: AnyStore) {
        let db = tasks::Work::open(store.clone()).await.unwrap();
        let some = people::People::open(store.clone()).await.unwrap();
        let person = |id| people::Person { id, name: String::new() };
        some.people.insert(person(1)).await.unwrap();
        some.people.upsert(person(2)).await.unwrap();
        let third = some.people.update_where(people::Person::fields().id.eq(3));
        third.set(people::Person::fields().name, "x").upsert().await.unwrap();
        assert_eq!(db.people.all().await.unwrap().len(), 3);
        assert_eq!(db.audit().await.unwrap(), []);
        let task = tasks::Task { id: 1, owner: Some(Ref::new(1)) };
        db.tasks.insert(task).await.unwrap();
        some.people.update(1).set(people::Person::fields().name, "y").await.unwrap();
        assert_eq!(db.people.get(1).await.unwrap().tasks.len(), 1);
        some.people.replace(person(1)).await.unwrap();
        assert_eq!(db.people.all().await.unwrap().len(), 3);
        assert_eq!(db.audit().await.unwrap(), []);
        assert_eq!(stored(&store, "people").await.len(), 3);
    }
}

mod movies {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "movies")]
    struct Movie {
        #[serde(rename = "_id")]
        id: i32,
        #[split(collection = "movie_details", key = "movie_id")]
        detail: Cold<Detail>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
    struct Detail {
        text: String,
    }

    #[derive(Database)]
    #[database(name = "movies", version = 1)]
    pub(super) struct Movies {
        #[allow(dead_code, reason = "it is declared, and never used")]
        movies: Repository<Movie>,
    }
}

mod details {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "movie_details")]
    struct MovieDetail {
        #[serde(rename = "_id")]
        id: i32,
        movie_id: i32,
        text: String,
    }

    #[derive(Database)]
    #[database(name = "details", version = 1)]
    pub(super) struct Details {
        #[allow(dead_code, reason = "it is declared, and never used")]
        details: Repository<MovieDetail>,
    }
}

mod tasks {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "people")]
    pub(super) struct Person {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) name: String,
        #[reference(child, inverse = "owner")]
        pub(super) tasks: Vec<Ref<Task>>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "tasks")]
    pub(super) struct Task {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[reference(parent, inverse = "tasks")]
        pub(super) owner: Option<Ref<Person>>,
    }

    #[derive(Database)]
    #[database(name = "work", version = 1)]
    pub(super) struct Work {
        pub(super) people: Repository<Person>,
        pub(super) tasks: Repository<Task>,
    }
}

mod people {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "people")]
    pub(super) struct Person {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) name: String,
    }

    #[derive(Database)]
    #[database(name = "people", version = 1)]
    pub(super) struct People {
        pub(super) people: Repository<Person>,
    }
}
