//! Numbers at their bounds: in queries, in settings, and in stored or imported documents. Each is in force, or an error that names it; none
//! is a panic, or another number.

use std::time::Duration;

use futures_util::TryStreamExt;
use odm::{
    Embedded, ErrorKind, OpenOptions,
    bson::{Bson, DateTime as BsonDate, doc},
    prelude::*,
    query::count,
    store::{Durability, embedded::Builder},
};
use serde::{Deserialize, Serialize};
use tests::{TestStore, behind_the_back, insert_behind_the_back, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "authors")]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[count(of = "Note")]
    #[serde(default)]
    notes: i64,
    #[subset(limit = 2147483647, sort = "id")]
    #[serde(default)]
    all: Subset<Line>,
    #[subset(limit = -2147483647, sort = "id")]
    #[serde(default)]
    also: Subset<Line>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Note")]
struct Line {
    #[serde(rename = "_id")]
    id: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "notes", expires(field = "until", after = "36525d"))]
struct Note {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    author: Ref<Author>,
    #[denormalize(from = "Author.name", refresh = "later")]
    #[serde(default)]
    by: String,
    tags: Vec<String>,
    until: Option<DateTime>,
    #[updated_at]
    #[serde(default)]
    changed: Option<DateTime>,
    #[version]
    #[serde(default)]
    version: i64,
}

#[derive(Database)]
#[database(name = "numbers at bounds", version = 1)]
struct Notes {
    authors: Repository<Author>,
    notes: Repository<Note>,
}

fn note(id: i64) -> Note {
    Note {
        id,
        author: Ref::new(1),
        by: String::new(),
        tags: vec!["a".to_owned(), "b".to_owned()],
        until: None,
        changed: None,
        version: 0,
    }
}

fn author() -> Author {
    Author {
        id: 1,
        name: "ann".to_owned(),
        notes: 0,
        all: Subset::default(),
        also: Subset::default(),
    }
}

fn by_hand() -> OpenOptions {
    OpenOptions::default().refresh_every(None).delete_expired_every(None)
}

const NUMBER: u64 = 5;

/// An author with five notes.
async fn filled(store: impl TestStore) -> Notes {
    let db = Notes::open_with(store, by_hand()).await.unwrap();
    db.authors.insert(author()).await.unwrap();
    let notes = (0..NUMBER as i64).map(note);
    db.notes.insert_many(notes).await.unwrap();
    db
}

/// Numbers around the bounds of their types.
const BOUNDS: [u64; 7] = [0, 1, 3, NUMBER, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX];

fn expected(skip: u64, limit: u64) -> Vec<i64> {
    let all = (0..NUMBER).skip(usize::try_from(skip).unwrap_or(usize::MAX));
    let some = all.take(usize::try_from(limit).unwrap_or(usize::MAX));
    some.map(|id| id as i64).collect()
}

fn ids(notes: &[Note]) -> Vec<i64> {
    notes.iter().map(|note| note.id).collect()
}

on_every_store! {
    async fn a_limit_and_a_skip_of_any_size_are_in_force(store: AnyStore) {
        let db = filled(store).await;
        let note = Note::fields();
        for skip in BOUNDS {
            for limit in BOUNDS {
                let wanted = expected(skip, limit);
                // In the order of an index, and sorted.
                for sort in [note.id.asc(), note.by.asc().then(note.id.asc())] {
                    let query = || db.notes.all().sort(sort.clone()).skip(skip).limit(limit);
                    let found = query().await.unwrap();
                    assert_eq!(ids(&found), wanted, "skip {skip} limit {limit}");
                    assert_eq!(query().count().await.unwrap(), wanted.len() as u64, "skip {skip} limit {limit}");
                    assert_eq!(query().exists().await.unwrap(), !wanted.is_empty(), "skip {skip} limit {limit}");
                    let first = query().first().await.unwrap();
                    assert_eq!(first.map(|note| note.id), wanted.first().copied(), "skip {skip} limit {limit}");
                    let streamed: Vec<Note> = query().stream().try_collect().await.unwrap();
                    assert_eq!(ids(&streamed), wanted, "skip {skip} limit {limit}");
                }
                let groups = db.notes.all().count_by(note.id).sort(note.id.asc()).skip(skip).limit(limit);
                let groups: Vec<i64> = groups.await.unwrap().into_iter().map(|(id, _)| id).collect();
                assert_eq!(groups, wanted, "groups: skip {skip} limit {limit}");
                let by_number = db.notes.all().count_by(note.author).sort(count().desc()).skip(skip).limit(limit);
                let is_there = skip == 0 && limit > 0;
                assert_eq!(by_number.await.unwrap().len(), usize::from(is_there), "skip {skip} limit {limit}");
            }
        }
    }

    async fn a_page_of_any_size_is_in_force_and_none_of_no_size(store: AnyStore) {
        let db = filled(store).await;
        let note = Note::fields();
        for size in BOUNDS {
            let query = || db.notes.all().sort(note.id.asc());
            let page = query().page(size).await;
            if size == 0 {
                let error = page.unwrap_err();
                assert!(error.kind() == ErrorKind::InvalidQuery && error.to_string().contains("page size"), "{error}");
                continue;
            }
            let mut page = page.unwrap();
            let mut all = ids(&page.items);
            assert_eq!(all, expected(0, size), "size {size}");
            while let Some(next) = page.next.take() {
                page = query().after(&next).page(size).await.unwrap();
                all.extend(ids(&page.items));
            }
            assert_eq!(all, expected(0, u64::MAX), "size {size}");
            for limit in BOUNDS {
                let page = query().limit(limit).page(size).await.unwrap();
                assert_eq!(ids(&page.items), expected(0, limit.min(size)), "limit {limit} size {size}");
            }
        }
        for limit in BOUNDS {
            let joined = note.author.referrers().sort(note.id.asc()).limit(limit);
            let rows = db.authors.all().join(joined).await.unwrap();
            assert_eq!(ids(&rows[0].1), expected(0, limit), "limit {limit}");
        }
    }

    async fn a_position_of_any_size_is_in_force_or_an_error(store: AnyStore) {
        let db = filled(store).await;
        let note = Note::fields();
        for position in [0, 2, i32::MAX as usize, i64::MAX as usize, usize::MAX] {
            let found = db.notes.find(note.tags.at(position, |tag| tag.eq("a"))).count().await;
            assert_eq!(found.unwrap(), if position == 0 { NUMBER } else { 0 }, "position {position}");
        }
    }

    async fn a_subset_of_the_greatest_limit_has_all(store: AnyStore) {
        let db = filled(store).await;
        let author = db.authors.get(1).await.unwrap();
        for subset in [&author.all, &author.also] {
            assert_eq!(subset.len(), NUMBER as usize);
        }
        db.notes.delete(2).await.unwrap();
        let author = db.authors.get(1).await.unwrap();
        assert!(author.all.iter().map(|line| line.id).eq([0, 1, 3, 4]));
        assert!(author.also.iter().map(|line| line.id).eq([0, 1, 3, 4]));
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_stored_version_at_its_bounds_is_an_error_or_goes_on(store: AnyStore) {
        let db = filled(store.clone()).await;
        let of = |id: i64, version: i64| (doc! { "_id": id }, doc! { "$set": { "version": version } });
        for (id, version) in [(0, i64::MAX), (1, i64::MIN), (2, i64::MAX - 1)] {
            let (filter, update) = of(id, version);
            behind_the_back(&store, "notes", filter, update).await;
        }
        let note = Note::fields();
        let typed = db.notes.update(0).set(note.until, DateTime::from_millis(5)).await.unwrap_err();
        let raw = db.notes.update(0).raw(doc! { "$set": { "until": BsonDate::from_millis(5) } }).await.unwrap_err();
        let mut read = db.notes.get(0).await.unwrap();
        read.tags.clear();
        let replaced = db.notes.replace(read.clone()).await.unwrap_err();
        let upserted = db.notes.upsert(read).await.unwrap_err();
        let modified = db.notes.modify(0, |note: &mut Note| note.tags.clear()).await.unwrap_err();
        let many = db.notes.update_where(Filter::all()).set(note.until, DateTime::from_millis(5)).await.unwrap_err();
        for error in [typed, raw, replaced, upserted, modified, many] {
            assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
            assert!(error.to_string().contains("version used up: `version`"), "{error}");
            let location = error.location().unwrap();
            assert_eq!((&*location.collection, location.path.as_deref()), ("notes", Some("version")));
            assert!(location.id.is_some());
        }
        // A write that changes nothing, or derived fields alone, does not count as a change.
        db.notes.update(0).set(note.tags, vec!["a".to_owned(), "b".to_owned()]).await.unwrap();
        db.authors.update(1).set(Author::fields().name, "bob").await.unwrap();
        db.wait_for_refreshes().await.unwrap();
        assert_eq!(db.notes.get(0).await.unwrap().by, "bob");
        for (id, version) in [(1, i64::MIN + 1), (2, i64::MAX)] {
            db.notes.update(id).set(note.until, DateTime::from_millis(5)).await.unwrap();
            assert_eq!(db.notes.get(id).await.unwrap().version, version);
        }
        assert!(db.notes.delete(0).await.unwrap());
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn an_import_of_a_version_without_a_next_one_is_refused(store: AnyStore) {
        let db = filled(store).await;
        let mut lines = Vec::new();
        db.export(&mut lines).await.unwrap();
        let lines = String::from_utf8(lines).unwrap();
        let new = async || Notes::open_with(Embedded::memory().await.unwrap(), by_hand()).await.unwrap();
        let held = "\"version\":{\"$numberLong\":\"1\"}";
        assert!(lines.contains(held), "{lines}");
        for version in [i64::MIN, -1, i64::MAX] {
            let hostile = lines.replacen(held, &held.replace('1', &version.to_string()), 1);
            let error = new().await.import(hostile.as_bytes()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
            assert!(error.to_string().contains(&format!("invalid version: `version` is {version}")), "{error}");
            assert_eq!(error.location().unwrap().collection, "notes");
        }
        let last = lines.replacen(held, &held.replace('1', &(i64::MAX - 1).to_string()), 1);
        let db = new().await;
        db.import(last.as_bytes()).await.unwrap();
        db.notes.update_where(Filter::all()).set(Note::fields().until, DateTime::from_millis(5)).await.unwrap();
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_stored_count_at_its_bounds_is_counted_anew(store: AnyStore) {
        let db = filled(store.clone()).await;
        for (at, wrong) in [i64::MAX, i64::MIN].into_iter().enumerate() {
            behind_the_back(&store, "authors", doc! { "_id": 1 }, doc! { "$set": { "notes": wrong } }).await;
            // One more than the greatest number, or one less than the least.
            match wrong > 0 {
                true => drop(db.notes.insert(note(100)).await),
                false => drop(db.notes.delete(100).await),
            }
            db.repair().await.unwrap();
            assert_eq!(db.authors.get(1).await.unwrap().notes as u64, NUMBER + 1 - at as u64);
        }
    }

    async fn dates_at_their_bounds_expire_or_not(store: AnyStore) {
        let db = filled(store.clone()).await;
        for (id, millis) in [(0, i64::MIN), (1, i64::MAX), (2, 0)] {
            let times = doc! { "until": BsonDate::from_millis(millis), "changed": BsonDate::from_millis(millis) };
            behind_the_back(&store, "notes", doc! { "_id": id }, doc! { "$set": times }).await;
        }
        assert_eq!(db.delete_expired().await.unwrap(), 1);
        let left = db.notes.all().sort(Note::fields().id.asc()).await.unwrap();
        assert_eq!(ids(&left), [1, 2, 3, 4]);
        db.notes.update(1).push(Note::fields().tags, "c").await.unwrap();
        let changed = db.notes.get(1).await.unwrap().changed.unwrap();
        assert!(changed < DateTime::from_millis(i64::MAX));
    }

    async fn a_refresh_that_waits_since_any_time_is_done(store: AnyStore) {
        let db = filled(store.clone()).await;
        for millis in [i64::MIN, i64::MAX] {
            let name = millis.to_string();
            db.authors.update(1).set(Author::fields().name, name.clone()).await.unwrap();
            let at = doc! { "$set": { "at": BsonDate::from_millis(millis) } };
            behind_the_back(&store, "_odm_outbox", doc! {}, at).await;
            assert_eq!(db.deferred_refreshes().await.unwrap().oldest, Some(DateTime::from_millis(millis)));
            db.wait_for_refreshes().await.unwrap();
            assert_eq!(db.notes.get(1).await.unwrap().by, name);
        }
    }
}

/// The use of a store by a program, in short.
async fn used(builder: Builder) -> odm::Result<()> {
    let store = builder.memory().await?;
    let db = Notes::open_with(store, by_hand()).await?;
    db.authors.insert(author()).await?;
    let eventual = db.durability(Durability::Eventual);
    eventual.notes.insert_many((0..5).map(note)).await?;
    db.transaction(async |db| {
        db.notes.delete(4).await?;
        db.notes.all().sort(Note::fields().by.desc()).await.map(drop)
    })
    .await?;
    let guard = db.begin().await?;
    guard.notes.delete(3).await?;
    guard.commit().await?;
    db.wait_for_refreshes().await?;
    assert_eq!(db.notes.all().count().await?, 3);
    db.close().await
}

/// Uses a store with each setting at its bounds: the setting is in force, or an error names it.
#[test]
fn a_setting_of_a_store_is_in_force_or_an_error_that_names_it() {
    const TIMES: [Duration; 4] =
        [Duration::ZERO, Duration::from_nanos(1), Duration::from_secs(u64::MAX / 2), Duration::MAX];
    let sizes = [0, 1, usize::MAX / 2, usize::MAX];
    let new = Embedded::builder;
    let mut all: Vec<(&str, bool, Builder)> = Vec::new();
    for (at, time) in TIMES.into_iter().enumerate() {
        let is_large = at > 1;
        all.push(("transaction_limit", is_large, new().transaction_limit(time)));
        all.push(("unit_time_limit", is_large, new().unit_time_limit(time)));
        all.push(("flush_interval", true, new().flush_interval(time)));
    }
    for (at, size) in sizes.into_iter().enumerate() {
        let is_large = at > 1;
        all.push(("cache_size", true, new().cache_size(size)));
        all.push(("queue", size > 0, new().queue(size)));
        all.push(("unit_limit", is_large, new().unit_limit(size as u64)));
        all.push(("sort_memory", is_large, new().sort_memory(size)));
    }
    for (setting, is_enough, builder) in all {
        let text = format!("{builder:?}");
        match tests::run(used(builder)) {
            Ok(()) => {}
            Err(error) if is_enough => panic!("{text}: {error}"),
            Err(error) => assert!(error.to_string().contains(setting), "{text}: {error}"),
        }
    }
}

#[test]
fn a_store_in_a_file_goes_on_with_the_longest_and_the_shortest_interval() {
    let folder = tempfile::tempdir().unwrap();
    for (at, interval) in [Duration::ZERO, Duration::MAX].into_iter().enumerate() {
        let path = folder.path().join(format!("{at}.odm"));
        tests::run(async {
            let builder = || Embedded::builder().flush_interval(interval);
            let db = filled(builder().open(&path).await.unwrap()).await;
            let eventual = db.durability(Durability::Eventual);
            eventual.notes.delete(1).await.unwrap();
            // Concurrently with a transaction that is open while the flush is due.
            let guard = db.begin().await.unwrap();
            tokio::time::sleep(Duration::from_millis(5)).await;
            guard.notes.delete(2).await.unwrap();
            guard.commit().await.unwrap();
            db.close().await.unwrap();
            let db = Notes::open_with(builder().open(&path).await.unwrap(), by_hand());
            assert_eq!(db.await.unwrap().notes.all().count().await.unwrap(), NUMBER - 2);
        });
    }
}

#[test]
fn the_workers_of_a_database_take_any_interval() {
    for interval in [Duration::ZERO, Duration::from_nanos(1), Duration::MAX] {
        tests::run(async {
            let store = Embedded::memory().await.unwrap();
            let options = OpenOptions::default()
                .refresh_every(interval)
                .delete_expired_every(interval)
                .slow_operation(interval)
                .large_scan(u64::MAX);
            let db = Notes::open_with(store, options).await.unwrap();
            db.authors.insert(author()).await.unwrap();
            db.notes.insert_many((0..5).map(note)).await.unwrap();
            db.authors.update(1).set(Author::fields().name, "bob").await.unwrap();
            while db.deferred_refreshes().await.unwrap().waiting > 0 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            assert_eq!(db.notes.get(1).await.unwrap().by, "bob");
        });
    }
}

#[test]
fn an_import_of_the_last_number_of_a_sequence_leaves_no_next_one() {
    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "bills", new = "NewBill")]
    struct Bill {
        #[serde(rename = "_id")]
        #[id(sequence)]
        id: i64,
        text: String,
    }

    #[derive(Database)]
    #[database(name = "bills", version = 1)]
    struct Bills {
        bills: Repository<Bill>,
    }

    for (last, next) in [(i64::MIN, Some(1)), (i64::MAX - 1, Some(i64::MAX)), (i64::MAX, None)] {
        tests::run(async {
            let db = Bills::open(Embedded::memory().await.unwrap()).await.unwrap();
            let head = format!(
                "{{\"export\":1,\"database\":\"bills\",\"version\":1,\"documents\":0,\"sequences\":{{\"bills\":{last}}}}}\n"
            );
            db.import(head.as_bytes()).await.unwrap();
            let inserted = db.bills.insert(NewBill { text: String::new() }).await;
            match next {
                Some(next) => assert_eq!(inserted.unwrap().id, next),
                None => {
                    let error = inserted.unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
                    assert!(
                        error.to_string().contains("the sequence of `bills` is used up"),
                        "{error}"
                    );
                }
            }
        });
    }
}

#[test]
fn an_epoch_of_the_catalog_at_its_bounds_goes_on() {
    tests::run(async {
        let store = Embedded::memory().await.unwrap();
        drop(filled(store.clone()).await);
        let epoch = doc! { "$set": { "n": i64::MAX } };
        behind_the_back(&store, "_odm_catalog", doc! { "_id": "epoch" }, epoch).await;
        insert_behind_the_back(&store, "others", doc! { "_id": Bson::Int64(i64::MAX) }).await;
        let db = Notes::open_with(store.clone(), by_hand()).await.unwrap();
        db.notes.delete(1).await.unwrap();
        assert_eq!(db.audit().await.unwrap(), []);
    });
}
