//! Random calls of the contract of a store, and their answers.

use std::{borrow::Cow, collections::BTreeMap, fmt, ops::ControlFlow};

use fuzz::Choices;
use odm::{
    ErrorKind, Result,
    bson::{Bson, Document, RawArrayBuf, RawBson, RawDocument, RawDocumentBuf, doc},
    mql::{
        Direction, Filter, Group, Projection, Sort, Update,
        group::{Accumulator, GroupKey},
    },
    store::contract::{
        Aggregate, Change, CollectionSpec, CollectionWrites, DeleteWrite, DocumentWrite, Find,
        FindByKey, IndexSpec, Reader, Transaction, UpdateWrite,
    },
};

use super::{
    case::{Case, Statement, id_of},
    differences,
};

/// A call without changes.
#[derive(Debug, Clone)]
pub(crate) enum Read {
    Get(String, Vec<RawBson>),
    Find(Find),
    FindByKey(FindByKey),
    Count(Find),
    CountByKey(FindByKey),
    Aggregate(Box<Aggregate>),
}

/// A call that changes documents.
#[derive(Debug, Clone)]
pub(crate) enum Write {
    Update(UpdateWrite),
    Delete(DeleteWrite),
    Apply(String, Vec<OwnWrite>),
}

/// A write of one document.
#[derive(Debug, Clone)]
pub(crate) enum OwnWrite {
    Insert(RawDocumentBuf),
    Replace(RawDocumentBuf, RawDocumentBuf),
    Remove(RawDocumentBuf),
}

/// The answer to a call: documents with their positions, then numbers.
pub(crate) type Answer = std::result::Result<(Vec<(usize, RawDocumentBuf)>, Vec<u64>), Refusal>;

/// The kind of an error, with its message, which is the store's own.
#[derive(Debug, Clone)]
pub(crate) struct Refusal(pub(crate) ErrorKind, pub(crate) String);

impl PartialEq for Refusal {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

fn refusal(error: odm::Error) -> Refusal {
    Refusal(error.kind(), error.to_string())
}

/// The refusal of a read. If a query has several mistakes, the store chooses which one it reports.
fn refusal_of_read(error: odm::Error) -> Refusal {
    match refusal(error) {
        Refusal(ErrorKind::InvalidUpdate, message) => Refusal(ErrorKind::InvalidQuery, message),
        other => other,
    }
}

/// The collections, each with its indexes. An array in a field of several is refused, so each has one field.
pub(crate) fn collections() -> Vec<CollectionSpec> {
    let index = |path: &str, direction| IndexSpec {
        name: format!("by {path}"),
        keys: vec![(path.to_owned(), direction)],
        unique: false,
        present_only: false,
        case_insensitive: false,
        collation: None,
        filter: None,
    };
    let unique = IndexSpec { unique: true, present_only: true, ..index("c", Direction::Ascending) };
    let collection = |name: &str, indexes| CollectionSpec {
        name: name.to_owned(),
        indexes,
        ..CollectionSpec::default()
    };
    vec![
        collection("plain", Vec::new()),
        collection(
            "indexed",
            vec![index("a", Direction::Ascending), index("b", Direction::Descending)],
        ),
        collection("unique", vec![unique, index("b", Direction::Ascending)]),
    ]
}

/// The filter, sort and projection of a seed, if the library accepts them.
fn find(collection: &str, seed: u64) -> Option<Find> {
    let (_, Statement::Find { filter, sort, projection }) = Statement::find(seed) else {
        return None;
    };
    let mut sort = Sort::parse(&sort).ok()?;
    if seed.is_multiple_of(3) {
        sort = Sort::new();
    }
    // The projection of a statement about filters shows `_id` alone.
    let is_shown = projection != doc! { "_id": 1 };
    Some(Find {
        collection: collection.to_owned(),
        filter: Filter::parse(&filter).ok()?,
        sort,
        projection: match is_shown {
            true => Some(Projection::parse(&projection).ok()?),
            false => None,
        },
        ..Find::default()
    })
}

fn raw(value: Bson) -> RawBson {
    value.try_into().expect("the value is BSON")
}

/// A value of one of the documents, or any.
fn value(choices: &mut Choices<'_>, path: &str, documents: &[RawDocumentBuf]) -> RawBson {
    let document = (choices.below(4) > 0 && !documents.is_empty())
        .then(|| &documents[choices.below(documents.len())]);
    let value = document.and_then(|document| {
        let mut key = Sort::new().by(path.to_owned(), Direction::Ascending).key(document);
        key.truncate(1);
        key.pop()
    });
    match value {
        // It stands for an empty array.
        Some(RawBson::Undefined) if choices.below(2) == 0 => RawBson::Array(RawArrayBuf::new()),
        // A `$lookup` of SecantusDB does not find the decimal that equals it.
        Some(RawBson::Double(number)) if number.abs() > 1e15 => RawBson::Null,
        Some(RawBson::Undefined) | None => match choices.value(1) {
            Bson::Undefined | Bson::Symbol(_) | Bson::RegularExpression(_) => RawBson::Null,
            value => raw(value),
        },
        Some(value) => value,
    }
}

fn bounds(choices: &mut Choices<'_>, find: &mut Find) {
    if choices.below(3) == 0 {
        find.skip = choices.below(4) as u64;
    }
    if choices.below(2) == 0 {
        find.limit = Some(choices.below(6) as u64);
    }
}

fn by_key(choices: &mut Choices<'_>, mut find: Find, documents: &[RawDocumentBuf]) -> FindByKey {
    bounds(choices, &mut find);
    let path = choices.one_of(&["a", "b", "a.b", "_id", "c"]).to_owned();
    let number = choices.below(5);
    FindByKey { keys: (0..number).map(|_| value(choices, &path, documents)).collect(), find, path }
}

fn aggregate(choices: &mut Choices<'_>, mut find: Find) -> Aggregate {
    bounds(choices, &mut find);
    find.projection = None;
    let path = |choices: &mut Choices<'_>| -> Cow<'static, str> {
        choices.one_of(&["a", "b", "a.b", "_id", "c"]).to_owned().into()
    };
    let keys = choices.below(3);
    let keys = (0..keys).map(|_| GroupKey { path: path(choices), start_of: None });
    let keys: Vec<GroupKey> = keys.collect();
    // The sum of doubles depends on their order.
    let accumulators = (0..choices.below(3)).map(|_| match choices.below(3) {
        0 => Accumulator::Count,
        1 => Accumulator::Min(path(choices)),
        _ => Accumulator::Max(path(choices)),
    });
    let accumulators: Vec<Accumulator> = accumulators.collect();
    let unwind = (choices.below(3) == 0).then_some(Cow::Borrowed("b"));
    Aggregate {
        find,
        group: Group { unwind, keys, accumulators },
        skip: choices.below(2) as u64,
        limit: (choices.below(3) == 0).then(|| choices.below(5) as u64),
        ..Aggregate::default()
    }
}

impl Read {
    /// The call of a seed, if the library accepts it.
    pub(crate) fn new(collection: &str, seed: u64, documents: &[RawDocumentBuf]) -> Option<Read> {
        let bytes = fuzz::bytes(!seed, 600);
        let choices = &mut Choices::plain(&bytes);
        let mut find = find(collection, seed)?;
        Some(match choices.below(8) {
            0 => {
                let number = choices.below(5);
                let ids = (0..number).map(|_| value(choices, "_id", documents));
                Read::Get(collection.to_owned(), ids.collect())
            }
            1 | 2 => {
                bounds(choices, &mut find);
                Read::Find(find)
            }
            // After the position of a document.
            3 => {
                bounds(choices, &mut find);
                let total = find.sort.total();
                find.after = match documents.is_empty() {
                    true => None,
                    false => Some(total.key(&documents[choices.below(documents.len())])),
                };
                Read::Find(find)
            }
            4 => Read::FindByKey(by_key(choices, find, documents)),
            5 => {
                bounds(choices, &mut find);
                Read::Count(find)
            }
            6 => Read::CountByKey(by_key(choices, find, documents)),
            _ => Read::Aggregate(Box::new(aggregate(choices, find))),
        })
    }

    /// The queries of the documents that it reads, as cases of the query language.
    pub(crate) fn cases(&self, documents: &[RawDocumentBuf]) -> Vec<Case> {
        let find = match self {
            Read::Get(..) => return Vec::new(),
            Read::Find(find) | Read::Count(find) => find,
            Read::FindByKey(by_key) | Read::CountByKey(by_key) => &by_key.find,
            Read::Aggregate(aggregate) => &aggregate.find,
        };
        let projection = find.projection.as_ref().map(Projection::to_document);
        let case = |filter: Document| Case {
            documents: documents.to_vec(),
            statement: Statement::Find {
                filter,
                sort: find.sort.total().to_document(),
                projection: projection.clone().unwrap_or_default(),
            },
        };
        let mut cases = vec![case(find.filter.to_document())];
        if let Read::FindByKey(by_key) | Read::CountByKey(by_key) = self {
            let keys = by_key.keys.iter().cloned();
            let keys = keys.map(|key| Bson::try_from(key).expect("a key is BSON"));
            cases.extend(keys.map(|key| case(doc! { &by_key.path: { "$eq": key } })));
        }
        cases
    }

    pub(crate) async fn run<R: Reader + ?Sized>(&self, reader: &R) -> Answer {
        let mut documents: Vec<(usize, RawDocumentBuf)> = Vec::new();
        let each = &mut |position: usize, document: &RawDocument| {
            documents.push((position, document.to_owned()));
            Ok(ControlFlow::Continue(()))
        };
        let counts = match self {
            Read::Get(collection, ids) => {
                let got = reader.get(collection, ids, each).await;
                got.map(|_| Vec::new())
            }
            Read::Find(find) => reader.find(find, each).await.map(|_| Vec::new()),
            Read::FindByKey(find) => reader.find_by_key(find, each).await.map(|_| Vec::new()),
            Read::Count(find) => reader.count(find).await.map(|(count, _)| vec![count]),
            Read::CountByKey(find) => reader.count_by_key(find).await.map(|(counts, _)| counts),
            Read::Aggregate(aggregate) => {
                reader.aggregate(aggregate, each).await.map(|_| Vec::new())
            }
        };
        let counts = counts.map_err(refusal_of_read)?;
        match self {
            // The store chooses the order of these.
            Read::Get(..) | Read::FindByKey(_) => documents.sort_by_key(|(position, _)| *position),
            Read::Aggregate(_) => documents.iter_mut().for_each(|(_, row)| *row = normal(row)),
            _ => {}
        }
        Ok((documents, counts))
    }
}

/// A row with one value in the place of all equal ones.
fn normal(row: &RawDocument) -> RawDocumentBuf {
    let key = |value| {
        Bson::Binary(odm::bson::Binary {
            subtype: odm::bson::spec::BinarySubtype::Generic,
            bytes: odm::mql::key::of(value),
        })
    };
    let mut values: BTreeMap<String, Bson> = BTreeMap::new();
    for (name, value) in row.iter().flatten() {
        values.insert(name.as_str().to_owned(), key(value));
    }
    let document: Document = values.into_iter().collect();
    RawDocumentBuf::try_from(&document).expect("it is BSON")
}

impl Write {
    /// The call of a seed, if the library accepts it and every server can store its values.
    pub(crate) fn new(collection: &str, seed: u64, documents: &[RawDocumentBuf]) -> Option<Write> {
        let bytes = fuzz::bytes(!seed, 1_500);
        let choices = &mut Choices::plain(&bytes);
        let collection = collection.to_owned();
        Some(match choices.below(6) {
            0 | 1 => {
                let id = choices.below(documents.len() + 2) as i64;
                let Statement::Update { filter, update, array_filters, upsert } =
                    Statement::update(seed, id)
                else {
                    return None;
                };
                let filters = array_filters.iter().cloned().map(Bson::Document);
                let all = doc! { "filter": &filter, "update": &update, "filters": filters.collect::<Vec<_>>() };
                // The two stores would have two times.
                if update.contains_key("$currentDate") || is_other_type(&all) {
                    return None;
                }
                let change = Change::Update(Update::parse(&update, &array_filters).ok()?);
                let (filter, upsert) = match choices.below(3) {
                    0 => (find(&collection, seed)?.filter, false),
                    _ => (Filter::parse(&filter).ok()?, upsert),
                };
                Write::Update(UpdateWrite { collection, filter, change, upsert, check: None })
            }
            2 => {
                let document = Document::try_from(&*choices.stored(0)).ok()?;
                if is_other_type(&document) {
                    return None;
                }
                let document: Document =
                    document.into_iter().filter(|(name, _)| name != "_id").collect();
                Write::Update(UpdateWrite {
                    collection: collection.clone(),
                    filter: find(&collection, seed)?.filter,
                    change: Change::Replace(RawDocumentBuf::try_from(&document).ok()?),
                    upsert: false,
                    check: None,
                })
            }
            3 => Write::Delete(DeleteWrite {
                collection: collection.clone(),
                filter: find(&collection, seed)?.filter,
            }),
            _ => Write::Apply(collection, batch(choices, documents)),
        })
    }

    /// The query of the documents that it changes, as a case of the query language.
    pub(crate) fn case(&self, documents: &[RawDocumentBuf]) -> Option<Case> {
        let filter = match self {
            Write::Update(write) => &write.filter,
            Write::Delete(write) => &write.filter,
            Write::Apply(..) => return None,
        };
        Some(Case {
            documents: documents.to_vec(),
            statement: Statement::Find {
                filter: filter.to_document(),
                sort: doc! { "_id": 1 },
                projection: Document::new(),
            },
        })
    }

    pub(crate) async fn run(&self, transaction: &mut dyn Transaction) -> Answer {
        let numbers: Result<Vec<u64>> = match self {
            Write::Update(write) => transaction.update(write).await.map(|updated| {
                let inserted = u64::from(updated.inserted);
                vec![updated.matched, updated.modified, inserted]
            }),
            Write::Delete(write) => {
                let deleted = transaction.delete(write).await;
                deleted.map(|deleted| vec![deleted.removed])
            }
            Write::Apply(collection, writes) => {
                let applied = transaction.apply(&[writes_to(collection, writes)]).await;
                applied.map(|_| Vec::new())
            }
        };
        let numbers = numbers.map(|numbers| (Vec::new(), numbers));
        // The embedded store updates one document after another, and the other store writes them when all are known: if several are wrong,
        // each may report another one first.
        match (self, numbers.map_err(refusal)) {
            (Write::Update(_), Err(Refusal(ErrorKind::InvalidUpdate, message))) => {
                Err(Refusal(ErrorKind::DuplicateKey, message))
            }
            (_, answer) => answer,
        }
    }
}

/// At most one write for each document. Some writes are of missing documents, some inserts of existing ones.
fn batch(choices: &mut Choices<'_>, documents: &[RawDocumentBuf]) -> Vec<OwnWrite> {
    let mut writes: BTreeMap<Vec<u8>, OwnWrite> = BTreeMap::new();
    for _ in 0..1 + choices.below(4) {
        let is_new = choices.below(3) == 0 || documents.is_empty();
        let id = choices.below(documents.len() + 40) as i64;
        let new = choices.stored(id);
        if differences::has_other_type(&new) {
            continue;
        }
        let write = match is_new {
            true => OwnWrite::Insert(new),
            false => {
                let before = documents[choices.below(documents.len())].clone();
                match choices.below(3) {
                    0 => OwnWrite::Remove(before),
                    _ => OwnWrite::Replace(before.clone(), with_id_of(&before, &new)),
                }
            }
        };
        let (OwnWrite::Insert(document)
        | OwnWrite::Replace(document, _)
        | OwnWrite::Remove(document)) = &write;
        writes.entry(id_of(document)).or_insert(write);
    }
    writes.into_values().collect()
}

fn is_other_type(document: &Document) -> bool {
    let document = RawDocumentBuf::try_from(document);
    document.is_ok_and(|document| differences::has_other_type(&document))
}

fn with_id_of(before: &RawDocument, after: &RawDocument) -> RawDocumentBuf {
    let mut document = RawDocumentBuf::new();
    for (name, value) in after.iter().flatten() {
        match (name.as_str(), before.get("_id")) {
            ("_id", Ok(Some(id))) => document.append(name, id),
            _ => document.append(name, value),
        }
    }
    document
}

/// The part of a batch that is about one collection.
pub(crate) fn writes_to<'a>(collection: &'a str, writes: &'a [OwnWrite]) -> CollectionWrites<'a> {
    let writes = writes.iter().map(|write| match write {
        OwnWrite::Insert(document) => DocumentWrite::Insert(document),
        OwnWrite::Replace(before, after) => DocumentWrite::Replace { before, after },
        OwnWrite::Remove(before) => DocumentWrite::Remove(before),
    });
    CollectionWrites { collection, writes: writes.collect() }
}

struct Shown<'a>(&'a RawDocument);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Document::try_from(self.0) {
            Ok(document) => write!(f, "{document}"),
            Err(error) => write!(f, "{error}"),
        }
    }
}

/// An answer as text, with only the documents that the other answer lacks.
pub(crate) fn shown(answer: &Answer, other: &Answer) -> String {
    match answer {
        Err(Refusal(kind, message)) => format!("refused: {kind:?}: {message}"),
        Ok((documents, numbers)) => {
            let others = other.as_ref().map(|(documents, _)| &documents[..]).unwrap_or_default();
            let own = documents.iter().filter(|one| !others.contains(one));
            let own = own.map(|(at, document)| format!("{at}: {}", Shown(document)));
            let own: Vec<String> = own.collect();
            format!("{} documents, {numbers:?}, alone {}", documents.len(), own.join(", "))
        }
    }
}
