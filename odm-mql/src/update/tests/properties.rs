//! Properties of all updates.

use proptest::prelude::*;

use super::*;
use crate::testing::{document, path, small_nested, small_value};

fn operation() -> impl Strategy<Value = Operation> {
    let value = || small_nested().prop_map(raw_value);
    let values = || prop::collection::vec(small_value().prop_map(raw_value), 0..3);
    let number = || {
        prop_oneof![
            (-2..3_i32).prop_map(RawBson::Int32),
            Just(RawBson::Double(0.5))
        ]
    };
    let sort = prop_oneof![
        Just(None),
        Just(Some(PushSort::Elements(Direction::Descending))),
        Just(Some(PushSort::Fields(
            Sort::new().by("a", Direction::Ascending)
        ))),
    ];
    let push = (
        values(),
        prop::option::of(-3..3_i64),
        sort,
        prop::option::of(-3..3_i64),
    );
    prop_oneof![
        value().prop_map(Operation::Set),
        Just(Operation::Unset),
        number().prop_map(Operation::Inc),
        number().prop_map(Operation::Mul),
        (0..3_i32).prop_map(|mask| Operation::Bit(vec![(BitOperation::Xor, RawBson::Int32(mask))])),
        value().prop_map(Operation::Min),
        value().prop_map(Operation::Max),
        path().prop_map(Operation::Rename),
        value().prop_map(Operation::SetOnInsert),
        push.prop_map(|(each, slice, sort, position)| {
            Operation::Push(Push {
                each,
                slice,
                sort,
                position,
            })
        }),
        values().prop_map(Operation::AddToSet),
        Just(Operation::Pop(End::First)),
        Just(Operation::Pop(End::Last)),
        small_value().prop_map(|value| Operation::Pull(Pull::Value(raw_value(value)))),
        values().prop_map(Operation::PullAll),
    ]
}

fn update() -> impl Strategy<Value = Update> {
    let part = prop_oneof![3 => Just(""), 1 => Just(".$[]")];
    prop::collection::vec((path(), part, operation()), 0..4).prop_map(|operations| {
        let mut update = Update::default();
        for (path, part, operation) in operations {
            let part = if matches!(operation, Operation::Rename(_)) {
                ""
            } else {
                part
            };
            update.push(path + part, operation);
            // Conflicting operations are left out.
            if update.check().is_err() {
                update.operations.pop();
            }
        }
        update
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn an_update_is_read_as_it_was_written(update in update(), document in document()) {
        let again = Update::parse(&update.to_document(), &[]).expect("an update");
        let document = raw(document);
        prop_assert_eq!(again.apply(&document, true, now()), update.apply(&document, true, now()));
        prop_assert_eq!(
            format!("{:?}", Update::parse(&again.to_document(), &[])),
            format!("{:?}", Ok::<_, Error>(again))
        );
    }

    #[test]
    fn the_result_is_a_sound_document(update in update(), document in document()) {
        let before = raw(document);
        if let Ok(Some(after)) = update.apply(&before, false, now()) {
            let read = Document::try_from(&after).expect("valid BSON");
            prop_assert_eq!(raw(read), after);
        }
    }

    /// If this holds for `$set`, paths lead to the same place in updates and filters.
    #[test]
    fn what_is_set_is_found(
        document in document(),
        path in "[abc](\\.[abc]){0,2}",
        value in small_value(),
    ) {
        let update = Update::parse(&doc! { "$set": { &path: value.clone() } }, &[]).expect("one");
        let before = raw(document);
        if let Ok(after) = update.apply(&before, false, now()) {
            let filter = Filter::parse(&doc! { path: value }).expect("a filter");
            prop_assert_eq!(filter.matches(&after.unwrap_or(before)), Ok(true));
        }
    }

    #[test]
    fn fields_that_are_not_named_stay_the_same(
        document in document(),
        operation in operation(),
    ) {
        let mut update = Update::default();
        update.push("x.a", operation);
        if update.paths().any(|path| !path.starts_with("x.")) || update.check().is_err() {
            return Ok(());
        }
        let before = raw(document);
        if let Ok(Some(after)) = update.apply(&before, false, now()) {
            let bytes = before.as_bytes();
            let kept = &bytes[4..bytes.len() - 1];
            prop_assert!(after.as_bytes()[4..].starts_with(kept));
        }
    }
}
