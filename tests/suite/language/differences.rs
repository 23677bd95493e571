//! What is answered otherwise than by the library: by SecantusDB, which is not MongoDB, and by MongoDB.

use odm::bson::{
    Binary, Bson, Decimal128, Document, JavaScriptCodeWithScope, RawDocumentBuf, doc,
    spec::BinarySubtype,
};

use super::case::{Answer, Case, Statement};

/// Something that is answered otherwise. A predicate sees only cases whose answers differ.
pub(crate) struct Difference {
    /// What MongoDB's documentation says, or its tests and source, which are named then.
    pub(crate) says: &'static str,
    /// Whether a case with the answers of the library and of the server is one of it.
    is_about: fn(&Case, &Answer, &Answer) -> bool,
    /// A case that is answered otherwise.
    pub(crate) example: fn() -> Case,
}

/// The difference that a case is one of, with the answers of the library and of the server.
pub(crate) fn of(
    is_secantus: bool,
    case: &Case,
    ours: &Answer,
    theirs: &Answer,
) -> Option<&'static Difference> {
    let mut all = known(is_secantus);
    all.find(|difference| (difference.is_about)(case, ours, theirs))
}

/// The differences of a server.
pub(crate) fn known(is_secantus: bool) -> impl Iterator<Item = &'static Difference> {
    let of_secantus = OF_SECANTUS.iter().filter(move |_| is_secantus);
    OF_MONGODB.iter().chain(of_secantus)
}

/// Whether a document has a value of a type that SecantusDB stores as another one.
pub(crate) fn has_other_type(document: &RawDocumentBuf) -> bool {
    let document = Document::try_from(document).expect("a document is well-formed");
    has(&document, &is_other_type)
}

fn is_other_type(value: &Bson) -> bool {
    matches!(value, Bson::Undefined | Bson::Symbol(_))
}

/// Whether a document, or a value inside of it, is of a kind.
fn has(document: &Document, kind: &dyn Fn(&Bson) -> bool) -> bool {
    has_value(&Bson::Document(document.clone()), kind)
}

fn has_value(value: &Bson, kind: &dyn Fn(&Bson) -> bool) -> bool {
    kind(value)
        || match value {
            Bson::Document(document) => document.values().any(|value| has_value(value, kind)),
            Bson::Array(array) => array.iter().any(|value| has_value(value, kind)),
            _ => false,
        }
}

/// Whether a document has a name of a kind at any depth.
fn has_name(document: &Document, kind: &dyn Fn(&str) -> bool) -> bool {
    has(
        document,
        &|value| matches!(value, Bson::Document(document) if document.keys().any(|name| kind(name))),
    )
}

/// Whether a statement has a value of a kind.
fn states(case: &Case, kind: &dyn Fn(&Bson) -> bool) -> bool {
    match &case.statement {
        Statement::Find {
            filter,
            sort,
            projection,
        } => has(filter, kind) || has(sort, kind) || has(projection, kind),
        Statement::Update {
            filter,
            update,
            array_filters,
            ..
        } => {
            has(filter, kind) || has(update, kind) || array_filters.iter().any(|one| has(one, kind))
        }
    }
}

/// Whether a statement uses an operator.
fn uses(case: &Case, operator: &str) -> bool {
    states(
        case,
        &|value| matches!(value, Bson::Document(document) if document.contains_key(operator)),
    )
}

fn filter(case: &Case) -> &Document {
    match &case.statement {
        Statement::Find { filter, .. } | Statement::Update { filter, .. } => filter,
    }
}

/// Whether a query shows a field of a kind.
fn shows(case: &Case, kind: &dyn Fn(&str, &Bson) -> bool) -> bool {
    match &case.statement {
        Statement::Find { projection, .. } => {
            projection.iter().any(|(name, shown)| kind(name, shown))
        }
        Statement::Update { .. } => false,
    }
}

/// Whether a query sorts by a path of a kind.
fn sorts(case: &Case, kind: &dyn Fn(&str) -> bool) -> bool {
    match &case.statement {
        Statement::Find { sort, .. } => sort.keys().any(|path| kind(path)),
        Statement::Update { .. } => false,
    }
}

fn is_update(case: &Case) -> bool {
    matches!(case.statement, Statement::Update { .. })
}

/// Whether a path has a number after its first part.
fn has_number(path: &str) -> bool {
    let mut later = path.split('.').skip(1);
    later.any(|part| part.parse::<u32>().is_ok())
}

/// Whether only the server refuses the case, with this in its message.
fn is_refused_there(ours: &Answer, theirs: &Answer, message: &str) -> bool {
    ours.is_ok() && theirs.as_ref().is_err_and(|text| text.contains(message))
}

/// Whether the answers are the same but for the order of fields and for times, and for what a function changes in values.
fn is_same_but(ours: &Answer, theirs: &Answer, change: &dyn Fn(Bson) -> Bson) -> bool {
    fn changed(value: Bson, change: &dyn Fn(Bson) -> Bson) -> Bson {
        change(match value {
            Bson::Document(document) => {
                let fields = document.into_iter();
                let fields = fields.map(|(name, value)| (name, changed(value, change)));
                let mut fields: Vec<(String, Bson)> = fields.collect();
                fields.sort_by(|one, other| one.0.cmp(&other.0));
                Bson::Document(fields.into_iter().collect())
            }
            Bson::Array(array) => array.into_iter().map(|one| changed(one, change)).collect(),
            // Times may be those of the statement.
            Bson::DateTime(_) | Bson::Timestamp(_) => Bson::Null,
            other => other,
        })
    }
    let all = |documents: &[RawDocumentBuf]| -> Vec<String> {
        let read = |document: &RawDocumentBuf| {
            Document::try_from(document).expect("an answer is well-formed")
        };
        let changed = documents
            .iter()
            .map(|one| changed(read(one).into(), change));
        changed.map(|one| format!("{one:?}")).collect()
    };
    matches!((ours, theirs), (Ok(ours), Ok(theirs)) if all(ours) == all(theirs))
}

/// Whether the answers are the same documents in another order.
fn is_in_other_order(ours: &Answer, theirs: &Answer) -> bool {
    let ordered = |documents: &[RawDocumentBuf]| {
        let mut all: Vec<Vec<u8>> = documents
            .iter()
            .map(|one| one.as_bytes().to_vec())
            .collect();
        all.sort();
        all
    };
    matches!((ours, theirs), (Ok(ours), Ok(theirs)) if ordered(ours) == ordered(theirs))
}

fn stored(documents: &[Document]) -> Vec<RawDocumentBuf> {
    let raw = |document| RawDocumentBuf::try_from(document).expect("it is BSON");
    documents.iter().map(raw).collect()
}

fn find(documents: &[Document], filter: Document, sort: Document, projection: Document) -> Case {
    Case {
        documents: stored(documents),
        statement: Statement::Find {
            filter,
            sort,
            projection,
        },
    }
}

fn filtered(document: Document, filter: Document) -> Case {
    find(&[document], filter, doc! { "_id": 1 }, doc! { "_id": 1 })
}

fn shown(document: Document, projection: Document) -> Case {
    find(&[document], doc! {}, doc! { "_id": 1 }, projection)
}

fn updated(document: Document, update: Document) -> Case {
    Case {
        documents: stored(&[document]),
        statement: Statement::Update {
            filter: doc! { "_id": 1 },
            update,
            array_filters: Vec::new(),
            upsert: false,
        },
    }
}

/// Where MongoDB refuses, or may answer anything: the documentation of `mql::Sort` and `mql::PushSort` says it.
const OF_MONGODB: &[Difference] = &[
    Difference {
        says: "jstests, 16746: Ambiguous field name found in array (do not use numeric field names in embedded elements \
               in an array); BadValue: cannot sort with keys that are parallel arrays",
        is_about: |case, ours, theirs| {
            sorts(case, &|_| true)
                && (is_refused_there(ours, theirs, "Ambiguous field name")
                    || is_refused_there(ours, theirs, "parallel arrays"))
        },
        example: || {
            let document = doc! { "_id": 1, "a": [1, { "0": 2 }] };
            find(&[document], doc! {}, doc! { "a.0": 1, "_id": 1 }, doc! {})
        },
    },
    Difference {
        says: "mutable/algorithm.h, sortChildren: a Comparator that implements a strict weak ordering, for std::sort, \
               which may put equal elements in any order",
        is_about: |case, ours, theirs| {
            is_update(case)
                && uses(case, "$sort")
                && is_same_but(ours, theirs, &|value| match value {
                    Bson::Array(mut all) => {
                        all.sort_by_cached_key(|one| format!("{one:?}"));
                        Bson::Array(all)
                    }
                    other => other,
                })
        },
        example: || {
            let push = doc! { "$each": [1, 2], "$sort": { "b": -1 } };
            updated(doc! { "_id": 1 }, doc! { "$push": { "a": push } })
        },
    },
];

/// Where SecantusDB is wrong, or checks less.
const OF_SECANTUS: &[Difference] = &[
    Difference {
        says: "$mod: Select documents where the value of a field divided by a divisor has the specified remainder; an \
               internal error is no answer",
        is_about: |_, ours, theirs| is_refused_there(ours, theirs, "internal server error"),
        example: || {
            let greatest = "9.999999999999999999999999999999999E+6144".parse();
            let greatest: Decimal128 = greatest.expect("it is a decimal");
            filtered(
                doc! { "_id": 1, "a": greatest },
                doc! { "a": { "$mod": [1, 1] } },
            )
        },
    },
    Difference {
        says: "$jsonSchema, and so each operator: required is an \"array of strings\"; other input is refused",
        is_about: |_, ours, theirs| ours.is_err() && theirs.is_ok(),
        example: || {
            filtered(
                doc! { "_id": 1 },
                doc! { "$jsonSchema": { "required": {} } },
            )
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
                shown
                    .as_document()
                    .is_some_and(|document| document.contains_key("$slice"))
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
                shown
                    .as_document()
                    .is_some_and(|document| document.contains_key("$elemMatch"))
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
                matches!(
                    value,
                    Bson::JavaScriptCode(_) | Bson::JavaScriptCodeWithScope(_)
                )
            };
            let read = |document| Document::try_from(document).expect("a document is well-formed");
            let is_stored = case.documents.iter().any(|one| has(&read(one), &kind));
            states(case, &kind) || is_stored && is_in_other_order(ours, theirs)
        },
        example: || {
            let scope = JavaScriptCodeWithScope {
                code: "a".to_owned(),
                scope: doc! {},
            };
            let code = Bson::JavaScriptCode("b".to_owned());
            let documents = [doc! { "_id": 1, "a": scope }, doc! { "_id": 2, "a": code }];
            find(&documents, doc! {}, doc! { "a": 1, "_id": 1 }, doc! {})
        },
    },
    Difference {
        says: "$mod: The $mod expression rounds decimal input towards zero",
        is_about: |case, _, _| uses(case, "$mod"),
        example: || {
            filtered(
                doc! { "_id": 1, "a": 1 },
                doc! { "a": { "$mod": [1, 0.5] } },
            )
        },
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
            states(case, &|value| {
                value
                    .as_str()
                    .is_some_and(|path| path.starts_with("$$CURRENT"))
            })
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
                let operand = value
                    .as_document()
                    .and_then(|document| document.get("$not"));
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
            let greater = Binary {
                subtype,
                bytes: Vec::new(),
            };
            let less = Binary {
                subtype: BinarySubtype::Generic,
                bytes: Vec::new(),
            };
            filtered(
                doc! { "_id": 1, "a": less },
                doc! { "a": { "$gte": greater } },
            )
        },
    },
];
