//! Queries beside indexes of present values alone.

use super::*;

#[test]
fn an_index_of_present_values_serves_no_filter_that_an_empty_array_passes() {
    block_on(async {
        let index = IndexSpec {
            present_only: true,
            ..index("b_a_present", &[("b", 1), ("a", 1)])
        };
        let store = things(vec![index]).await;
        let document = doc! { "_id": 0, "a": [], "b": 1 };
        insert(&store, vec![document.clone()])
            .await
            .expect("an insert");
        let pattern = |text: &str| bson::Regex {
            pattern: text.try_into().expect("a pattern"),
            options: "i".try_into().expect("options"),
        };
        let asked = Asked {
            filter: doc! { "a": { "$in": [[], pattern("^ab\\z"), pattern("^É\\z")] } },
            sort: doc! {},
            ignores_case: false,
            collations: (None, None),
            skip: 0,
            limit: None,
            after: None,
        };
        let reader = store.reader().expect("an open store");
        compare_by_key(&*reader, &[raw(document)], &asked).await;
    });
}
