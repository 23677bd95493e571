//! Inserts, and reads of the inserted documents.

use odm::{ErrorKind, bson::RawBson, measure, prelude::*};
use tests::{on_embedded_stores, on_every_store, stored};

use crate::repositories::items::{Item, Items, Line, five, ids, item, with_five};

on_every_store! {
    async fn what_is_inserted_is_returned_and_read_again(store: AnyStore) {
        let db = Items::open(store).await.unwrap();
        for item in five() {
            assert_eq!(db.items.insert(item.clone()).await.unwrap(), item);
            assert_eq!(db.items.get(item.id).await.unwrap(), item);
            assert_eq!(db.items.get(&item).await.unwrap(), item);
        }
        assert_eq!(db.items.all().await.unwrap(), five());
    }

    async fn insert_many_keeps_the_order_and_takes_none(store: AnyStore) {
        let db = Items::open(store).await.unwrap();
        let mut items = five();
        items.reverse();
        assert_eq!(db.items.insert_many(items.clone()).await.unwrap(), items);
        assert_eq!(db.items.insert_many(Vec::<Item>::new()).await.unwrap(), []);
        assert_eq!(db.items.all().await.unwrap(), five());
    }

    async fn a_taken_id_is_refused_and_named(store: AnyStore) {
        let db = with_five(store.clone()).await;
        let before = stored(&store, "items").await;
        let error = db.items.insert(item(3, "new", "nut", 1)).await.unwrap_err();
        assert!(error.is_duplicate_key(), "{error:?}");
        assert_eq!(error.kind(), ErrorKind::DuplicateKey);
        let text = error.to_string();
        assert!(text.contains("`items`") && text.contains('3'), "{text}");
        assert!(text.contains("_id"), "{text}");
        assert_eq!(error.location().unwrap().collection, "items");
        assert_eq!(stored(&store, "items").await, before);
    }

    async fn a_taken_unique_key_is_refused_and_named(store: AnyStore) {
        let db = with_five(store.clone()).await;
        let before = stored(&store, "items").await;
        let error = db.items.insert(item(6, "c", "nut", 1)).await.unwrap_err();
        assert!(error.is_duplicate_key(), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("`items`") && text.contains("code"), "{text}");
        assert!(text.contains("\"c\""), "the key is not named: {text}");
        let place = error.location().unwrap();
        assert_eq!(place.collection, "items");
        assert!(place.path.as_deref().unwrap().contains("code"), "{place:?}");
        assert_eq!(stored(&store, "items").await, before);
    }

    async fn of_many_inserts_with_one_bad_none_is_stored(store: AnyStore) {
        let db = with_five(store.clone()).await;
        let before = stored(&store, "items").await;
        for bad in [item(5, "new", "nut", 1), item(9, "a", "nut", 1), item(7, "last", "nut", 1)] {
            let many = [item(7, "g", "nut", 1), item(8, "h", "nut", 1), bad];
            let error = db.items.insert_many(many).await.unwrap_err();
            assert!(error.is_duplicate_key(), "{error:?}");
            assert_eq!(stored(&store, "items").await, before);
        }
        // The keys of the rolled back documents are free.
        db.items.insert_many([item(7, "g", "nut", 1), item(8, "h", "nut", 1)]).await.unwrap();
    }

    async fn get_names_what_it_does_not_find(store: AnyStore) {
        let db = with_five(store).await;
        let error = db.items.get(77).await.unwrap_err();
        assert!(error.is_not_found());
        assert!(error.to_string().contains("`items`"), "{error}");
        assert!(error.to_string().contains("77"), "{error}");
        assert_eq!(error.location().unwrap().id, Some(RawBson::Int64(77)));
        assert_eq!(db.items.get(77).optional().await.unwrap(), None);
        assert_eq!(db.items.get(1).optional().await.unwrap().unwrap().code, "a");
    }

    async fn get_many_keeps_order_and_repeats_and_names_the_missing(store: AnyStore) {
        let db = with_five(store).await;
        let (found, cost) =
            measure(async { db.items.get_many([4, 1, 4, 2]).await.unwrap() }).await;
        let found: Vec<i64> = found.into_iter().map(|item| item.id).collect();
        assert_eq!(found, [4, 1, 4, 2]);
        assert_eq!(cost.queries, 1);
        assert_eq!(db.items.get_many([] as [i64; 0]).await.unwrap(), []);

        let error = db.items.get_many([4, 77, 1, 78]).await.unwrap_err();
        assert!(error.is_not_found());
        let text = error.to_string();
        assert!(text.contains("77") && text.contains("78"), "{text}");
        assert!(!text.contains('4'), "{text}");
        let found = db.items.get_many([4, 77, 4]).optional().await.unwrap();
        let found: Vec<_> = found.into_iter().map(|item| item.map(|item| item.id)).collect();
        assert_eq!(found, [Some(4), None, Some(4)]);
    }

    async fn first_one_exists_and_count_say_how_many_there_are(store: AnyStore) {
        let db = with_five(store).await;
        let kind = |kind: &str| db.items.find(Item::fields().kind.eq(kind));
        assert_eq!(kind("nut").first().await.unwrap().unwrap().id, 3);
        let newest = kind("nut").sort(Item::fields().made.desc());
        assert_eq!(newest.first().await.unwrap().unwrap().id, 4);
        assert_eq!(kind("cog").first().await.unwrap(), None);

        assert_eq!(kind("washer").one().await.unwrap().id, 5);
        let error = kind("cog").one().await.unwrap_err();
        assert!(error.is_not_found());
        assert!(error.to_string().contains("cog"), "the filter is not shown: {error}");
        assert_eq!(error.location().unwrap().collection, "items");
        let error = kind("nut").one().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotUnique);
        assert_eq!(error.location().unwrap().collection, "items");
        assert!(error.to_string().contains("nut"), "the filter is not shown: {error}");

        assert!(kind("nut").exists().await.unwrap());
        assert!(!kind("cog").exists().await.unwrap());
        assert_eq!(kind("nut").count().await.unwrap(), 2);
        assert_eq!(kind("cog").count().await.unwrap(), 0);
        assert_eq!(db.items.all().skip(1).limit(3).count().await.unwrap(), 3);
        assert_eq!(db.items.all().skip(4).limit(3).count().await.unwrap(), 1);
        assert_eq!(db.items.all().skip(7).count().await.unwrap(), 0);
    }

    async fn first_one_and_exists_keep_to_the_limit(store: AnyStore) {
        let db = with_five(store).await;
        let nuts = || db.items.find(Item::fields().kind.eq("nut"));
        assert_eq!(nuts().limit(0).first().await.unwrap(), None);
        assert!(!nuts().limit(0).exists().await.unwrap());
        assert!(nuts().limit(0).one().await.unwrap_err().is_not_found());
        assert_eq!(nuts().limit(1).one().await.unwrap().id, 3);
        assert_eq!(nuts().skip(1).one().await.unwrap().id, 4);
        assert!(!nuts().skip(2).exists().await.unwrap());
    }

    async fn skip_and_limit_cut_the_sorted_result(store: AnyStore) {
        let db = with_five(store).await;
        assert_eq!(ids(db.items.all().skip(2)).await, [3, 4, 5]);
        assert_eq!(ids(db.items.all().limit(2)).await, [1, 2]);
        assert_eq!(ids(db.items.all().skip(1).limit(2)).await, [2, 3]);
        assert_eq!(ids(db.items.all().skip(9)).await, [0; 0]);
        assert_eq!(ids(db.items.all().limit(0)).await, [0; 0]);
        let sorted = db.items.all().sort(Item::fields().count.desc()).skip(1).limit(3);
        assert_eq!(ids(sorted).await, [2, 5, 1]);
    }

    async fn distinct_values_come_once_and_in_order(store: AnyStore) {
        let db = with_five(store).await;
        let kinds = db.items.all().distinct(Item::fields().kind).await.unwrap();
        assert_eq!(kinds, ["bolt", "nut", "washer"]);
        let light = db.items.find(Item::fields().weight.lt(2.0));
        assert_eq!(light.distinct(Item::fields().count).await.unwrap(), [5, 7, 9]);
        // A null is a value; a missing field is not.
        let labels = db.items.all().distinct(Item::fields().label).await.unwrap();
        assert_eq!(labels, ["x", "x.y", "y"].map(|label| Some(label.to_owned())));
        let notes = db.items.all().distinct(Item::fields().note).await.unwrap();
        let expected = [None, Some(""), Some("Fragile!"), Some("fragile")];
        assert_eq!(notes, expected.map(|note| note.map(str::to_owned)));
        let countries = db.items.all().distinct(Item::fields().origin.country).await.unwrap();
        assert_eq!(countries, ["NO"]);
    }

    async fn distinct_values_of_a_list_are_its_elements(store: AnyStore) {
        let db = with_five(store.clone()).await;
        let fields = Item::fields();
        let mut expected: Vec<String> = five().into_iter().flat_map(|item| item.tags).collect();
        expected.sort_unstable();
        expected.dedup();
        assert!(expected.len() > 1 && five().iter().any(|item| item.tags.is_empty()));
        assert_eq!(db.items.all().distinct(fields.tags).await.unwrap(), expected);
        let none = db.items.find(fields.tags.len(0)).distinct(fields.tags).await.unwrap();
        assert_eq!(none, [""; 0]);
        // By a filter of the list, all elements of the documents that match.
        let tagged = db.items.find(fields.tags.contains(expected[0].as_str()));
        let both = tagged.distinct(fields.tags).await.unwrap();
        assert!(both.contains(&expected[0]) && both.iter().all(|tag| expected.contains(tag)));
    }

    async fn a_projection_reads_its_fields_alone(store: AnyStore) {
        let db = with_five(store).await;
        let lines: Vec<Line> =
            db.items.all().select().sort(Item::fields().code.desc()).limit(3).await.unwrap();
        let expected: Vec<Line> = five()
            .into_iter()
            .rev()
            .take(3)
            .map(|item| Line { code: item.code, note: item.note, stock: item.stock })
            .collect();
        assert_eq!(lines, expected);
        let one = db.items.find(Item::fields().id.eq(2)).select::<Line>().one().await.unwrap();
        assert_eq!(one.code, "b");
        // By fields that the projection does not show.
        let page = db.items.all().select::<Line>().sort(Item::fields().count.asc());
        let page = page.page(2).await.unwrap();
        let codes: Vec<&str> = page.items.iter().map(|line| line.code.as_str()).collect();
        assert_eq!(codes, ["a", "c"]);
        assert!(page.next.is_some());
    }

    async fn a_query_counts_what_it_touches(store: AnyStore) {
        let db = with_five(store).await;
        let (_, cost) = measure(async {
            db.items.get(1).await.unwrap();
            db.items.find(Item::fields().code.eq("c")).await.unwrap();
        })
        .await;
        assert_eq!((cost.queries, cost.documents_returned), (2, 2));
        assert_eq!(cost.documents_written, 0);
        let (_, cost) = measure(async {
            db.items.update_where(Item::fields().kind.eq("nut")).set(Item::fields().count, 0).await
        })
        .await;
        assert_eq!(cost.documents_written, 2);
    }

    async fn streams_and_audits_are_read_without_another_crate(store: AnyStore) {
        let db = with_five(store).await;
        let mut stream = db.items.all().stream();
        let mut ids = Vec::new();
        while let Some(item) = stream.try_next().await.unwrap() {
            ids.push(item.id);
        }
        assert_eq!(ids, [1, 2, 3, 4, 5]);
        assert!(stream.next().await.is_none());
        assert_eq!(db.audit().try_next().await.unwrap(), None);
    }

    async fn builders_show_what_they_would_do(store: AnyStore) {
        let db = Items::open(store).await.unwrap();
        let count = Item::fields().count;
        let query = format!("{:?}", db.items.find(count.gt(3)).limit(2));
        for part in ["Query", "\"items\"", "\"count\"", "limit: Some(2)"] {
            assert!(query.contains(part), "{part} in {query}");
        }
        let update = format!("{:?}", db.items.update(7).set(count, 5));
        assert!(update.contains("$set"), "{update}");
        let delete = format!("{:?}", db.items.delete(7));
        assert!(delete.contains("\"items\"") && delete.contains('7'), "{delete}");
    }
}

on_embedded_stores! {
    async fn explain_says_which_index_is_used(store: AnyStore) {
        let db = Items::open(store).await.unwrap();
        let many = (0..200).map(|n| item(n, &format!("c{n:03}"), &format!("k{}", n % 10), 1));
        db.items.insert_many(many).await.unwrap();
        let item = Item::fields();

        let by_code = db.items.find(item.code.eq("c017")).explain().await.unwrap();
        assert_eq!(by_code.index.as_deref(), Some("code_1"));
        assert!(by_code.cost.documents_examined <= 1, "{by_code:?}");
        assert_eq!(by_code.cost.documents_returned, 1);

        let by_kind = db.items.find(item.kind.eq("k3")).sort(item.count.desc());
        let by_kind = by_kind.explain().await.unwrap();
        assert_eq!(by_kind.index.as_deref(), Some("kind_1_count_-1"));
        assert!(by_kind.sorted_by_index, "{by_kind:?}");
        assert!(by_kind.cost.documents_examined <= 20, "{by_kind:?}");

        let prefix = db.items.find(item.code.starts_with("c01")).explain().await.unwrap();
        assert_eq!(prefix.index.as_deref(), Some("code_1"));
        assert!(prefix.cost.documents_examined <= 10, "{prefix:?}");

        let by_id = db.items.find(item.id.in_([3, 4])).explain().await.unwrap();
        assert_eq!(by_id.index.as_deref(), Some("_id"));
        assert!(by_id.cost.documents_examined <= 2, "{by_id:?}");

        let scan = db.items.find(item.weight.gt(9.0)).explain().await.unwrap();
        assert_eq!(scan.index, None);
        assert_eq!(scan.cost.documents_examined, 200);
        assert_eq!(scan.cost.documents_returned, 0);
    }
}
