//! Answers are the same with and without indexes, and agree with the definition.

mod present;

use bson::{Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf, doc};
use odm_mql::{
    Collation, Filter, Group, Sort,
    group::{Accumulator, GroupKey},
    key,
};
use odm_store::{Aggregate, Find, FindByKey, IndexSpec, Reader, Store, TransactionOptions};
use proptest::prelude::*;
use std::ops::ControlFlow;

use super::support::*;

fn scalar() -> impl Strategy<Value = Bson> {
    prop_oneof![
        6 => (0..4i32).prop_map(Bson::Int32),
        2 => prop_oneof![Just(1.0), Just(2.5), Just(f64::NAN), Just(-0.0)].prop_map(Bson::Double),
        1 => (0..3i64).prop_map(Bson::Int64),
        3 => prop_oneof!["a", "ab", "abc", "b", ""].prop_map(Bson::String),
        2 => prop_oneof!["A", "aB", "Ab", "AbC", "É", "é", "_"].prop_map(Bson::String),
        1 => prop_oneof!["a", "AB"].prop_map(Bson::Symbol),
        2 => Just(Bson::Null),
        1 => any::<bool>().prop_map(Bson::Boolean),
        1 => Just(Bson::Undefined),
        1 => Just(Bson::MinKey),
        1 => Just(Bson::Document(doc! { "x": 1 })),
    ]
}

fn field() -> impl Strategy<Value = Option<Bson>> {
    let array = prop::collection::vec(
        prop_oneof![
            4 => scalar(),
            1 => prop::collection::vec(scalar(), 0..2).prop_map(Bson::Array),
        ],
        0..3,
    );
    prop_oneof![
        2 => Just(None),
        8 => scalar().prop_map(Some),
        2 => array.prop_map(|array| Some(Bson::Array(array))),
    ]
}

fn inner() -> impl Strategy<Value = Bson> {
    (field(), field()).prop_map(|(x, y)| {
        let mut document = Document::new();
        document.extend(x.map(|x| ("x".to_owned(), x)));
        document.extend(y.map(|y| ("y".to_owned(), y)));
        Bson::Document(document)
    })
}

fn nested() -> impl Strategy<Value = Option<Bson>> {
    prop_oneof![
        2 => Just(None),
        1 => scalar().prop_map(Some),
        4 => inner().prop_map(Some),
        3 => prop::collection::vec(prop_oneof![4 => inner(), 1 => scalar()], 0..3)
            .prop_map(|array| Some(Bson::Array(array))),
    ]
}

fn a_document() -> impl Strategy<Value = Document> {
    // Half of the documents have no arrays at all, so that not every index becomes multikey.
    let id = prop_oneof![
        4 => (0..40i32).prop_map(Bson::Int32),
        1 => (0..5i32).prop_map(|id| Bson::Double(f64::from(id) + 0.5)),
        1 => "[a-c]{1,2}".prop_map(Bson::String),
    ];
    (id, field(), field(), nested()).prop_map(|(id, a, b, c)| {
        let mut document = doc! { "_id": id };
        document.extend(a.map(|a| ("a".to_owned(), a)));
        document.extend(b.map(|b| ("b".to_owned(), b)));
        document.extend(c.map(|c| ("c".to_owned(), c)));
        document
    })
}

fn without_arrays(document: Document) -> Document {
    let flat = |value: Bson| match value {
        Bson::Array(array) => array.into_iter().next().unwrap_or(Bson::Null),
        value => value,
    };
    let flat = |value| match flat(flat(value)) {
        Bson::Document(inner) => Bson::Document(
            inner
                .into_iter()
                .map(|(name, value)| (name, flat(flat(value))))
                .collect(),
        ),
        value => value,
    };
    document
        .into_iter()
        .map(|(name, value)| (name, flat(value)))
        .collect()
}

fn documents() -> impl Strategy<Value = Vec<Document>> {
    (prop::collection::vec(a_document(), 0..25), any::<bool>()).prop_map(|(documents, flat)| {
        match flat {
            true => documents.into_iter().map(without_arrays).collect(),
            false => documents,
        }
    })
}

fn indexes() -> impl Strategy<Value = Vec<IndexSpec>> {
    let all = vec![
        index("a", &[("a", 1)]),
        index("a_desc", &[("a", -1)]),
        index("a_b", &[("a", 1), ("b", 1)]),
        index("a_b_desc", &[("a", 1), ("b", -1)]),
        index("b_a", &[("b", 1), ("a", 1)]),
        index("b_desc_id", &[("b", -1), ("_id", 1)]),
        index("a_id_desc", &[("a", 1), ("_id", -1)]),
        index("a_id_b", &[("a", 1), ("_id", 1), ("b", 1)]),
        index("c_x", &[("c.x", 1)]),
        index("c_x_y", &[("c.x", 1), ("c.y", 1)]),
        index("a_c_x", &[("a", -1), ("c.x", 1)]),
        index("c_0", &[("c.0", 1)]),
        index("c", &[("c", 1)]),
        IndexSpec {
            present_only: true,
            ..index("a_present", &[("a", 1)])
        },
        IndexSpec {
            present_only: true,
            ..index("b_a_present", &[("b", 1), ("a", 1)])
        },
        IndexSpec {
            present_only: true,
            ..index("c_present", &[("c.x", 1), ("c.y", 1)])
        },
        IndexSpec {
            present_only: true,
            ..unique("b_unique", &[("b", 1)])
        },
        unique("a_c_unique", &[("a", 1), ("c.x", 1)]),
        index("a_id", &[("a", 1), ("_id", 1)]),
        folded(index("a_folded", &[("a", 1)])),
        folded(index("a_id_folded", &[("a", 1), ("_id", 1)])),
        folded(index("b_a_folded", &[("b", -1), ("a", 1)])),
        folded(index("c_x_folded", &[("c.x", 1)])),
        folded(unique("b_unique_folded", &[("b", 1)])),
        collated(index("a_english", &[("a", 1)]), 2),
        collated(index("a_b_english", &[("a", -1), ("b", 1)]), 2),
        collated(index("a_id_english", &[("a", 1), ("_id", 1)]), 2),
        collated(index("id_english", &[("_id", -1), ("a", 1)]), 2),
        collated(index("c_english", &[("c", 1)]), 2),
        collated(index("c_x_english", &[("c.x", 1), ("b", -1)]), 1),
        collated(unique("b_unique_english", &[("b", 1)]), 1),
        collated(
            IndexSpec {
                present_only: true,
                ..unique("b_a_present_english", &[("b", 1), ("a", -1)])
            },
            2,
        ),
        folded(IndexSpec {
            present_only: true,
            ..unique("a_b_present_folded", &[("a", -1), ("b", 1)])
        }),
    ];
    let partial = partial_indexes();
    (prop::sample::subsequence(all, 1..6), partial).prop_map(|(mut indexes, partial)| {
        indexes.extend(partial);
        indexes
    })
}

/// A condition that a partial index may have.
fn condition() -> impl Strategy<Value = Document> {
    prop_oneof![
        2 => (0..4i32).prop_map(|v| doc! { "$eq": v }),
        2 => (0..3i32).prop_map(|v| doc! { "$gte": v }),
        1 => (0..3i32).prop_map(|v| doc! { "$gt": v }),
        2 => (1..4i32).prop_map(|v| doc! { "$lte": v }),
        1 => Just(doc! { "$lt": "b" }),
        2 => Just(doc! { "$eq": null }),
        3 => Just(doc! { "$exists": true }),
        1 => Just(doc! { "$type": ["int", "string"] }),
    ]
}

/// A path of a condition of a partial index.
fn condition_path() -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => Just("a"), 3 => Just("b"), 1 => Just("c.x"), 1 => Just("c.0")]
}

fn partial_indexes() -> impl Strategy<Value = Vec<IndexSpec>> {
    let conditions = prop::collection::btree_map(condition_path(), condition(), 1..3);
    let of = prop_oneof![
        Just(index("p1", &[("a", 1)])),
        Just(index("p2", &[("b", -1), ("a", 1)])),
        Just(index("p3", &[("c.x", 1), ("b", 1)])),
        Just(unique("p4", &[("b", 1)])),
        Just(folded(index("p5", &[("a", 1), ("b", 1)]))),
        Just(IndexSpec {
            present_only: true,
            ..unique("p6", &[("a", 1), ("b", 1)])
        }),
        Just(collated(index("p10", &[("a", 1), ("b", 1)]), 2)),
        Just(index("p7", &[("b", 1), ("_id", -1)])),
        Just(folded(unique("p8", &[("a", -1)]))),
        Just(folded(IndexSpec {
            present_only: true,
            ..index("p9", &[("c.y", 1)])
        })),
    ];
    prop::collection::vec((of, conditions), 0..4).prop_map(|mut all| {
        all.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
        all.dedup_by(|(a, _), (b, _)| a.name == b.name);
        let all = all.into_iter().map(|(index, conditions)| {
            let conditions = conditions
                .into_iter()
                .map(|(path, test)| (path.to_owned(), test.into()));
            let mut index = partial(index, conditions.collect());
            if index.collation.is_some() {
                // The filter of such an index compares no texts.
                index.filter = index.filter.filter(|filter| !filter.compares_texts());
            }
            index
        });
        all.collect()
    })
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        5 => Just("a"), 5 => Just("b"), 3 => Just("c.x"), 2 => Just("c.y"), 2 => Just("_id"),
        1 => Just("c"), 1 => Just("c.0"), 1 => Just("c.0.x"),
    ]
    .prop_map(str::to_owned)
}

fn test() -> impl Strategy<Value = Bson> {
    let operand = || {
        prop_oneof![
            8 => scalar(),
            1 => prop::collection::vec(scalar(), 0..2).prop_map(Bson::Array),
            1 => inner(),
        ]
    };
    prop_oneof![
        6 => operand(),
        1 => operand().prop_map(|v| doc! { "$ne": v }.into()),
        2 => operand().prop_map(|v| doc! { "$gt": v }.into()),
        2 => operand().prop_map(|v| doc! { "$gte": v }.into()),
        2 => operand().prop_map(|v| doc! { "$lt": v }.into()),
        2 => operand().prop_map(|v| doc! { "$lte": v }.into()),
        2 => (operand(), operand()).prop_map(|(v, w)| doc! { "$gte": v, "$lte": w }.into()),
        3 => prop::collection::vec(operand(), 0..4).prop_map(|v| doc! { "$in": v }.into()),
        1 => prop::collection::vec(operand(), 0..3).prop_map(|v| doc! { "$nin": v }.into()),
        1 => prop::collection::vec(scalar(), 1..3).prop_map(|v| doc! { "$all": v }.into()),
        2 => prop_oneof![3 => Just(true), 1 => Just(false)].prop_map(|v| doc! { "$exists": v }.into()),
        1 => Just(doc! { "$type": ["int", "string"] }.into()),
        2 => prop_oneof![Just("^a"), Just("^ab"), Just("b"), Just("^a.*b"), Just("^ab?")]
            .prop_map(|v| doc! { "$regex": v }.into()),
        3 => prop_oneof![Just(r"^a\z"), Just(r"^AB\z"), Just("^aB"), Just(r"^é\z"), Just("^b.")]
            .prop_map(|v| doc! { "$regex": v, "$options": "i" }.into()),
        1 => operand().prop_map(|v| doc! { "$in": [v, pattern(r"^ab\z"), pattern(r"^É\z")] }.into()),
        1 => (scalar(), scalar())
            .prop_map(|(v, w)| doc! { "$elemMatch": { "$gte": v, "$lte": w } }.into()),
        1 => (scalar(), scalar())
            .prop_map(|(v, w)| doc! { "$elemMatch": { "x": v, "y": { "$gte": w } } }.into()),
        1 => scalar().prop_map(|v| doc! { "$elemMatch": { "0": v } }.into()),
    ]
}

fn pattern(source: &str) -> Bson {
    Bson::RegularExpression(bson::Regex {
        pattern: source.try_into().expect("no NUL"),
        options: "i".try_into().expect("no NUL"),
    })
}

fn a_filter() -> impl Strategy<Value = Document> {
    let leaf = prop_oneof![
        4 => (path(), test()).prop_map(|(path, test)| doc! { path: test }),
        1 => (condition_path(), condition()).prop_map(|(path, test)| doc! { path: test }),
    ]
    .boxed();
    let several = prop::collection::vec(leaf.clone(), 1..4)
        .prop_map(|all| doc! { "$and": all })
        .boxed();
    let any = prop::collection::vec(prop_oneof![2 => leaf.clone(), 1 => several.clone()], 1..4)
        .prop_map(|any| doc! { "$or": any })
        .boxed();
    let one = prop_oneof![2 => leaf.clone(), 1 => any.clone()].boxed();
    prop_oneof![
        1 => Just(Document::new()),
        4 => leaf.clone(),
        4 => several,
        3 => any.clone(),
        2 => (one.clone(), any.clone()).prop_map(|(one, any)| doc! { "$and": [one, any] }),
        1 => (one.clone(), one).prop_map(|(one, other)| doc! { "$or": [one, other] }),
        1 => (leaf, any).prop_map(|(one, none)| doc! { "$and": [one, { "$nor": [none] }] }),
    ]
}

fn a_sort() -> impl Strategy<Value = Document> {
    let key = (
        path(),
        prop_oneof![Just(Bson::Int32(1)), Just(Bson::Int32(-1))],
    );
    prop::collection::vec(key, 0..3).prop_map(|keys| keys.into_iter().collect())
}

#[derive(Debug, Clone)]
struct Asked {
    filter: Document,
    sort: Document,
    ignores_case: bool,
    /// Of the filter, and of the sort.
    collations: (Option<Collation>, Option<Collation>),
    skip: u64,
    limit: Option<u64>,
    after: Option<After>,
}

/// Where a query starts.
#[derive(Debug, Clone)]
enum After {
    /// After the position of one of the documents, by its index.
    Document(prop::sample::Index),
    /// After a position that no document need have: a value for each key of the sort, and maybe too many values.
    Values(Vec<Bson>),
}

fn asked() -> impl Strategy<Value = Asked> {
    let few = prop_oneof![3 => Just(0), 1 => 0..4u64];
    let after = prop_oneof![
        2 => any::<prop::sample::Index>().prop_map(After::Document),
        1 => prop::collection::vec(scalar(), 3).prop_map(After::Values),
    ];
    let after = prop::option::weighted(0.3, after);
    let limit = prop::option::of(0..6u64);
    let collation = || {
        let one = prop_oneof![3 => Just(collation(2)), 1 => Just(collation(1))];
        prop::option::weighted(0.4, one)
    };
    let collations = prop_oneof![
        1 => (collation(), collation()),
        1 => collation().prop_map(|one| (one.clone(), one)),
    ];
    (
        a_filter(),
        a_sort(),
        any::<bool>(),
        collations,
        few,
        limit,
        after,
    )
        .prop_map(
            |(filter, sort, ignores_case, collations, skip, limit, after)| Asked {
                filter,
                sort,
                ignores_case,
                collations,
                skip,
                limit,
                after,
            },
        )
}

impl Asked {
    fn sort(&self) -> Sort {
        let sort = sort(self.sort.clone()).collated(self.collations.1.as_ref());
        match self.ignores_case {
            true => sort.ignoring_case(),
            false => sort,
        }
    }
}

/// The answer by the definition.
fn expected(documents: &[RawDocumentBuf], find: &Find) -> Vec<Document> {
    let total = find.sort.total();
    let mut found: Vec<_> = documents
        .iter()
        .filter(|document| find.filter.matches(document).expect("a match"))
        .collect();
    found.sort_by(|a, b| total.compare_keys(&total.key(a), &total.key(b)));
    found
        .into_iter()
        .filter(|document| {
            find.after
                .as_ref()
                .is_none_or(|after| total.compare_keys(&total.key(document), after).is_gt())
        })
        .skip(find.skip as usize)
        .take(find.limit.map_or(usize::MAX, |limit| limit as usize))
        .map(|found| document(found))
        .collect()
}

async fn compare(reader: &dyn Reader, stored: &[RawDocumentBuf], asked: &Asked) {
    let Ok(filter) = Filter::parse(&asked.filter) else {
        return;
    };
    let filter = filter.collated(asked.collations.0.as_ref());
    let sort = asked.sort();
    let total = sort.total();
    let after = match &asked.after {
        Some(After::Document(at)) if !stored.is_empty() => {
            Some(total.key(at.get::<RawDocumentBuf>(stored)))
        }
        Some(After::Values(values)) => {
            let values = values.iter().cloned().map(value);
            Some(values.take(total.keys().len()).collect())
        }
        _ => None,
    };
    let find = Find {
        filter,
        sort,
        skip: asked.skip,
        limit: asked.limit,
        after,
        ..find_all()
    };
    let expected = expected(stored, &find);
    let plan = reader.explain(&find).await.expect("a plan");
    // NaN is not equal to itself, so that documents are compared by their ids.
    let got = found(reader, &find).await;
    assert_eq!(ids(&got), ids(&expected), "{asked:?} by {plan:?}");
    let (count, _) = reader.count(&find).await.expect("a count");
    assert_eq!(count, expected.len() as u64, "{asked:?} by {plan:?}");
    compare_groups(reader, &find, &expected).await;
}

/// Groups of the documents that a query finds: the number of each value, and the extremes.
async fn compare_groups(reader: &dyn Reader, find: &Find, expected: &[Document]) {
    let group = |keys: &[&'static str], accumulators| {
        let key = |path: &&'static str| GroupKey {
            path: (*path).into(),
            start_of: None,
        };
        Group {
            keys: keys.iter().map(key).collect(),
            accumulators,
            unwind: None,
        }
    };
    for group in [
        group(&["a"], vec![Accumulator::Count]),
        group(&["c.x"], vec![Accumulator::Count]),
        group(&["b", "a"], vec![Accumulator::Count]),
        group(&[], vec![Accumulator::Min("a".into())]),
        group(&[], vec![Accumulator::Max("b".into())]),
    ] {
        let aggregate = Aggregate {
            find: find.clone(),
            group,
            ..Aggregate::default()
        };
        let mut grouping = aggregate.group.begin().expect("a group");
        for document in expected {
            grouping.add(&raw(document.clone())).expect("a document");
        }
        let mut rows = Vec::new();
        let each = &mut |_, row: &RawDocument| {
            rows.push(row.to_owned());
            Ok(ControlFlow::Continue(()))
        };
        reader.aggregate(&aggregate, each).await.expect("rows");
        let expected: Vec<_> = grouping
            .into_rows()
            .collect::<Result<_, _>>()
            .expect("rows");
        let value = |row: &RawDocumentBuf| key::of(RawBsonRef::Document(row));
        let keys = |rows: &[RawDocumentBuf]| rows.iter().map(value).collect::<Vec<_>>();
        // Equal values, such as 1 and 1.0, have one key.
        assert_eq!(
            keys(&rows),
            keys(&expected),
            "{aggregate:?}: {rows:?} and {expected:?}"
        );
    }
}

async fn compare_by_key(reader: &dyn Reader, stored: &[RawDocumentBuf], asked: &Asked) {
    let Ok(filter) = Filter::parse(&asked.filter) else {
        return;
    };
    let find = Find {
        filter,
        sort: asked.sort(),
        limit: Some(2),
        ..find_all()
    };
    let keys = vec![
        value(1),
        value("a"),
        value(1.0),
        Bson::Null.try_into().expect("null"),
    ];
    let mut got = vec![Vec::new(); keys.len()];
    let by_key = FindByKey {
        find: find.clone(),
        path: "b".to_owned(),
        keys: keys.clone(),
    };
    reader
        .find_by_key(&by_key, &mut |position, raw| {
            got[position].push(document(raw));
            Ok(ControlFlow::Continue(()))
        })
        .await
        .expect("a result");
    let numbers: Vec<u64> = got.iter().map(|got| got.len() as u64).collect();
    for (key, got) in keys.into_iter().zip(got) {
        let equal = Filter::Path("b".into(), odm_mql::Test::Eq(key));
        let one = Find {
            filter: find.filter.clone().and(equal),
            ..find.clone()
        };
        assert_eq!(ids(&got), ids(&expected(stored, &one)), "{asked:?}");
    }
    let (counts, _) = reader.count_by_key(&by_key).await.expect("counts");
    assert_eq!(counts, numbers, "{asked:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(300), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn answers_are_what_the_definition_says_whatever_indexes_there_are(
        committed in documents(),
        uncommitted in documents(),
        removed in a_filter(),
        indexes in indexes(),
        asked in prop::collection::vec(asked(), 1..12),
    ) {
        block_on(async {
            let store = things(indexes).await;
            let mut stored = Vec::new();
            for document in committed {
                if insert(&store, vec![document.clone()]).await.is_ok() {
                    stored.push(raw(document));
                }
            }
            let reader = store.reader().expect("an open store");
            for asked in &asked {
                compare(&*reader, &stored, asked).await;
                compare_by_key(&*reader, &stored, asked).await;
            }
            // The same within a transaction, with uncommitted changes.
            let mut transaction =
                store.begin(TransactionOptions::default()).await.expect("a transaction");
            if let Ok(filter) = Filter::parse(&removed) {
                transaction.delete(&delete(removed)).await.expect("a delete");
                stored.retain(|document| !filter.matches(document).expect("a match"));
            }
            for document in uncommitted {
                let document = raw(document);
                if insert_all(&mut *transaction, "things", std::slice::from_ref(&document)).await.is_ok() {
                    stored.push(document);
                }
            }
            for asked in &asked {
                compare(&*transaction, &stored, asked).await;
                compare_by_key(&*transaction, &stored, asked).await;
            }
            transaction.commit().await.expect("a commit");
            store.check_integrity().await.expect("sound indexes");
            let reader = store.reader().expect("an open store");
            for asked in &asked {
                compare(&*reader, &stored, asked).await;
            }
        });
    }
}
