//! The writes of [`Transaction`](odm_store::Transaction).

use std::{ops::ControlFlow, sync::Arc};

use bson::{DateTime, RawBsonRef, RawDocument, RawDocumentBuf};
use odm_mql::{self as mql, Filter, Sort, Test, path};
use odm_store::{
    Change, CollectionWrites, Cost, DeleteWrite, Deleted, DocumentWrite, Error, ErrorKind, Result,
    UpdateWrite, Updated, check_document, check_replacement, mutants::mutant,
};

use super::{
    entries::{IndexEntries, duplicate},
    execute::{self, ExecContext, Query},
    ids::Ids,
    layout::{damaged, document_key, id_len},
    scan,
    schema::{Collection, Schema},
    uses::Uses,
    work::Work,
};

impl Work {
    /// Applies a batch. Removed entries go before the first is added, so that documents can exchange the values of a unique index.
    pub(super) fn apply(&mut self, batch: &[CollectionWrites<'_>]) -> Result<Cost> {
        let mut work = self.savepoint();
        let mut cost = Cost {
            queries: 1,
            ..Cost::default()
        };
        for CollectionWrites { collection, writes } in batch {
            let mut claims = Vec::with_capacity(writes.len());
            for write in writes {
                claims.push(work.write_one(collection, write)?);
                work.count_written(&mut cost)?;
            }
            for (write, claims) in writes.iter().zip(claims) {
                if let Some(after) = write.after() {
                    work.claim(collection, after, claims)?;
                }
            }
        }
        work.keep();
        Ok(cost)
    }

    pub(super) async fn update(&mut self, write: &UpdateWrite) -> Result<Updated> {
        let mut work = self.savepoint();
        let mut cost = Cost {
            queries: 1,
            ..Cost::default()
        };
        if let Change::Update(update) = &write.change {
            update.check()?;
        }
        let targets = work
            .targets(&write.collection, &write.filter, &mut cost)
            .await?;
        // All changes of one statement have the same time.
        let now = DateTime::now();
        let mut updated = Updated::default();
        for id in targets.iter() {
            let collection = work.existing(&write.collection)?;
            let before = work.owned(&collection, id)?;
            updated.matched += 1;
            let Some(after) = write.changed(&before, now)? else {
                continue;
            };
            work.replace(&collection, &before, &after)?;
            work.count_written(&mut cost)?;
            updated.modified += 1;
        }
        if updated.matched == 0 && write.upsert {
            let document = write.inserted(now)?;
            work.insert_one(&write.collection, &document, &mut cost)?;
            updated.inserted = true;
        }
        work.keep();
        updated.cost = cost;
        Ok(updated)
    }

    pub(super) async fn delete(&mut self, write: &DeleteWrite) -> Result<Deleted> {
        let mut work = self.savepoint();
        let mut cost = Cost {
            queries: 1,
            ..Cost::default()
        };
        let targets = work
            .targets(&write.collection, &write.filter, &mut cost)
            .await?;
        let mut removed = 0;
        for id in targets.iter() {
            let collection = work.existing(&write.collection)?;
            let document = work.owned(&collection, id)?;
            work.write_one(&collection.name, &DocumentWrite::Remove(&document))?;
            work.count_written(&mut cost)?;
            removed += 1;
        }
        work.keep();
        Ok(Deleted { removed, cost })
    }

    /// The matching documents, all found before the first is changed.
    async fn targets(&self, collection: &str, filter: &Filter, cost: &mut Cost) -> Result<Ids> {
        let mut targets = Ids::default();
        let Some(collection) = self.view().collection(collection) else {
            return Ok(targets);
        };
        // Most writes are by one `_id`, and need no plan.
        if let Filter::Path(path, Test::Eq(id)) = filter
            && path == "_id"
        {
            let key = document_key(id.as_raw_bson_ref());
            if let Some(document) = self.view().get(collection.tree, &key)? {
                cost.documents_examined += 1;
                if filter.matches(scan::read(&document)?)? {
                    targets.push(&key, self.settings.sort_memory)?;
                }
            }
            return Ok(targets);
        }
        // The documents are changed in the order of `_id`.
        let query = Query {
            filters: &[filter],
            sort: &Sort::new(),
            skip: 0,
            limit: None,
            after: None,
        };
        let memory = self.settings.sort_memory;
        let mut budget = self.yield_budget();
        let mut context = ExecContext {
            budget: &mut budget,
            cost,
            memory,
        };
        let _ = execute::find(
            self.view(),
            collection,
            &query,
            &mut context,
            &mut |id, _| {
                targets.push(id, memory)?;
                Ok(ControlFlow::Continue(()))
            },
        )
        .await?;
        context.cost.documents_returned = 0;
        Ok(targets)
    }

    fn insert_one(
        &mut self,
        collection: &str,
        document: &RawDocument,
        cost: &mut Cost,
    ) -> Result<()> {
        let claims = self.write_one(collection, &DocumentWrite::Insert(document))?;
        self.claim(collection, document, claims)?;
        self.count_written(cost)
    }

    /// Writes a document of a batch, except its entries in unique indexes, which it returns.
    fn write_one(&mut self, collection: &str, write: &DocumentWrite<'_>) -> Result<Claims> {
        let (before, after) = (write.before(), write.after());
        match (before, after) {
            // An image that is not the stored one is refused below.
            (Some(before), Some(after)) => check_replacement(collection, before, after)?,
            (None, Some(after)) => check_document(collection, after)?,
            (_, None) => {}
        }
        let collection = self.collection_or_new(collection)?;
        let id = field_id(write.document())?;
        let key = document_key(id);
        if let Some(before) = before
            && let before = field_id(before)?
            && before != id
            && document_key(before) != key
        {
            return Err(mql::Error::Immutable("_id".to_owned()).into());
        }
        let stored = self.view().get(collection.tree, &key)?;
        match (&stored, before) {
            (Some(_), None) => return Err(Error::duplicate_id(&collection.name, id)),
            (Some(stored), Some(before)) if **stored == *before.as_bytes() => {}
            (None, None) => {}
            // Its entries could not be found, and would be left in the indexes.
            _ => {
                return Err(damaged(
                    "a batch has another image of a document than the store",
                ));
            }
        }
        drop(stored);
        let claims = self.change_entries(&collection, &key, before, after)?;
        let tree = collection.tree;
        match (before, after) {
            (None, Some(after)) => self.overlay.insert(tree, &key, after.as_bytes()),
            (_, Some(after)) => self.overlay.put(tree, &key, after.as_bytes()),
            (_, None) => self.overlay.remove(tree, &key),
        }
        Ok(claims)
    }

    /// Stores a changed document.
    fn replace(
        &mut self,
        collection: &Arc<Collection>,
        before: &RawDocument,
        after: &RawDocument,
    ) -> Result<()> {
        let write = DocumentWrite::Replace { before, after };
        let claims = self.write_one(&collection.name, &write)?;
        self.claim(&collection.name, after, claims)
    }

    /// Changes the index entries of a document. Only changed entries are written; new entries in unique indexes are returned.
    fn change_entries(
        &mut self,
        collection: &Arc<Collection>,
        id: &[u8],
        before: Option<&RawDocument>,
        after: Option<&RawDocument>,
    ) -> Result<Claims> {
        let mut claims = Claims::new();
        for (at, index) in collection.indexes.iter().enumerate() {
            if !index.covers(id) {
                continue;
            }
            if let (Some(before), Some(after)) = (before, after)
                && index.spec.is_unaffected(before, after)
            {
                continue;
            }
            let entries = |document: Option<&RawDocument>| match document {
                None => Ok(IndexEntries::default()),
                Some(document) => IndexEntries::for_document(index, document, id),
            };
            let (old, new) = (entries(before)?, entries(after)?);
            for key in old.without(&new) {
                self.overlay.remove(index.tree, key);
            }
            for key in new.without(&old) {
                match index.spec.unique {
                    false => self.overlay.insert(index.tree, key, &id_len(id)),
                    true => claims.push((at, key.clone())),
                }
            }
            self.note(&collection.name, at, &new)?;
        }
        Ok(claims)
    }

    /// Adds the entries of a document to unique indexes, if no other document has them.
    fn claim(&mut self, collection: &str, document: &RawDocument, claims: Claims) -> Result<()> {
        if claims.is_empty() {
            return Ok(());
        }
        let collection = self.existing(collection)?;
        let id = document_key(field_id(document)?);
        for (at, key) in claims {
            let index = &collection.indexes[at];
            let is_left = match index.spec.filter {
                Some(_) => mutant("partial unique index"),
                None => mutant("unique index"),
            };
            if self.view().get(index.tree, &key)?.is_some() && !is_left {
                return Err(duplicate(&collection.name, index, document, &key));
            }
            self.overlay.insert(index.tree, &key, &id);
        }
        Ok(())
    }

    /// Records, in the same unit, that fields of an index have met an array, or a value of another type.
    fn note(&mut self, collection: &str, index: usize, entries: &IndexEntries) -> Result<()> {
        if entries.new_types.is_empty() && !entries.multikey.contains(&true) {
            return Ok(());
        }
        let collection = self.existing(collection)?;
        if !collection.indexes[index].is_new(entries) {
            return Ok(());
        }
        let mut collection = Collection::clone(&collection);
        collection.indexes[index].note(entries);
        let mut schema = Schema::clone(&self.schema);
        schema.set(collection);
        self.set_schema(schema)
    }

    fn existing(&self, collection: &str) -> Result<Arc<Collection>> {
        let found = self.schema.collection(collection).cloned();
        found.ok_or_else(|| damaged(format_args!("the collection `{collection}` is gone")))
    }

    /// A collection, which is created if it is missing.
    pub(super) fn collection_or_new(&mut self, name: &str) -> Result<Arc<Collection>> {
        if let Some(collection) = self.schema.collection(name) {
            return Ok(collection.clone());
        }
        if name.is_empty() || name.contains('\0') {
            let message = format!(
                "invalid collection name {name:?}: use a name that is not empty and has no NUL"
            );
            return Err(Error::new(ErrorKind::Schema, message));
        }
        let mut schema = Schema::clone(&self.schema);
        let tree = schema.new_tree()?;
        schema.set(Collection {
            name: name.to_owned(),
            tree,
            indexes: Vec::new(),
            collation: None,
            uses: Uses::default(),
        });
        self.set_schema(schema)?;
        self.existing(name)
    }

    fn owned(&self, collection: &Collection, id: &[u8]) -> Result<RawDocumentBuf> {
        let document = scan::document(self.view(), collection, id)?
            .ok_or_else(|| damaged("a document that was found is gone"))?;
        Ok(scan::read(&document)?.to_owned())
    }
}

/// New keys of unique indexes, each with the position of its index.
type Claims = Vec<(usize, Vec<u8>)>;

/// The `_id` of a document, which must exist.
fn field_id(document: &RawDocument) -> Result<RawBsonRef<'_>> {
    path::get(document, "_id").ok_or_else(|| damaged("a document has no `_id`"))
}
