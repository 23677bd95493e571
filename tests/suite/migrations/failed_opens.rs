//! A failed `open` has changed nothing: for every kind of change of a model, and every way in which it can fail, the stored documents are
//! the same, and the earlier programs go on, whether they are open already or opened later.

mod models;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use odm::{ErrorKind, OpenOptions, bson::RawDocumentBuf, prelude::*};
use odm_store_suite::MapStore;
use tests::{TestStore, on_embedded_stores, on_every_store, on_local_stores, poll_once};

use self::models::*;
use super::history::Ending;

/// All stored documents, without the number of changes of the catalog.
type Stored = BTreeMap<&'static str, Vec<RawDocumentBuf>>;

async fn all(store: &impl TestStore) -> Stored {
    let mut all = Stored::new();
    for name in ["users", "groups", "pages", "texts", "lines", "archive", "kept", "_odm_catalog"] {
        let mut documents = tests::stored(store, name).await;
        documents.retain(|document| document.get_str("_id").ok() != Some("epoch"));
        all.insert(name, documents);
    }
    all
}

fn user(id: i64) -> old::User {
    old::User {
        id,
        mail: "same".to_owned(),
        nick: format!("n{id}"),
        age: 17 + id,
        group: Ref::new(id % 2),
        group_name: String::new(),
    }
}

fn page(id: i64) -> old::Page {
    let title = if id == 2 { String::new() } else { format!("page {id}") };
    let body = format!("text {id}");
    old::Page { id, title, text: Cold::new(old::Text { body }) }
}

async fn filled(store: &impl TestStore) -> (old::Shop, other::Other) {
    let shop = old::Shop::open(store.clone()).await.unwrap();
    let group = |id| old::Group { id, name: format!("group {id}"), users: 0 };
    shop.groups.insert_many([group(0), group(1)]).await.unwrap();
    shop.users.insert_many((1..=3).map(user)).await.unwrap();
    shop.pages.insert_many((1..=3).map(page)).await.unwrap();
    let other = other::Other::open(store.clone()).await.unwrap();
    other.archive.insert(other::Archived { id: 3 }).await.unwrap();
    (shop, other)
}

/// Earlier programs read and write as before, and restore the documents.
async fn go_on(shop: &old::Shop, other: &other::Other) {
    assert_eq!(shop.users.get(2).await.unwrap().nick, "n2");
    let nick = old::User::fields().nick;
    assert_eq!(shop.users.find(nick.eq("n3")).one().await.unwrap().id, 3);
    shop.users.insert(user(4)).await.unwrap();
    let taken = old::User { nick: "n1".to_owned(), ..user(5) };
    let taken = shop.users.insert(taken).await.unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::DuplicateKey);
    assert_eq!(shop.groups.get(0).await.unwrap().users, 2);
    shop.users.update(4).set(old::User::fields().age, 5).await.unwrap();
    shop.groups.update(0).set(old::Group::fields().name, "renamed").await.unwrap();
    assert_eq!(shop.users.get(4).await.unwrap().group_name, "renamed");
    shop.groups.update(0).set(old::Group::fields().name, "group 0").await.unwrap();
    shop.users.delete(4).await.unwrap();
    shop.pages.insert(page(4)).await.unwrap();
    shop.pages.delete(4).await.unwrap();
    other.groups.update(1).set(other::Seen::fields().seen, 5).await.unwrap();
    other.groups.update(1).unset(other::Seen::fields().seen).await.unwrap();
    other.archive.insert(other::Archived { id: 4 }).await.unwrap();
    other.archive.delete(4).await.unwrap();
    assert_eq!(shop.audit().await.unwrap(), []);
    assert_eq!(other.audit().await.unwrap(), []);
}

/// Opens a version that cannot be opened, and asserts that nothing has changed. Returns the error.
async fn fails<D: Database>(store: &impl TestStore, parts: &[&str], kind: ErrorKind) {
    let (shop, other) = filled(store).await;
    let before = all(store).await;
    for attempt in 0..2 {
        let error = D::open_with(store.clone(), OpenOptions::default().refuse_backfill());
        let error = error.await.map(drop).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        for part in parts {
            assert!(error.to_string().contains(part), "{error}");
        }
        assert_eq!(all(store).await, before, "{attempt}");
        go_on(&shop, &other).await;
        let again = old::Shop::open(store.clone()).await.unwrap();
        go_on(&again, &other::Other::open(store.clone()).await.unwrap()).await;
        let again = all(store).await;
        assert_eq!(again["users"].len(), before["users"].len());
        assert_eq!(again["_odm_catalog"], before["_odm_catalog"]);
    }
}

/// Opens a version whose unique indexes have no duplicate keys, according to its trial and to the build of the indexes.
async fn opens<D: Database>(store: &impl TestStore) {
    filled(store).await;
    assert_eq!(D::check(store).await.unwrap().failures, []);
    D::open(store.clone()).await.map(drop).unwrap();
}

macro_rules! matrix {
    ($($name:ident: $module:ident, $kind:ident, [$($part:literal),*];)*) => {
        on_every_store! { $(
            async fn $name(store: AnyStore) {
                fails::<$module::Shop>(&store, &[$($part),*], ErrorKind::$kind).await;
            }
        )* }
    };
}

matrix! {
    duplicates_of_a_new_unique_index_beside_a_renamed_field: renamed_unique, DuplicateKey,
        ["index `mail_1` of `users` not built", "several documents have the value \"same\"", "nothing has changed"];
    duplicates_under_a_new_name: unique_by_new_name, DuplicateKey, ["index `handle_1`", "\"same\""];
    duplicates_that_a_step_makes_of_a_unique_field: unique_as_before, DuplicateKey, ["index `nick_1`", "\"n\""];
    duplicates_among_the_documents_of_a_partial_index: partial, DuplicateKey, ["index `mail_1_partial`", "\"same\""];
    duplicates_among_values_that_are_present: present, DuplicateKey, ["index `mail_1`", "\"same\""];
    duplicates_among_the_elements_of_lists: listed, DuplicateKey, ["index `tags_1`", "the value \"b\""];
    duplicates_in_several_fields: compound, DuplicateKey, ["index `group_1_mail_1`", "\"same\""];
    duplicates_without_steps: unique_without_steps, DuplicateKey, ["index `mail_1`", "nothing has changed"];
    a_value_that_a_step_cannot_change: retyped, FailedMigration, ["`users` with `_id` = 1", "invalid digit", "2 more"];
    a_panic_on_the_third_document: panicking, FailedMigration, ["`_id` = 3: its function panicked"];
    a_required_field_without_a_step: required, Schema, ["could not read 3 of `users`", "`country`"];
    a_required_field_that_was_forgotten_beside_a_rename: forgotten, Schema, ["could not read 3 of `users`", "`country`"];
    a_step_that_makes_what_the_unchanged_model_cannot_read: spoiled, Schema, ["could not read 3 of `users`", "`age`"];
    a_field_that_is_removed_before_a_step_that_fails: removed, FailedMigration, ["`_id` = 2: the second one"];
    a_validated_field_that_a_step_removes: validated, Schema, ["could not read 3 of `users`", "`age`"];
    a_reference_that_no_document_has: referring, Schema, ["could not read 3 of `users`", "`second`"];
    a_derived_field_beside_a_step_that_fails: deriving, Schema, ["backfill refused"];
    a_move_to_a_collection_of_another_program: moving, Schema, ["which the database other declares"];
    a_move_of_several_onto_documents_of_the_same_program: moving_two, DuplicateKey, ["`pages` already has a document", "2 more"];
    a_step_on_a_field_of_another_program: owned, Schema, ["which the database other declares"];
    a_dropped_collection_beside_a_step_that_fails: dropping, FailedMigration, ["the second one"];
    a_document_that_would_be_too_large: too_large, FailedMigration, ["the limit is 16777216"];
    cold_parts_whose_document_was_moved: inlined, FailedMigration, ["`texts` with `_id` = 2: its document is not there"];
    documents_that_are_to_be_split: split, FailedMigration, ["`_id` = 2: a page without a title"];
}

on_local_stores! {
    async fn duplicates_but_for_the_case_of_letters(store: AnyStore) {
        let parts = ["index `nick_1_case_insensitive`", "the value \"ann\""];
        fails::<folded::Shop>(&store, &parts, ErrorKind::DuplicateKey).await;
    }

    async fn texts_that_differ_in_more_than_case_are_no_duplicates(store: AnyStore) {
        opens::<folded_apart::Shop>(&store).await;
    }
}

on_every_store! {
    async fn documents_that_a_partial_index_leaves_out_are_no_duplicates(store: AnyStore) {
        opens::<partial_apart::Shop>(&store).await;
    }

    async fn values_that_are_absent_are_no_duplicates(store: AnyStore) {
        opens::<present_apart::Shop>(&store).await;
    }

    async fn elements_of_one_list_are_no_duplicates(store: AnyStore) {
        opens::<listed_apart::Shop>(&store).await;
    }

    async fn keys_that_differ_in_one_of_several_fields_are_no_duplicates(store: AnyStore) {
        opens::<compound_apart::Shop>(&store).await;
    }

    async fn a_number_out_of_the_range_of_its_new_type(store: AnyStore) {
        let (shop, _) = filled(&store).await;
        shop.users.update(3).set(old::User::fields().age, 1_000).await.unwrap();
        let before = all(&store).await;
        let error = narrowed::Shop::open(store.clone()).await.map(drop).unwrap_err();
        assert!(error.to_string().contains("could not read 1 of `users` (`_id` = 3: `age`"), "{error}");
        assert_eq!(all(&store).await, before);
        shop.users.update(3).set(old::User::fields().age, 20).await.unwrap();
        narrowed::Shop::open(store.clone()).await.unwrap();
    }

    async fn a_derived_field_without_an_empty_value_beside_a_step_that_fails(store: AnyStore) {
        let (shop, other) = filled(&store).await;
        let before = all(&store).await;
        let error = deriving::Shop::open(store.clone()).await.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FailedMigration, "{error}");
        assert_eq!(all(&store).await, before);
        go_on(&shop, &other).await;
    }

    async fn a_check_lists_each_failure_with_its_document_and_writes_nothing(store: AnyStore) {
        let (shop, _) = filled(&store).await;
        let before = all(&store).await;
        let failures = async |changes: odm::Result<odm::migration::SchemaChanges>| {
            let changes = changes.unwrap();
            assert_eq!(changes.failure_count, changes.failures.len() as u64);
            assert!(!changes.is_empty());
            let text = changes.to_string();
            let texts: Vec<String> = changes.failures.iter().map(ToString::to_string).collect();
            assert!(texts.iter().all(|failure| text.contains(&format!("  failure: {failure}\n"))), "{text}");
            (changes.failures, texts)
        };
        let (listed, texts) = failures(retyped::Shop::check(&store).await).await;
        assert_eq!(texts[1], "version 2: change `nick` of `users`: `users` with `_id` = 2: invalid digit found in string");
        assert_eq!((listed.len(), listed[1].id.clone()), (3, 2_i64.into()));
        let (listed, texts) = failures(renamed_unique::Shop::check(&store).await).await;
        let expected = [2, 3].map(|id| {
            format!("index `mail_1`: `users` with `_id` = {id}: `mail` = \"same\" is that of `_id` = 1 too, and the index is unique")
        });
        assert_eq!(texts, expected);
        assert_eq!((listed[0].path.as_deref(), listed[0].index.as_deref()), (Some("mail"), Some("mail_1")));
        let (listed, _) = failures(forgotten::Shop::check(&store).await).await;
        assert_eq!((listed.len(), listed[0].path.as_deref()), (3, Some("country")));
        let error = owned::Shop::check(&store).await.unwrap_err();
        assert!(error.to_string().contains("which the database other declares"), "{error}");
        assert_eq!(all(&store).await, before);
        // Correct data has no failures.
        for id in 1..=3 {
            shop.users.update(id).set(old::User::fields().nick, id.to_string()).await.unwrap();
        }
        assert_eq!(retyped::Shop::check(&store).await.unwrap().failures, []);
        retyped::Shop::open(store.clone()).await.unwrap();
    }

    async fn what_a_step_or_a_rename_takes_is_no_older_name_of_a_new_field(store: AnyStore) {
        filled(&store).await;
        for changes in [
            forgotten::Shop::check(&store).await.unwrap(),
            unique_by_new_name::Shop::check(&store).await.unwrap(),
            renamed_unique::Shop::check(&store).await.unwrap(),
        ] {
            assert!(!changes.to_string().contains("if it is `nick`"), "{changes}");
        }
    }
}

/// Opens a version in processes that end before each unit. The previous version goes on, unless the new one is in force as a whole.
async fn ends_anywhere<D: Database>(new_store: impl AsyncFn() -> odm::Embedded) {
    let mut ended = 0;
    for units in 0.. {
        let store = new_store().await;
        filled(&store).await;
        let before = all(&store).await;
        let ending = Ending { store: store.clone(), units: Arc::new(AtomicUsize::new(units)) };
        let opened = D::open(ending.clone()).await;
        let is_open = opened.is_ok();
        if let Err(error) = opened.map(drop) {
            assert_eq!(error.kind(), ErrorKind::Io, "{units}: {error}");
        }
        let changes = D::check(&store).await.unwrap();
        if !changes.is_empty() {
            assert!(!is_open, "{units}: {changes}");
            let shop = old::Shop::open(store.clone()).await.unwrap();
            assert_eq!(all(&store).await, before, "{units}");
            assert_eq!(staged(&store).await, 0, "{units}");
            let other = other::Other::open(store.clone()).await.unwrap();
            go_on(&shop, &other).await;
            ended += 1;
        }
        let newest = D::open(store.clone()).await.unwrap();
        assert_eq!(newest.audit().await.unwrap(), [], "{units}");
        assert_eq!(staged(&store).await, 0, "{units}");
        store.check_integrity().await.unwrap();
        if is_open && ending.units.load(Ordering::SeqCst) > 0 {
            break;
        }
    }
    assert!(ended > 5, "{ended}");
}

/// The number of documents that are staged.
async fn staged(store: &impl TestStore) -> usize {
    let mut number = 0;
    for name in ["users", "groups", "pages", "texts", "_odm_catalog"] {
        number += tests::stored(store, &format!("_odm_staged.{name}")).await.len();
    }
    number
}

#[test]
fn a_process_that_ends_before_any_unit_of_a_migration_leaves_the_version_before() {
    tests::in_memory(async |_: odm::Embedded| {
        let new = async || odm::Embedded::memory().await.unwrap();
        ends_anywhere::<right::Shop>(new).await;
    });
}

#[test]
fn a_process_that_ends_before_any_unit_of_a_backfill_leaves_the_version_before() {
    tests::in_memory(async |_: odm::Embedded| {
        let new = async || odm::Embedded::memory().await.unwrap();
        ends_anywhere::<copying::Shop>(new).await;
    });
}

#[test]
fn where_documents_are_changed_in_place_a_migration_that_has_begun_goes_on_and_one_that_has_not_is_withdrawn()
 {
    tests::in_maps(async |_: MapStore| {
        let (mut withdrawn, mut begun) = (0, 0);
        for units in 0.. {
            let store = MapStore::new();
            let (shop, other) = filled(&store).await;
            let before = all(&store).await;
            let ending = Ending { store: store.clone(), units: Arc::new(AtomicUsize::new(units)) };
            let Err(error) = right::Shop::open(ending).await.map(drop) else {
                break;
            };
            let says_begun = error.to_string().contains("the migration has begun");
            match old::Shop::open(store.clone()).await {
                Ok(again) => {
                    assert!(!says_begun, "{units}: {error}");
                    assert_eq!(all(&store).await, before, "{units}");
                    go_on(&shop, &other).await;
                    go_on(&again, &other).await;
                    withdrawn += 1;
                }
                Err(outdated) => {
                    assert!(outdated.to_string().contains("outdated models"), "{outdated}");
                    begun += 1;
                }
            }
            let newest = right::Shop::open(store.clone()).await.unwrap();
            assert_eq!(newest.audit().await.unwrap(), [], "{units}");
            assert_eq!(newest.users.get(1).await.unwrap().handle, "n3", "{units}");
        }
        assert!(withdrawn > 0 && begun > 5, "{withdrawn} {begun}");
    });
}

on_embedded_stores! {
    async fn an_open_that_is_dropped_anywhere_leaves_the_version_before(store: AnyStore) {
        let (shop, other) = filled(&store).await;
        let before = all(&store).await;
        let mut dropped = 0;
        for polls in 0.. {
            let mut opening = right::Shop::open(store.clone());
            let mut is_open = false;
            for _ in 0..polls {
                if poll_once(&mut opening).await.is_ready() {
                    is_open = true;
                    break;
                }
                tokio::time::sleep(Duration::from_micros(300)).await;
            }
            drop(opening);
            if is_open {
                break;
            }
            // The announcement is withdrawn in a moment.
            let user = async || shop.users.update(1).set(old::User::fields().age, 18).await;
            let mut tries = 0;
            let written = loop {
                match user().await {
                    Err(error) if error.kind() == ErrorKind::Migrating && tries < 1_000 => {
                        tries += 1;
                        tokio::time::sleep(Duration::from_millis(2)).await;
                    }
                    written => break written,
                }
            };
            match written {
                Ok(_) => dropped += 1,
                // The last commit had been made.
                Err(error) => {
                    assert!(error.to_string().contains("outdated models"), "{error}");
                    assert!(right::Shop::check(&store).await.unwrap().is_empty());
                    break;
                }
            }
            if polls % 7 == 0 {
                old::Shop::open(store.clone()).await.unwrap();
                assert_eq!(all(&store).await, before, "{polls}");
                go_on(&shop, &other).await;
            }
        }
        assert!(dropped > 5, "{dropped}");
        let newest = right::Shop::open(store.clone()).await.unwrap();
        assert_eq!(newest.audit().await.unwrap(), []);
        assert_eq!(newest.users.get(1).await.unwrap().handle, "n3");
    }
}

on_every_store! {
    async fn a_version_whose_steps_can_be_tried_is_opened(store: AnyStore) {
        filled(&store).await;
        assert_eq!(right::Shop::check(&store).await.unwrap().failures, []);
        let shop = right::Shop::open(store.clone()).await.unwrap();
        let user = shop.users.get(2).await.unwrap();
        assert_eq!((user.handle.as_str(), user.group_title.as_str(), user.siblings), ("n2", "group 0", 1));
        let third = right::User::fields().handle.eq("n3");
        assert_eq!(shop.users.find(third).one().await.unwrap().id, 1);
        assert_eq!(shop.pages.get(3).await.unwrap().text.body, "text 3");
        assert_eq!(shop.audit().await.unwrap(), []);
        let other = other::Other::open(store.clone()).await.unwrap();
        other.groups.update(1).set(other::Seen::fields().seen, 5).await.unwrap();
        assert_eq!(tests::stored(&store, "texts").await.len(), 0);
        assert!(old::Shop::open(store.clone()).await.is_err());
    }
}
