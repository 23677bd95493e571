//! The matches of each operator of a filter, in types and in MongoDB's form.

use odm::{
    ErrorKind,
    bson::{Bson, Document, doc},
    prelude::*,
};
use tests::on_every_store;

use crate::repositories::items::{Item, Items, Origin, Size, Stock, ids, with_five};

async fn assert_matches(db: &Items, cases: impl IntoIterator<Item = (Filter<Item>, &[i64])>) {
    for (filter, expected) in cases {
        let text = format!("{filter:?}");
        let found = ids(db.items.find(filter.clone())).await;
        assert_eq!(found, expected, "{text} matches others");
        let count = db.items.find(filter).count().await.unwrap();
        assert_eq!(count, expected.len() as u64, "{text} is counted wrong");
    }
}

async fn assert_raw(db: &Items, cases: impl IntoIterator<Item = (Document, &[i64])>) {
    let cases = cases.into_iter().map(|(filter, expected)| (Filter::raw(filter), expected));
    assert_matches(db, cases).await;
}

const NOTHING: &[i64] = &[];

on_every_store! {
    async fn equality_and_ranges_match_by_value(store: AnyStore) {
        let db = with_five(store).await;
        let item = Item::fields();
        let bolts: Vec<&str> = vec!["a", "e", "zz"];
        let made = DateTime::from_millis(3000);
        let size = Size { width: 3, height: 4 };
        let cases: Vec<(_, &[i64])> = vec![
            (item.id.eq(3), &[3]),
            (item.code.eq("c"), &[3]),
            (item.code.eq(String::from("c")), &[3]),
            (item.code.eq("C"), NOTHING),
            (item.kind.ne("nut"), &[1, 2, 5]),
            (item.count.gt(5), &[2, 4, 5]),
            (item.count.gte(7), &[2, 4, 5]),
            (item.count.lt(7), &[1, 3]),
            (item.count.lte(7), &[1, 2, 3, 5]),
            (item.weight.lt(0.0), &[4]),
            (item.weight.gte(2.0), &[2, 3]),
            (item.made.gt(made), &[4, 5]),
            (item.made.eq(made), &[3]),
            (item.code.in_(bolts.clone()), &[1, 5]),
            (item.code.not_in(bolts), &[2, 3, 4]),
            (item.code.in_([] as [&str; 0]), NOTHING),
            (item.code.not_in([] as [&str; 0]), &[1, 2, 3, 4, 5]),
            (item.id.in_([5, 1, 1, 77]), &[1, 5]),
            (item.size.width.eq(3), &[3]),
            (item.size.eq(size), &[3]),
            (Filter::all(), &[1, 2, 3, 4, 5]),
        ];
        assert_matches(&db, cases).await;
    }

    async fn null_and_missing_are_told_apart_only_by_exists(store: AnyStore) {
        let db = with_five(store).await;
        let item = Item::fields();
        let none_or_fragile = [None, Some("fragile".to_owned())];
        let cases: Vec<(_, &[i64])> = vec![
            (item.note.eq(None::<String>), &[1, 5]),
            (item.note.is_null(), &[1, 5]),
            (!item.note.is_null(), &[2, 3, 4]),
            (item.note.exists(true), &[1, 2, 3, 4]),
            (item.note.exists(false), &[5]),
            (item.note.ne("fragile"), &[1, 3, 4, 5]),
            (item.note.ne(None::<String>), &[2, 3, 4]),
            (item.note.not_in(["fragile"]), &[1, 3, 4, 5]),
            (item.note.in_(none_or_fragile), &[1, 2, 5]),
            (item.note.gte(""), &[2, 3, 4]),
            (item.note.gt(""), &[2, 3]),
            (item.note.lt("zzz"), &[2, 3, 4]),
            (item.label.is_null(), &[1, 3]),
            (item.label.exists(true), &[2, 4, 5]),
            (item.label.exists(false), &[1, 3]),
            (item.origin.is_null(), &[1, 2, 4, 5]),
            (item.origin.exists(true), &[1, 2, 3, 4, 5]),
            (item.origin.country.eq("NO"), &[3]),
            (item.origin.country.ne("NO"), &[1, 2, 4, 5]),
            (item.origin.country.exists(true), &[3]),
            (item.origin.since.lt(DateTime::from_millis(1)), &[3]),
        ];
        assert_matches(&db, cases).await;
        let norway = Origin { country: "NO".into(), since: DateTime::from_millis(0) };
        assert_matches(&db, [(item.origin.eq(norway), [3].as_slice())]).await;
    }

    async fn text_is_matched_by_prefix_part_and_pattern(store: AnyStore) {
        let db = with_five(store).await;
        let item = Item::fields();
        let cases: Vec<(_, &[i64])> = vec![
            (item.note.starts_with("frag"), &[2]),
            (item.note.starts_with(""), &[2, 3, 4]),
            (item.note.regex("(?i)frag"), &[2, 3]),
            (item.note.regex("^$"), &[4]),
            (item.note.contains("gile"), &[2, 3]),
            // Special characters of a pattern have no special meaning.
            (item.label.starts_with("x."), &[5]),
            (item.label.contains("."), &[5]),
            (item.kind.starts_with("n"), &[3, 4]),
            (item.code.starts_with("c"), &[3]),
        ];
        assert_matches(&db, cases).await;
    }

    async fn arrays_are_matched_by_element_by_all_and_as_a_whole(store: AnyStore) {
        let db = with_five(store).await;
        let item = Item::fields();
        let south_3 = Stock { place: "south".into(), qty: 3 };
        let cases: Vec<(_, &[i64])> = vec![
            (item.tags.contains("red"), &[2, 3, 4]),
            (item.tags.contains("r"), NOTHING),
            (item.tags.all(["red", "blue"]), &[3, 4]),
            (item.tags.all(["red"]), &[2, 3, 4]),
            (item.tags.all([] as [&str; 0]), NOTHING),
            (item.tags.len(0), &[1, 5]),
            (item.tags.len(2), &[3]),
            (item.tags.eq(vec!["red".to_owned()]), &[2]),
            (item.tags.eq(vec!["blue".to_owned(), "red".to_owned()]), NOTHING),
            (item.tags.eq(Vec::new()), &[1, 5]),
            (item.stock.len(1), &[2, 4]),
            (item.stock.contains(south_3), &[4]),
            (item.stock.any(|stock| stock.place.eq("north")), &[2, 3]),
            (item.stock.any(|stock| stock.place.eq("north") & stock.qty.gt(5)), &[3]),
            // Different elements have the place and the number.
            (item.stock.any(|stock| stock.place.eq("north") & stock.qty.eq(1)), NOTHING),
            (item.stock.any(|stock| stock.qty.eq(1) | stock.place.eq("nowhere")), &[3]),
            (!item.stock.any(|stock| stock.qty.eq(3)), &[1, 3, 5]),
        ];
        assert_matches(&db, cases).await;
    }

    async fn a_condition_without_a_value_matches_everything(store: AnyStore) {
        let db = with_five(store).await;
        let item = Item::fields();
        let none = None::<i32>;
        let cases: Vec<(_, &[i64])> = vec![
            (item.code.eq_opt(Some("c")), &[3]),
            (item.code.eq_opt(None::<&str>), &[1, 2, 3, 4, 5]),
            (item.note.eq_opt(Some(None::<String>)), &[1, 5]),
            (item.count.gt_opt(Some(7)), &[4]),
            (item.count.gte_opt(Some(7)), &[2, 4, 5]),
            (item.count.lt_opt(Some(7)), &[1, 3]),
            (item.count.lte_opt(Some(7)), &[1, 2, 3, 5]),
            (item.count.gt_opt(none) & item.count.gte_opt(none), &[1, 2, 3, 4, 5]),
            (item.count.lt_opt(none) & item.count.lte_opt(none), &[1, 2, 3, 4, 5]),
        ];
        assert_matches(&db, cases).await;
    }

    async fn filters_are_combined_in_any_number(store: AnyStore) {
        let db = with_five(store).await;
        let item = Item::fields();
        let (nut, few) = (item.kind.eq("nut"), item.count.lt(9));
        let (mut both, mut either) = (nut.clone(), nut.clone());
        both &= few.clone();
        either |= item.code.eq("a");
        let cases: Vec<(_, &[i64])> = vec![
            (both, &[3]),
            (either, &[1, 3, 4]),
            (Filter::all_of([nut.clone(), few.clone(), item.code.eq("d")]), NOTHING),
            (Filter::all_of([nut.clone(), few.clone()]), &[3]),
            (Filter::all_of([]), &[1, 2, 3, 4, 5]),
            (Filter::any_of(["a", "b", "d"].map(|code| item.code.eq(code))), &[1, 2, 4]),
            (Filter::any_of([]), NOTHING),
            (Filter::any_of([]) | nut.clone(), &[3, 4]),
            (item.stock.any(|stock| Filter::any_of([stock.qty.eq(1), stock.qty.eq(3)])), &[2, 3, 4]),
            (item.stock.any(|_| Filter::any_of([])), NOTHING),
        ];
        assert_matches(&db, cases).await;
        // A query accepts further filters, and keeps the error of each.
        let query = || db.items.find(nut.clone()).sort(item.code.desc());
        assert_eq!(ids(query().filter(few.clone()).filter(Filter::all())).await, [3]);
        for wrong in [Filter::raw(doc! { "$no": 1 }), Filter::all() & Filter::raw(doc! { "$no": 1 })] {
            let error = query().filter(wrong.clone()).filter(few.clone()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
            let error = db.items.find(wrong).filter(few.clone()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
        }
    }

    async fn conditions_are_combined_by_and_or_and_not(store: AnyStore) {
        let db = with_five(store).await;
        let item = Item::fields();
        let nut = || item.kind.eq("nut");
        let cases: Vec<(_, &[i64])> = vec![
            (nut() & item.count.lt(9), &[3]),
            (nut() & item.count.lt(9) & item.code.eq("d"), NOTHING),
            (item.kind.eq("bolt") | item.count.eq(9), &[1, 2, 4]),
            (!nut(), &[1, 2, 5]),
            (!!nut(), &[3, 4]),
            (!(nut() | item.count.eq(7)), &[1]),
            (!(nut() & item.count.eq(9)), &[1, 2, 3, 5]),
            ((nut() | item.count.eq(7)) & !item.label.exists(true), &[3]),
            (item.count.gt(5) & item.count.lt(9), &[2, 5]),
            (!item.count.gt(5), &[1, 3]),
            // Unlike `lte`, it also matches without a comparable value.
            (!item.note.gt("G"), &[1, 3, 4, 5]),
            (Filter::all() & nut(), &[3, 4]),
            (!Filter::all(), NOTHING),
        ];
        assert_matches(&db, cases).await;
    }

    async fn raw_filters_mean_what_they_mean_in_mongodb(store: AnyStore) {
        let db = with_five(store).await;
        let cases: Vec<(_, &[i64])> = vec![
            (doc! {}, &[1, 2, 3, 4, 5]),
            (doc! { "count": 5.0 }, &[1, 3]),
            (doc! { "count": { "$gt": 5_i64, "$lt": 9 } }, &[2, 5]),
            (doc! { "count": { "$in": [5, 9] }, "kind": "nut" }, &[3, 4]),
            (doc! { "count": { "$nin": [5, 9] } }, &[2, 5]),
            (doc! { "count": { "$not": { "$gt": 5 } } }, &[1, 3]),
            (doc! { "$nor": [{ "kind": "nut" }, { "count": 7 }] }, &[1]),
            (doc! { "$and": [{ "kind": "nut" }, { "count": 9 }] }, &[4]),
            (doc! { "$or": [{ "kind": "washer" }, { "count": 9 }] }, &[4, 5]),
            (doc! { "note": null }, &[1, 5]),
            (doc! { "note": { "$type": "string" } }, &[2, 3, 4]),
            (doc! { "note": { "$type": "null" } }, &[1]),
            (doc! { "note": { "$regex": "^f", "$options": "i" } }, &[2, 3]),
            (doc! { "tags": "blue" }, &[3, 4]),
            (doc! { "tags": { "$all": ["red", "blue"] } }, &[3, 4]),
            (doc! { "tags": { "$size": 3 } }, &[4]),
            (doc! { "tags.0": "red" }, &[2, 3]),
            (doc! { "tags": { "$elemMatch": { "$gt": "c", "$lt": "h" } } }, &[4]),
            // By different elements, without `$elemMatch`.
            (doc! { "stock.place": "north", "stock.qty": 1 }, &[3]),
            (doc! { "stock": { "$elemMatch": { "place": "north", "qty": 1 } } }, NOTHING),
            (doc! { "size": { "height": 4, "width": 3 } }, NOTHING),
            (doc! { "$jsonSchema": { "properties": { "count": { "minimum": 9 } } } }, &[4]),
            (doc! { "kind": "nut", "$jsonSchema": { "required": ["missing"] } }, NOTHING),
            (doc! { "weight": { "$lte": Bson::Double(f64::NAN) } }, NOTHING),
        ];
        assert_raw(&db, cases).await;
    }

    async fn an_unknown_operator_of_a_filter_is_named(store: AnyStore) {
        let db = with_five(store).await;
        for (operator, filter) in [
            ("$near", doc! { "count": { "$near": 1 } }),
            ("$where", doc! { "$where": "true" }),
            ("$function", doc! { "$expr": { "$function": { "body": "a" } } }),
            ("$frob", doc! { "$or": [{ "a": { "$not": { "$frob": 1 } } }] }),
        ] {
            let error = db.items.find(Filter::raw(filter.clone())).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
            assert!(error.to_string().contains(&format!("`{operator}`")), "{error}");
            let filter = Filter::raw(filter);
            let error = db.items.delete_where(filter.clone()).await.unwrap_err();
            assert!(error.to_string().contains(operator), "{error}");
            let error = db.items.find(filter & Item::fields().id.eq(1)).count().await.unwrap_err();
            assert!(error.to_string().contains(operator), "{error}");
        }
        let pattern = Item::fields().note.regex("(");
        let error = db.items.find(pattern).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
        assert_eq!(db.items.all().count().await.unwrap(), 5);
    }
}
