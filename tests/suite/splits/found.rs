//! Errors that reviews have found, so that they stay fixed.

use odm::{ErrorKind, bson::doc, measure, prelude::*, store::embedded::Embedded};
use serde::{Deserialize, Serialize};
use tests::{
    TestStore, behind_the_back, insert_behind_the_back, on_embedded_stores, on_every_store,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "films", index(fields = "facts.rating"))]
struct Film {
    #[serde(rename = "_id")]
    #[opaque]
    id: Key,
    title: String,
    #[split(collection = "film_facts", key = "film", optional)]
    facts: Cold<Facts>,
}

/// An `_id` that is a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Key {
    year: i32,
    n: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Facts {
    rating: i32,
    code: i32,
    #[reference(child)]
    sequel: Option<Ref<Film>>,
}

#[derive(Database)]
#[database(name = "films", version = 1)]
struct Films {
    films: Repository<Film>,
}

fn key(n: i32) -> Key {
    Key { year: 1900, n }
}

fn film(n: i32) -> Film {
    Film {
        id: key(n),
        title: format!("film {n}"),
        facts: Facts { rating: n % 3, code: n, sequel: None }.into(),
    }
}

async fn films(store: impl TestStore, number: i32) -> Films {
    let db = Films::open(store).await.unwrap();
    db.films.insert_many((0..number).map(film)).await.unwrap();
    db
}

on_every_store! {
    async fn a_cold_part_that_is_set_on_insert_is_in_a_cold_part(store: AnyStore) {
        let db = films(store.clone(), 0).await;
        let fields = Film::fields();
        let whole = doc! { "$setOnInsert": { "facts": { "rating": 1, "code": 1, "sequel": null } } };
        let upsert = |n| db.films.update_where(fields.id.eq(key(n))).upsert();
        upsert(1).set(fields.title, "x").raw(whole.clone()).await.unwrap();
        assert_eq!(tests::stored(&store, "films").await[0].get("facts").unwrap(), None);
        let stored = db.films.get(key(1)).with(fields.facts).await.unwrap();
        assert_eq!(stored.facts.get().unwrap().code, 1);
        db.films.insert(Film { facts: Cold::unloaded(), ..film(2) }).await.unwrap();
        let one = doc! { "$setOnInsert": { "facts.rating": 9, "facts.code": 9, "facts.sequel": null } };
        upsert(2).set(fields.title, "y").raw(one).await.unwrap();
        upsert(2).set(fields.title, "z").raw(whole).await.unwrap();
        assert!(!db.films.get(key(2)).with(fields.facts).await.unwrap().facts.is_loaded());
        assert_eq!(db.audit().await.unwrap(), [], "a cold part that is optional may be missing");
    }

    async fn a_cold_part_does_not_restrict_the_delete_of_its_document(store: AnyStore) {
        let db = films(store, 3).await;
        let sequel = Film::fields().facts.sequel;
        db.films.update(key(1)).set(sequel, key(1)).await.unwrap();
        assert!(db.films.delete(key(1)).await.unwrap());
        db.films.update(key(0)).set(sequel, key(2)).await.unwrap();
        let error = db.films.delete(key(2)).await.unwrap_err();
        assert!(error.is_restricted());
        let text = error.to_string();
        assert!(text.contains("referred to by `films.facts.sequel`"), "{text}");
        assert_eq!(db.films.delete_where(Filter::all()).await.unwrap(), 2);
        let error = db.films.insert(Film {
            facts: Facts { rating: 1, code: 1, sequel: Some(Ref::new(key(9))) }.into(), ..film(1)
        });
        assert!(error.await.unwrap_err().to_string().contains("`films.facts.sequel`"));
    }

    async fn a_lone_cold_part_takes_no_place_in_a_result(store: AnyStore) {
        let db = films(store.clone(), 6).await;
        for n in 0..4 {
            let lone = doc! { "_id": n, "film": n, "rating": -1, "code": 100 + n, "sequel": null };
            insert_behind_the_back(&store, "film_facts", lone).await;
        }
        let sorted = || db.films.all().sort(Film::fields().facts.rating.asc());
        assert_eq!(sorted().first().await.unwrap().unwrap().id, key(0));
        let page = sorted().page(4).await.unwrap();
        assert_eq!(page.items.len(), 4);
        let rest = sorted().after(&page.next.unwrap()).page(4).await.unwrap();
        assert_eq!((rest.items.len(), rest.next), (2, None));
    }

    async fn what_was_stored_in_one_piece_is_divided_by_the_write_that_meets_it(store: AnyStore) {
        let db = films(store.clone(), 2).await;
        let fields = Film::fields();
        let undivide = async |n: i32| {
            let at = doc! { "_id": { "year": 1900, "n": n } };
            let facts = doc! { "facts": { "rating": 7, "code": 70 + n, "sequel": null } };
            behind_the_back(&store, "films", at, doc! { "$set": facts }).await;
            // Its cold part is from the earlier time, too.
            let part = doc! { "code": n };
            behind_the_back(&store, "film_facts", part, doc! { "$set": { "film": -1, "code": -n - 1 } }).await;
        };
        undivide(0).await;
        undivide(1).await;
        let rating = async |n: i32| {
            db.films.get(key(n)).with(fields.facts).await.unwrap().facts.get().unwrap().rating
        };
        let modified = db.films.modify(key(0), |film| film.title = "new".into()).await.unwrap();
        assert_eq!(modified.title, "new");
        let mut read = db.films.get(key(0)).await.unwrap();
        assert_eq!(read.facts.get().unwrap().rating, 7);
        db.films.load(&mut read, fields.facts).await.unwrap();
        assert_eq!(read.facts.get().unwrap().rating, 7);
        db.films.replace(Film { facts: Cold::unloaded(), ..read }).await.unwrap();
        assert_eq!(rating(0).await, 7, "it is left as it is");
        db.films.update(key(1)).set(fields.facts.rating, 8).await.unwrap();
        assert_eq!(rating(1).await, 8);
        for stored in tests::stored(&store, "films").await {
            assert_eq!(stored.get("facts").unwrap(), None, "{stored:?}");
        }
    }

    async fn the_key_of_a_cold_part_comes_from_its_document_alone(store: AnyStore) {
        let db = films(store.clone(), 1).await;
        let facts = doc! { "film": 77, "rating": 1, "code": 5, "sequel": null };
        db.films.update(key(0)).raw(doc! { "$set": { "facts": facts } }).await.unwrap();
        let part = tests::stored(&store, "film_facts").await.remove(0);
        let keys = part.iter_elements().flatten().filter(|field| field.key().as_str() == "film");
        assert_eq!(keys.count(), 1);
    }

    async fn a_plan_of_nothing_is_the_error_of_the_write(store: AnyStore) {
        let db = films(store, 1).await;
        let plan = db.films.update(key(9)).set(Film::fields().title, "x").plan().await;
        assert!(plan.unwrap_err().is_not_found());
    }
}

on_embedded_stores! {
    async fn an_index_of_a_cold_part_gives_the_order_and_the_page(store: AnyStore) {
        let db = films(store, 60).await;
        let fields = Film::fields();
        let best = || db.films.all().sort(fields.facts.rating.asc());
        let plan = best().limit(2).explain().await.unwrap();
        assert!(plan.sorted_by_index, "{plan:?}");
        let (page, cost) = measure(async { best().page(5).await }).await;
        assert_eq!(page.unwrap().items.len(), 5);
        assert!(cost.documents_examined <= 12, "{cost:?}");
        let own = db.films.find(fields.facts.rating.eq(1) & Filter::raw(doc! { "_id.n": 7 }));
        assert_eq!(own.one().await.unwrap().id, key(7), "a part of the `_id` is in both parts");
    }
}

#[test]
fn halves_of_many_documents_with_documents_as_ids_are_found_by_their_keys() {
    tests::run(async {
        let db = films(Embedded::memory().await.unwrap(), 5_000).await;
        let fields = Film::fields();
        let (films, cost) = measure(async { db.films.all().with(fields.facts).await }).await;
        assert!(films.unwrap().iter().all(|film| film.facts.is_loaded()));
        assert_eq!(cost.queries, 2);
        let all = db.films.update_where(Filter::all());
        let updated = all.inc(fields.facts.rating, 1).await.unwrap();
        assert_eq!(updated.modified, 5_000);
    });
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "blogs")]
struct Blog {
    #[serde(rename = "_id")]
    id: i32,
    #[subset(limit = 3, sort = "-written", filter = public)]
    entries: Subset<Entry>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "entries")]
struct Entry {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent)]
    blog: Ref<Blog>,
    written: i32,
    #[split(collection = "bodies", key = "_id")]
    body: Cold<Body>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Body {
    public: bool,
}

fn public() -> Filter<Entry> {
    Entry::fields().body.public.eq(true)
}

#[derive(Database)]
#[database(name = "blogs", version = 1)]
struct Blogs {
    blogs: Repository<Blog>,
    entries: Repository<Entry>,
}

#[test]
fn a_subset_cannot_be_filtered_by_what_is_in_a_cold_part() {
    tests::run(async {
        let error = Blogs::open(Embedded::memory().await.unwrap()).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("`entries.body.public`"), "{error}");
    });
}
