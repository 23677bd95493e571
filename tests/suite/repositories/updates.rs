//! Every operator of an update, of one document and of many.

use odm::{ErrorKind, bson::doc, prelude::*};
use tests::{on_every_store, stored};

use crate::repositories::items::{Item, Items, Origin, Size, Stock, five, ids, item, with_five};

/// Applies an update by id and by filter to the same item; both must have the same result.
async fn updated(db: &Items, id: i64, change: Update<Item>) -> Item {
    let before = db.items.get(id).await.unwrap();
    db.items.update(id).with(change.clone()).await.unwrap();
    let by_id = db.items.get(id).await.unwrap();
    db.items.replace(before.clone()).await.unwrap();
    let done = db.items.update_where(Item::fields().id.eq(id)).with(change).await.unwrap();
    assert_eq!(done.matched, 1);
    assert!(!done.inserted);
    assert_eq!(done.modified, u64::from(by_id != before));
    assert_eq!(db.items.get(id).await.unwrap(), by_id);
    by_id
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.into()).collect()
}

on_every_store! {
    async fn set_and_unset_change_one_field(store: AnyStore) {
        let db = with_five(store.clone()).await;
        let item = Item::fields();
        let mut expected = five()[2].clone();
        let change = Update::new()
            .set(item.kind, "cog")
            .set(item.count, 1)
            .set(item.note, None::<String>)
            .set(item.label, "new")
            .set(item.tags, strings(&["grey"]))
            .set(item.size.height, 40);
        let changed = updated(&db, 3, change).await;
        expected.kind = "cog".into();
        expected.count = 1;
        expected.note = None;
        expected.label = Some("new".into());
        expected.tags = strings(&["grey"]);
        expected.size.height = 40;
        assert_eq!(changed, expected);
        let raw = &stored(&store, "items").await[2];
        assert!(raw.get("note").unwrap().is_some(), "a `None` that is stored as null is set to it");

        let norway = Origin { country: "SE".into(), since: DateTime::from_millis(7) };
        let change = Update::new()
            .unset(item.note)
            .unset(item.label)
            .set(item.origin, norway.clone())
            .set(item.size, Size { width: 0, height: 0 });
        let changed = updated(&db, 2, change).await;
        assert_eq!((&changed.note, &changed.label), (&None, &None));
        assert_eq!(changed.origin, Some(norway));
        assert_eq!(changed.size, Size { width: 0, height: 0 });
        let raw = &stored(&store, "items").await[1];
        assert!(raw.get("note").unwrap().is_none(), "an unset field is not stored");
        let country = updated(&db, 3, Update::new().set(item.origin.country, "DK")).await.origin;
        assert_eq!(country.unwrap().country, "DK");
    }

    async fn numbers_are_calculated(store: AnyStore) {
        let db = with_five(store).await;
        let item = Item::fields();
        let changed = updated(&db, 2, Update::new().inc(item.count, 3).inc(item.weight, -0.5)).await;
        assert_eq!((changed.count, changed.weight), (10, 1.5));
        let changed = updated(&db, 2, Update::new().mul(item.count, -2).mul(item.weight, 2.0)).await;
        assert_eq!((changed.count, changed.weight), (-20, 3.0));
        let changed = updated(&db, 2, Update::new().min(item.count, 0).max(item.weight, 2.0)).await;
        assert_eq!((changed.count, changed.weight), (-20, 3.0));
        let changed = updated(&db, 2, Update::new().max(item.count, 0).min(item.weight, 2.0)).await;
        assert_eq!((changed.count, changed.weight), (0, 2.0));
        let later = DateTime::from_millis(99_999);
        let changed = updated(&db, 2, Update::new().max(item.made, later)).await;
        assert_eq!(changed.made, later);
        let changed = updated(&db, 2, Update::new().inc(item.size.width, 1)).await;
        assert_eq!(changed.size, Size { width: 2, height: 2 });
    }

    async fn arrays_grow_and_shrink(store: AnyStore) {
        let db = with_five(store).await;
        let item = Item::fields();
        let tags = async |change| updated(&db, 3, change).await.tags;
        assert_eq!(tags(Update::new().push(item.tags, "red")).await, ["red", "blue", "red"]);
        let more = Update::new().push_all(item.tags, ["x", "y"]);
        assert_eq!(tags(more).await, ["red", "blue", "red", "x", "y"]);
        let twice = Update::new().push(item.tags, "x").with(Update::new().push(item.tags, "y"));
        assert_eq!(tags(twice).await[5..], ["x", "y"]);
        let cut = doc! { "$push": { "tags": { "$each": ["z"], "$slice": 5 } } };
        let error = db.items.update(3).raw(cut.clone()).push(item.tags, "z").await.unwrap_err();
        assert!(error.to_string().contains("`tags`"), "a slice is not for other values: {error}");
        assert_eq!(tags(Update::new().raw(cut)).await, ["red", "blue", "red", "x", "y"]);
        let known = Update::new().add_to_set(item.tags, "blue");
        assert_eq!(tags(known).await, ["red", "blue", "red", "x", "y"]);
        let new = Update::new().add_to_set(item.tags, "z");
        assert_eq!(tags(new).await, ["red", "blue", "red", "x", "y", "z"]);
        assert_eq!(tags(Update::new().pull(item.tags, "red")).await, ["blue", "x", "y", "z"]);
        assert_eq!(tags(Update::new().pop(item.tags)).await, ["blue", "x", "y"]);
        assert_eq!(tags(Update::new().pop_first(item.tags)).await, ["x", "y"]);
        assert_eq!(tags(Update::new().pull(item.tags, "none")).await, ["x", "y"]);

        let stock = |place: &str, qty| Stock { place: place.into(), qty };
        let change = Update::new().push(item.stock, stock("east", 2));
        let changed = updated(&db, 3, change).await.stock;
        assert_eq!(changed, [stock("north", 9), stock("south", 1), stock("east", 2)]);
        let change = Update::new().pull(item.stock, stock("south", 1));
        assert_eq!(updated(&db, 3, change).await.stock, [stock("north", 9), stock("east", 2)]);
        let few = Update::new().pull_where(item.stock, |stock| stock.qty.lt(5));
        assert_eq!(updated(&db, 3, few).await.stock, [stock("north", 9)]);
    }

    async fn an_update_by_id_names_what_it_does_not_find(store: AnyStore) {
        let db = with_five(store).await;
        let error = db.items.update(77).set(Item::fields().count, 1).await.unwrap_err();
        assert!(error.is_not_found());
        assert!(error.to_string().contains("`items`") && error.to_string().contains("77"));
    }

    async fn an_update_by_filter_changes_all_that_match(store: AnyStore) {
        let db = with_five(store).await;
        let item = Item::fields();
        let done = db.items.update_where(item.count.lte(7)).set(item.count, 7).await.unwrap();
        assert_eq!((done.matched, done.modified, done.inserted), (4, 2, false));
        assert_eq!(ids(db.items.find(item.count.eq(7))).await, [1, 2, 3, 5]);
        let none = db.items.update_where(item.kind.eq("cog")).set(item.count, 0).await.unwrap();
        assert_eq!((none.matched, none.modified, none.inserted), (0, 0, false));
        // An update does not find again the documents that it has changed.
        let done = db.items.update_where(item.count.gte(7)).inc(item.count, 10).await.unwrap();
        assert_eq!(done.modified, 5);
        let counts = db.items.all().distinct(item.count).await.unwrap();
        assert_eq!(counts, [17, 19]);
        // By an index whose key the update changes.
        let done = db.items.update_where(item.code.gte("b")).set(item.kind, "zzz").await.unwrap();
        assert_eq!(done.modified, 4);
        assert_eq!(ids(db.items.find(item.kind.eq("zzz"))).await, [2, 3, 4, 5]);
        assert_eq!(ids(db.items.find(item.kind.eq("nut"))).await, [0; 0]);
    }

    async fn an_update_that_breaks_a_unique_key_changes_nothing(store: AnyStore) {
        let db = with_five(store.clone()).await;
        let before = stored(&store, "items").await;
        let item = Item::fields();
        let error = db.items.update(1).set(item.code, "b").await.unwrap_err();
        assert!(error.is_duplicate_key(), "{error:?}");
        assert!(error.to_string().contains("\"b\""), "{error}");
        let error = db.items.update_where(item.kind.eq("nut")).set(item.code, "n").await;
        assert!(error.unwrap_err().is_duplicate_key());
        assert_eq!(stored(&store, "items").await, before);
        // A document may take its own key.
        db.items.update(1).set(item.code, "a").set(item.count, 0).await.unwrap();
        // And the old key is free for others.
        db.items.update(1).set(item.code, "z").await.unwrap();
        db.items.update(2).set(item.code, "a").await.unwrap();
        assert_eq!(db.items.find(item.code.eq("a")).one().await.unwrap().id, 2);
    }

    async fn an_update_that_cannot_be_applied_changes_nothing(store: AnyStore) {
        let db = with_five(store.clone()).await;
        let before = stored(&store, "items").await;
        let all = || db.items.update_where(Filter::all());
        for (update, kind) in [
            (doc! { "$inc": { "code": 1 } }, ErrorKind::InvalidUpdate),
            (doc! { "$push": { "count": 1 } }, ErrorKind::InvalidUpdate),
            (doc! { "$set": { "code.part": 1 } }, ErrorKind::InvalidUpdate),
            (doc! { "$set": { "_id": 99 } }, ErrorKind::InvalidUpdate),
        ] {
            let error = all().raw(update.clone()).await.unwrap_err();
            assert_eq!(error.kind(), kind, "{update}: {error}");
            assert_eq!(stored(&store, "items").await, before, "{update}");
        }
        // One field cannot be changed twice.
        let item = Item::fields();
        let error = all().set(item.count, 1).inc(item.count, 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
        assert!(error.to_string().contains("count"), "{error}");
        let size = Size { width: 0, height: 0 };
        let error = all().set(item.size, size).set(item.size.width, 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
        assert_eq!(stored(&store, "items").await, before);
    }

    async fn an_update_to_which_no_change_is_given_is_refused(store: AnyStore) {
        let db = with_five(store).await;
        let item = db.items.get(1).await.unwrap();
        for error in [
            db.items.update(&item).await.unwrap_err(),
            db.items.update(77).await.unwrap_err(),
            db.items.update(&item).plan().await.unwrap_err(),
            db.items.update_where(Filter::all()).await.unwrap_err(),
            db.items.update_where(Filter::all()).plan().await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidQuery);
            assert!(error.to_string().contains("use `replace`"), "{error}");
        }
    }

    async fn an_update_by_changes_of_which_there_are_none_changes_nothing(store: AnyStore) {
        let db = with_five(store.clone()).await;
        let before = stored(&store, "items").await;
        db.items.update(1).with(Update::new()).await.unwrap();
        assert!(db.items.update(77).with(Update::new()).await.unwrap_err().is_not_found());
        let done = db.items.update_where(Filter::all()).raw(doc! {}).await.unwrap();
        assert_eq!((done.matched, done.modified), (5, 0));
        let same = db.items.update_where(Filter::all()).max(Item::fields().count, 0).await.unwrap();
        assert_eq!((same.matched, same.modified), (5, 0));
        assert_eq!(stored(&store, "items").await, before);
    }

    async fn a_field_that_is_set_twice_is_named(store: AnyStore) {
        let db = with_five(store.clone()).await;
        let before = stored(&store, "items").await;
        let size = Item::fields().size;
        let twice = db.items.update(1).set(size.width, 1).inc(size.width, 2).await.unwrap_err();
        assert_eq!(twice.kind(), ErrorKind::InvalidQuery);
        assert_eq!(
            twice.to_string(),
            "conflicting paths: `size.width` is named twice; name each field once"
        );
        let whole = Size { width: 0, height: 0 };
        let part = db.items.update(1).set(size, whole).set(size.width, 2).await.unwrap_err();
        assert_eq!(
            part.to_string(),
            "conflicting paths: `size.width` and `size` overlap; name each field once"
        );
        assert_eq!(stored(&store, "items").await, before);
    }

    async fn changes_put_together_apart_from_the_call_are_the_same(store: AnyStore) {
        let db = with_five(store).await;
        let fields = Item::fields();
        let rename = Update::new().set(fields.kind, "cog");
        let change = rename.clone().with(Update::new().inc(fields.count, 1)).clone();
        db.items.update(1).with(change).set(fields.weight, 0.0).await.unwrap();
        db.items.update_where(fields.id.gt(3)).with(rename).await.unwrap();
        let first = db.items.get(1).await.unwrap();
        assert_eq!(first, Item { weight: 0.0, ..item(1, "a", "cog", 6) });
        assert_eq!(ids(db.items.find(fields.kind.eq("cog"))).await, [1, 4, 5]);
    }
}
