//! Parents that a store may refresh without reading them: for any content of the parents, the result agrees with their definitions.

use odm::{ErrorKind, bson::doc, prelude::*, store::embedded::Embedded};
use odm_store_suite::MapStore;
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde::{Deserialize, Serialize};
use tests::{TestStore, behind_the_back, on_every_store};

/// A film that shows its newest visits: the elements do not identify the visits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "films")]
struct Film {
    #[serde(rename = "_id")]
    id: i32,
    #[subset(limit = 3, sort = "-day")]
    newest: Subset<VisitLine>,
    /// The opposite: the last visits in their order.
    #[subset(limit = -2, sort = "day", filter = paid)]
    last_paid: Subset<VisitLine>,
    #[count(of = "Visit")]
    all: i32,
    #[count(of = "Visit", filter = paid)]
    paid: i64,
}

/// A hall that shows the best and the first visits, by which it tells them apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "halls")]
struct Hall {
    #[serde(rename = "_id")]
    id: i32,
    #[subset(limit = -2, sort = "stars, -day", filter = paid)]
    best: Subset<VisitStars>,
    #[subset(limit = 3, sort = "day")]
    first: Subset<VisitStars>,
    #[count(of = "Visit")]
    visits: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "visits")]
struct Visit {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent)]
    film: Option<Ref<Film>>,
    #[reference(parent)]
    hall: Ref<Hall>,
    day: i64,
    stars: Option<i32>,
    paid: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Visit")]
struct VisitLine {
    day: i64,
    paid: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Visit")]
struct VisitStars {
    #[serde(rename = "_id")]
    id: i32,
    stars: Option<i32>,
    day: i64,
}

fn paid() -> Filter<Visit> {
    Visit::fields().paid.eq(true)
}

#[derive(Database)]
#[database(name = "cinema", version = 1)]
struct Cinema {
    films: Repository<Film>,
    halls: Repository<Hall>,
    visits: Repository<Visit>,
}

async fn cinema(store: impl TestStore) -> Cinema {
    let cinema = Cinema::open(store).await.unwrap();
    let films = (0..FILMS).map(|id| Film {
        id,
        newest: Subset::new(),
        last_paid: Subset::new(),
        all: 0,
        paid: 0,
    });
    cinema.films.insert_many(films).await.unwrap();
    let halls =
        (0..HALLS).map(|id| Hall { id, best: Subset::new(), first: Subset::new(), visits: 0 });
    cinema.halls.insert_many(halls).await.unwrap();
    cinema
}

const FILMS: i32 = 3;
const HALLS: i32 = 2;

fn visit(id: i32, film: i32, day: i64) -> Visit {
    Visit {
        id,
        film: Some(Ref::new(film)),
        hall: Ref::new(id % HALLS),
        day,
        stars: Some(id % 4),
        paid: id % 3 != 0,
    }
}

/// Compares all films and halls with their definitions, which are stated once more here.
async fn assert_right(cinema: &Cinema) {
    let mut visits = cinema.visits.all().await.unwrap();
    visits.sort_by_key(|visit| (visit.day, visit.id));
    let line = |visit: &&Visit| VisitLine { day: visit.day, paid: visit.paid };
    let stars = |visit: &&Visit| VisitStars { id: visit.id, stars: visit.stars, day: visit.day };
    for film in cinema.films.all().await.unwrap() {
        let of_film = visits.iter();
        let of_film = of_film.filter(|visit| visit.film == Some(Ref::new(film.id)));
        let of_film: Vec<&Visit> = of_film.collect();
        let mut newest = of_film.clone();
        newest.sort_by_key(|visit| (-visit.day, visit.id));
        let newest: Vec<_> = newest.iter().take(3).map(line).collect();
        assert_eq!(film.newest.to_vec(), newest, "of film {}", film.id);
        let paid: Vec<&Visit> = of_film.iter().copied().filter(|visit| visit.paid).collect();
        let last = &paid[paid.len().saturating_sub(2)..];
        let last: Vec<_> = last.iter().map(line).collect();
        assert_eq!(film.last_paid.to_vec(), last, "of film {}", film.id);
        let numbers = (film.all as usize, film.paid as usize);
        assert_eq!(numbers, (of_film.len(), paid.len()), "of film {}", film.id);
    }
    for hall in cinema.halls.all().await.unwrap() {
        let of_hall = visits.iter();
        let of_hall = of_hall.filter(|visit| visit.hall == Ref::new(hall.id));
        let of_hall: Vec<&Visit> = of_hall.collect();
        let first: Vec<_> = of_hall.iter().take(3).map(stars).collect();
        assert_eq!(hall.first.to_vec(), first, "of hall {}", hall.id);
        let mut best: Vec<&Visit> = of_hall.iter().copied().filter(|visit| visit.paid).collect();
        best.sort_by_key(|visit| (visit.stars, -visit.day, visit.id));
        let best = &best[best.len().saturating_sub(2)..];
        let best: Vec<_> = best.iter().map(stars).collect();
        assert_eq!(hall.best.to_vec(), best, "of hall {}", hall.id);
        assert_eq!(hall.visits as usize, of_hall.len(), "of hall {}", hall.id);
    }
}

on_every_store! {
    async fn new_children_come_to_their_places(store: AnyStore) {
        let cinema = cinema(store).await;
        // First, last, in the middle, and behind all that are shown.
        for (id, day) in [(1, 50), (2, 40), (3, 60), (4, 55), (5, 10), (6, 70)] {
            cinema.visits.insert(visit(id, 1, day)).await.unwrap();
            assert_right(&cinema).await;
        }
        let several = [(7, 1, 20), (8, 2, 20), (9, 1, 90), (10, 2, 80), (11, 0, 5)];
        let several = several.map(|(id, film, day)| visit(id, film, day));
        cinema.visits.insert_many(several).await.unwrap();
        assert_right(&cinema).await;
        let of_none = Visit { film: None, ..visit(12, 0, 1) };
        cinema.visits.insert(of_none).await.unwrap();
        assert_right(&cinema).await;
    }

    async fn children_of_the_same_place_are_in_the_order_of_their_ids(store: AnyStore) {
        let cinema = cinema(store).await;
        for id in [5, 3, 4, 2, 6, 1] {
            cinema.visits.insert(visit(id, 1, 50)).await.unwrap();
            assert_right(&cinema).await;
        }
        let several = [9, 8, 7].map(|id| visit(id, 1, 60));
        cinema.visits.insert_many(several).await.unwrap();
        assert_right(&cinema).await;
    }

    async fn children_without_what_they_are_sorted_by_have_their_place(store: AnyStore) {
        let cinema = cinema(store).await;
        for id in [1, 2, 4, 5] {
            let stars = (id % 2 == 0).then_some(id);
            cinema.visits.insert(Visit { stars, ..visit(id, 1, 50) }).await.unwrap();
            assert_right(&cinema).await;
        }
    }

    async fn many_new_children_of_one_parent_are_counted_and_shown(store: AnyStore) {
        let cinema = cinema(store).await;
        let many = (0..1_500).map(|id| visit(id, id % 2, i64::from(id * 7 % 1_501)));
        cinema.visits.insert_many(many).await.unwrap();
        assert_right(&cinema).await;
    }

    async fn a_child_of_a_parent_that_does_not_exist_is_refused(store: AnyStore) {
        let cinema = cinema(store).await;
        let error = cinema.visits.insert(visit(1, 9, 1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DanglingReference, "{error}");
        let several = [visit(1, 1, 1), visit(2, 9, 1)];
        let error = cinema.visits.insert_many(several).await.unwrap_err();
        assert!(error.to_string().contains("`visits.film` = 9"), "{error}");
        assert_eq!(cinema.visits.all().count().await.unwrap(), 0);
        assert_right(&cinema).await;
    }

    async fn what_another_program_has_left_in_a_parent_is_corrected(store: AnyStore) {
        let cinema = cinema(store.clone()).await;
        cinema.visits.insert_many([visit(1, 1, 50), visit(2, 1, 60)]).await.unwrap();
        // The collection, the field, and the change by another program.
        let wrong = [
            ("films", doc! { "$unset": { "all": "" } }),
            ("films", doc! { "$set": { "all": "two" } }),
            ("films", doc! { "$set": { "all": [3] } }),
            ("films", doc! { "$unset": { "newest": "" } }),
            ("films", doc! { "$set": { "last_paid": { "a": 1 } } }),
            ("halls", doc! { "$unset": { "first": "" } }),
            ("halls", doc! { "$set": { "best": "none" } }),
        ];
        for ((collection, change), id) in wrong.into_iter().zip(3..) {
            behind_the_back(&store, collection, doc! { "_id": 1 }, change).await;
            let shown = Visit { paid: true, hall: Ref::new(1), stars: Some(id), ..visit(id, 1, 100 - i64::from(id)) };
            let other = Visit { day: i64::from(id), ..shown.clone() };
            cinema.visits.insert_many([shown, Visit { id: 100 + id, ..other }]).await.unwrap();
            assert_right(&cinema).await;
        }
    }

    async fn writes_of_one_transaction_see_each_other(store: AnyStore) {
        let cinema = cinema(store).await;
        let transaction = cinema.transaction(async |cinema| {
            for id in 1..6 {
                cinema.visits.insert(visit(id, 1, i64::from(id * 5 % 7))).await?;
            }
            assert_eq!(cinema.films.get(1).await?.all, 5);
            cinema.visits.delete(1).await?;
            cinema.visits.update(2).set(Visit::fields().film, Ref::new(2)).await?;
            cinema.visits.insert(visit(6, 2, 3)).await?;
            Ok(cinema.films.get(2).await?.all)
        });
        assert_eq!(transaction.await.unwrap(), 2);
        assert_right(&cinema).await;
    }

    async fn many_tasks_that_insert_children_of_one_parent_lose_none(store: AnyStore) {
        let cinema = cinema(store).await;
        let inserts = (0..24).map(|id| {
            let cinema = cinema.clone();
            tokio::spawn(async move { cinema.visits.insert(visit(id, 1, i64::from(id))).await })
        });
        for insert in inserts.collect::<Vec<_>>() {
            insert.await.unwrap().unwrap();
        }
        assert_eq!(cinema.films.get(1).await.unwrap().all, 24);
        assert_right(&cinema).await;
    }
}

#[derive(Debug, Clone)]
enum Op {
    Insert(Vec<Visit>),
    Date(i32, i64),
    Move(i32, Option<i32>),
    Pay(i32, bool),
    Delete(i32),
}

fn any_visit() -> impl Strategy<Value = Visit> {
    let stars = prop::option::weighted(0.8, 0..3);
    let film = prop::option::weighted(0.9, 0..FILMS + 1);
    let day = prop_oneof![0..8_i64, 8..100_i64];
    let visit = (0..40, film, 0..HALLS, day, stars, any::<bool>());
    visit.prop_map(|(id, film, hall, day, stars, paid)| Visit {
        id,
        film: film.map(Ref::new),
        hall: Ref::new(hall),
        day,
        stars,
        paid,
    })
}

fn op() -> impl Strategy<Value = Op> {
    let id = || 0..40;
    prop_oneof![
        6 => any_visit().prop_map(|visit| Op::Insert(vec![visit])),
        3 => prop::collection::vec(any_visit(), 2..6).prop_map(Op::Insert),
        1 => (id(), 0..8_i64).prop_map(|(id, day)| Op::Date(id, day)),
        1 => (id(), prop::option::of(0..FILMS)).prop_map(|(id, film)| Op::Move(id, film)),
        1 => (id(), any::<bool>()).prop_map(|(id, paid)| Op::Pay(id, paid)),
        1 => id().prop_map(Op::Delete),
    ]
}

async fn run(cinema: &Cinema, op: Op) -> odm::Result<()> {
    let (visits, fields) = (&cinema.visits, Visit::fields());
    match op {
        Op::Insert(new) => visits.insert_many(new).await.map(drop),
        Op::Date(id, day) => visits.update(id).set(fields.day, day).await,
        Op::Move(id, film) => visits.update(id).set(fields.film, film.map(Ref::new)).await,
        Op::Pay(id, paid) => visits.update(id).set(fields.paid, paid).await,
        Op::Delete(id) => visits.delete(id).await.map(drop),
    }
}

/// Runs many histories, each on a new store.
fn histories<S: TestStore>(cases: u32, new: impl AsyncFn() -> S) {
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let history = prop::collection::vec(op(), 1..30);
    runner
        .run(&history, |history| {
            tests::run(async {
                let cinema = cinema(new().await).await;
                for op in history {
                    // A refused write is part of the history.
                    let _ = run(&cinema, op).await;
                    assert_right(&cinema).await;
                }
            });
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_random_history_leaves_every_parent_right_in_memory() {
    histories(50, async || Embedded::memory().await.unwrap());
}

#[test]
fn a_random_history_leaves_every_parent_right_in_maps() {
    histories(100, async || MapStore::new());
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_random_history_leaves_every_parent_right_on_mongodb() {
    let databases = tests::NewDatabases::default();
    histories(12, async || databases.open().await);
}
