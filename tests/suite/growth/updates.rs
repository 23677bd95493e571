//! Changes of one large document.

use odm::{bson::doc, prelude::*};

use super::{Part, Thing, grows_with_input, large, taken, thing, things};

fn numbers(size: usize) -> std::ops::Range<i64> {
    0..size as i64
}

grows_with_input! {
    4_000: async fn an_entry_of_a_large_map_that_is_modified(size: usize) -> Taken {
        let db = large(size).await;
        taken(async { db.things.modify(1, |thing| *thing.map.get_mut("k7").unwrap() = -1).await.unwrap() }).await
    }

    4_000: async fn all_entries_of_a_large_map_that_are_modified(size: usize) -> Taken {
        let db = large(size).await;
        taken(async { db.things.modify(1, |thing| thing.map.values_mut().for_each(|n| *n -= 1)).await.unwrap() }).await
    }

    4_000: async fn a_large_map_whose_entries_are_others_after_a_modification(size: usize) -> Taken {
        let db = large(size).await;
        let others = || numbers(size).map(|n| (format!("o{n}"), n)).collect();
        taken(async { db.things.modify(1, |thing| thing.map = others()).await.unwrap() }).await
    }

    4_000: async fn an_element_of_a_large_list_that_is_modified(size: usize) -> Taken {
        let db = large(size).await;
        taken(async { db.things.modify(1, |thing| { thing.list[3] = -1; thing.parts[5].count = 7 }).await.unwrap() }).await
    }

    4_000: async fn a_large_document_that_is_replaced(size: usize) -> Taken {
        let db = large(size).await;
        let mut new = db.things.get(1).await.unwrap();
        new.list.reverse();
        taken(async { db.things.replace(new).await.unwrap() }).await
    }

    4_000: async fn an_entry_that_is_set(size: usize) -> Taken {
        let db = large(size).await;
        taken(async { db.things.update(1).set_entry(Thing::fields().map, "k9", 7).await.unwrap() }).await
    }

    1_000: async fn many_entries_that_are_set_in_one_update(size: usize) -> Taken {
        let db = large(size).await;
        let map = Thing::fields().map;
        let update = numbers(size).fold(db.things.update(1), |update, n| update.set_entry(map, format!("k{n}"), -n));
        taken(async { update.await.unwrap() }).await
    }

    1_000: async fn many_new_entries_that_are_set_in_one_update(size: usize) -> Taken {
        let db = things(2).await;
        let map = Thing::fields().map;
        let update = numbers(size).rev().fold(db.things.update(1), |update, n| update.set_entry(map, format!("k{n}"), -n));
        taken(async { update.await.unwrap() }).await
    }

    1_000: async fn many_entries_that_are_removed_in_one_update(size: usize) -> Taken {
        let db = large(size).await;
        let map = Thing::fields().map;
        let update = numbers(size).fold(db.things.update(1), |update, n| update.unset_entry(map, format!("k{n}")));
        taken(async { update.await.unwrap() }).await
    }

    1_000: async fn many_elements_that_are_updated_at_their_positions(size: usize) -> Taken {
        let db = large(size).await;
        let parts = Thing::fields().parts;
        let update = numbers(size).fold(db.things.update(1), |update, n| {
            update.update_at(parts, n as usize, |part, changes| changes.set(part.count, n))
        });
        taken(async { update.await.unwrap() }).await
    }

    4_000: async fn all_elements_that_match_a_list(size: usize) -> Taken {
        let db = large(size).await;
        let parts = Thing::fields().parts;
        let update = db.things.update(1).update_each(
            parts,
            |part| part.code.in_(numbers(size)),
            |part, changes| changes.inc(part.count, 1),
        );
        taken(async { update.await.unwrap() }).await
    }

    4_000: async fn many_values_that_are_pushed(size: usize) -> Taken {
        let db = large(size).await;
        taken(async { db.things.update(1).push_all(Thing::fields().list, numbers(size)).await.unwrap() }).await
    }

    4_000: async fn many_values_that_are_added_to_a_set(size: usize) -> Taken {
        let db = large(size).await;
        let each: Vec<i64> = (0..size as i64).map(|n| n * 2).collect();
        taken(async { db.things.update(1).raw(doc! { "$addToSet": { "list": { "$each": each } } }).await.unwrap() }).await
    }

    4_000: async fn many_values_that_are_pulled(size: usize) -> Taken {
        let db = large(size).await;
        taken(async { db.things.update(1).pull_where(Thing::fields().parts, |part| part.code.in_(numbers(size))).await.unwrap() }).await
    }

    4_000: async fn many_values_that_are_pulled_by_a_raw_update(size: usize) -> Taken {
        let db = large(size).await;
        let all: Vec<i64> = numbers(size).collect();
        taken(async { db.things.update(1).raw(doc! { "$pullAll": { "list": all } }).await.unwrap() }).await
    }

    4_000: async fn a_list_that_is_pushed_to_and_sorted(size: usize) -> Taken {
        let db = large(size).await;
        let each: Vec<i64> = numbers(size).rev().collect();
        let push = doc! { "$push": { "list": { "$each": each, "$sort": 1, "$slice": -100 } } };
        taken(async { db.things.update(1).raw(push).await.unwrap() }).await
    }

    1_000: async fn a_patch_of_a_large_map(size: usize) -> Taken {
        let db = large(size).await;
        let map: std::collections::BTreeMap<String, i64> = numbers(size).map(|n| (format!("k{n}"), -n)).collect();
        taken(async { db.things.update(1).set(Thing::fields().map, map).await.unwrap() }).await
    }

    4_000: async fn a_large_document_that_is_inserted(size: usize) -> Taken {
        let db = things(0).await;
        let numbers = 0..size as i64;
        let new = Thing {
            list: numbers.clone().collect(),
            parts: numbers.clone().map(|code| Part { code, count: 0 }).collect(),
            map: numbers.map(|n| (format!("k{n}"), n)).collect(),
            ..thing(1)
        };
        taken(async { db.things.insert(new).await.unwrap() }).await
    }

    4_000: async fn a_large_document_that_is_deleted(size: usize) -> Taken {
        let db = large(size).await;
        taken(async { db.things.delete(1).await.unwrap() }).await
    }
}
