//! Writes of a transaction.

use std::sync::atomic::Ordering;

use ::mongodb::ClientSession;
use async_trait::async_trait;
use bson::{
    Bson, DateTime, Document, RawArrayBuf, RawBson, RawDocument, RawDocumentBuf, doc, raw::cstr,
    rawdoc,
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
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verb {
    /// First, so that what a removal gives up is free.
    Delete,
    Update,
    Insert,
}

/// A statement of a command.
struct Statement<'a> {
    collection: &'a str,
    verb: Verb,
    id: RawBson,
    /// The image after it, but of a removal that before it.
    image: &'a RawDocument,
}

impl<'a> Statement<'a> {
    /// Makes the statement of a write, after the checks that a server does not make, or makes in other words.
    fn new(collection: &'a str, write: &DocumentWrite<'a>) -> Result<Self> {
        if let Some(after) = write.after() {
            check_document(collection, after)?;
        }
        let id = |image| path::get(image, "_id").map_or(RawBson::Null, RawBson::from);
        let image = write.document();
        let verb = match write {
            DocumentWrite::Insert(_) => Verb::Insert,
            DocumentWrite::Remove(_) => Verb::Delete,
            DocumentWrite::Replace { before, after } => {
                let (old, new) = (id(before), id(after));
                if !mql::order::equal(old.as_raw_bson_ref(), new.as_raw_bson_ref()) {
                    let error = Error::from(mql::Error::Immutable("_id".to_owned()));
                    return Err(error.at(collection, Some("_id"), Some(old)));
                }
                Verb::Update
            }
        };
        Ok(Statement {
            collection,
            verb,
            id: id(image),
            image,
        })
    }

    /// The statement in the command of its verb.
    fn in_command(&self) -> RawDocumentBuf {
        match self.verb {
            Verb::Delete => rawdoc! { "q": { "_id": self.id.clone() }, "limit": 1 },
            Verb::Update => rawdoc! { "q": { "_id": self.id.clone() }, "u": self.image.to_owned() },
            Verb::Insert => self.image.to_owned(),
        }
    }

    /// The statement in a `bulkWrite`, where the collection has a number.
    fn in_bulk(&self, collection: i32) -> RawDocumentBuf {
        let filter = || rawdoc! { "_id": self.id.clone() };
        match self.verb {
            Verb::Delete => rawdoc! { "delete": collection, "filter": filter(), "multi": false },
            Verb::Update => rawdoc! {
                "update": collection,
                "filter": filter(),
                "updateMods": self.image.to_owned(),
                "multi": false,
            },
            Verb::Insert => rawdoc! { "insert": collection, "document": self.image.to_owned() },
        }
    }
}

/// The statements that fit in one command each.
fn commands<'s, 'a>(mut statements: &'s [Statement<'a>]) -> Vec<&'s [Statement<'a>]> {
    let mut commands = Vec::new();
    while !statements.is_empty() {
        let mut len = 0;
        let fits = |statement: &&Statement<'_>| {
            len += statement.image.as_bytes().len();
            len <= COMMAND_LEN
        };
        let number = statements.iter().take(STATEMENTS).take_while(fits).count();
        let (command, rest) = statements.split_at(number.max(1));
        commands.push(command);
        statements = rest;
    }
    commands
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
        let mut statements = Vec::new();
        for CollectionWrites { collection, writes } in batch {
            check_name(collection)?;
            for write in writes {
                statements.push(Statement::new(collection, write)?);
            }
        }
        statements.sort_by_key(|statement| (statement.collection, statement.verb));
        let mut cost = Cost {
            documents_written: statements.len() as u64,
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
        let mut expected = statements.len() as u64;
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
        check_number(collection, statements.len() as u64, number(&reply, "n"))
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
