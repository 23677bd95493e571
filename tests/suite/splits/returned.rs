//! A write returns the same as a later read, for any derived values in the caller's document.

use std::collections::BTreeMap;

use odm::{
    bson::{Bson, Document as BsonDocument, RawDocumentBuf, doc},
    prelude::*,
};
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde::{Deserialize, Serialize};
use tests::on_every_store;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "studios")]
struct Studio {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "films")]
struct Film {
    #[serde(rename = "_id")]
    id: i64,
    #[index(unique)]
    slug: String,
    title: String,
    #[split(collection = "film_notes", key = "film", optional)]
    notes: Cold<Notes>,
    #[reference(child)]
    studio: Ref<Studio>,
    #[denormalize(from = "Studio.name")]
    made_by: String,
    /// Under the `_id` of the film itself; some films have no scan.
    #[split(collection = "film_scans", key = "_id", optional)]
    scan: Cold<Scan>,
    #[count(of = "Review")]
    reviews: i64,
    #[version]
    version: i64,
    #[updated_at]
    changed: Option<DateTime>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Notes {
    text: String,
    #[reference(child)]
    archive: Ref<Studio>,
    #[denormalize(from = "Studio.name")]
    archived_by: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Scan {
    #[denormalize(from = "Studio.name")]
    scanned_by: String,
    #[reference(child)]
    lab: Ref<Studio>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent, on_delete = "cascade")]
    film: Ref<Film>,
}

#[derive(Database)]
#[database(name = "films", version = 1)]
struct Films {
    films: Repository<Film>,
    reviews: Repository<Review>,
    studios: Repository<Studio>,
}

/// A film as a caller sends it, with wrong derived values.
#[derive(Debug, Clone)]
struct Sent {
    id: i64,
    title: String,
    studio: i32,
    notes: Option<i32>,
    scan: Option<i32>,
}

fn sent() -> impl Strategy<Value = Sent> {
    let part = || prop::option::of(0..3);
    (0..5_i64, "[ab]", 0..3, part(), part()).prop_map(|(id, title, studio, notes, scan)| Sent {
        id,
        title,
        studio,
        notes,
        scan,
    })
}

impl Sent {
    fn film(&self, version: i64) -> Film {
        let notes = |studio| Notes {
            text: self.title.clone(),
            archive: Ref::new(studio),
            archived_by: "junk".into(),
        };
        let scan = |studio| Scan { scanned_by: "junk".into(), lab: Ref::new(studio) };
        Film {
            id: self.id,
            slug: format!("film {}", self.id),
            title: self.title.clone(),
            notes: self.notes.map_or_else(Cold::unloaded, |n| notes(n).into()),
            studio: Ref::new(self.studio),
            made_by: "junk".into(),
            scan: self.scan.map_or_else(Cold::unloaded, |n| scan(n).into()),
            reviews: 99,
            version,
            changed: None,
        }
    }

    /// The film as another program sends it: the fields in another order, the number of another type.
    fn raw(&self, version: i64) -> RawDocumentBuf {
        let film = odm::bson::serialize_to_document(&self.film(version)).unwrap();
        let mut fields: Vec<(String, Bson)> = film.into_iter().collect();
        fields.reverse();
        let mut fields: BsonDocument = fields.into_iter().collect();
        fields.insert("_id", Bson::Int32(self.id as i32));
        fields.insert("of_others", 1);
        RawDocumentBuf::try_from(&fields).unwrap()
    }
}

#[derive(Debug, Clone)]
enum Op {
    Insert(Sent),
    InsertMany(Vec<Sent>),
    Replace(Sent),
    Upsert(Sent),
    UpsertMany(Vec<Sent>),
    UpsertBy(Sent, u8),
    Modify(Sent),
    Update(i64, String),
    UpdateWhere(String, String),
    Bulk(Sent, Sent),
    RawInsert(Sent),
    RawReplace(Sent, bool),
    Review(i64, i64),
    Rename(i32, String),
    Delete(i64),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => sent().prop_map(Op::Insert),
        1 => prop::collection::vec(sent(), 0..4).prop_map(Op::InsertMany),
        2 => sent().prop_map(Op::Replace),
        2 => sent().prop_map(Op::Upsert),
        1 => prop::collection::vec(sent(), 0..4).prop_map(Op::UpsertMany),
        4 => (sent(), 0..4_u8).prop_map(|(sent, found)| Op::UpsertBy(sent, found)),
        3 => sent().prop_map(Op::Modify),
        2 => (0..5_i64, "[ab]").prop_map(|(id, title)| Op::Update(id, title)),
        2 => ("[ab]", "[ab]").prop_map(|(old, new)| Op::UpdateWhere(old, new)),
        2 => (sent(), sent()).prop_map(|(one, other)| Op::Bulk(one, other)),
        1 => sent().prop_map(Op::RawInsert),
        2 => (sent(), any::<bool>()).prop_map(|(sent, upsert)| Op::RawReplace(sent, upsert)),
        2 => (0..9_i64, 0..5_i64).prop_map(|(id, film)| Op::Review(id, film)),
        2 => (0..3, "[a-c]").prop_map(|(id, name)| Op::Rename(id, name)),
        1 => (0..5_i64).prop_map(Op::Delete),
    ]
}

/// Checks a film that a write has returned, with the cold parts loaded that the caller sent.
async fn check(db: &Films, returned: &Film, sent: Option<&Film>) {
    let fields = Film::fields();
    let read = db.films.get(returned.id).with(fields.notes).with(fields.scan);
    let mut read = read.await.unwrap();
    let loads_notes = sent.is_some_and(|sent| sent.notes.is_loaded());
    let loads_scan = sent.is_some_and(|sent| sent.scan.is_loaded());
    if !loads_notes {
        read.notes = Cold::unloaded();
    }
    if !loads_scan {
        read.scan = Cold::unloaded();
    }
    assert_eq!(*returned, read);
}

async fn check_all(db: &Films, returned: odm::Result<Vec<Film>>, sent: &[Film]) -> usize {
    let Ok(returned) = returned else { return 0 };
    assert_eq!(returned.len(), sent.len());
    for (returned, sent) in returned.iter().zip(sent) {
        check(db, returned, Some(sent)).await;
    }
    returned.len()
}

async fn check_raw(db: &Films, returned: odm::Result<RawDocumentBuf>, id: i64) -> usize {
    let Ok(returned) = returned else { return 0 };
    let fields = Film::fields();
    let read = db.films.get(id).with(fields.notes).with(fields.scan).raw();
    let of = |document: &RawDocumentBuf| -> BTreeMap<String, Bson> {
        let document = BsonDocument::try_from(document).unwrap();
        document.into_iter().filter(|(_, value)| *value != Bson::Null).collect()
    };
    let (returned, mut read) = (of(&returned), of(&read.await.unwrap()));
    read.retain(|name, _| {
        !["notes", "scan"].contains(&name.as_str()) || returned.contains_key(name)
    });
    assert_eq!(returned, read);
    1
}

/// Runs a write, and returns how many documents it has returned.
async fn run(db: &Films, op: &Op) -> usize {
    let fields = Film::fields();
    let version = async |id: i64| {
        let film = db.films.get(id).optional().await.unwrap();
        film.map_or(0, |film| film.version)
    };
    match op {
        Op::Insert(sent) => {
            let sent = sent.film(0);
            let stored = db.films.insert(sent.clone()).await;
            check_all(db, stored.map(|stored| vec![stored]), &[sent]).await
        }
        Op::InsertMany(sent) => {
            let sent: Vec<Film> = sent.iter().map(|sent| sent.film(0)).collect();
            check_all(db, db.films.insert_many(sent.clone()).await, &sent).await
        }
        Op::Replace(sent) => {
            let sent = sent.film(version(sent.id).await);
            let stored = db.films.replace(sent.clone()).await;
            check_all(db, stored.map(|stored| vec![stored]), &[sent]).await
        }
        Op::Upsert(sent) => {
            let sent = sent.film(version(sent.id).await);
            let stored = db.films.upsert(sent.clone()).await;
            check_all(db, stored.map(|stored| vec![stored]), &[sent]).await
        }
        Op::UpsertMany(many) => {
            let mut sent = Vec::new();
            for one in many {
                sent.push(one.film(version(one.id).await));
            }
            check_all(db, db.films.upsert_many(sent.clone()).await, &sent).await
        }
        Op::UpsertBy(sent, found) => {
            let sent = sent.film(0);
            let upsert = db.films.upsert_by(fields.slug, sent.clone());
            let stored = match found {
                0 => upsert.await,
                1 => upsert.keep().await,
                2 => upsert.update(Update::new().set(fields.title, "c")).await,
                _ => upsert.update(Update::new().set(fields.notes.text, "c")).await,
            };
            let Ok(stored) = stored else { return 0 };
            // A missing cold part is not loaded.
            let read = db.films.get(stored.id).with(fields.notes).with(fields.scan).await.unwrap();
            let sent = Film {
                notes: if read.notes.is_loaded() { sent.notes } else { Cold::unloaded() },
                scan: if read.scan.is_loaded() { sent.scan } else { Cold::unloaded() },
                ..sent
            };
            check(db, &stored, Some(&sent)).await;
            1
        }
        Op::Modify(sent) => {
            let film = sent.film(0);
            let given = film.clone();
            let stored = db.films.modify(sent.id, move |stored: &mut Film| {
                let changed = given.clone();
                *stored = Film { version: stored.version, ..changed };
            });
            check_all(db, stored.await.map(|stored| vec![stored]), &[film]).await
        }
        Op::Update(id, title) => {
            let before = db.films.get(*id).optional().await.unwrap();
            let update = || db.films.update(*id).set(fields.title, title.as_str());
            let stored = update().returning_before().await;
            assert_eq!(stored.as_ref().ok(), before.as_ref());
            let stored = update().set(fields.notes.text, title.as_str()).returning().await;
            let Ok(stored) = stored else { return 0 };
            check(db, &stored, None).await;
            1
        }
        Op::UpdateWhere(old, new) => {
            let update = db.films.update_where(fields.title.eq(old.as_str()));
            let stored = update.set(fields.title, new.as_str()).returning().await.unwrap();
            for film in &stored {
                check(db, film, None).await;
            }
            stored.len()
        }
        Op::Bulk(one, other) => {
            let (a, b) = (one.film(version(one.id).await), other.film(0));
            let upsert = db.films.upsert(a.clone());
            let Ok((first, second)) = db.bulk((upsert, db.films.insert(b.clone()))).await else {
                return 0;
            };
            check_all(db, Ok(vec![first, second]), &[a, b]).await
        }
        Op::RawInsert(sent) => {
            check_raw(db, db.films.raw().insert(sent.raw(0)).await, sent.id).await
        }
        Op::RawReplace(sent, upsert) => {
            let document = sent.raw(version(sent.id).await);
            let stored = match upsert {
                true => db.films.raw().upsert(document).await,
                false => db.films.raw().replace(document).await,
            };
            check_raw(db, stored, sent.id).await
        }
        Op::Review(id, film) => {
            let review = Review { id: *id, film: Ref::new(*film) };
            let stored = db.reviews.upsert(review.clone()).await;
            assert!(stored.is_err() || stored.unwrap() == review);
            1
        }
        Op::Rename(id, name) => {
            let rename = db.studios.update(*id).set(Studio::fields().name, name.as_str());
            let stored = rename.returning().await.unwrap();
            assert_eq!(stored, db.studios.get(*id).await.unwrap());
            1
        }
        Op::Delete(id) => {
            let before = db.films.get(*id).optional().await.unwrap();
            assert_eq!(db.films.delete(*id).returning().await.unwrap(), before);
            1
        }
    }
}

on_every_store! {
    async fn what_any_write_returns_is_what_a_read_returns(store: AnyStore) {
        let db = Films::open(store).await.unwrap();
        let studio = |id| Studio { id, name: format!("studio {id}") };
        db.studios.insert_many((0..3).map(studio)).await.unwrap();
        let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1_u8);
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let mut returned = 0;
        for _ in 0..400 {
            let op = op().new_tree(&mut runner).unwrap().current();
            returned += run(&db, &op).await;
        }
        assert!(returned > 150, "of 400 writes, most are refused: {returned}");
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_raw_replacement_is_returned_as_it_is_stored(store: AnyStore) {
        let db = Films::open(store).await.unwrap();
        db.studios.insert(Studio { id: 1, name: "a".into() }).await.unwrap();
        let sent = RawDocumentBuf::try_from(&doc! { "name": "b", "_id": 1_i64 }).unwrap();
        let stored = db.studios.raw().replace(sent).await.unwrap();
        assert_eq!(stored, db.studios.raw().get(1).await.unwrap());
        assert_eq!(BsonDocument::try_from(&stored).unwrap(), doc! { "_id": 1, "name": "b" });
    }
}
