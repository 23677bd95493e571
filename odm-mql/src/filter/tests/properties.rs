//! Properties of all filters.

use super::*;
use crate::testing::{document, index_values, path, small_value};

fn test() -> impl Strategy<Value = Test> {
    let operand = || small_nested().prop_map(raw_value);
    let operands = || prop::collection::vec(small_value().prop_map(raw_value), 0..3);
    let leaf = prop_oneof![
        operand().prop_map(Test::Eq),
        operand().prop_map(Test::Ne),
        operand().prop_map(Test::Gt),
        operand().prop_map(Test::Gte),
        operand().prop_map(Test::Lt),
        operand().prop_map(Test::Lte),
        operands().prop_map(|all| Test::In(all.into())),
        operands().prop_map(|all| Test::Nin(all.into())),
        operands().prop_map(|all| Test::All(all.into_iter().map(Test::Eq).collect())),
        any::<bool>().prop_map(Test::Exists),
        Just(Test::Type(vec![ElementType::Int32, ElementType::Array])),
        (0..3_i64).prop_map(Test::Size),
        (1..3_i64, 0..2_i64).prop_map(|(divisor, remainder)| Test::Mod { divisor, remainder }),
        (0..3_u32).prop_map(|at| Test::Bits(Bits::AnySet, vec![at])),
        Just(Test::Regex(Pattern::new("^a", "i").expect("valid"))),
        operands().prop_map(|values| {
            let pattern = Pattern::new("b", "").expect("valid");
            Test::Any(vec![Test::In(values.into()), Test::Regex(pattern)])
        }),
    ];
    leaf.prop_recursive(2, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|test| Test::Not(vec![test])),
            prop::collection::vec(small_value().prop_map(raw_value), 2..4)
                .prop_map(|values| Test::Not(values.into_iter().map(Test::Gt).collect())),
            inner.clone().prop_map(|test| Test::ElemTest(vec![test])),
            (path(), inner).prop_map(|(path, test)| {
                Test::ElemMatch(Box::new(Filter::Path(path.into(), test)))
            }),
        ]
    })
}

fn filter() -> impl Strategy<Value = Filter> {
    (path(), test())
        .prop_map(|(path, test)| Filter::Path(path.into(), test))
        .prop_recursive(2, 8, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Filter::And),
                prop::collection::vec(inner.clone(), 0..3).prop_map(Filter::Or),
                prop::collection::vec(inner, 0..3).prop_map(Filter::Nor),
            ]
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_filter_is_read_as_it_was_written(filter in filter(), document in document()) {
        let again = parse(filter.to_document());
        let document = raw(document);
        prop_assert_eq!(again.matches(&document), filter.matches(&document));
        let third = parse(again.to_document());
        prop_assert_eq!(format!("{third:?}"), format!("{again:?}"));
    }

    #[test]
    fn a_denial_is_the_complement(path in path(), test in test(), document in document()) {
        let document = raw(document);
        let matches = |test| Filter::Path(path.clone().into(), test).matches(&document);
        prop_assert_ne!(matches(Test::Not(vec![test.clone()])), matches(test.clone()));
        let filter = Filter::Path(path.clone().into(), test);
        prop_assert_ne!(Filter::Nor(vec![filter.clone()]).matches(&document), filter.matches(&document));
    }

    #[test]
    fn opposite_operators_are_complements(
        path in path(),
        operand in small_nested().prop_map(raw_value),
        document in document(),
    ) {
        let document = raw(document);
        let matches = |test| Filter::Path(path.clone().into(), test).matches(&document);
        prop_assert_ne!(matches(Test::Eq(operand.clone())), matches(Test::Ne(operand.clone())));
        prop_assert_ne!(
            matches(Test::In(vec![operand.clone()].into())),
            matches(Test::Nin(vec![operand.clone()].into()))
        );
        prop_assert_eq!(matches(Test::Eq(operand.clone())), matches(Test::In(vec![operand].into())));
        prop_assert_ne!(matches(Test::Exists(true)), matches(Test::Exists(false)));
    }

    #[test]
    fn a_list_of_values_is_in_an_array_if_each_of_them_is(
        values in prop::collection::vec(small_nested().prop_map(raw_value), 1..20),
        others in prop::collection::vec(small_nested(), 0..3),
        left_out in prop::option::of(any::<prop::sample::Index>()),
        path in path(),
    ) {
        let mut array: Vec<Bson> = values.iter().map(crate::types::from_raw).collect();
        if let Some(at) = left_out {
            array.remove(at.index(array.len()));
        }
        array.extend(others);
        let document = raw(doc! { "a": array, "b": { "c": [1, 2] }, "c": 1 });
        let each = values.iter().cloned().map(Test::Eq);
        let path = || std::borrow::Cow::from(path.clone());
        let all = Filter::Path(path(), Test::All(each.clone().collect()));
        let and = Filter::And(each.map(|test| Filter::Path(path(), test)).collect());
        prop_assert_eq!(all.matches(&document), and.matches(&document));
    }

    /// A query by an index does not find values that the index lacks.
    #[test]
    fn an_index_has_the_value_that_a_filter_matches(
        path in path(),
        operand in small_value().prop_map(raw_value),
        document in document(),
    ) {
        let document = raw(document);
        let matches = Filter::Path(path.clone().into(), Test::Eq(operand.clone())).matches(&document);
        let (values, _) = index_values(&document, &path);
        let indexed = values.iter().any(|value| equal(*value, operand.as_raw_bson_ref()));
        prop_assert!(matches == Ok(false) || indexed, "{:?}", values);
    }

    #[test]
    fn filters_survive_any_document(filter in prop::collection::vec(any::<u8>(), 0..60)) {
        if let Ok(document) = bson::RawDocumentBuf::from_bytes(filter)
            && let Ok(document) = Document::try_from(document)
        {
            let _ = Filter::parse(&document);
        }
    }
}
