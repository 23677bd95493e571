//! Differences from the answers of the library: by SecantusDB, which is not MongoDB, and by MongoDB.

mod answers;
mod refusals;

use odm::bson::{Bson, Document, RawDocumentBuf, doc};

use super::case::{Answer, Case, Statement};

/// A difference between answers. A predicate sees only cases whose answers differ.
pub(crate) struct Difference {
    /// The statement of MongoDB's documentation, or of its tests and source, which it then names.
    pub(crate) says: &'static str,
    /// Whether the difference explains a case with the answers of the library and of the server.
    is_about: fn(&Case, &Answer, &Answer) -> bool,
    /// A case with different answers.
    pub(crate) example: fn() -> Case,
}

/// The difference that explains a case with the answers of the library and of the server.
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
    let of_secantus = refusals::REFUSALS.iter().chain(answers::ANSWERS);
    OF_MONGODB.iter().chain(of_secantus.filter(move |_| is_secantus))
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
        Statement::Find { filter, sort, projection } => {
            has(filter, kind) || has(sort, kind) || has(projection, kind)
        }
        Statement::Update { filter, update, array_filters, .. } => {
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

/// Whether only the library refuses the case, with one of these in its message.
fn is_refused_here(ours: &Answer, theirs: &Answer, messages: &[&str]) -> bool {
    let is_one = |text: &String| messages.iter().any(|message| text.contains(message));
    theirs.is_ok() && ours.as_ref().is_err_and(is_one)
}

/// Whether the answers are the same except for the order of fields, times, and the changes that a function makes in values.
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
            // Times may be the time of the statement.
            Bson::DateTime(_) | Bson::Timestamp(_) => Bson::Null,
            other => other,
        })
    }
    let all = |documents: &[RawDocumentBuf]| -> Vec<String> {
        let read = |document: &RawDocumentBuf| {
            Document::try_from(document).expect("an answer is well-formed")
        };
        let changed = documents.iter().map(|one| changed(read(one).into(), change));
        changed.map(|one| format!("{one:?}")).collect()
    };
    matches!((ours, theirs), (Ok(ours), Ok(theirs)) if all(ours) == all(theirs))
}

/// Whether the answers are the same documents in another order.
fn is_in_other_order(ours: &Answer, theirs: &Answer) -> bool {
    let ordered = |documents: &[RawDocumentBuf]| {
        let mut all: Vec<Vec<u8>> = documents.iter().map(|one| one.as_bytes().to_vec()).collect();
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
    Case { documents: stored(documents), statement: Statement::Find { filter, sort, projection } }
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

/// Statements that MongoDB refuses, or answers in any way: see the documentation of `mql::Sort` and `mql::PushSort`.
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
