//! Reads by lists of values.

use std::collections::BTreeSet;

use odm::{bson::doc, measure, prelude::*};

use super::{Thing, grows_with_input, large, taken, things};

fn numbers(size: usize) -> std::ops::Range<i64> {
    0..size as i64
}

grows_with_input! {
    1_000: async fn a_list_of_ids(size: usize) -> Taken {
        let db = things(size).await;
        taken(async { assert_eq!(db.things.find(Thing::fields().id.in_(numbers(size))).await.unwrap().len(), size) }).await
    }

    4_000: async fn two_lists_on_one_path(size: usize) -> Taken {
        let db = things(100).await;
        let id = Thing::fields().id;
        let half = size as i64 / 2;
        let both = id.in_(numbers(size)) & id.in_(half..half + size as i64);
        taken(async { assert_eq!(db.things.find(both).await.unwrap().len(), 0) }).await
    }

    4_000: async fn two_lists_on_the_path_of_an_index(size: usize) -> Taken {
        let db = things(100).await;
        let n = Thing::fields().n;
        taken(async { db.things.find(n.in_(numbers(size)) & n.in_(numbers(size))).await.unwrap() }).await
    }

    1_000: async fn many_conditions_beside_a_list_on_one_path(size: usize) -> Taken {
        let db = things(10).await;
        let n = Thing::fields().n;
        let conditions = numbers(size).map(|_| n.gte(0));
        let filter = Filter::all_of(conditions) & n.in_(1_000_000..1_000_000 + size as i64);
        taken(async { assert_eq!(db.things.find(filter).await.unwrap().len(), 0) }).await
    }

    4_000: async fn a_list_that_excludes(size: usize) -> Taken {
        let db = things(100).await;
        taken(async { db.things.find(Thing::fields().n.not_in(numbers(size))).await.unwrap() }).await
    }

    4_000: async fn a_list_of_elements_that_are_all_in_a_list(size: usize) -> Taken {
        let db = large(size).await;
        taken(async { assert_eq!(db.things.find(Thing::fields().list.all(numbers(size))).await.unwrap().len(), 1) }).await
    }

    4_000: async fn elements_that_are_one_of_a_list(size: usize) -> Taken {
        let db = large(size).await;
        let fields = Thing::fields();
        let any = fields.parts.any(|part| part.code.in_((0..size as i64).map(|n| -1 - n)));
        taken(async { assert_eq!(db.things.find(any).await.unwrap().len(), 0) }).await
    }

    4_000: async fn texts_of_a_list_that_ignore_case(size: usize) -> Taken {
        let db = things(10).await;
        let texts: Vec<String> = numbers(size).map(|n| format!("x{n}")).collect();
        taken(async { db.things.find(Thing::fields().text.in_ignore_case(&texts)).await.unwrap() }).await
    }

    1_000: async fn a_disjunction_of_many(size: usize) -> Taken {
        let db = things(size).await;
        let id = Thing::fields().id;
        let any = Filter::any_of(numbers(size).map(|n| id.eq(n)));
        taken(async { assert_eq!(db.things.find(any).await.unwrap().len(), size) }).await
    }

    1_000: async fn a_disjunction_of_many_beside_many_conditions(size: usize) -> Taken {
        let db = things(10).await;
        let (id, n) = (Thing::fields().id, Thing::fields().n);
        let others = Filter::all_of(numbers(size).map(|number| n.ne(-1 - number)));
        let any = Filter::any_of(numbers(size).map(|n| id.eq(n))) & others;
        taken(async { assert_eq!(db.things.find(any).await.unwrap().len(), 10) }).await
    }

    1_000: async fn many_documents_by_their_ids(size: usize) -> Taken {
        let db = things(size).await;
        taken(async { assert_eq!(db.things.get_many(numbers(size)).await.unwrap().len(), size) }).await
    }

    1_000: async fn the_same_document_many_times(size: usize) -> Taken {
        let db = things(10).await;
        let ids = numbers(size).map(|n| n % 10);
        taken(async { assert_eq!(db.things.get_many(ids).await.unwrap().len(), size) }).await
    }

    1_000: async fn sorts_without_an_index(size: usize) -> Taken {
        let db = things(size).await;
        taken(async { db.things.all().sort(Thing::fields().text.desc()).await.unwrap() }).await
    }

    1_000: async fn sorts_by_many_keys(size: usize) -> Taken {
        let db = things(10).await;
        let sort = numbers(size).fold(Thing::fields().n.asc(), |sort, _| sort.then(Thing::fields().text.asc()));
        taken(async { db.things.all().sort(sort).await.unwrap() }).await
    }

    1_000: async fn groups_of_many(size: usize) -> Taken {
        let db = things(size).await;
        taken(async { assert_eq!(db.things.all().count_by(Thing::fields().text).await.unwrap().len(), size) }).await
    }

    1_000: async fn values_that_are_distinct(size: usize) -> Taken {
        let db = things(size).await;
        taken(async { assert_eq!(db.things.all().distinct(Thing::fields().text).await.unwrap().len(), size) }).await
    }

    1_000: async fn elements_of_a_list_as_rows(size: usize) -> Taken {
        let db = large(size).await;
        let list = Thing::fields().list;
        taken(async { assert_eq!(db.things.all().unwind(list).count_by(list.element()).await.unwrap().len(), size) }).await
    }

    1_000: async fn a_multikey_index_of_many_keys(size: usize) -> Taken {
        let db = things(size).await;
        taken(async { db.things.find(Filter::raw(doc! { "list": { "$gte": 0 } })).await.unwrap() }).await
    }

    1_000: async fn one_page_after_another(size: usize) -> Taken {
        let db = things(size).await;
        taken(async {
            let (mut seen, mut after) = (BTreeSet::new(), None);
            loop {
                let mut query = db.things.all().sort(Thing::fields().n.asc());
                if let Some(after) = &after {
                    query = query.after(after);
                }
                let page = query.page(50).await.unwrap();
                seen.extend(page.items.iter().map(|thing| thing.id));
                match page.next {
                    Some(next) => after = Some(next),
                    None => break,
                }
            }
            assert_eq!(seen.len(), size);
        })
        .await
    }

    1_000: async fn a_count_and_a_sum(size: usize) -> Taken {
        let db = things(size).await;
        taken(async {
            db.things.find(Thing::fields().n.gte(0)).count().await.unwrap();
            db.things.all().sum(Thing::fields().n).await.unwrap()
        })
        .await
    }

    1_000: async fn a_stream(size: usize) -> Taken {
        let db = things(size).await;
        taken(async {
            let mut stream = db.things.all().stream();
            let mut count = 0;
            while stream.try_next().await.unwrap().is_some() {
                count += 1;
            }
            assert_eq!(count, size);
        })
        .await
    }

    1_000: async fn a_list_on_each_field_of_an_index(size: usize) -> Taken {
        let db = things(10).await;
        let fields = Thing::fields();
        let filter = fields.group.in_(0..5) & fields.n.in_(numbers(size)) & fields.n.gte(5);
        taken(async { db.things.find(filter).sort(fields.n.asc()).limit(5).await.unwrap() }).await
    }
}

#[tokio::test]
async fn two_lists_on_one_path_find_what_is_in_both() {
    let db = things(100).await;
    let n = Thing::fields().n;
    let query = || db.things.find(n.in_([5, 3, 99, 100, 7]) & n.in_([200, 99, 7, 4]) & n.lt(50));
    let ids: Vec<i64> = query().await.unwrap().iter().map(|thing| thing.id).collect();
    assert_eq!(ids, [7]);
    let (_, cost) = measure(async { query().await.unwrap() }).await;
    assert_eq!(cost.documents_examined, 1);
}
