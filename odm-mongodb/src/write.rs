//! Writes of a transaction.

use std::sync::atomic::Ordering;

use ::mongodb::ClientSession;
use async_trait::async_trait;
use bson::{Bson, DateTime, Document, RawArrayBuf, RawDocumentBuf, doc, raw::cstr, rawdoc};
use odm_store::{
    Change, CollectionWrites, Cost, DeleteWrite, Deleted, DocumentWrite, Error, ErrorKind, Find,
    Locks, ReaderExt, Result, Transaction, UnreadUpdate, UpdateWrite, Updated, apply_after_reads,
};

use super::{
    error::{About, conflict, lacks_bulk_write, of_statement},
    lock::{self, SlotsStatement},
    reply::number,
    schema::check_name,
    session::MongoTransaction,
    statement::{Statement, Verb, commands, statements, written_by},
};

impl MongoTransaction {
    /// Adds the slots of the locks that were added.
    pub(super) fn add_locks(&mut self) -> Result<()> {
        let locks = self.locks.take();
        self.slots.add(locks, &self.connection.turn)
    }

    /// The statement of the slots that a write changes in addition.
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
        let reply = self.answer(
            action.session(session).await,
            About::collection(lock::COLLECTION),
        )?;
        check_errors(lock::COLLECTION, &reply)?;
        slots.check(number(&reply, "n"))
    }

    async fn write(&mut self, batch: &[CollectionWrites<'_>]) -> Result<Cost> {
        let mut statements = statements(batch)?;
        if self.connection.has_bulk_write() {
            let (cost, _) = self.write_bulk(statements).await?;
            return Ok(cost);
        }
        statements.sort_by_key(|statement| (statement.collection, statement.verb));
        let mut cost = Cost {
            documents_written: written_by(&statements),
            ..Cost::default()
        };
        if statements.is_empty() {
            return Ok(cost);
        }
        let slots = self.slots_of_write()?;
        let mut session = self.lock().await?;
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

    /// Writes statements of any verbs to any collections. Returns the positions of unread updates that have not matched.
    async fn write_bulk(
        &mut self,
        mut statements: Vec<Statement<'_>>,
    ) -> Result<(Cost, Vec<usize>)> {
        let (mut cost, mut unmatched) = (Cost::default(), Vec::new());
        if statements.is_empty() {
            return Ok((cost, unmatched));
        }
        statements.sort_by_key(|statement| (statement.collection, statement.verb));
        let mut slots = self.slots_of_write()?;
        let mut session = self.lock_for_bulk().await?;
        for command in commands(&statements) {
            let sent = self.send_bulk(&mut session, command, slots.take(), &mut unmatched);
            cost.documents_written += sent.await?;
            cost.queries += 1;
        }
        Ok((cost, unmatched))
    }

    /// Sends statements of any verbs to any collections. Returns how many documents they write, and adds the positions of
    /// unread updates that have not matched.
    async fn send_bulk(
        &self,
        session: &mut ClientSession,
        statements: &[Statement<'_>],
        slots: Option<SlotsStatement>,
        unmatched: &mut Vec<usize>,
    ) -> Result<u64> {
        let database = &self.connection.database;
        let mut collections: Vec<&str> = Vec::new();
        let mut operations = RawArrayBuf::new();
        // First, so that a unit that loses a lock has not written anything else.
        let before = usize::from(slots.is_some());
        if let Some(slots) = &slots {
            collections.push(lock::COLLECTION);
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
        let has_unread = statements
            .iter()
            .any(|statement| statement.unread.is_some());
        let mut command = rawdoc! {
            "bulkWrite": 1,
            "ops": operations,
            "nsInfo": namespaces,
            "ordered": true,
            "errorsOnly": !has_unread,
        };
        self.bypass_validators(&mut command);
        let admin = self.connection.client.database("admin");
        let sent = admin.run_raw_command(command).session(&mut *session).await;
        if let Err(error) = &sent
            && lacks_bulk_write(error)
        {
            self.connection.lacks_bulk_write();
            return Err(conflict("the server refuses `bulkWrite`; run it again"));
        }
        let reply = self.answer(sent, About::collection(statements[0].collection))?;
        let results = results(&reply);
        if let Some(error) = results.iter().find(|result| number(result, "ok") == 0) {
            let at = number(error, "idx") as usize;
            let statement = at.checked_sub(before).and_then(|at| statements.get(at));
            let collection = statement.map_or(lock::COLLECTION, |statement| statement.collection);
            return Err(refused(collection, error));
        }
        let mut expected = written_by(statements);
        for (at, statement) in statements.iter().enumerate() {
            if let Some(unread) = &statement.unread {
                let result = results.get(before + at).ok_or_else(incomplete)?;
                let matched = number(result, "n");
                expected += matched;
                unmatched.extend(unread.of_one.filter(|_| matched == 0));
            }
        }
        let slots_number = slots.as_ref().map_or(0, |slots| slots.number);
        let counts = ["nInserted", "nMatched", "nDeleted"];
        let written: u64 = counts.iter().map(|name| number(&reply, name)).sum();
        if let Some(slots) = slots
            && written != expected + slots_number
        {
            // Without the results of single statements, there is only a total.
            let about = About::collection(lock::COLLECTION);
            let locked = database.collection::<Document>(lock::COLLECTION);
            let filter = Document::try_from(slots.filter.clone()).map_err(Error::malformed)?;
            let matched = locked.count_documents(filter).session(session);
            slots.check(self.answer(matched.await, about)?)?;
        }
        let written = written.saturating_sub(slots_number);
        check_number(statements[0].collection, expected, written)?;
        Ok(written)
    }

    /// The library has validated the writes of a command.
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
        let reply = self.answer(sent, About::collection(collection))?;
        check_errors(collection, &reply)?;
        check_number(collection, written_by(statements), number(&reply, "n"))
    }
}

/// The results of the statements of a `bulkWrite`, in their order, or, with `errorsOnly`, the errors.
fn results(reply: &Document) -> Vec<&Document> {
    let cursor = reply.get_document("cursor");
    let results = cursor.and_then(|cursor| cursor.get_array("firstBatch"));
    let results = results.ok().into_iter().flatten();
    results.filter_map(Bson::as_document).collect()
}

#[cold]
fn incomplete() -> Error {
    let message = "the server has answered a `bulkWrite` without the results of all its statements";
    Error::new(ErrorKind::Corrupt, message)
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

/// Checks that each replaced or removed document existed.
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
impl Transaction for MongoTransaction {
    async fn apply(&mut self, batch: &[CollectionWrites<'_>]) -> Result<Cost> {
        self.write(batch).await
    }

    fn has_unread_updates(&self) -> bool {
        self.connection.has_bulk_write()
    }

    async fn apply_with(
        &mut self,
        batch: &[CollectionWrites<'_>],
        updates: &[UnreadUpdate],
    ) -> Result<(Cost, Vec<usize>)> {
        if !self.connection.has_bulk_write() {
            return apply_after_reads(self, batch, updates).await;
        }
        let mut statements = statements(batch)?;
        let updates = updates.iter().enumerate();
        let unread = updates.map(|(position, update)| {
            let filter = self.connection.form(&update.whole_filter())?;
            Statement::unread(update, &filter, position)
        });
        statements.extend(unread.collect::<Result<Vec<_>>>()?);
        self.write_bulk(statements).await
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
            "deletes": [{ "q": self.connection.form(&write.filter)?, "limit": 0 }],
        };
        let about = About {
            collection: &write.collection,
            can_fail: write.filter.has_expr(),
            shows: false,
        };
        let action = self.connection.database.run_command(command);
        let reply = self.answer(action.session(&mut *session).await, about)?;
        check_errors(&write.collection, &reply)?;
        let removed = number(&reply, "n");
        let cost = Cost {
            queries: 1,
            documents_written: removed,
            ..Cost::default()
        };
        Ok(Deleted { removed, cost })
    }

    async fn take_locks(&mut self) -> Result<()> {
        self.add_locks()?;
        self.has_written = true;
        self.write_slots().await
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
