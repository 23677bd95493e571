//! The statements of the commands that write.

use std::{borrow::Cow, collections::HashMap};

use bson::{Document, RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use odm_mql::{self as mql, path};
use odm_store::{CollectionWrites, DocumentWrite, Error, Result, UnreadUpdate, check_document};

use super::schema::check_name;

/// The greatest number of bytes of statements in a command, unless it has only one.
const COMMAND_LEN: usize = 8 << 20;
/// The greatest number of statements in a command.
const STATEMENTS: usize = 10_000;

/// The effect of a statement on its document.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Verb {
    /// First, so that the values that a removal gives up are free.
    Delete,
    Update,
    Insert,
}

/// A statement of a command: a write, or several writes with the same effect on their documents.
pub(super) struct Statement<'a> {
    pub(super) collection: &'a str,
    pub(super) verb: Verb,
    /// The documents. An insert has one, and an unread update has none.
    ids: Vec<RawBson>,
    pub(super) unread: Option<UnreadDocuments>,
    /// The new document, or the change; empty for a removal.
    body: Cow<'a, RawDocument>,
}

/// The documents of an unread update.
pub(super) struct UnreadDocuments {
    filter: RawDocumentBuf,
    /// The position of the update of one document, among all.
    pub(super) of_one: Option<usize>,
}

impl<'a> Statement<'a> {
    /// Makes the statement of a write, after the checks that a server does not make, or reports in other words.
    fn new(collection: &'a str, write: &DocumentWrite<'a>) -> Result<Self> {
        if let Some(after) = write.after() {
            check_document(collection, after)?;
        }
        let id = |image| path::get(image, "_id").map_or(RawBson::Null, RawBson::from);
        let (verb, body) = match *write {
            DocumentWrite::Insert(document) => (Verb::Insert, Cow::Borrowed(document)),
            DocumentWrite::Remove(_) => (Verb::Delete, Cow::Owned(RawDocumentBuf::new())),
            DocumentWrite::Replace { before, after } => {
                let (old, new) = (id(before), id(after));
                if !mql::order::equal(old.as_raw_bson_ref(), new.as_raw_bson_ref()) {
                    let error = Error::from(mql::Error::Immutable("_id".to_owned()));
                    return Err(error.at(collection, Some("_id"), Some(old)));
                }
                let change = changed_fields(before, after);
                let change =
                    change.filter(|change| change.as_bytes().len() < after.as_bytes().len());
                (
                    Verb::Update,
                    change.map_or(Cow::Borrowed(after), Cow::Owned),
                )
            }
        };
        Ok(Statement {
            collection,
            verb,
            ids: vec![id(write.document())],
            unread: None,
            body,
        })
    }

    pub(super) fn unread(
        update: &'a UnreadUpdate,
        filter: &Document,
        position: usize,
    ) -> Result<Self> {
        let raw = |document| RawDocumentBuf::try_from(document).map_err(Error::malformed);
        let ordered = update.update.to_ordered_document();
        let body = ordered.unwrap_or_else(|| update.update.to_document());
        Ok(Statement {
            collection: &update.collection,
            verb: Verb::Update,
            ids: Vec::new(),
            unread: Some(UnreadDocuments {
                filter: raw(filter)?,
                of_one: update.id.is_some().then_some(position),
            }),
            body: Cow::Owned(raw(&body)?),
        })
    }

    fn is_multi(&self) -> bool {
        match &self.unread {
            Some(unread) => unread.of_one.is_none(),
            None => self.ids.len() > 1,
        }
    }

    /// Whether another statement can be merged into it: a replacement names its document.
    fn is_shared(&self) -> bool {
        let first = self.body.iter().next();
        let is_change = first.is_some_and(|first| first.is_ok_and(|(name, _)| name == "$set"));
        self.verb == Verb::Delete || (self.verb == Verb::Update && is_change)
    }

    fn len(&self) -> usize {
        /// The approximate size of an `_id` in a list.
        const ID_LEN: usize = 32;
        let ids = self.ids.iter();
        let ids = ids.map(|id| ID_LEN + id.as_raw_bson_ref().as_str().map_or(0, str::len));
        let unread = self.unread.as_ref();
        let filter = unread.map_or(0, |unread| unread.filter.as_bytes().len());
        self.body.as_bytes().len() + ids.sum::<usize>() + filter
    }

    fn filter(&self) -> RawDocumentBuf {
        if let Some(unread) = &self.unread {
            return unread.filter.clone();
        }
        match &self.ids[..] {
            [id] => rawdoc! { "_id": id.clone() },
            ids => {
                let mut list = RawArrayBuf::new();
                for id in ids {
                    list.push(id.clone());
                }
                rawdoc! { "_id": { "$in": list } }
            }
        }
    }

    /// The statement in the command of its verb.
    pub(super) fn in_command(&self) -> RawDocumentBuf {
        let is_multi = self.is_multi();
        let body = || self.body.clone().into_owned();
        match self.verb {
            Verb::Delete => rawdoc! { "q": self.filter(), "limit": i32::from(!is_multi) },
            Verb::Update => rawdoc! { "q": self.filter(), "u": body(), "multi": is_multi },
            Verb::Insert => body(),
        }
    }

    /// The statement in a `bulkWrite`, where the collection has a number.
    pub(super) fn in_bulk(&self, collection: i32) -> RawDocumentBuf {
        let is_multi = self.is_multi();
        let body = || self.body.clone().into_owned();
        match self.verb {
            Verb::Delete => {
                rawdoc! { "delete": collection, "filter": self.filter(), "multi": is_multi }
            }
            Verb::Update => rawdoc! {
                "update": collection,
                "filter": self.filter(),
                "updateMods": body(),
                "multi": is_multi,
            },
            Verb::Insert => rawdoc! { "insert": collection, "document": body() },
        }
    }
}

/// The statements of a batch. Like statements are merged.
pub(super) fn statements<'a>(batch: &'a [CollectionWrites<'a>]) -> Result<Vec<Statement<'a>>> {
    let mut statements: Vec<Statement<'_>> = Vec::new();
    for CollectionWrites { collection, writes } in batch {
        check_name(collection)?;
        let mut alike: HashMap<(Verb, Vec<u8>), usize> = HashMap::new();
        for write in writes {
            let statement = Statement::new(collection, write)?;
            if statement.is_shared() {
                let does = (statement.verb, statement.body.as_bytes().to_vec());
                let at = *alike.entry(does).or_insert(statements.len());
                if let Some(other) = statements.get_mut(at)
                    && other.ids.len() < STATEMENTS
                {
                    other.ids.extend(statement.ids);
                    continue;
                }
                alike.insert(
                    (statement.verb, statement.body.as_bytes().to_vec()),
                    statements.len(),
                );
            }
            statements.push(statement);
        }
    }
    Ok(statements)
}

/// The `$set` that turns a document into another one with the same fields in the same order, byte for byte.
fn changed_fields(before: &RawDocument, after: &RawDocument) -> Option<RawDocumentBuf> {
    let mut set = RawDocumentBuf::new();
    let mut old = before.iter();
    for field in after {
        let (name, value) = field.ok()?;
        let (same_name, before) = old.next()?.ok()?;
        if name != same_name {
            return None;
        }
        if is_same(before, value) {
            continue;
        }
        // The server takes such a name for a path, or an operator.
        if name.as_str().contains(['.', '$']) || name.is_empty() {
            return None;
        }
        set.append(name, value);
    }
    let is_change = old.next().is_none() && !set.is_empty();
    is_change.then(|| rawdoc! { "$set": set })
}

/// Whether values have the same bytes.
fn is_same(one: RawBsonRef<'_>, other: RawBsonRef<'_>) -> bool {
    match (one, other) {
        (RawBsonRef::Double(one), RawBsonRef::Double(other)) => one.to_bits() == other.to_bits(),
        (RawBsonRef::Document(one), RawBsonRef::Document(other)) => {
            one.as_bytes() == other.as_bytes()
        }
        (RawBsonRef::Array(one), RawBsonRef::Array(other)) => one.as_bytes() == other.as_bytes(),
        (RawBsonRef::JavaScriptCodeWithScope(_), _) => false,
        _ => one == other,
    }
}

/// The statements, in parts that fit in one command each.
pub(super) fn commands<'s, 'a>(mut statements: &'s [Statement<'a>]) -> Vec<&'s [Statement<'a>]> {
    let mut commands = Vec::new();
    while !statements.is_empty() {
        let mut len = 0;
        let fits = |statement: &&Statement<'_>| {
            len += statement.len();
            len <= COMMAND_LEN
        };
        let number = statements.iter().take(STATEMENTS).take_while(fits).count();
        let (command, rest) = statements.split_at(number.max(1));
        commands.push(command);
        statements = rest;
    }
    commands
}

/// How many documents statements write.
pub(super) fn written_by(statements: &[Statement<'_>]) -> u64 {
    let documents = statements
        .iter()
        .map(|statement| statement.ids.len() as u64);
    documents.sum()
}
