//! Answers of SecantusDB that differ from MongoDB's.

use odm::bson::{
    Binary, Bson, Decimal128, Document, JavaScriptCodeWithScope, doc, spec::BinarySubtype,
};

use super::{
    Difference, filter, filtered, find, has, has_name, has_number, is_in_other_order,
    is_other_type, is_refused_there, is_same_but, is_update, shown, shows, sorts, states, stored,
    updated, uses,
};
use crate::language::case::{Case, Statement};

/// Statements that SecantusDB answers wrongly, or refuses although it should answer.
pub(super) const ANSWERS: &[Difference] = &[
    Difference {
        says: "$mod: Select documents where the value of a field divided by a divisor has the specified remainder; an \
               internal error is no answer",
        is_about: |_, ours, theirs| is_refused_there(ours, theirs, "internal server error"),
        example: || {
            let greatest = "9.999999999999999999999999999999999E+6144".parse();
            let greatest: Decimal128 = greatest.expect("it is a decimal");
            filtered(doc! { "_id": 1, "a": greatest }, doc! { "a": { "$mod": [1, 1] } })
        },
    },
    Difference {
        says: "$regex: MongoDB uses Perl compatible regular expressions (i.e. \"PCRE\")",
        is_about: |case, _, _| {
            let operators = ["$regex", "pattern", "patternProperties"];
            operators.iter().any(|operator| uses(case, operator))
                || states(case, &|value| matches!(value, Bson::RegularExpression(_)))
        },
        example: || {
            let filter = doc! { "a": { "$regex": "[[:alpha:]]" } };
            filtered(doc! { "_id": 1, "a": "a" }, filter)
        },
    },
    Difference {
        says: "BSON types: Undefined is the type 6, and Symbol the type 14",
        is_about: |case, _, _| states(case, &is_other_type),
        example: || {
            let set = doc! { "$set": { "a": Bson::Symbol("a".to_owned()) } };
            updated(doc! { "_id": 1 }, set)
        },
    },
    Difference {
        says: "null_query_semantics.js: An array which has at least one object in it which has a missing, null, or \
               undefined value",
        is_about: |case, _, _| has_name(filter(case), &has_number),
        example: || filtered(doc! { "_id": 1, "a": [] }, doc! { "a.0": null }),
    },
    Difference {
        says: "SERVER-24748: Aggregation does not allow users to access an element of an array via field path, i.e., \
               $time.0 is undefined on an array",
        is_about: |case, _, _| {
            shows(case, &|name, _| has_number(name))
                || states(case, &|value| {
                    let path = value.as_str().and_then(|text| text.strip_prefix('$'));
                    path.is_some_and(has_number)
                })
        },
        example: || {
            let filter = doc! { "$expr": { "$last": "$a.0" } };
            filtered(doc! { "_id": 1, "a": [1] }, filter)
        },
    },
    Difference {
        says: "$slice: The $slice projection by itself is considered an exclusion; of a nested array it is one of the \
               elements' fields too",
        is_about: |case, _, _| {
            shows(case, &|_, shown| {
                shown.as_document().is_some_and(|document| document.contains_key("$slice"))
            })
        },
        example: || {
            let document = doc! { "_id": 1, "a": [{ "b": [1, 2] }] };
            shown(document, doc! { "a.b": { "$slice": 1 } })
        },
    },
    Difference {
        says: "projection_parser.cpp: If there's an $elemMatch (but no $slice) then it's an inclusion projection, where no other \
               field says which it is",
        is_about: |case, _, _| {
            shows(case, &|_, shown| {
                shown.as_document().is_some_and(|document| document.contains_key("$elemMatch"))
            })
        },
        example: || {
            let projection = doc! { "a": { "$elemMatch": { "b": 1 } }, "c": 0 };
            shown(doc! { "_id": 1, "a": [{ "b": 1 }] }, projection)
        },
    },
    Difference {
        says: "projection_node.cpp: projecting children of a field which does not have any children",
        is_about: |case, _, _| {
            shows(case, &|name, shown| {
                name.starts_with("_id.") || name == "_id" && shown.as_document().is_some()
            })
        },
        example: || shown(doc! { "_id": 1 }, doc! { "_id": { "b": 1 } }),
    },
    Difference {
        says: "positional_projection.js: But if positional projection cannot find specified path, query should not throw",
        is_about: |case, _, _| shows(case, &|name, _| name.ends_with(".$")),
        example: || shown(doc! { "_id": 1 }, doc! { "a.$": 1 }),
    },
    Difference {
        says: "projection_node.cpp: Our semantics in this case are to replace whatever existing value we find with a \
               new document of all the computed values; an array is traversed",
        is_about: |case, _, _| {
            shows(case, &|name, shown| {
                let is_computed = !matches!(
                    shown,
                    Bson::Int32(_)
                        | Bson::Int64(_)
                        | Bson::Double(_)
                        | Bson::Decimal128(_)
                        | Bson::Boolean(_)
                );
                let is_nested =
                    |document: &Document| document.keys().all(|name| !name.starts_with('$'));
                is_computed && (name.contains('.') || shown.as_document().is_some_and(is_nested))
            })
        },
        example: || shown(doc! { "_id": 1 }, doc! { "a.b": "$c" }),
    },
    Difference {
        says: "comparison order: The comparison treats a non-existent field as if it were null. With arrays, an ascending sort \
               compares the smallest element",
        is_about: |case, ours, theirs| {
            sorts(case, &|path| path.contains('.')) && is_in_other_order(ours, theirs)
        },
        example: || {
            let documents = [doc! { "_id": 1, "a": [1, { "b": 1 }] }, doc! { "_id": 2 }];
            find(&documents, doc! {}, doc! { "a.b": 1, "_id": 1 }, doc! {})
        },
    },
    Difference {
        says: "comparison order: 13. JavaScript Code 14. JavaScript Code with Scope",
        is_about: |case, ours, theirs| {
            let kind = |value: &Bson| {
                matches!(value, Bson::JavaScriptCode(_) | Bson::JavaScriptCodeWithScope(_))
            };
            let read = |document| Document::try_from(document).expect("a document is well-formed");
            let is_stored = case.documents.iter().any(|one| has(&read(one), &kind));
            states(case, &kind) || is_stored && is_in_other_order(ours, theirs)
        },
        example: || {
            let scope = JavaScriptCodeWithScope { code: "a".to_owned(), scope: doc! {} };
            let code = Bson::JavaScriptCode("b".to_owned());
            let documents = [doc! { "_id": 1, "a": scope }, doc! { "_id": 2, "a": code }];
            find(&documents, doc! {}, doc! { "a": 1, "_id": 1 }, doc! {})
        },
    },
    Difference {
        says: "$mod: The $mod expression rounds decimal input towards zero",
        is_about: |case, _, _| uses(case, "$mod"),
        example: || filtered(doc! { "_id": 1, "a": 1 }, doc! { "a": { "$mod": [1, 0.5] } }),
    },
    Difference {
        says: "$all: The $all is equivalent to an $and operation of the specified values",
        is_about: |case, _, _| uses(case, "$all"),
        example: || filtered(doc! { "_id": 1 }, doc! { "a.b": { "$all": [null] } }),
    },
    Difference {
        says: "$elemMatch: { <field>: { $elemMatch: { <query1>, <query2>, ... } } }, of which $and may be one",
        is_about: |case, ours, theirs| {
            uses(case, "$elemMatch") && is_refused_there(ours, theirs, "unknown operator: $")
        },
        example: || {
            let filter = doc! { "a": { "$elemMatch": { "$and": [{ "b": 1 }] } } };
            filtered(doc! { "_id": 1, "a": [1] }, filter)
        },
    },
    Difference {
        says: "jstests: assertIsEmptyObjId({$group: {_id: {$expr: {$expr: {}}}}})",
        is_about: |case, ours, theirs| {
            uses(case, "$expr") && is_refused_there(ours, theirs, "Unrecognized expression '$expr'")
        },
        example: || shown(doc! { "_id": 1 }, doc! { "a": { "$expr": 1 } }),
    },
    Difference {
        says: "$arrayElemAt: If the <array> expression resolves to an undefined array, $arrayElemAt returns null",
        is_about: |case, _, _| uses(case, "$arrayElemAt"),
        example: || {
            let element = doc! { "$arrayElemAt": ["$b", "a"] };
            shown(doc! { "_id": 1 }, doc! { "a": element })
        },
    },
    Difference {
        says: "variables: $<field> is equivalent to $$CURRENT.<field>",
        is_about: |case, _, _| {
            states(case, &|value| value.as_str().is_some_and(|path| path.starts_with("$$CURRENT")))
        },
        example: || shown(doc! { "_id": 1 }, doc! { "a": "$$CURRENT.b" }),
    },
    Difference {
        says: "bit_node.cpp: applyOpList(SafeNum(static_cast<int32_t>(0))), whose result has 64 bits if the operand has",
        is_about: |case, ours, theirs| {
            uses(case, "$bit")
                && is_same_but(ours, theirs, &|value| match value {
                    Bson::Int32(number) => Bson::Int64(number.into()),
                    other => other,
                })
        },
        example: || updated(doc! { "_id": 1 }, doc! { "$bit": { "a": { "or": 1_i64 } } }),
    },
    Difference {
        says: "update operators: Starting in MongoDB 5.0, update operators process document fields with string-based names in lexicographic order",
        is_about: |case, ours, theirs| is_update(case) && is_same_but(ours, theirs, &|value| value),
        example: || updated(doc! { "_id": 1 }, doc! { "$inc": { "b": 1, "a": 1 } }),
    },
    Difference {
        says: "$rename: If the field to rename does not exist in a document, $rename does nothing",
        is_about: |case, ours, theirs| {
            uses(case, "$rename") && is_refused_there(ours, theirs, "_id")
        },
        example: || updated(doc! { "_id": 1 }, doc! { "$rename": { "a": "_id" } }),
    },
    Difference {
        says: "expression.cpp, evaluatePathArray: \"Check for remaining path in each element of array\"; the result is an \
               array",
        is_about: |case, _, _| {
            states(case, &|value| {
                let path = value.as_str().and_then(|text| text.strip_prefix('$'));
                path.is_some_and(|path| path.contains('.'))
            })
        },
        example: || shown(doc! { "_id": 1, "a": [] }, doc! { "b": "$a.b" }),
    },
    Difference {
        says: "$not: The $not evaluates all other values as true, including non-zero numeric values and arrays",
        is_about: |case, _, _| {
            let is_of_array = |operand: &Bson| matches!(operand, Bson::Array(all) if matches!(all[..], [Bson::Array(_)]));
            states(case, &|value| {
                let operand = value.as_document().and_then(|document| document.get("$not"));
                operand.is_some_and(is_of_array)
            })
        },
        example: || shown(doc! { "_id": 1 }, doc! { "a": { "$not": [["$c"]] } }),
    },
    Difference {
        says: "expression.cpp, ExpressionSlice: if (arrayVal.nullish() || arg2.nullish()) return Value(BSONNULL)",
        is_about: |case, ours, theirs| {
            uses(case, "$slice") && is_refused_there(ours, theirs, "First argument to $slice")
        },
        example: || {
            let filter = doc! { "$expr": { "$slice": [1, "$b"] } };
            filtered(doc! { "_id": 1 }, filter)
        },
    },
    Difference {
        says: "$: the positional $ operator acts as a placeholder for the first element that matches the query document",
        is_about: |case, ours, theirs| {
            is_update(case)
                && is_refused_there(ours, theirs, "The positional operator did not find")
        },
        example: || Case {
            documents: stored(&[doc! { "_id": 1, "a": [[]] }]),
            statement: Statement::Update {
                filter: doc! { "_id": 1, "a": [] },
                update: doc! { "$set": { "a.$": 1 } },
                array_filters: Vec::new(),
                upsert: false,
            },
        },
    },
    Difference {
        says: "expression_array.cpp, ElemMatchObjectMatchExpression: an element for which isABSONObj() holds, and so an \
               array, is matched as an object",
        is_about: |case, _, _| uses(case, "$elemMatch"),
        example: || {
            let filter = doc! { "a": { "$elemMatch": { "a": null } } };
            filtered(doc! { "_id": 1, "a": [[]] }, filter)
        },
    },
    Difference {
        says: "comparison order: BinData: First, the length or size of the data. Then, by the BSON one-byte subtype",
        is_about: |case, _, _| states(case, &|value| matches!(value, Bson::Binary(_))),
        example: || {
            let subtype = BinarySubtype::UserDefined(0xdf);
            let greater = Binary { subtype, bytes: Vec::new() };
            let less = Binary { subtype: BinarySubtype::Generic, bytes: Vec::new() };
            filtered(doc! { "_id": 1, "a": less }, doc! { "a": { "$gte": greater } })
        },
    },
];
