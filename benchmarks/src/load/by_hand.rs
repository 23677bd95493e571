//! The same writes by hand, as careful code does them with the driver alone.
//!
//! Each write is a transaction, which reads documents first, and then sends all statements in one `bulkWrite`. An insert also changes a
//! counter in the author, so that an insert and a rename of one author conflict. Deferred refreshes are entries of a queue, which the
//! workers process.

use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use mongodb::{
    Client, ClientSession, Collection, Database,
    bson::{Bson, DateTime, Document, doc, oid::ObjectId},
    error::{Result, TRANSIENT_TRANSACTION_ERROR, UNKNOWN_TRANSACTION_COMMIT_RESULT},
    options::{
        DeleteManyModel, DeleteOneModel, InsertOneModel, ReadConcern, UpdateManyModel,
        UpdateOneModel, WriteConcern, WriteModel,
    },
};

use super::{Act, Outcome};

/// The collection of the deferred refreshes.
pub(super) const QUEUE: &str = "queue";
/// The time for which a transaction is retried.
const RETRIED_FOR: Duration = Duration::from_secs(120);
/// The number of entries that a worker takes from the queue at once.
const BATCH: i64 = 10;

pub(super) struct ByHand {
    client: Client,
    authors: Collection<Document>,
    shelves: Collection<Document>,
    books: Collection<Document>,
    queue: Collection<Document>,
}

/// The work of a transaction.
#[derive(Clone, Copy)]
enum Work<'a> {
    Act(&'a Act),
    /// Processes entries of the queue, after skipping some, which other workers take.
    Refresh {
        skip: u64,
    },
}

/// Turns the documents that the library has stored into documents of the code by hand.
pub(super) async fn adopt(database: &Database) -> Result<()> {
    for name in database.list_collection_names().await? {
        if name.starts_with("_odm") {
            database.collection::<Document>(&name).drop().await?;
        } else {
            // The server has no schema to check then.
            let unchecked = doc! { "collMod": name, "validator": {} };
            database.run_command(unchecked).await?;
        }
    }
    database.create_collection(QUEUE).await?;
    let authors = database.collection::<Document>("authors");
    authors
        .update_many(doc! {}, doc! { "$set": { "inserts": 0_i64 } })
        .await?;
    Ok(())
}

fn line(book: &Document) -> Document {
    let names = ["_id", "author_name", "pages"];
    let fields = names
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), book.get(name)?.clone())));
    fields.collect()
}

fn number(document: &Document, name: &str) -> i32 {
    document.get_i32(name).unwrap_or_default()
}

impl ByHand {
    pub(super) fn new(client: Client, database: &str) -> Self {
        let database = client.database(database);
        ByHand {
            authors: database.collection("authors"),
            shelves: database.collection("shelves"),
            books: database.collection("books"),
            queue: database.collection(QUEUE),
            client,
        }
    }

    pub(super) async fn act(&self, act: Act) -> anyhow::Result<Outcome> {
        if let Act::Visit { shelf } = act {
            let visit = doc! { "$inc": { "visits": 1_i64 } };
            let visited = self.shelves.update_one(doc! { "_id": shelf }, visit);
            let visited = visited.write_concern(WriteConcern::majority()).await;
            return match visited {
                Ok(visited) if visited.matched_count == 0 => Ok(Outcome::Absent),
                visited => lost_or(visited.map(|_| Outcome::Done)),
            };
        }
        let done = self.transaction(Work::Act(&act));
        let outcome = |is_done| {
            if is_done {
                Outcome::Done
            } else {
                Outcome::Absent
            }
        };
        lost_or(done.await.map(outcome))
    }

    /// Does the work in a transaction until it is stored, as the specification of the drivers says for `withTransaction`. Aborts the
    /// transaction if there is no work.
    async fn transaction(&self, work: Work<'_>) -> Result<bool> {
        let begin = Instant::now();
        let mut session = self.client.start_session().await?;
        let mut wait = 5.0;
        loop {
            let options = session
                .start_transaction()
                .read_concern(ReadConcern::snapshot());
            options.write_concern(WriteConcern::majority()).await?;
            let error = match self.carry_out(&mut session, work).await {
                Ok(false) => {
                    session.abort_transaction().await?;
                    return Ok(false);
                }
                Ok(true) => match self.commit(&mut session, begin).await {
                    Ok(()) => return Ok(true),
                    Err(error) => error,
                },
                Err(error) => {
                    session.abort_transaction().await?;
                    error
                }
            };
            let is_transient = error.contains_label(TRANSIENT_TRANSACTION_ERROR);
            if !is_transient || begin.elapsed() > RETRIED_FOR {
                return Err(error);
            }
            tokio::time::sleep(Duration::from_secs_f64(fastrand::f64() * wait / 1e3)).await;
            wait = f64::min(wait * 1.5, 500.0);
        }
    }

    /// Whether there was something to do.
    async fn carry_out(&self, session: &mut ClientSession, work: Work<'_>) -> Result<bool> {
        match work {
            Work::Act(Act::Insert {
                author,
                shelf,
                pages,
            }) => self.insert(session, *author, *shelf, *pages).await,
            Work::Act(Act::Remove { pages }) => self.remove(session, *pages).await,
            Work::Act(Act::Move { pages, shelf }) => self.move_to(session, *pages, *shelf).await,
            Work::Act(Act::Empty { shelf }) => self.empty(session, *shelf).await,
            Work::Act(Act::Rename { author, name }) => self.rename(session, *author, name).await,
            Work::Act(Act::Visit { .. }) => Ok(false),
            Work::Refresh { skip } => {
                let next = self
                    .queue
                    .find(doc! {})
                    .sort(doc! { "at": 1 })
                    .skip(skip)
                    .limit(BATCH);
                let mut next = next.session(&mut *session).await?;
                let entries: Vec<Document> = next.stream(&mut *session).try_collect().await?;
                self.refresh(session, &entries).await?;
                Ok(!entries.is_empty())
            }
        }
    }

    async fn commit(&self, session: &mut ClientSession, begin: Instant) -> Result<()> {
        loop {
            match session.commit_transaction().await {
                Err(error)
                    if error.contains_label(UNKNOWN_TRANSACTION_COMMIT_RESULT)
                        && begin.elapsed() < RETRIED_FOR => {}
                result => return result,
            }
        }
    }

    /// The matching books, with all their fields.
    async fn find(&self, session: &mut ClientSession, filter: Document) -> Result<Vec<Document>> {
        let mut found = self.books.find(filter).session(&mut *session).await?;
        found.stream(session).try_collect().await
    }

    async fn write(&self, session: &mut ClientSession, writes: Vec<WriteModel>) -> Result<i64> {
        let done = self.client.bulk_write(writes).session(session).await?;
        Ok(done.matched_count)
    }

    fn update(&self, of: &Collection<Document>, filter: Document, update: Document) -> WriteModel {
        let model = UpdateOneModel::builder()
            .namespace(of.namespace())
            .filter(filter);
        model.update(update).build().into()
    }

    fn update_many(
        &self,
        of: &Collection<Document>,
        filter: Document,
        update: Document,
        array_filters: Option<Vec<Bson>>,
    ) -> WriteModel {
        let model = UpdateManyModel::builder()
            .namespace(of.namespace())
            .filter(filter);
        model
            .update(update)
            .array_filters(array_filters)
            .build()
            .into()
    }

    fn queued(&self, kind: &str, of: i32) -> WriteModel {
        let entry = doc! { "_id": ObjectId::new(), "kind": kind, "of": of, "at": DateTime::now() };
        let model = InsertOneModel::builder().namespace(self.queue.namespace());
        model.document(entry).build().into()
    }

    async fn insert(
        &self,
        session: &mut ClientSession,
        author: i32,
        shelf: i32,
        pages: i32,
    ) -> Result<bool> {
        let found = self
            .authors
            .find_one(doc! { "_id": author })
            .session(&mut *session)
            .await?;
        let Some(found) = found else { return Ok(false) };
        let name = found.get("name").cloned().unwrap_or(Bson::Null);
        let book = doc! {
            "_id": ObjectId::new(), "author": author, "author_name": &name, "author_later": &name, "shelf": shelf, "pages": pages,
        };
        let shown = doc! { "$each": [line(&book)], "$sort": { "pages": -1 }, "$slice": 2 };
        let writes = vec![
            self.update(
                &self.authors,
                doc! { "_id": author },
                doc! { "$inc": { "inserts": 1_i64 } },
            ),
            InsertOneModel::builder()
                .namespace(self.books.namespace())
                .document(book)
                .build()
                .into(),
            self.update(
                &self.shelves,
                doc! { "_id": shelf },
                doc! { "$inc": { "books": 1_i64 }, "$push": { "longest": shown } },
            ),
            self.queued("shelf", shelf),
        ];
        Ok(self.write(session, writes).await? == 2)
    }

    /// The books that a shelf shows after books have been removed from it and others added.
    async fn longest(
        &self,
        session: &mut ClientSession,
        shelf: i32,
        without: &[&Document],
        with: &[&Document],
    ) -> Result<Vec<Document>> {
        let out: Vec<Bson> = without
            .iter()
            .filter_map(|book| book.get("_id").cloned())
            .collect();
        let find = self
            .books
            .find(doc! { "shelf": shelf, "_id": { "$nin": out } });
        let mut found = find
            .sort(doc! { "pages": -1, "_id": 1 })
            .limit(2)
            .session(&mut *session)
            .await?;
        let mut lines: Vec<Document> = found.stream(session).try_collect().await?;
        lines.extend(with.iter().map(|book| (*book).clone()));
        lines.sort_by_key(|book| std::cmp::Reverse(number(book, "pages")));
        lines.truncate(2);
        Ok(lines.iter().map(line).collect())
    }

    /// Updates the count and the shown books of a shelf, after books were removed from it and others added.
    async fn changed_shelf(
        &self,
        session: &mut ClientSession,
        shelf: i32,
        gone: &[&Document],
        come: &[&Document],
    ) -> Result<[WriteModel; 2]> {
        let longest = self.longest(session, shelf, gone, come).await?;
        let by = come.len() as i64 - gone.len() as i64;
        let change = doc! { "$inc": { "books": by }, "$set": { "longest": longest } };
        Ok([
            self.update(&self.shelves, doc! { "_id": shelf }, change),
            self.queued("shelf", shelf),
        ])
    }

    /// Updates the counts and the shown books of all shelves from which books were removed.
    async fn without(
        &self,
        session: &mut ClientSession,
        books: &[Document],
    ) -> Result<Vec<WriteModel>> {
        let mut writes = Vec::new();
        for shelf in shelves(books) {
            let is_there = |book: &&Document| number(book, "shelf") == shelf;
            let gone: Vec<_> = books.iter().filter(is_there).collect();
            writes.extend(self.changed_shelf(session, shelf, &gone, &[]).await?);
        }
        Ok(writes)
    }

    async fn remove(&self, session: &mut ClientSession, pages: i32) -> Result<bool> {
        let gone = self.find(session, doc! { "pages": pages }).await?;
        let mut writes = self.without(session, &gone).await?;
        for book in &gone {
            let model = DeleteOneModel::builder().namespace(self.books.namespace());
            writes.push(
                model
                    .filter(doc! { "_id": book.get("_id").cloned() })
                    .build()
                    .into(),
            );
        }
        if !writes.is_empty() {
            self.write(session, writes).await?;
        }
        Ok(!gone.is_empty())
    }

    async fn move_to(&self, session: &mut ClientSession, pages: i32, to: i32) -> Result<bool> {
        let moved = self
            .find(session, doc! { "pages": pages, "shelf": { "$ne": to } })
            .await?;
        if moved.is_empty() {
            return Ok(false);
        }
        let mut writes = self.without(session, &moved).await?;
        let come: Vec<_> = moved.iter().collect();
        writes.extend(self.changed_shelf(session, to, &[], &come).await?);
        let expected = shelves(&moved).len() + 1 + moved.len();
        for book in &moved {
            let change = doc! { "$set": { "shelf": to } };
            writes.push(self.update(
                &self.books,
                doc! { "_id": book.get("_id").cloned() },
                change,
            ));
        }
        Ok(self.write(session, writes).await? == expected as i64)
    }

    async fn empty(&self, session: &mut ClientSession, shelf: i32) -> Result<bool> {
        // Not by the `bulkWrite`, as not every server gives it the read concern of the transaction.
        let old = self.shelves.find_one(doc! { "_id": shelf });
        if old.session(&mut *session).await?.is_none() {
            return Ok(false);
        }
        let empty = doc! {
            "_id": shelf, "visits": 0_i64, "longest": [], "books": 0_i64, "books_later": 0_i64, "authors_later": [],
        };
        let books = DeleteManyModel::builder().namespace(self.books.namespace());
        let old = DeleteOneModel::builder().namespace(self.shelves.namespace());
        let new = InsertOneModel::builder().namespace(self.shelves.namespace());
        let writes = vec![
            books.filter(doc! { "shelf": shelf }).build().into(),
            old.filter(doc! { "_id": shelf }).build().into(),
            new.document(empty).build().into(),
        ];
        self.write(session, writes).await?;
        Ok(true)
    }

    async fn rename(&self, session: &mut ClientSession, author: i32, name: &str) -> Result<bool> {
        let mut found = self
            .books
            .find(doc! { "author": author })
            .session(&mut *session)
            .await?;
        let books: Vec<Document> = found.stream(&mut *session).try_collect().await?;
        let ids: Vec<Bson> = books
            .iter()
            .filter_map(|book| book.get("_id").cloned())
            .collect();
        let change = doc! { "$set": { "name": name }, "$inc": { "changes": 1_i64 } };
        let mut writes = vec![
            self.update(&self.authors, doc! { "_id": author }, change),
            self.update_many(
                &self.books,
                doc! { "author": author },
                doc! { "$set": { "author_name": name } },
                None,
            ),
            self.queued("author", author),
        ];
        if !ids.is_empty() {
            writes.push(self.update_many(
                &self.shelves,
                doc! { "longest._id": { "$in": &ids } },
                doc! { "$set": { "longest.$[line].author_name": name } },
                Some(vec![doc! { "line._id": { "$in": &ids } }.into()]),
            ));
        }
        self.write(session, writes).await?;
        Ok(true)
    }

    /// Processes the queue until the process is killed.
    pub(super) async fn work(&self) -> anyhow::Result<()> {
        loop {
            let waiting = self.queue.estimated_document_count().await?;
            // Skips some, so that two workers rarely take the same entries.
            let skip = fastrand::u64(..(waiting / 2).max(1));
            let worked = self.transaction(Work::Refresh { skip });
            match worked.await {
                Ok(true) => {}
                Ok(false) => tokio::time::sleep(Duration::from_millis(50)).await,
                Err(error) if error.contains_label(TRANSIENT_TRANSACTION_ERROR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn refresh(&self, session: &mut ClientSession, entries: &[Document]) -> Result<()> {
        let mut writes = Vec::new();
        let mut done: Vec<(String, i32)> = Vec::new();
        for entry in entries {
            let key = (
                entry.get_str("kind").unwrap_or_default().to_owned(),
                number(entry, "of"),
            );
            let delete = DeleteOneModel::builder().namespace(self.queue.namespace());
            writes.push(
                delete
                    .filter(doc! { "_id": entry.get("_id").cloned() })
                    .build()
                    .into(),
            );
            if done.contains(&key) {
                continue;
            }
            let (kind, of) = (&key.0, key.1);
            if kind == "author" {
                let found = self
                    .authors
                    .find_one(doc! { "_id": of })
                    .session(&mut *session)
                    .await?;
                let name = found
                    .and_then(|author| author.get("name").cloned())
                    .unwrap_or(Bson::Null);
                let books = self
                    .find(
                        session,
                        doc! { "author": of, "author_later": { "$ne": &name } },
                    )
                    .await?;
                let shelves = shelves(&books);
                writes.extend(shelves.into_iter().map(|shelf| self.queued("shelf", shelf)));
                writes.push(self.update_many(
                    &self.books,
                    doc! { "author": of },
                    doc! { "$set": { "author_later": name } },
                    None,
                ));
            } else {
                let books = self.find(session, doc! { "shelf": of }).await?;
                let names: Vec<Bson> = books
                    .iter()
                    .filter_map(|book| book.get("author_later").cloned())
                    .collect();
                let change =
                    doc! { "$set": { "books_later": books.len() as i64, "authors_later": names } };
                writes.push(self.update(&self.shelves, doc! { "_id": of }, change));
            }
            done.push(key);
        }
        if !writes.is_empty() {
            self.write(session, writes).await?;
        }
        Ok(())
    }
}

fn shelves(books: &[Document]) -> Vec<i32> {
    let mut shelves: Vec<i32> = books.iter().map(|book| number(book, "shelf")).collect();
    shelves.sort_unstable();
    shelves.dedup();
    shelves
}

fn lost_or(done: Result<Outcome>) -> anyhow::Result<Outcome> {
    match done {
        Err(error) if error.contains_label(TRANSIENT_TRANSACTION_ERROR) => Ok(Outcome::Lost),
        done => Ok(done?),
    }
}
