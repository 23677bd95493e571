//! Statements that MongoDB refuses, and SecantusDB answers: it reads a part of a statement only if it meets a document that needs it, and
//! checks less of it.

use odm::bson::{Bson, Regex, doc, raw::cstr};

use super::{Difference, filtered, find, is_refused_here, shown, stored, updated};
use crate::language::case::{Case, Statement};

/// Recognized by the messages of the library.
pub(super) const REFUSALS: &[Difference] = &[
    Difference {
        says: "update_array_node.cpp: The path must exist in the document in order to apply array updates; Cannot apply array updates to non-array element",
        is_about: |_, ours, theirs| is_refused_here(ours, theirs, &["cannot apply `$[]`"]),
        example: || updated(doc! { "_id": 1 }, doc! { "$set": { "a.$[]": 1 } }),
    },
    Difference {
        says: "$: The positional operator did not find the match needed from the query",
        is_about: |_, ours, theirs| is_refused_here(ours, theirs, &["no position for"]),
        example: || updated(doc! { "_id": 1 }, doc! { "$pullAll": { "a.$.b": [] } }),
    },
    Difference {
        says: "expression_parser.cpp: unknown operator; unknown top level operator",
        is_about: |_, ours, theirs| is_refused_here(ours, theirs, &["unknown operator"]),
        example: || filtered(doc! { "_id": 1 }, doc! { "a": 1, "$a": 1 }),
    },
    Difference {
        says: "expression_leaf.cpp: cannot compare to undefined",
        is_about: |_, ours, theirs| {
            is_refused_here(ours, theirs, &["needs a value other than undefined"])
        },
        example: || filtered(doc! { "_id": 1 }, doc! { "a": Bson::Undefined }),
    },
    Difference {
        says: "expression_parser.cpp: Can't have RegEx as arg to predicate over field",
        is_about: |_, ours, theirs| {
            is_refused_here(ours, theirs, &["needs a value, not a regular expression"])
        },
        example: || {
            let pattern = Bson::RegularExpression(Regex {
                pattern: cstr!("a").to_owned(),
                options: cstr!("").to_owned(),
            });
            filtered(doc! { "_id": 1 }, doc! { "b": 1, "a": { "$gt": pattern } })
        },
    },
    Difference {
        says: "expression_parser.cpp: $and/$or/$nor must be a nonempty array; $elemMatch needs an Object; $not needs a regex or a document; $in needs an array; malformed mod; Failed to parse $size; Unknown type name alias",
        is_about: |_, ours, theirs| {
            is_refused_here(
                ours,
                theirs,
                &[
                    "needs a non-empty array of filters",
                    "`$elemMatch` needs a document",
                    "`$not` needs operators",
                    "`$in` needs an array",
                    "`$nin` needs an array",
                    "`$all` needs an array",
                    "`$mod` needs an array",
                    "`$size` needs a whole number",
                    "`$type` needs names or codes",
                    "needs a number, binary data or an array of positions",
                ],
            )
        },
        example: || filtered(doc! { "_id": 1 }, doc! { "b": 1, "$or": 1 }),
    },
    Difference {
        says: "expression_parser.cpp: $regex has to be a string; $options needs a $regex; invalid flag in regex options; Regular expression is invalid",
        is_about: |_, ours, theirs| {
            is_refused_here(
                ours,
                theirs,
                &[
                    "needs a string or a regular expression",
                    "needs letters among",
                    "needs a `$regex` beside it",
                    "invalid regular expression",
                ],
            )
        },
        example: || filtered(doc! { "_id": 1 }, doc! { "b": 1, "a": { "$regex": 1 } }),
    },
    Difference {
        says: "$jsonSchema: required is an \"array of strings\", and so each keyword has a type; $jsonSchema must be an object; can only be applied to the top-level document",
        is_about: |_, ours, theirs| {
            is_refused_here(
                ours,
                theirs,
                &[
                    "invalid schema",
                    "`$jsonSchema` needs",
                    "`$expr` needs to be on a whole document",
                ],
            )
        },
        example: || filtered(doc! { "_id": 1 }, doc! { "$jsonSchema": { "required": {} } }),
    },
    Difference {
        says: "expression.cpp: Expression $ne takes exactly 2 arguments; $add only supports numeric or date types",
        is_about: |_, ours, theirs| {
            is_refused_here(
                ours,
                theirs,
                &["needs another number of operands", "expression failed"],
            )
        },
        example: || {
            let projection = doc! { "a": { "$ne": [] } };
            find(&[doc! { "_id": 1 }], doc! { "b": 1 }, doc! { "_id": 1 }, projection)
        },
    },
    Difference {
        says: "field_path.cpp: FieldPath must not end with a '.'; FieldPath field names may not start with '$'; An empty update path is not valid",
        is_about: |_, ours, theirs| {
            is_refused_here(
                ours,
                theirs,
                &[
                    "it is empty",
                    "it ends with a dot",
                    "it begins with",
                    "a part of it begins with",
                ],
            )
        },
        example: || shown(doc! { "_id": 1 }, doc! { "a.": 1 }),
    },
    Difference {
        says: "update operators: Updating the path would create a conflict; projections: Path collision, Cannot do exclusion in inclusion projection",
        is_about: |_, ours, theirs| {
            is_refused_here(
                ours,
                theirs,
                &[
                    "conflicting paths",
                    "mixed projection",
                    "needs a projection without `$`",
                    "`$` needs 1",
                ],
            )
        },
        example: || updated(doc! { "_id": 2 }, doc! { "$rename": { "a.b": "a" } }),
    },
    Difference {
        says: "rename_node.cpp: The source and target field for $rename must differ; The 'to' field for $rename must be a string; may not be dynamic; cannot be an array element; cannot contain an embedded null byte",
        is_about: |_, ours, theirs| {
            is_refused_here(ours, theirs, &["`$rename` needs", "cannot rename", "contains a NUL"])
        },
        example: || updated(doc! { "_id": 2 }, doc! { "$rename": { "a": "a" } }),
    },
    Difference {
        says: "$[<identifier>]: The array filter was not used in the update; No array filter found for identifier",
        is_about: |_, ours, theirs| {
            is_refused_here(
                ours,
                theirs,
                &["no path of the update uses it", "no filter has this name"],
            )
        },
        example: || Case {
            documents: stored(&[doc! { "_id": 2 }]),
            statement: Statement::Update {
                filter: doc! { "_id": 1 },
                update: doc! { "$set": { "a": 1 } },
                array_filters: vec![doc! { "x": 1 }],
                upsert: false,
            },
        },
    },
    Difference {
        says: "update operators: Cannot increment with non-numeric argument; $pop expects 1 or -1; The $bit modifier is not compatible with that type; $pullAll requires an array argument",
        is_about: |_, ours, theirs| {
            is_refused_here(
                ours,
                theirs,
                &[
                    "`$inc` needs a number",
                    "`$mul` needs a number",
                    "`$pullAll` needs an array",
                    "`$pop` needs 1 or -1",
                    "`$bit` needs",
                    "`$currentDate` needs",
                    "`$sort` needs",
                ],
            )
        },
        example: || updated(doc! { "_id": 2 }, doc! { "$pop": { "a": 3 } }),
    },
    Difference {
        says: "path_support.cpp: Cannot create field in element; PathNotViable",
        is_about: |_, ours, theirs| is_refused_here(ours, theirs, &["cannot create field"]),
        example: || updated(doc! { "_id": 1, "a": 1 }, doc! { "$pop": { "a.b": 1 } }),
    },
    Difference {
        says: "path_support.cpp: cannot infer query fields to set, path is matched twice",
        is_about: |_, ours, theirs| is_refused_here(ours, theirs, &["ambiguous upsert"]),
        example: || Case {
            documents: Vec::new(),
            statement: Statement::Update {
                filter: doc! { "_id": 1, "a.0": 1, "a": 2 },
                update: doc! { "$set": { "b": 1 } },
                array_filters: Vec::new(),
                upsert: true,
            },
        },
    },
];
