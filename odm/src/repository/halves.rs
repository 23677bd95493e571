//! Reads of documents that are stored in halves.

use std::{
    collections::{HashMap, HashSet},
    ops::ControlFlow,
    sync::Arc,
};

use async_trait::async_trait;
use bson::{RawBson, RawDocument, RawDocumentBuf};
use serde::de::DeserializeOwned;

use super::rows::decode;

use crate::{
    catalog::{Catalog, Split},
    database::{Session, done},
    error::{Error, ErrorKind, Result},
    model::{Cold, Document, Embed, Field, HasCold, Path, to_raw},
    mql::{key, path},
    store::{Cost, Each, Explain, Find, FindByKey, Reader},
};

/// A reader of documents as models have them, and not as they are stored: a query by fields of a cold
/// half finds the documents, and halves that were asked for are loaded.
pub(super) struct Whole<'a> {
    reader: &'a dyn Reader,
    catalog: Arc<Catalog>,
    /// The fields whose halves are loaded, and the collection that they are of.
    load: &'a [&'static str],
    of: &'a str,
}

/// What a repository reads by.
pub(super) enum Documents<'a> {
    /// The store itself, where all documents are stored in one piece.
    Plain(&'a dyn Reader),
    InHalves(Whole<'a>),
}

impl<'a> Documents<'a> {
    pub(super) fn new(
        session: &Session,
        reader: &'a dyn Reader,
        of: &'a str,
        load: &'a [&'static str],
    ) -> Self {
        if session.has_halves() {
            Documents::InHalves(Whole {
                reader,
                catalog: session.catalog(),
                load,
                of,
            })
        } else {
            Documents::Plain(reader)
        }
    }

    pub(super) fn reader(&self) -> &dyn Reader {
        match self {
            Documents::Plain(reader) => *reader,
            Documents::InHalves(whole) => whole,
        }
    }
}

type Found = Vec<(usize, RawDocumentBuf)>;

impl Whole<'_> {
    /// Hands over what was found, with the halves that were asked for.
    async fn hand_over(
        &self,
        collection: &str,
        loaded: Option<&Split>,
        mut found: Found,
        mut cost: Cost,
        each: Each<'_>,
    ) -> Result<Cost> {
        for split in self.catalog.splits_of(collection) {
            if self.loads(collection)
                && self.load.contains(&split.path.as_str())
                && loaded != Some(split)
            {
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

    /// Loads one half of all these documents by one query.
    async fn merge(&self, split: &Split, found: &mut Found) -> Result<Cost> {
        let ids = found
            .iter()
            .filter_map(|(_, document)| path::get(document, "_id").map(RawBson::from))
            .collect();
        let (mut halves, cost) = halves(self.reader, split, ids).await?;
        for (_, document) in found {
            let id = path::get(document, "_id").map(key::of);
            // Repeated documents have the same half.
            if let Some(half) = id.and_then(|id| halves.get_mut(&id)) {
                *document = split.whole(document, half)?;
            }
        }
        Ok(cost)
    }

    /// The documents whose cold halves a query is about, in its order. The halves have been read, and
    /// so they are loaded.
    async fn find_by_half(&self, split: &Split, find: &Find) -> Result<(Found, Cost)> {
        let mut found: Found = Vec::new();
        let mut cost = Cost::default();
        let mut query = split.find(find);
        let sort = query.sort.total();
        let mut looked_at = 0;
        loop {
            let mut ids = Vec::new();
            let mut halves = Vec::new();
            let each = &mut |_, half: &RawDocument| {
                if let Some(id) = path::get(half, &split.key) {
                    ids.push(RawBson::from(id));
                    halves.push(half.to_owned());
                }
                Ok(ControlFlow::Continue(()))
            };
            cost += self.reader.find(&query, each).await?;
            let before = found.len();
            let each = &mut |place: usize, document: &RawDocument| {
                found.push((looked_at + place, split.whole(document, &halves[place])?));
                Ok(ControlFlow::Continue(()))
            };
            cost += self.reader.get(&split.hot, &ids, each).await?;
            // A half whose document is gone is none, and another takes its place.
            let lone = halves.len() - (found.len() - before);
            looked_at += halves.len();
            match (query.limit, halves.last()) {
                (Some(limit), Some(last)) if lone > 0 && halves.len() as u64 == limit => {
                    query.limit = Some(lone as u64);
                    query.after = Some(sort.key(last));
                    query.skip = 0;
                }
                _ => break,
            }
        }
        found.sort_by_key(|(place, _)| *place);
        for (position, (place, document)) in found.iter_mut().enumerate() {
            *place = position;
            if let Some(projection) = &find.projection {
                *document = projection.apply(document)?;
            }
        }
        Ok((found, cost))
    }

    fn loads(&self, collection: &str) -> bool {
        !self.load.is_empty() && self.of == collection
    }

    fn half_of(&self, find: &Find) -> Result<Option<&Split>> {
        self.catalog
            .half_of(&find.collection, &find.filter, &find.sort)
    }
}

/// The halves of documents, by the `_id`s of these.
async fn halves(
    reader: &dyn Reader,
    split: &Split,
    ids: Vec<RawBson>,
) -> Result<(HashMap<Vec<u8>, RawDocumentBuf>, Cost)> {
    let mut halves = HashMap::new();
    if ids.is_empty() {
        return Ok((halves, Cost::default()));
    }
    let find = split.halves_of(ids);
    let each = &mut |_, half: &RawDocument| {
        if let Some(id) = path::get(half, &split.key) {
            // Of several halves, which `audit` reports, the first one counts.
            halves.entry(key::of(id)).or_insert_with(|| half.to_owned());
        }
        Ok(ControlFlow::Continue(()))
    };
    let cost = reader.find(&find, each).await?;
    Ok((halves, cost))
}

#[async_trait]
impl Reader for Whole<'_> {
    async fn get(&self, collection: &str, ids: &[RawBson], each: Each<'_>) -> Result<Cost> {
        if !self.loads(collection) {
            return self.reader.get(collection, ids, each).await;
        }
        let mut found = Vec::new();
        let keep = &mut |position, document: &RawDocument| {
            found.push((position, document.to_owned()));
            Ok(ControlFlow::Continue(()))
        };
        let cost = self.reader.get(collection, ids, keep).await?;
        self.hand_over(collection, None, found, cost, each).await
    }

    async fn find(&self, find: &Find, each: Each<'_>) -> Result<Cost> {
        let half = self.half_of(find)?;
        if half.is_none() && !self.loads(&find.collection) {
            return self.reader.find(find, each).await;
        }
        let (found, cost) = match half {
            Some(split) => self.find_by_half(split, find).await?,
            None => {
                let mut found = Vec::new();
                let keep = &mut |position, document: &RawDocument| {
                    found.push((position, document.to_owned()));
                    Ok(ControlFlow::Continue(()))
                };
                let cost = self.reader.find(find, keep).await?;
                (found, cost)
            }
        };
        self.hand_over(&find.collection, half, found, cost, each)
            .await
    }

    async fn find_by_key(&self, find: &FindByKey, each: Each<'_>) -> Result<Cost> {
        match self.half_of(&find.find)? {
            None => self.reader.find_by_key(find, each).await,
            Some(split) => Err(Error::new(
                ErrorKind::InvalidQuery,
                format!(
                    "`{}` of `{}` is stored apart, in `{}`: a join cannot filter or sort by it",
                    split.path, split.hot, split.cold
                ),
            )
            .at(&split.hot, Some(&split.path), None)),
        }
    }

    async fn count(&self, find: &Find) -> Result<(u64, Cost)> {
        match self.half_of(find)? {
            None => self.reader.count(find).await,
            Some(split) => self.reader.count(&split.find(find)).await,
        }
    }

    async fn explain(&self, find: &Find) -> Result<Explain> {
        match self.half_of(find)? {
            None => self.reader.explain(find).await,
            Some(split) => self.reader.explain(&split.find(find)).await,
        }
    }
}

/// Documents whose halves can be loaded: one or many.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a `{M}` nor a list of them",
    label = "expected a `{M}`, a slice or a `Vec` of them"
)]
pub trait Load<M> {
    /// The documents.
    fn documents(&mut self) -> &mut [M];
}

impl<M: Document> Load<M> for M {
    fn documents(&mut self) -> &mut [M] {
        std::slice::from_mut(self)
    }
}

impl<M> Load<M> for [M] {
    fn documents(&mut self) -> &mut [M] {
        self
    }
}

impl<M> Load<M> for Vec<M> {
    fn documents(&mut self) -> &mut [M] {
        self
    }
}

/// Loads one half of documents by one query; see
/// [`Repository::load`](super::Repository::load).
pub(super) async fn load<M, T, P, K>(
    session: &Session,
    documents: &mut [M],
    _: Field<Cold<T>, P, K>,
) -> Result<()>
where
    M: Document + HasCold<P, T>,
    P: Path<Root = M>,
    T: Embed + DeserializeOwned,
{
    let catalog = session.catalog();
    let Some(split) = catalog.split_at(M::COLLECTION, P::TEXT) else {
        return Ok(());
    };
    let ids = documents.iter().map(|document| to_raw(document.id()));
    let ids = ids.collect::<Result<Vec<_>>>()?;
    let view = session.reader().await?;
    let result = halves(view.get()?, split, ids.clone()).await;
    let (halves, mut cost) = session.noted(result)?;
    let lacks = |id: &&RawBson| !halves.contains_key(&key::of(id.as_raw_bson_ref()));
    let lacking: Vec<RawBson> = ids.iter().filter(lacks).cloned().collect();
    let mut undivided = HashSet::new();
    if !lacking.is_empty() {
        let each = &mut |_, document: &RawDocument| {
            if let (Some(id), Some(_)) = (path::get(document, "_id"), path::get(document, P::TEXT))
            {
                undivided.insert(key::of(id));
            }
            Ok(ControlFlow::Continue(()))
        };
        cost += session.noted(view.get()?.get(M::COLLECTION, &lacking, each).await)?;
    }
    done("load", M::COLLECTION, cost);
    for (document, id) in documents.iter_mut().zip(ids) {
        match halves.get(&key::of(id.as_raw_bson_ref())) {
            Some(half) => *document.cold() = Cold::new(decode(&split.cold, &split.value(half)?)?),
            // It may be one that was stored in one piece, and was read with it.
            None if undivided.contains(&key::of(id.as_raw_bson_ref())) => {}
            None => *document.cold() = Cold::unloaded(),
        }
    }
    Ok(())
}
