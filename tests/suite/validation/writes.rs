//! No way of writing leaves an invalid document.

use super::*;
use odm::{
    Problem,
    bson::{Document as Bson, doc},
};
use tests::{TestStore, behind_the_back, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "films")]
struct Film {
    #[serde(rename = "_id")]
    id: i32,
    #[validate(min_length = 1)]
    title: String,
    #[split(collection = "film_details", key = "film")]
    detail: Cold<Detail>,
    #[reference(parent)]
    maker: Ref<Maker>,
    #[denormalize(from = "Maker.name", via = "maker")]
    maker_name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Detail {
    #[validate(max = 10)]
    rating: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "makers")]
struct Maker {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[count(of = "Film")]
    films: i64,
}

/// A scene, whose cold part has a copy of the scene before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "scenes")]
struct Scene {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[split(collection = "scene_notes", key = "scene")]
    notes: Cold<Notes>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Notes {
    #[validate(max = 10)]
    rating: i32,
    #[reference(child, on_delete = "nullify")]
    after: Option<Ref<Scene>>,
    #[denormalize(from = "Scene.name", via = "after")]
    after_name: Option<String>,
}

#[derive(Database)]
#[database(name = "scenes", version = 1)]
struct Scenes {
    scenes: Repository<Scene>,
}

#[derive(Database)]
#[database(name = "films", version = 1)]
struct Films {
    films: Repository<Film>,
    makers: Repository<Maker>,
}

fn film(id: i32) -> Film {
    Film {
        id,
        title: "Alien".into(),
        detail: Cold::new(Detail { rating: 9 }),
        maker: Ref::new(1),
        maker_name: String::new(),
    }
}

async fn films(store: impl TestStore) -> Films {
    let db = Films::open(store).await.unwrap();
    let maker = Maker { id: 1, name: "Fox".into(), films: 0 };
    db.makers.insert(maker).await.unwrap();
    db.films.insert_many([film(1), film(2)]).await.unwrap();
    db
}

on_every_store! {
    async fn a_raw_update_cannot_leave_what_the_type_cannot_read(store: AnyStore) {
        let db = Parts::open(store).await.unwrap();
        db.parts.insert(part(1)).await.unwrap();
        let cases: [(Bson, &str, &str); 6] = [
            (doc! { "$set": { "quantity": "seven" } }, "quantity", "bsonType"),
            (doc! { "$unset": { "name": 1 } }, "name", "required"),
            (doc! { "$inc": { "quantity": 3_000_000_000_i64 } }, "quantity", "maximum"),
            (doc! { "$set": { "tags": "a" } }, "tags", "bsonType"),
            (doc! { "$push": { "tags": 3 } }, "tags.1", "bsonType"),
            (doc! { "$rename": { "name": "title" } }, "name", "required"),
        ];
        for (update, path, rule) in cases {
            let error = db.parts.update(1).raw(update.clone()).await.unwrap_err();
            assert_eq!(violated(&error), listed([(path, rule)]), "{update}");
            let error = db.parts.update_where(Filter::all()).raw(update).await.unwrap_err();
            assert!(error.is_invalid());
        }
        assert_eq!(db.parts.get(1).await.unwrap(), Part { version: 1, ..part(1) });
    }

    async fn each_way_of_writing_is_validated(store: AnyStore) {
        let db = Parts::open(store).await.unwrap();
        db.parts.insert_many([part(1), part(2)]).await.unwrap();
        let wrong = |id| Part { quantity: -1, ..part(id) };
        let quantity = Part::fields().quantity;
        let refused = [
            db.parts.insert(wrong(3)).await.map(drop),
            db.parts.insert_many([part(3), wrong(4)]).await.map(drop),
            db.parts.upsert(Part { version: 1, ..wrong(1) }).await.map(drop),
            db.parts.upsert(wrong(5)).await.map(drop),
            db.parts.replace(Part { version: 1, ..wrong(1) }).await.map(drop),
            db.parts.update(1).set(quantity, -1).await,
            db.parts.update_where(Filter::all()).inc(quantity, -8).await.map(drop),
            db.parts.modify(1, |part| part.quantity = -1).await.map(drop),
            db.transaction(async |db| db.parts.update(2).set(quantity, -1).await).await,
            db.parts.update(1).set(quantity, -1).plan().await.map(drop),
        ];
        for (at, result) in refused.into_iter().enumerate() {
            let error = result.unwrap_err();
            assert_eq!(violated(&error), listed([("quantity", "minimum")]), "{at}");
        }
        let left = db.parts.all().await.unwrap();
        let stored = |id| Part { version: 1, ..part(id) };
        assert_eq!(left, [stored(1), stored(2)]);
    }

    async fn a_cold_part_is_validated_with_its_document(store: AnyStore) {
        let db = films(store).await;
        let wrong = Film { detail: Cold::new(Detail { rating: 11 }), ..film(3) };
        let error = db.films.insert(wrong).await.unwrap_err();
        assert_eq!(violated(&error), listed([("rating", "maximum")]));
        assert_eq!(error.location().unwrap().collection, "film_details");
        let error = db.films.update(1).set(Film::fields().detail.rating, 12).await.unwrap_err();
        assert_eq!(violated(&error), listed([("rating", "maximum")]));
        db.films.update(1).set(Film::fields().detail.rating, 10).await.unwrap();
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn validate_lists_cold_parts_and_the_checks_of_functions(store: AnyStore) {
        let db = films(store.clone()).await;
        behind_the_back(&store, "film_details", doc! { "film": 2 }, doc! { "$set": { "rating": 11 } }).await;
        behind_the_back(&store, "makers", doc! { "_id": 1 }, doc! { "$set": { "name": 1 } }).await;
        let [finding] = db.films.validate().await.unwrap().try_into().unwrap();
        assert_eq!((&*finding.collection, &*finding.path), ("film_details", "rating"));
        let [maker] = db.makers.validate().await.unwrap().try_into().unwrap();
        assert_eq!((&*maker.collection, &*maker.path), ("makers", "name"));

        let db = Parts::open(store.clone()).await.unwrap();
        db.parts.insert(part(1)).await.unwrap();
        behind_the_back(&store, "parts", doc! { "_id": 1 }, doc! { "$set": { "lines": [{ "text": "a", "number": 3_i64 }] } }).await;
        let [finding] = db.parts.validate().await.unwrap().try_into().unwrap();
        let Problem::Invalid(violation) = &finding.problem else { panic!("{finding}") };
        assert_eq!((&*violation.path, &*violation.rule), ("lines.0.number", "with"));
    }

    async fn a_document_that_only_a_refresh_reaches_is_not_validated(store: AnyStore) {
        let db = films(store.clone()).await;
        let invalid = doc! { "$set": { "title": "" } };
        behind_the_back(&store, "films", doc! { "_id": 2 }, invalid).await;
        db.makers.update(1).set(Maker::fields().name, "Disney").await.unwrap();
        assert_eq!(db.films.get(2).await.unwrap().maker_name, "Disney");
        let error = db.films.update(2).set(Film::fields().maker, Ref::new(1)).await;
        // The error names the document, and the update changes nothing in it.
        error.unwrap();
        let other = Maker { id: 2, name: "A24".into(), films: 0 };
        db.makers.insert(other).await.unwrap();
        let error = db.films.update(2).set(Film::fields().maker, Ref::new(2)).await.unwrap_err();
        assert_eq!(violated(&error), listed([("title", "minLength")]));
        db.films.delete(2).await.unwrap();
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_cold_part_that_only_a_refresh_reaches_is_not_validated(store: AnyStore) {
        let db = Scenes::open(store.clone()).await.unwrap();
        let scene = |id, after: Option<i32>| Scene {
            id,
            name: "dawn".into(),
            notes: Cold::new(Notes { rating: 1, after: after.map(Ref::new), after_name: None }),
        };
        db.scenes.insert_many([scene(1, None), scene(2, Some(1))]).await.unwrap();
        let invalid = doc! { "$set": { "rating": 11 } };
        behind_the_back(&store, "scene_notes", doc! { "rating": 1, "after": 1 }, invalid).await;
        db.scenes.update(1).set(Scene::fields().name, "dusk").await.unwrap();
        let notes = Scene::fields().notes;
        let second = db.scenes.get(2).with(notes).await.unwrap();
        let second = second.notes.get().unwrap();
        assert_eq!((second.rating, second.after_name.as_deref()), (11, Some("dusk")));
        let rating = Scene::fields().notes.rating;
        assert!(db.scenes.update(2).set(rating, 12).await.unwrap_err().is_invalid());
    }

    async fn an_invalid_write_in_a_transaction_aborts_it(store: AnyStore) {
        let db = films(store).await;
        let error = db
            .transaction(async |db| {
                db.films.delete(1).await?;
                let _ = db.films.update(2).set(Film::fields().title, "").await;
                Ok(())
            })
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TransactionAborted);
        assert_eq!(db.films.all().count().await.unwrap(), 2);
    }

    async fn an_update_of_many_pages_is_validated_from_the_first_one_on(store: AnyStore) {
        let db = Parts::open(store).await.unwrap();
        let parts = (0..2500).map(|id| Part { quantity: 1000 * i32::from(id == 5), ..part(id) });
        db.parts.insert_many(parts).await.unwrap();
        let quantity = Part::fields().quantity;
        let error = db.parts.update_where(Filter::all()).inc(quantity, 1).await.unwrap_err();
        assert_eq!(violated(&error), listed([("quantity", "maximum")]));
        assert_eq!(db.parts.get(6).await.unwrap().quantity, 0);
    }

    async fn a_repair_of_what_is_derived_does_not_validate(store: AnyStore) {
        let db = films(store.clone()).await;
        let invalid = doc! { "$set": { "title": "", "maker_name": "Warner" } };
        behind_the_back(&store, "films", doc! { "_id": 2 }, invalid).await;
        let found = db.repair().await.unwrap();
        let repaired = |finding: &odm::Finding| finding.path == "maker_name" && finding.repaired;
        assert!(found.iter().any(repaired), "{found:?}");
        assert_eq!(db.films.get(2).await.unwrap().maker_name, "Fox");
    }

    async fn an_update_of_many_pages_is_refused_as_a_whole(store: AnyStore) {
        let db = Parts::open(store).await.unwrap();
        let parts = (0..2500).map(|id| Part { quantity: id % 1001, ..part(id) });
        db.parts.insert_many(parts).await.unwrap();
        let quantity = Part::fields().quantity;
        let error = db.parts.update_where(Filter::all()).inc(quantity, 1).await.unwrap_err();
        assert_eq!(violated(&error), listed([("quantity", "maximum")]));
        let sum: i64 = db.parts.all().await.unwrap().iter().map(|part| i64::from(part.quantity)).sum();
        let expected: i64 = (0..2500).map(|id| id % 1001).sum();
        assert_eq!(sum, expected);
    }
}
