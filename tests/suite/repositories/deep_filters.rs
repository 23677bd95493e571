//! Filters of documents, and of groups, nested deeper than any program needs.

use odm::{
    prelude::*,
    query::{Having, Rows, count},
};
use tests::on_every_store;

use super::items::{Item, with_five};

/// A filter of every item, with `&` and `|` in turns.
fn alternating(levels: usize) -> Filter<Item> {
    let count = Item::fields().count;
    (0..levels).fold(count.gt(-1), |filter, level| match level % 2 {
        0 => filter | count.lt(-1),
        _ => filter & count.lt(1_000_000),
    })
}

fn negated(levels: usize) -> Filter<Item> {
    let every = Item::fields().count.gt(-1);
    (0..levels).fold(every, |filter, _| !filter)
}

/// A filter of every group, with `&` and `|` in turns.
fn alternating_groups(levels: usize) -> Having<Rows<Item>> {
    (0..levels).fold(count().gt(0), |having, level| match level % 2 {
        0 => having | count().gt(1_000_000),
        _ => having & count().lt(1_000_000),
    })
}

fn negated_groups(levels: usize) -> Having<Rows<Item>> {
    (0..levels).fold(count().gt(0), |having, _| !having)
}

on_every_store! {
    async fn a_filter_that_is_nested_too_deep_is_an_error_of_the_query(store: AnyStore) {
        let db = with_five(store).await;
        for deep in [alternating(10_000), negated(100_000)] {
            let errors = [
                db.items.find(deep.clone()).await.unwrap_err(),
                db.items.find(!deep.clone() & Item::fields().count.gt(1)).count().await.unwrap_err(),
                db.items.update_where(deep.clone()).inc(Item::fields().count, 1).await.unwrap_err(),
                db.items.delete_where(deep).await.unwrap_err(),
            ];
            for error in errors {
                assert_eq!(error.code_name().as_deref(), Some("Overflow"), "{error}");
                assert!(error.to_string().contains("180"), "{error}");
            }
        }
        assert_eq!(db.items.all().count().await.unwrap(), 5);
    }

    async fn a_filter_may_have_many_levels_and_as_many_conditions_on_one_as_it_likes(store: AnyStore) {
        let db = with_five(store).await;
        for filter in [alternating(40), negated(40)] {
            assert_eq!(db.items.find(filter).count().await.unwrap(), 5);
        }
        let count = Item::fields().count;
        let wide = (0..2_000).fold(Filter::all(), |filter, _| filter & count.gt(-1));
        let wide = (0..2_000).fold(wide, |filter, _| Filter::all() & filter);
        let any = (0..2_000).fold(count.lt(-1), |filter, _| filter | count.gt(-1));
        assert_eq!(db.items.find(wide & any).count().await.unwrap(), 5);
    }

    async fn a_filter_of_groups_that_is_nested_too_deep_is_an_error_of_the_query(store: AnyStore) {
        let db = with_five(store).await;
        let kinds = || db.items.all().count_by(Item::fields().kind);
        for error in [
            kinds().having(alternating_groups(10_000)).await.unwrap_err(),
            kinds().having(negated_groups(100_000)).await.unwrap_err(),
            kinds().having(count().gt(0) & alternating_groups(10_000)).await.unwrap_err(),
            // Each of the two is within the limit, but the combination is not.
            kinds().having(negated_groups(89)).having(count().gt(0)).await.unwrap_err(),
        ] {
            assert_eq!(error.code_name().as_deref(), Some("Overflow"), "{error}");
            assert!(error.to_string().contains("180"), "{error}");
        }
        assert_eq!(kinds().having(negated_groups(89)).await.unwrap().len(), 0);
        assert_eq!(kinds().await.unwrap().len(), 3);
    }

    async fn a_filter_of_groups_may_have_many_levels_and_many_conditions_on_one(store: AnyStore) {
        let db = with_five(store).await;
        let kinds = || db.items.all().count_by(Item::fields().kind);
        for having in [alternating_groups(40), negated_groups(40)] {
            assert_eq!(kinds().having(having).await.unwrap().len(), 3);
        }
        let wide = (0..2_000).fold(count().gt(0), |having, _| having & count().gt(0));
        let any = (0..2_000).fold(count().gt(1_000_000), |having, _| having | count().gt(0));
        assert_eq!(kinds().having(wide & any).await.unwrap().len(), 3);
        let calls = (0..2_000).fold(kinds(), |kinds, _| kinds.having(count().gt(0)));
        assert_eq!(calls.await.unwrap().len(), 3);
    }
}
