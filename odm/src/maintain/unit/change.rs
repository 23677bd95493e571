//! Changes, which are queued by document and flushed as one batch.

use std::borrow::Cow;

use bson::{RawBson, RawDocumentBuf};
use futures_core::future::BoxFuture;
use odm_mql::{self as mql, key, path};
use odm_store::{
    CollectionWrites, DeleteWrite, Deleted, DocumentWrite, Error, ErrorKind, Find, ReaderExt,
    Result, UpdateWrite, Updated, id_first, mutants::mutant,
};

use super::{
    super::{
        as_read,
        places::{FieldValues, changes},
        versions,
    },
    Doc, Images, Numbers, Unit, WRITE_STEP, id,
};
use crate::catalog::is_own;

impl Unit<'_> {
    /// Queues a new document, and returns its position.
    ///
    /// # Errors
    ///
    /// `DuplicateKey` if the unit knows that the `_id` is taken; else the flush finds it.
    pub(in crate::maintain) async fn insert(
        &mut self,
        collection: &str,
        document: Doc,
    ) -> Result<usize> {
        self.insert_as(collection, document, self.policy.keeps_origin)
            .await
    }

    fn insert_as<'f>(
        &'f mut self,
        collection: &'f str,
        document: Doc,
        has_origin: bool,
    ) -> BoxFuture<'f, Result<usize>> {
        Box::pin(async move {
            let id = path::get(&document, "_id");
            let id = id.ok_or_else(|| without_id(collection))?;
            let at = self.images_mut(collection).position_or_absent(key::of(id));
            if self.images(collection).at(at).now().is_some() {
                return Err(Error::duplicate_id(collection, id));
            }
            let document = match id_first(&document, id) {
                Some(reordered) => Doc::new(reordered),
                None => document,
            };
            if has_origin {
                self.images_mut(collection).set_origin(at, document.clone());
            }
            let image = self.images(collection).at(at);
            let document = versions::recorded(
                self.catalog,
                collection,
                &self.earlier,
                image,
                document,
                self.now,
            )?;
            self.queue(collection, at, Some(document), true).await?;
            Ok(at)
        })
    }

    /// Queues a document whose value was stored elsewhere before: its references and copies are not new.
    pub(in crate::maintain) async fn insert_with_origin(
        &mut self,
        collection: &str,
        document: Doc,
    ) -> Result<()> {
        self.insert_as(collection, document, true).await.map(drop)
    }

    /// Queues a change of base data, by the user or by an effect. The change is recorded in the document. Returns whether
    /// anything is different.
    pub(in crate::maintain) fn change<'f>(
        &'f mut self,
        collection: &'f str,
        at: usize,
        after: RawDocumentBuf,
    ) -> BoxFuture<'f, Result<bool>> {
        Box::pin(async move {
            let image = self.images(collection).at(at);
            let Some(now) = image.now() else {
                return Ok(false);
            };
            let id = id(now);
            let is_same = |after| after == id || key::of(after) == key::of(id);
            if !path::get(&after, "_id").is_some_and(is_same) {
                let error = Error::from(mql::Error::Immutable("_id".to_owned()));
                return Err(error.at(collection, Some("_id"), Some(id.into())));
            }
            let after = id_first(&after, id).unwrap_or(after);
            if after.as_bytes() == now.as_bytes() {
                return Ok(false);
            }
            let after = Doc::new(after);
            let after = versions::recorded(
                self.catalog,
                collection,
                &self.earlier,
                image,
                after,
                self.now,
            )?;
            self.queue(collection, at, Some(after), true).await?;
            Ok(true)
        })
    }

    /// Queues a change of base data that gives a document all fields of another one.
    pub(in crate::maintain) async fn replace(
        &mut self,
        collection: &str,
        at: usize,
        after: RawDocumentBuf,
    ) -> Result<bool> {
        self.images_mut(collection).replaced(at);
        self.change(collection, at, after).await
    }

    /// Queues a change of fields that are base data.
    pub(in crate::maintain) async fn set(
        &mut self,
        collection: &str,
        at: usize,
        fields: FieldValues,
    ) -> Result<bool> {
        match self.with_fields(collection, at, fields)? {
            Some(after) => self.change(collection, at, after).await,
            None => Ok(false),
        }
    }

    /// Queues a change of derived fields, which is not recorded.
    pub(in crate::maintain) async fn set_derived(
        &mut self,
        collection: &str,
        at: usize,
        fields: FieldValues,
    ) -> Result<()> {
        if let Some(after) = self.with_fields(collection, at, fields)? {
            self.queue(collection, at, Some(Doc::new(after)), false)
                .await?;
        }
        Ok(())
    }

    fn with_fields(
        &self,
        collection: &str,
        at: usize,
        fields: FieldValues,
    ) -> Result<Option<RawDocumentBuf>> {
        let Some(now) = self.images(collection).at(at).now() else {
            return Ok(None);
        };
        let update = changes(fields);
        if update.is_empty() {
            return Ok(None);
        }
        Ok(update.apply(now, false, self.now)?)
    }

    /// Records in a document that its cold part changed.
    pub(in crate::maintain) async fn touch(&mut self, collection: &str, at: usize) -> Result<()> {
        if mutant("version of a cold change") {
            return Ok(());
        }
        self.images_mut(collection).touch(at);
        let image = self.images(collection).at(at);
        if let (Some(_), Some(now)) = (self.catalog.write_fields(collection), image.now()) {
            let now = now.clone();
            let after = versions::recorded(
                self.catalog,
                collection,
                &self.earlier,
                image,
                now,
                self.now,
            )?;
            self.queue(collection, at, Some(after), true).await?;
        } else if self.has_watchers(collection)
            && let Some(now) = self.images(collection).at(at).now().cloned()
        {
            // Nothing is written, but watchers are notified.
            self.queue(collection, at, Some(now), true).await?;
        }
        Ok(())
    }

    /// Queues the removal of a document that exists.
    ///
    /// # Errors
    ///
    /// `DuplicateKey` if the unit has queued the document as new, and its `_id` is taken: no later flush would find that.
    pub(in crate::maintain) fn remove<'f>(
        &'f mut self,
        collection: &'f str,
        at: usize,
    ) -> BoxFuture<'f, Result<()>> {
        Box::pin(async move {
            let image = self.images(collection).at(at);
            let Some(now) = image.now() else {
                return Ok(());
            };
            let (id, is_stored) = (RawBson::from(id(now)), image.stored().is_some());
            if !is_stored && !mutant("insert that is removed") {
                let ids = std::slice::from_ref(&id);
                let (exists, cost) = self.transaction.exist(collection, ids).await?;
                self.cost += cost;
                if exists == [true] {
                    return Err(Error::duplicate_id(collection, id.as_raw_bson_ref()));
                }
            }
            self.removed.push((collection.to_owned(), id));
            self.queue(collection, at, None, true).await
        })
    }

    async fn queue(
        &mut self,
        collection: &str,
        at: usize,
        now: Option<Doc>,
        is_base: bool,
    ) -> Result<()> {
        if is_base {
            self.check_right(collection)?;
        }
        let step = self.step;
        let is_written = step == WRITE_STEP && self.policy.trusts_stored;
        let (is_queued, is_counted) =
            self.images_mut(collection)
                .queue(at, now, (is_base, is_written), step);
        self.queued += usize::from(is_queued);
        self.changed_images += u64::from(is_counted);
        if self.queued > self.bounds.queue {
            self.flush().await?;
        }
        Ok(())
    }

    /// Writes the queue as one batch, with the unread updates. If another unit of the same commit follows, documents that get a
    /// key of a unique index are left to it.
    pub(in crate::maintain) async fn flush_all(&mut self) -> Result<()> {
        if self.is_followed {
            return self.flush().await;
        }
        let mut removals = Vec::new();
        for (collection, images) in &mut self.collections {
            images.release();
            let writes = images.free_keys(self.catalog.unique_in(collection))?;
            if !writes.is_empty() {
                self.catalog.check_write(collection)?;
                removals.push(CollectionWrites { collection, writes });
            }
        }
        if !removals.is_empty() {
            self.cost += self.transaction.apply(&removals).await?;
        }
        self.write().await
    }

    /// Writes the queue as one batch, with the unread updates, except documents that get a key of a unique index: uniqueness
    /// holds at the end of the unit.
    pub(in crate::maintain) fn flush(&mut self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            if self.queued == 0 && !self.unread.is_queued() && !self.is_part {
                return Ok(());
            }
            for (collection, images) in &mut self.collections {
                images.hold_back(self.catalog.unique_in(collection));
            }
            self.write().await
        })
    }

    fn write<'f>(&'f mut self) -> BoxFuture<'f, Result<()>> {
        Box::pin(async move {
            self.share_added();
            let unread = self.unread.take();
            let mut batch = Vec::new();
            for (collection, images) in &self.collections {
                let writes: Vec<DocumentWrite<'_>> = images.writes().collect();
                if !writes.is_empty() {
                    self.catalog.check_write(collection)?;
                    batch.push(CollectionWrites { collection, writes });
                }
            }
            for update in &unread {
                self.catalog.check_write(&update.collection)?;
            }
            if !batch.is_empty() || !unread.is_empty() {
                let applied = match &unread[..] {
                    [] => self
                        .transaction
                        .apply(&batch)
                        .await
                        .map(|cost| (cost, Vec::new())),
                    unread => self.transaction.apply_with(&batch, unread).await,
                };
                drop(batch);
                match applied {
                    Ok((cost, unmatched)) => {
                        self.cost += cost;
                        self.unread.written(&unread, &unmatched);
                    }
                    Err(error) => return Err(self.with_numbers(error).await),
                }
            }
            self.record_changes()?;
            for images in self.collections.values_mut() {
                images.flushed();
            }
            self.queued = 0;
            Ok(())
        })
    }

    /// Whether somebody watches a collection, so that the images of all its changes are needed.
    pub(in crate::maintain) fn has_watchers(&mut self, collection: &str) -> bool {
        let changes = self.transaction.changes();
        !is_own(collection) && changes.is_some_and(|changes| changes.is_watched(collection))
    }

    /// Records the queued changes of watched collections, with the documents as they are read now: a field that is pending now
    /// may be computed by the time that the change is read.
    fn record_changes(&mut self) -> Result<()> {
        let Some(changes) = self.transaction.changes() else {
            return Ok(());
        };
        for (collection, images) in &self.collections {
            // Nobody is shown the library's own collections.
            if !images.has_queue() || is_own(collection) || !changes.is_watched(collection) {
                continue;
            }
            let as_read = |image: Option<Doc>| -> Result<Option<Doc>> {
                let Some(image) = image else { return Ok(None) };
                match as_read(self.catalog, collection, &image)? {
                    Cow::Borrowed(_) => Ok(Some(image)),
                    Cow::Owned(read) => Ok(Some(Doc::new(read))),
                }
            };
            for (mut change, is_cold_changed) in images.queued_changes() {
                change.before = as_read(change.before)?;
                change.after = as_read(change.after)?;
                changes.add(collection, change, is_cold_changed);
            }
        }
        Ok(())
    }

    /// Flushes a chunk of refreshed documents, and forgets the documents that no later step reads.
    pub(in crate::maintain) async fn end_chunk(
        &mut self,
        collection: &str,
        is_read_later: bool,
    ) -> Result<()> {
        self.flush().await?;
        self.images_mut(collection).forget(is_read_later);
        Ok(())
    }

    /// Forgets the documents of a collection, changed ones included, after a flush.
    pub(in crate::maintain) fn forget_all<'f>(
        &'f mut self,
        collection: &'f str,
    ) -> BoxFuture<'f, Result<()>> {
        Box::pin(async move {
            self.flush().await?;
            let mut earlier = std::mem::take(&mut self.earlier);
            earlier.add(self.catalog, collection, self.images(collection))?;
            self.earlier = earlier;
            self.images_mut(collection).forget_all();
            Ok(())
        })
    }

    /// Ends a page: flushes, and forgets all documents but the held-back ones, since their consequences are applied. To the next
    /// page, the held-back ones are unchanged: a refresh would apply the consequences of a changed one again.
    pub(in crate::maintain) fn end_page(&mut self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            self.flush().await?;
            self.before_page = self.changed_images;
            self.earlier = self.take_earlier()?;
            self.collections.values_mut().for_each(Images::end_page);
            Ok(())
        })
    }
}

/// The numbers of documents in the error of a unit that is too large.
impl Unit<'_> {
    /// Remembers a search for the documents whose copies change, so that an error can say how many there are.
    pub(in crate::maintain) fn expect_followers(&mut self, find: &Find) {
        self.images_mut(&find.collection);
        self.expected.insert(find.collection.clone(), find.clone());
    }

    /// Adds to an error of a limit the number of documents that the unit changes in each collection.
    async fn with_numbers(&self, error: Error) -> Error {
        if error.kind() != ErrorKind::Limit {
            return error;
        }
        let (mut texts, mut holders) = (Vec::new(), Vec::new());
        for (collection, images) in &self.collections {
            let numbers = images.numbers();
            let mut number = numbers.inserted + numbers.changed + numbers.removed;
            // A store may refuse to read after an error: then the error has the known numbers alone.
            if let Some(find) = self.expected.get(collection)
                && let Ok((expected, _)) = self.transaction.count(find).await
                && expected > 0
            {
                number = number.max(expected);
                holders.push(format!("`{collection}`"));
            }
            if number > 0 {
                texts.push(format!("{number} documents of `{collection}`"));
            }
        }
        let mut message = format!("{error}; it changes {}", texts.join(", "));
        if !holders.is_empty() {
            let advice = format!(
                "; the copies in {} can be refreshed after it: declare them with `refresh = \"later\"`",
                holders.join(", ")
            );
            message.push_str(&advice);
        }
        Error::new(ErrorKind::Limit, message).with_source(error)
    }
}

/// Writes without consequences, which go to the store as they are.
impl Unit<'_> {
    pub(in crate::maintain) async fn update_where(
        &mut self,
        write: &UpdateWrite,
    ) -> Result<Updated> {
        self.catalog.check_write(&write.collection)?;
        let updated = self.transaction.update(write).await?;
        self.cost += updated.cost;
        let numbers = Numbers {
            inserted: updated.inserted.into(),
            changed: updated.modified,
            removed: 0,
        };
        self.changed_images += numbers.inserted + numbers.changed;
        self.images_mut(&write.collection).count_unseen(numbers);
        Ok(updated)
    }

    pub(in crate::maintain) async fn delete_where(
        &mut self,
        write: &DeleteWrite,
    ) -> Result<Deleted> {
        self.catalog.check_write(&write.collection)?;
        let deleted = self.transaction.delete(write).await?;
        self.cost += deleted.cost;
        let numbers = Numbers {
            removed: deleted.removed,
            ..Numbers::NONE
        };
        self.changed_images += numbers.removed;
        self.images_mut(&write.collection).count_unseen(numbers);
        Ok(deleted)
    }
}

fn without_id(collection: &str) -> Error {
    let message = format!("missing `_id`: a document of `{collection}` has none; give it one");
    Error::new(ErrorKind::Encode, message)
}
