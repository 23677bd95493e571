//! Writes of a transaction.

use std::{borrow::Cow, collections::HashMap, sync::atomic::Ordering};

use ::mongodb::ClientSession;
use async_trait::async_trait;
use bson::{
    Bson, DateTime, Document, RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, doc,
    raw::cstr, rawdoc,
};

use super::{
    error::{About, driver, of_statement},
    lock::{self, SlotsStatement},
    reply::number,
    schema::check_name,
    session::Session,
};
use crate::{
    error::{Error, ErrorKind, Result},
    mql::{self, path},
    store::{
        Change, CollectionWrites, Cost, DeleteWrite, Deleted, DocumentWrite, Find, Locks,
        ReaderExt, Transaction, UpdateWrite, Updated, check_document,
    },
};

/// How many bytes of statements a command has at most, unless it has one.
const COMMAND_LEN: usize = 8 << 20;
/// How many statements a command has at most.
const STATEMENTS: usize = 10_000;

/// What a statement does to its document.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Verb {
    /// First, so that what a removal gives up is free.
    Delete,
    Update,
    Insert,
}

/// A statement of a command: a write, or several that do the same to their documents.
struct Statement<'a> {
    collection: &'a str,
    verb: Verb,
    /// The documents. Of an insert there is one.
    ids: Vec<RawBson>,
    /// The new document, or the change; nothing of a removal.
    body: Cow<'a, RawDocument>,
}

impl<'a> Statement<'a> {
    /// Makes the statement of a write, after the checks that a server does not make, or makes in other words.
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
            body,
        })
    }

    /// Whether a statement that is alike can do this too: a replacement names its document.
    fn is_shared(&self) -> bool {
        let first = self.body.iter().next();
        let is_change = first.is_some_and(|first| first.is_ok_and(|(name, _)| name == "$set"));
        self.verb == Verb::Delete || (self.verb == Verb::Update && is_change)
    }

    fn len(&self) -> usize {
        /// What an `_id` takes in a list, about.
        const ID_LEN: usize = 32;
        let ids = self.ids.iter();
        let ids = ids.map(|id| ID_LEN + id.as_raw_bson_ref().as_str().map_or(0, str::len));
        self.body.as_bytes().len() + ids.sum::<usize>()
    }

    fn filter(&self) -> RawDocumentBuf {
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
    fn in_command(&self) -> RawDocumentBuf {
        let is_multi = self.ids.len() > 1;
        let body = || self.body.clone().into_owned();
        match self.verb {
            Verb::Delete => rawdoc! { "q": self.filter(), "limit": i32::from(!is_multi) },
            Verb::Update => rawdoc! { "q": self.filter(), "u": body(), "multi": is_multi },
            Verb::Insert => body(),
        }
    }

    /// The statement in a `bulkWrite`, where the collection has a number.
    fn in_bulk(&self, collection: i32) -> RawDocumentBuf {
        let is_multi = self.ids.len() > 1;
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

/// The statements of a batch, in the order of their collections and verbs, in which those that are alike are one.
fn statements<'a>(batch: &'a [CollectionWrites<'a>]) -> Result<Vec<Statement<'a>>> {
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
    statements.sort_by_key(|statement| (statement.collection, statement.verb));
    Ok(statements)
}

/// The `$set` that makes of a document another one with the same fields in the same order, byte for byte.
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
        // To the server such a name is a path, or an operator.
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

/// The statements that fit in one command each.
fn commands<'s, 'a>(mut statements: &'s [Statement<'a>]) -> Vec<&'s [Statement<'a>]> {
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
fn written_by(statements: &[Statement<'_>]) -> u64 {
    let documents = statements
        .iter()
        .map(|statement| statement.ids.len() as u64);
    documents.sum()
}

impl Session {
    /// Adds the slots of the locks that were added.
    pub(super) fn add_locks(&mut self) -> Result<()> {
        let locks = self.locks.take();
        self.slots.add(locks, &self.connection.turn)
    }

    /// The statement of the slots that a write changes besides.
    fn slots_of_write(&mut self) -> Result<Option<SlotsStatement>> {
        self.add_locks()?;
        self.slots.share_store(&self.connection.turn);
        self.has_written = true;
        Ok(self.slots.take())
    }

    /// Changes the wanted slots by a request of their own.
    pub(super) async fn write_slots(&mut self) -> Result<()> {
        let Some(slots) = self.slots.take() else {
            return Ok(());
        };
        let mut session = self.lock().await?;
        self.send_slots(&mut session, slots).await
    }

    async fn send_slots(&self, session: &mut ClientSession, slots: SlotsStatement) -> Result<()> {
        let command = rawdoc! {
            "update": lock::COLLECTION,
            "updates": [{ "q": slots.filter.clone(), "u": slots.update.clone(), "multi": true }],
        };
        let action = self.connection.database.run_raw_command(command);
        let reply = driver(
            action.session(session).await,
            About::collection(lock::COLLECTION),
        )?;
        check_errors(lock::COLLECTION, &reply)?;
        slots.check(number(&reply, "n"))
    }

    async fn write(&mut self, batch: &[CollectionWrites<'_>]) -> Result<Cost> {
        let statements = statements(batch)?;
        let mut cost = Cost {
            documents_written: written_by(&statements),
            ..Cost::default()
        };
        // The first command of a transaction has its read concern, which not every server takes from a `bulkWrite`.
        let is_bulk = self.connection.has_bulk_write && self.is_used();
        if statements.is_empty() {
            return Ok(cost);
        }
        let mut slots = self.slots_of_write()?;
        let mut session = self.lock().await?;
        if is_bulk {
            for command in commands(&statements) {
                let slots = slots.take();
                self.send_bulk(&mut session, command, slots).await?;
                cost.queries += 1;
            }
            return Ok(cost);
        }
        if let Some(slots) = slots {
            self.send_slots(&mut session, slots).await?;
            cost.queries += 1;
        }
        let same =
            |a: &Statement<'_>, b: &Statement<'_>| (a.collection, a.verb) == (b.collection, b.verb);
        for statements in statements.chunk_by(same) {
            for command in commands(statements) {
                self.send_command(&mut session, command).await?;
                cost.queries += 1;
            }
        }
        Ok(cost)
    }

    /// Sends statements of any verbs to any collections.
    async fn send_bulk(
        &self,
        session: &mut ClientSession,
        statements: &[Statement<'_>],
        slots: Option<SlotsStatement>,
    ) -> Result<()> {
        let database = &self.connection.database;
        let mut collections: Vec<&str> = Vec::new();
        let mut operations = RawArrayBuf::new();
        let mut expected = written_by(statements);
        // First, so that a unit that loses a lock has written nothing else.
        let before = usize::from(slots.is_some());
        if let Some(slots) = &slots {
            collections.push(lock::COLLECTION);
            expected += slots.number;
            operations.push(rawdoc! {
                "update": 0,
                "filter": slots.filter.clone(),
                "updateMods": slots.update.clone(),
                "multi": true,
            });
        }
        for statement in statements {
            // The statements are sorted by collection.
            if collections.last() != Some(&statement.collection) {
                collections.push(statement.collection);
            }
            operations.push(statement.in_bulk(collections.len() as i32 - 1));
        }
        let mut namespaces = RawArrayBuf::new();
        for collection in collections {
            namespaces.push(rawdoc! { "ns": format!("{}.{collection}", database.name()) });
        }
        let mut command = rawdoc! {
            "bulkWrite": 1,
            "ops": operations,
            "nsInfo": namespaces,
            "ordered": true,
            "errorsOnly": true,
        };
        self.bypass_validators(&mut command);
        let admin = self.connection.client.database("admin");
        let sent = admin.run_raw_command(command).session(&mut *session).await;
        let reply = driver(sent, About::collection(statements[0].collection))?;
        let errors = reply
            .get_document("cursor")
            .and_then(|cursor| cursor.get_array("firstBatch"));
        if let Some(error) = errors
            .ok()
            .and_then(|errors| errors.first())
            .and_then(Bson::as_document)
        {
            let at = number(error, "idx") as usize;
            let statement = at.checked_sub(before).and_then(|at| statements.get(at));
            let collection = statement.map_or(lock::COLLECTION, |statement| statement.collection);
            return Err(refused(collection, error));
        }
        let counts = ["nInserted", "nMatched", "nDeleted"];
        let written = counts.iter().map(|name| number(&reply, name)).sum();
        if let Some(slots) = slots
            && written != expected
        {
            // The reply has no number for each statement.
            let about = About::collection(lock::COLLECTION);
            let locked = database.collection::<Document>(lock::COLLECTION);
            let filter = Document::try_from(slots.filter.clone()).map_err(Error::malformed)?;
            let matched = locked.count_documents(filter).session(session);
            slots.check(driver(matched.await, about)?)?;
        }
        check_number(statements[0].collection, expected, written)
    }

    /// The library has validated what a command writes.
    fn bypass_validators(&self, command: &mut RawDocumentBuf) {
        if self.connection.bypasses_validators.load(Ordering::Acquire) {
            command.append(cstr!("bypassDocumentValidation"), true);
        }
    }

    /// Sends statements of one verb to one collection.
    async fn send_command(
        &self,
        session: &mut ClientSession,
        statements: &[Statement<'_>],
    ) -> Result<()> {
        let Statement {
            collection, verb, ..
        } = statements[0];
        let mut array = RawArrayBuf::new();
        for statement in statements {
            array.push(statement.in_command());
        }
        let mut command = match verb {
            Verb::Delete => rawdoc! { "delete": collection, "deletes": array },
            Verb::Update => rawdoc! { "update": collection, "updates": array },
            Verb::Insert => rawdoc! { "insert": collection, "documents": array },
        };
        if verb != Verb::Delete {
            self.bypass_validators(&mut command);
        }
        let sent = self
            .connection
            .database
            .run_raw_command(command)
            .session(session)
            .await;
        let reply = driver(sent, About::collection(collection))?;
        check_errors(collection, &reply)?;
        check_number(collection, written_by(statements), number(&reply, "n"))
    }
}

/// Returns the first error of a command of one collection.
pub(super) fn check_errors(collection: &str, reply: &Document) -> Result<()> {
    let errors = reply.get_array("writeErrors");
    match errors
        .ok()
        .and_then(|errors| errors.first())
        .and_then(Bson::as_document)
    {
        Some(error) => Err(refused(collection, error)),
        None => Ok(()),
    }
}

fn refused(collection: &str, error: &Document) -> Error {
    match RawDocumentBuf::try_from(error) {
        Ok(error) => of_statement(collection, &error),
        Err(error) => Error::malformed(error),
    }
}

/// Checks that each document that is replaced or removed was there.
fn check_number(collection: &str, expected: u64, written: u64) -> Result<()> {
    if written == expected {
        return Ok(());
    }
    let message = format!(
        "write to `{collection}` failed: of {expected} documents that it writes, only {written} are there"
    );
    Err(Error::new(ErrorKind::Corrupt, message).at(collection, None, None))
}

#[async_trait]
impl Transaction for Session {
    async fn apply(&mut self, batch: &[CollectionWrites<'_>]) -> Result<Cost> {
        self.write(batch).await
    }

    async fn update(&mut self, write: &UpdateWrite) -> Result<Updated> {
        if let Change::Update(update) = &write.change {
            update.check()?;
        }
        let now = DateTime::now();
        let find = Find {
            collection: write.collection.clone(),
            filter: write.filter.clone(),
            ..Find::default()
        };
        let (found, mut cost) = self.find_all(&find).await?;
        let mut updated = Updated {
            matched: found.len() as u64,
            ..Updated::default()
        };
        let mut changed = Vec::new();
        for before in &found {
            if let Some(after) = write.changed(before, now)? {
                changed.push((before, after));
            }
        }
        updated.modified = changed.len() as u64;
        let mut writes: Vec<DocumentWrite<'_>> = changed
            .iter()
            .map(|(before, after)| DocumentWrite::Replace { before, after })
            .collect();
        let inserted;
        if found.is_empty() && write.upsert {
            inserted = write.inserted(now)?;
            writes.push(DocumentWrite::Insert(&inserted));
            updated.inserted = true;
        }
        let collection = &write.collection;
        cost += self
            .write(&[CollectionWrites { collection, writes }])
            .await?;
        updated.cost = cost;
        Ok(updated)
    }

    async fn delete(&mut self, write: &DeleteWrite) -> Result<Deleted> {
        check_name(&write.collection)?;
        if let Some(slots) = self.slots_of_write()? {
            let mut session = self.lock().await?;
            self.send_slots(&mut session, slots).await?;
        }
        let mut session = self.lock().await?;
        let command = doc! {
            "delete": &write.collection,
            "deletes": [{ "q": write.filter.to_document(), "limit": 0 }],
        };
        let about = About {
            collection: &write.collection,
            can_fail: write.filter.has_expr(),
            shows: false,
        };
        let action = self.connection.database.run_command(command);
        let reply = driver(action.session(&mut *session).await, about)?;
        check_errors(&write.collection, &reply)?;
        let removed = number(&reply, "n");
        let cost = Cost {
            queries: 1,
            documents_written: removed,
            ..Cost::default()
        };
        Ok(Deleted { removed, cost })
    }

    fn locks(&mut self) -> Option<&mut Locks> {
        Some(&mut self.locks)
    }

    async fn commit(mut self: Box<Self>) -> Result<()> {
        self.commit_all().await
    }

    async fn rollback(mut self: Box<Self>) -> Result<()> {
        self.abort().await;
        Ok(())
    }
}
