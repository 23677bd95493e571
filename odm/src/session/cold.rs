//! Reading through the cold parts of split documents.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    ops::ControlFlow,
    sync::Arc,
};

use async_trait::async_trait;
use bson::{RawBson, RawDocument, RawDocumentBuf};
use odm_mql::Collation;
use odm_mql::{Filter, Projection, Test, key, path};
use odm_store::{
    Aggregate, Cost, Each, Error, ErrorKind, Explain, Find, FindByKey, Reader, ReaderExt, Result,
    STORED,
};

use super::{Session, view::ReadSource};
use crate::{
    catalog::{Catalog, Split},
    trace::Operation,
};

/// A reader of documents in the form of the models, not in the stored form: a query by fields of a cold part finds the documents, and
/// requested cold parts are loaded.
pub(crate) struct ColdReader<'a> {
    source: ReadSource<'a>,
    catalog: Arc<Catalog>,
    /// The collection whose documents are loaded with cold parts, and the fields of these.
    collection: String,
    load: Vec<String>,
}

/// How many documents a condition on one of several collections matches at most.
const MOST_IDS: usize = 100_000;

/// A query of a single one of the collections that a document is stored in.
struct SingleCollectionQuery<'f, 'c> {
    find: Cow<'f, Find>,
    /// The cold parts in the conditions on the other collections.
    parts: Vec<&'c Split>,
    cost: Cost,
}

/// Documents with their positions in a result.
type FoundDocuments = Vec<(usize, RawDocumentBuf)>;

impl<'a> ColdReader<'a> {
    pub(super) fn new(
        source: ReadSource<'a>,
        catalog: Arc<Catalog>,
        collection: &str,
        load: &[&str],
    ) -> Self {
        ColdReader {
            source,
            catalog,
            collection: collection.to_owned(),
            load: load.iter().map(|&field| field.to_owned()).collect(),
        }
    }

    fn stored(&self) -> &dyn Reader {
        self.source.reader()
    }

    /// Passes documents to the caller, with the requested cold parts and the ones `named` in the query. The cold part of `loaded` is in
    /// them already.
    async fn pass(
        &self,
        collection: &str,
        loaded: Option<&Split>,
        named: &[&Split],
        mut found: FoundDocuments,
        mut cost: Cost,
        each: Each<'_>,
    ) -> Result<Cost> {
        for split in self.catalog.splits_of(collection) {
            let asked = self.loads(collection) && self.load.contains(&split.path);
            if (asked || named.contains(&split)) && loaded != Some(split) {
                cost += self.merge(split, &mut found).await?;
            }
        }
        for (position, document) in found {
            if each(position, &document)? == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(cost)
    }

    /// Converts a query over several of the collections that a document is stored in into a query of one: the conditions on the others are
    /// answered there, and become the `_id`s of their documents. Returns also the cold parts that it filters by.
    async fn single_collection_query<'f>(
        &self,
        find: &'f Find,
    ) -> Result<SingleCollectionQuery<'f, '_>> {
        let Some(split) = self.catalog.split_query(find)? else {
            return Ok(SingleCollectionQuery {
                find: Cow::Borrowed(find),
                parts: Vec::new(),
                cost: Cost::default(),
            });
        };
        let (mut find, mut parts, mut cost) = (split.main, Vec::new(), Cost::default());
        for (place, filter) in split.others {
            let condition = Find {
                collection: find.collection.clone(),
                filter,
                ..Find::default()
            };
            let (mut query, key) = match place {
                None => (condition, "_id"),
                Some(split) => (split.find(&condition), split.key.as_str()),
            };
            query.projection = Some(Projection::include([key.to_owned()])?);
            let mut ids = Vec::new();
            let collect = |document: &RawDocument| {
                ids.extend(path::get(document, key).map(RawBson::from));
                match ids.len() > MOST_IDS {
                    true => Err(too_many(&find.collection, &query)),
                    false => Ok(()),
                }
            };
            let (_, reading) = self.stored().find_with(&query, collect).await?;
            cost += reading;
            let ids = Filter::Path("_id".into(), Test::In(ids.into()));
            find.filter = find.filter.and(ids);
            parts.extend(place);
        }
        Ok(SingleCollectionQuery {
            find: Cow::Owned(find),
            parts,
            cost,
        })
    }

    /// Loads one cold part of all these documents by one query.
    async fn merge(&self, split: &Split, found: &mut FoundDocuments) -> Result<Cost> {
        let ids = found
            .iter()
            .filter_map(|(_, document)| path::get(document, "_id").map(RawBson::from))
            .collect();
        let (parts, cost) = cold_parts(self.stored(), split, ids).await?;
        for (_, document) in found {
            let id = path::get(document, "_id").map(key::of);
            // A document that is found twice has the same cold part each time.
            if let Some(part) = id.and_then(|id| parts.get(&id)) {
                *document = split.whole(document, part)?;
            }
        }
        Ok(cost)
    }

    /// The documents whose cold parts a query finds, in its order. The cold parts are read for that, and so loaded.
    async fn find_by_part(&self, split: &Split, find: &Find) -> Result<(FoundDocuments, Cost)> {
        let mut found: FoundDocuments = Vec::new();
        let mut cost = Cost::default();
        let mut query = split.find(find);
        let sort = query.sort.total();
        let mut seen = 0;
        loop {
            let (mut parts, reading) = self.stored().find_all(&query).await?;
            cost += reading;
            parts.retain(|part| path::get(part, &split.key).is_some());
            let ids: Vec<RawBson> = parts
                .iter()
                .filter_map(|part| path::get(part, &split.key).map(RawBson::from))
                .collect();
            let (documents, reading) = self
                .stored()
                .get_with(&split.hot, &ids, |document| Ok(document.to_owned()))
                .await?;
            cost += reading;
            let mut orphans = 0;
            for (position, (part, document)) in parts.iter().zip(documents).enumerate() {
                match document {
                    Some(document) => found.push((seen + position, split.whole(&document, part)?)),
                    None => orphans += 1,
                }
            }
            seen += parts.len();
            // A cold part without its document is no result, and the next one takes its place.
            match (query.limit, parts.last()) {
                (Some(limit), Some(last)) if orphans > 0 && parts.len() as u64 == limit => {
                    query.limit = Some(orphans);
                    query.after = Some(sort.key(last));
                    query.skip = 0;
                }
                _ => break,
            }
        }
        for (position, (place, document)) in found.iter_mut().enumerate() {
            *place = position;
            if let Some(projection) = &find.projection {
                *document = projection.apply(document)?;
            }
        }
        Ok((found, cost))
    }

    fn loads(&self, collection: &str) -> bool {
        !self.load.is_empty() && self.collection == collection
    }

    /// Refuses a query by key that filters or sorts by a cold part: the key is in the document.
    fn refuse_cold_key(&self, find: &Find) -> Result<()> {
        let Some(split) = self.part_of(find)? else {
            return Ok(());
        };
        let message = format!(
            "`{}` of `{}` is a cold part, stored in `{}`: a join cannot filter or sort by it; query \
             `{}` by it, and join from there",
            split.path, split.hot, split.cold, split.hot
        );
        Err(Error::new(ErrorKind::InvalidQuery, message).at(&split.hot, Some(&split.path), None))
    }

    /// The split field whose cold part a query filters or sorts by.
    fn part_of(&self, find: &Find) -> Result<Option<&Split>> {
        self.catalog
            .split_of_query(&find.collection, &find.filter, &find.sort)
    }
}

#[async_trait]
impl Reader for ColdReader<'_> {
    async fn get(&self, collection: &str, ids: &[RawBson], each: Each<'_>) -> Result<Cost> {
        if !self.loads(collection) {
            return self.stored().get(collection, ids, each).await;
        }
        let mut found = Vec::new();
        let keep = &mut |position, document: &RawDocument| {
            found.push((position, document.to_owned()));
            Ok(ControlFlow::Continue(()))
        };
        let cost = self.stored().get(collection, ids, keep).await?;
        self.pass(collection, None, &[], found, cost, each).await
    }

    async fn find(&self, find: &Find, each: Each<'_>) -> Result<Cost> {
        let SingleCollectionQuery {
            find,
            mut parts,
            mut cost,
        } = self.single_collection_query(find).await?;
        if find.projection.is_some() {
            parts.clear();
        }
        let part = self.part_of(&find)?;
        if part.is_none() && parts.is_empty() && !self.loads(&find.collection) {
            cost += self.stored().find(&find, each).await?;
            return Ok(cost);
        }
        let (found, reading) = match part {
            Some(split) => self.find_by_part(split, &find).await?,
            None => {
                let (documents, cost) = self.stored().find_all(&find).await?;
                (documents.into_iter().enumerate().collect(), cost)
            }
        };
        cost += reading;
        self.pass(&find.collection, part, &parts, found, cost, each)
            .await
    }

    async fn find_by_key(&self, find: &FindByKey, each: Each<'_>) -> Result<Cost> {
        self.refuse_cold_key(&find.find)?;
        self.stored().find_by_key(find, each).await
    }

    async fn count_by_key(&self, find: &FindByKey) -> Result<(Vec<u64>, Cost)> {
        self.refuse_cold_key(&find.find)?;
        self.stored().count_by_key(find).await
    }

    async fn count(&self, find: &Find) -> Result<(u64, Cost)> {
        let SingleCollectionQuery { find, mut cost, .. } =
            self.single_collection_query(find).await?;
        let (count, counting) = match self.part_of(&find)? {
            None => self.stored().count(&find).await?,
            Some(split) => self.stored().count(&split.find(&find)).await?,
        };
        cost += counting;
        Ok((count, cost))
    }

    async fn aggregate(&self, aggregate: &Aggregate, each: Each<'_>) -> Result<Cost> {
        let SingleCollectionQuery { find, mut cost, .. } =
            self.single_collection_query(&aggregate.find).await?;
        let is_stored = self.part_of(&find)?.is_none() && !self.loads(&find.collection);
        let aggregate = &Aggregate {
            find: find.into_owned(),
            ..aggregate.clone()
        };
        cost += match is_stored {
            true => self.stored().aggregate(aggregate, each).await?,
            false => aggregate.run_by_find(self, STORED, each).await?,
        };
        Ok(cost)
    }

    async fn explain(&self, find: &Find) -> Result<Explain> {
        let SingleCollectionQuery { find, .. } = self.single_collection_query(find).await?;
        match self.part_of(&find)? {
            None => self.stored().explain(&find).await,
            Some(split) => self.stored().explain(&split.find(&find)).await,
        }
    }

    async fn index_of(&self, find: &Find) -> Result<Option<String>> {
        // The query leaves out the `_id`s of the other conditions, which would have to be read.
        let split = self.catalog.split_query(find)?;
        let find = split.as_ref().map_or(find, |split| &split.main);
        match self.part_of(find)? {
            None => self.stored().index_of(find).await,
            Some(split) => self.stored().index_of(&split.find(find)).await,
        }
    }

    async fn default_collation(&self, collection: &str) -> Result<Option<Collation>> {
        self.stored().default_collation(collection).await
    }
}

#[cold]
fn too_many(collection: &str, condition: &Find) -> Error {
    let message = format!(
        "query of `{collection}` is about fields that are stored in different collections, and over {MOST_IDS} documents \
         of `{}` match its conditions on these: add a condition on them, or query by them alone",
        condition.collection
    );
    Error::new(ErrorKind::Limit, message).at(collection, None, None)
}

/// Reads the cold parts of documents, by the `_id`s of these.
async fn cold_parts(
    reader: &dyn Reader,
    split: &Split,
    ids: Vec<RawBson>,
) -> Result<(HashMap<Vec<u8>, RawDocumentBuf>, Cost)> {
    let mut parts = HashMap::new();
    if ids.is_empty() {
        return Ok((parts, Cost::default()));
    }
    let (found, cost) = reader.find_all(&split.cold_parts_of(ids)).await?;
    for part in found {
        let id = path::get(&part, &split.key).map(key::of);
        if let Some(id) = id {
            // If there are several cold parts, which `audit` reports, the first one counts.
            parts.entry(id).or_insert(part);
        }
    }
    Ok((parts, cost))
}

/// Where the cold part of a document is.
pub(crate) enum ColdPart {
    /// In its own collection: the value of the field.
    Stored(RawDocumentBuf),
    /// In the document itself, stored before the field was split.
    Inline,
    /// Nowhere.
    Missing,
}

impl Session {
    /// Reads the cold parts of documents by one query, in the order of the given `_id`s. `None` if the field is not split.
    pub(crate) async fn cold_parts(
        &self,
        collection: &str,
        field: &str,
        ids: &[RawBson],
    ) -> Result<Option<Vec<ColdPart>>> {
        let catalog = self.catalog();
        let Some(split) = catalog.split_at(collection, field) else {
            return Ok(None);
        };
        let operation = Operation::begin("load", collection).of(ids.len());
        let source = self.source().await?;
        let parts = cold_parts(source.reader(), split, ids.to_vec()).await;
        let (parts, mut cost) = operation.observe(parts)?;
        let keys: Vec<Vec<u8>> = ids.iter().map(|id| key::of(id.as_raw_bson_ref())).collect();
        let lacking: Vec<RawBson> = ids
            .iter()
            .zip(&keys)
            .filter(|(_, key)| !parts.contains_key(*key))
            .map(|(id, _)| id.clone())
            .collect();
        let mut inline = HashSet::new();
        if !lacking.is_empty() {
            let is_inline = |document: &RawDocument| Ok(path::get(document, field).is_some());
            let reader = source.reader();
            let found = reader.get_with(collection, &lacking, is_inline).await;
            let (found, reading) = operation.observe(found)?;
            cost += reading;
            let found = lacking.iter().zip(found);
            let found = found.filter(|(_, is_inline)| *is_inline == Some(true));
            inline.extend(found.map(|(id, _)| key::of(id.as_raw_bson_ref())));
        }
        self.record(operation, cost);
        let part = |key: &Vec<u8>| match parts.get(key) {
            Some(part) => Ok(ColdPart::Stored(split.value(part)?)),
            None if inline.contains(key) => Ok(ColdPart::Inline),
            None => Ok(ColdPart::Missing),
        };
        keys.iter().map(part).collect::<Result<_>>().map(Some)
    }
}
