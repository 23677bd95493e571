//! Documents that expire: `#[document(expires(..))]`.

use std::time::Duration;

use odm::{Embedded, OpenOptions, measure, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

const DAY: i64 = 86_400_000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "sessions", expires(field = "last_use.at", after = "30d"))]
struct Session {
    #[serde(rename = "_id")]
    id: i32,
    #[embed]
    #[serde(rename = "use")]
    last_use: Option<Use>,
    #[reference(parent, on_delete = "cascade")]
    user: Ref<User>,
    #[reference(child)]
    before: Option<Ref<Session>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Use {
    #[serde(rename = "time")]
    at: Option<DateTime>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "clicks", expires(field = "until"))]
struct Click {
    #[serde(rename = "_id")]
    id: i32,
    #[index]
    until: DateTime,
    #[reference(parent, on_delete = "cascade")]
    session: Ref<Session>,
}

/// The number of tabs is unique.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "windows")]
struct Window {
    #[serde(rename = "_id")]
    id: i32,
    #[count(of = "Tab")]
    #[index(unique)]
    tabs: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "tabs")]
struct Tab {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent)]
    window: Ref<Window>,
    #[reference(parent, on_delete = "cascade")]
    session: Ref<Session>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: i32,
    #[count(of = "Session")]
    sessions: i64,
}

#[derive(Database)]
#[database(name = "site", version = 1)]
struct Site {
    sessions: Repository<Session>,
    clicks: Repository<Click>,
    windows: Repository<Window>,
    tabs: Repository<Tab>,
    users: Repository<User>,
}

fn ago(millis: i64) -> DateTime {
    DateTime::from_millis(DateTime::now().timestamp_millis() - millis)
}

fn session(id: i32, age: Option<i64>) -> Session {
    Session { id, last_use: Some(Use { at: age.map(ago) }), user: Ref::new(1), before: None }
}

fn click(id: i32, session: i32, until: DateTime) -> Click {
    Click { id, until, session: Ref::new(session) }
}

async fn site(store: impl TestStore, options: OpenOptions) -> Site {
    let site = Site::open_with(store, options).await.unwrap();
    site.users.insert(User { id: 1, sessions: 0 }).await.unwrap();
    site
}

fn by_hand() -> OpenOptions {
    OpenOptions::default().delete_expired_every(None)
}

async fn ids(site: &Site) -> Vec<i32> {
    let sessions = site.sessions.all().await.unwrap();
    sessions.iter().map(|session| session.id).collect()
}

on_every_store! {
    async fn what_has_expired_is_deleted_with_all_that_follows(store: AnyStore) {
        let site = site(store, by_hand()).await;
        assert_eq!(site.delete_expired().await.unwrap(), 0);
        let ages = [Some(31 * DAY), Some(29 * DAY), None, Some(30 * DAY + 1000), Some(-DAY)];
        let sessions = (1..).zip(ages).map(|(id, age)| session(id, age));
        site.sessions.insert_many(sessions).await.unwrap();
        site.sessions.insert(Session { last_use: None, ..session(6, None) }).await.unwrap();
        let clicks = [click(1, 1, ago(-DAY)), click(2, 2, ago(1)), click(3, 2, ago(-DAY))];
        site.clicks.insert_many(clicks).await.unwrap();
        // Two sessions and one click; the other click goes with its session.
        assert_eq!(site.delete_expired().await.unwrap(), 3);
        assert_eq!(ids(&site).await, [2, 3, 5, 6]);
        let clicks = site.clicks.all().await.unwrap();
        assert_eq!(clicks.iter().map(|click| click.id).collect::<Vec<_>>(), [3]);
        assert_eq!(site.users.get(1).await.unwrap().sessions, 4);
        assert_eq!(site.delete_expired().await.unwrap(), 0);
        assert_eq!(site.audit().await.unwrap(), []);
    }

    async fn an_expired_document_that_others_refer_to_is_left(store: AnyStore) {
        let site = site(store, by_hand()).await;
        site.sessions.insert_many((1..=250).map(|id| session(id, Some(40 * DAY)))).await.unwrap();
        let heir = Session { before: Some(Ref::new(7)), ..session(300, Some(DAY)) };
        site.sessions.insert(heir).await.unwrap();
        assert_eq!(site.delete_expired().await.unwrap(), 249);
        assert_eq!(ids(&site).await, [7, 300]);
        assert_eq!(site.delete_expired().await.unwrap(), 0);
        site.sessions.delete(300).await.unwrap();
        assert_eq!(site.delete_expired().await.unwrap(), 1);
        assert_eq!(site.audit().await.unwrap(), []);
    }

    async fn what_a_unique_index_refuses_is_left_too(store: AnyStore) {
        let site = site(store, by_hand()).await;
        site.sessions.insert_many([1, 2, 3].map(|id| session(id, Some(40 * DAY)))).await.unwrap();
        site.clicks.insert(click(1, 1, ago(1))).await.unwrap();
        let tab = |id: i32, window: i32| Tab { id, window: Ref::new(window), session: Ref::new(id) };
        site.windows.insert(Window { id: 1, tabs: 0 }).await.unwrap();
        site.tabs.insert_many([tab(1, 1), tab(2, 1)]).await.unwrap();
        site.windows.insert(Window { id: 2, tabs: 0 }).await.unwrap();
        site.tabs.insert(tab(3, 2)).await.unwrap();
        // One window would have as many tabs as the other.
        assert_eq!(site.delete_expired().await.unwrap(), 2, "a session and the click");
        assert_eq!(ids(&site).await, [1, 2]);
        assert_eq!(site.clicks.all().count().await.unwrap(), 0);
        assert_eq!(site.audit().await.unwrap(), []);
    }

    async fn a_pass_goes_past_many_that_are_left(store: AnyStore) {
        let site = site(store, by_hand()).await;
        site.sessions.insert_many((1..=260).map(|id| session(id, Some(40 * DAY)))).await.unwrap();
        let heirs = (1..=220).map(|id| Session { before: Some(Ref::new(id)), ..session(1000 + id, Some(DAY)) });
        site.sessions.insert_many(heirs).await.unwrap();
        assert_eq!(site.delete_expired().await.unwrap(), 40);
        assert_eq!(ids(&site).await.into_iter().filter(|id| *id <= 260).count(), 220);
        assert_eq!(site.audit().await.unwrap(), []);
    }

    async fn what_is_used_again_meanwhile_is_not_deleted(store: AnyStore) {
        let rounds = tests::rounds(&store, 200) as i32;
        let site = site(store, by_hand()).await;
        for id in 0..rounds {
            site.sessions.insert(session(id, Some(40 * DAY))).await.unwrap();
            let used = site.sessions.update(id).set(Session::fields().last_use, Some(Use { at: Some(ago(0)) }));
            let (used, deleted) = tokio::join!(used.into_future(), site.delete_expired());
            let is_left = site.sessions.get(id).await.is_ok();
            assert_eq!((deleted.unwrap() == 0, used.is_ok()), (is_left, is_left), "{id}");
        }
    }

    async fn in_a_transaction_what_cannot_be_deleted_is_an_error(store: AnyStore) {
        let site = site(store, by_hand()).await;
        site.sessions.insert_many([1, 2].map(|id| session(id, Some(40 * DAY)))).await.unwrap();
        let heir = Session { before: Some(Ref::new(1)), ..session(3, Some(DAY)) };
        site.sessions.insert(heir).await.unwrap();
        let refused: odm::Result<u64> = site.transaction(async |site| site.delete_expired().await).await;
        assert_eq!(refused.unwrap_err().kind(), odm::ErrorKind::Restricted);
        assert_eq!(ids(&site).await, [1, 2, 3]);
    }

    async fn a_worker_deletes_what_expires(store: AnyStore) {
        let often = OpenOptions::default().delete_expired_every(Duration::from_millis(20));
        let site = site(store, often).await;
        site.sessions.insert(session(1, Some(DAY))).await.unwrap();
        site.clicks.insert(click(1, 1, ago(-50))).await.unwrap();
        let gone = async {
            while site.clicks.all().count().await.unwrap() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), gone).await.expect("the worker deletes it");
        assert_eq!(ids(&site).await, [1]);
    }

    async fn what_expires_in_a_transaction_is_deleted_with_it(store: AnyStore) {
        let site = site(store, by_hand()).await;
        site.sessions.insert(session(1, Some(40 * DAY))).await.unwrap();
        let rolled_back: odm::Result<()> = site
            .transaction(async |site| {
                assert_eq!(site.delete_expired().await?, 1);
                Err(odm::Error::new(odm::ErrorKind::InvalidQuery, "no"))
            })
            .await;
        assert!(rolled_back.is_err());
        assert_eq!(ids(&site).await, [1]);
        let read_only: odm::Result<u64> = site.snapshot(async |site| site.delete_expired().await).await;
        assert_eq!(read_only.unwrap_err().kind(), odm::ErrorKind::ReadOnly);
    }
}

#[tokio::test]
async fn however_many_are_left_those_after_them_are_deleted() {
    let site = site(Embedded::memory().await.unwrap(), by_hand()).await;
    let restricted = (0..1_200).map(|id| session(id, Some(50 * DAY)));
    site.sessions.insert_many(restricted).await.unwrap();
    let heirs =
        (0..1_200).map(|id| Session { before: Some(Ref::new(id)), ..session(2_000 + id, None) });
    site.sessions.insert_many(heirs).await.unwrap();
    site.sessions.insert_many((4_000..4_150).map(|id| session(id, Some(40 * DAY)))).await.unwrap();
    assert_eq!(site.delete_expired().await.unwrap(), 150);
    assert_eq!(site.sessions.all().count().await.unwrap(), 2_400);
}

#[tokio::test]
async fn what_has_expired_is_found_by_an_index() {
    let site = site(Embedded::memory().await.unwrap(), by_hand()).await;
    let sessions = (0..500).map(|id| session(id, Some((id as i64 % 50) * DAY)));
    site.sessions.insert_many(sessions).await.unwrap();
    let (deleted, cost) = measure(site.delete_expired()).await;
    assert_eq!(deleted.unwrap(), 200);
    assert_eq!(cost.documents_scanned, 0);
}

/// The worker neither keeps the file open after the last clone of the database, nor works on after a close.
async fn worker_ends_with_its_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.odm");
    let site = site(Embedded::open(&path).await.unwrap(), by_hand()).await;
    let sessions = (0..1_500).map(|id| session(id, Some(40 * DAY)));
    site.sessions.insert_many(sessions).await.unwrap();
    drop(site);
    for round in 0..40 {
        // The file is free at once, whatever the worker was doing.
        let store = Embedded::open(&path).await.unwrap();
        let often = OpenOptions::default().delete_expired_every(Duration::from_millis(1));
        let site = Site::open_with(store, often).await.unwrap();
        let clone = site.sessions.clone();
        drop(site);
        tokio::time::sleep(Duration::from_micros(100 * round)).await;
        if round % 2 == 0 {
            clone.all().count().await.unwrap();
        }
    }
    let site = Site::open(Embedded::open(&path).await.unwrap()).await;
    site.unwrap().close().await.unwrap();
}

#[tokio::test]
async fn a_worker_ends_with_its_database_on_one_thread() {
    worker_ends_with_its_database().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_ends_with_its_database_on_several_threads() {
    worker_ends_with_its_database().await;
}
