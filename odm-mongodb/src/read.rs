//! Reads.

use std::{collections::HashMap, ops::ControlFlow, time::Instant};

use ::mongodb::{ClientSession, SessionCursor};
use async_trait::async_trait;
use bson::{Bson, Document, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, doc};
use odm_mql::{Direction, Filter, Sort, Test, key, path};
use odm_store::{
    Aggregate, Cost, Each, Error, ErrorKind, Explain, Find, FindByKey, IndexSpec, Reader, Result,
};

use super::{
    Connection,
    error::{About, driver},
    explain,
    filter::{after, all, shown, total},
    reply::raw_number,
    session::MongoTransaction,
};

/// The greatest number of bytes of values in one request: a command is a document of 16 MiB.
const VALUES_LEN: usize = 12 << 20;

impl MongoTransaction {
    /// Sends a query.
    async fn send(
        &self,
        session: &mut ClientSession,
        find: &Find,
        filter: Document,
        limit: Option<u64>,
    ) -> Result<SessionCursor<RawDocumentBuf>> {
        let total = total(&find.sort)?;
        let collection = self.collection(&find.collection);
        let (skip, limit) = skip_and_limit(find, limit);
        let begin = Instant::now();
        loop {
            let mut action = collection.find(filter.clone());
            // The server has a special plan for one `_id`, which does not accept an order.
            if !is_of_one(&find.filter) {
                action = action.sort(total.to_document());
            }
            if let Some(limit) = limit {
                action = action.limit(limit);
            }
            if find.after.is_none() {
                if skip > 0 {
                    action = action.skip(skip.unsigned_abs());
                }
                if let Some(projection) = &find.projection {
                    action = action.projection(shown(projection)?);
                }
            }
            let sent = action.session(&mut *session).await;
            if let Some(cursor) = self.settled(session, sent, about(find), begin).await? {
                return Ok(cursor);
            }
        }
    }

    /// Sends a query of documents in any order.
    async fn send_filter(
        &self,
        session: &mut ClientSession,
        collection: &str,
        filter: Document,
    ) -> Result<SessionCursor<RawDocumentBuf>> {
        let about = About::collection(collection);
        let collection = self.collection(collection);
        let begin = Instant::now();
        loop {
            let action = collection.find(filter.clone());
            let sent = action.session(&mut *session).await;
            if let Some(cursor) = self.settled(session, sent, about, begin).await? {
                return Ok(cursor);
            }
        }
    }

    /// Sends a pipeline on a collection, or on the database.
    async fn send_pipeline(
        &self,
        session: &mut ClientSession,
        collection: Option<&str>,
        stages: Vec<Document>,
        about: About<'_>,
    ) -> Result<SessionCursor<RawDocumentBuf>> {
        let collection = collection.map(|name| self.collection(name));
        let begin = Instant::now();
        loop {
            let stages = stages.clone();
            let action = match &collection {
                Some(collection) => collection.aggregate(stages),
                None => self.database().aggregate(stages),
            };
            let action = action.with_type::<RawDocumentBuf>();
            let sent = action.session(&mut *session).await;
            if let Some(cursor) = self.settled(session, sent, about, begin).await? {
                return Ok(cursor);
            }
        }
    }

    /// Runs a query after a position. The server passes all documents that may be after it; the others are dropped here.
    async fn find_after(&self, find: &Find, position: &[RawBson], each: Each<'_>) -> Result<Cost> {
        let total = total(&find.sort)?;
        if position.len() != total.keys().len() {
            return Err(Error::new(
                ErrorKind::InvalidQuery,
                "position has another number of values than the order: take it from `Sort::key`",
            ));
        }
        let mut cost = Cost::default();
        if find.limit == Some(0) {
            return Ok(cost);
        }
        let (mut passed, mut skipped) = (0, 0);
        let mut position = position.to_vec();
        // If documents were dropped, a second query without the limit finds the missing ones.
        for is_limited in [true, false] {
            let filter = all(vec![
                self.connection.form(&find.filter)?,
                after(&total, &position),
            ]);
            let rest = find.skip - skipped;
            let wanted = find
                .limit
                .map(|limit| (limit - passed).saturating_add(rest));
            let limit = wanted.filter(|_| is_limited);
            let mut session = self.lock().await?;
            let mut cursor = self.send(&mut session, find, filter, limit).await?;
            cost.queries += 1;
            let mut seen = 0;
            while self.answer(cursor.advance(&mut session).await, about(find))? {
                let document = cursor.current();
                seen += 1;
                let key = total.key(document);
                if total.compare_keys(&key, &position).is_le() {
                    continue;
                }
                position = key;
                if skipped < find.skip {
                    skipped += 1;
                    continue;
                }
                let flow = match &find.projection {
                    Some(projection) => {
                        let shown = projection.apply_matched(&find.filter, document)?;
                        each(index(passed), &shown)?
                    }
                    None => each(index(passed), document)?,
                };
                passed += 1;
                cost.documents_returned += 1;
                if flow.is_break() || find.limit == Some(passed) {
                    return Ok(cost);
                }
            }
            if limit.is_none_or(|limit| seen < limit) {
                break;
            }
        }
        Ok(cost)
    }

    /// Passes the documents of a query with one of several keys, each with the position of its key. It is for queries of all documents of
    /// each key.
    async fn find_all_by_key(&self, find: &FindByKey, each: Each<'_>) -> Result<Cost> {
        let mut cost = Cost::default();
        let index = IndexSpec {
            name: String::new(),
            keys: vec![(find.path.clone(), Direction::Ascending)],
            unique: false,
            present_only: false,
            case_insensitive: false,
            collation: None,
            filter: None,
        };
        let mut first = 0;
        for keys in chunks(&find.keys) {
            let mut positions: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
            // Keys that a single value of a document cannot equal.
            let mut by_filter: Vec<(usize, Filter)> = Vec::new();
            for (position, key) in keys.iter().enumerate() {
                let position = first + position;
                if has_other_lookup(key) {
                    let equals = Test::Eq(key.clone());
                    by_filter.push((position, Filter::Path(find.path.clone().into(), equals)));
                    continue;
                }
                let positions = positions.entry(key::of(key.as_raw_bson_ref())).or_default();
                positions.push(position);
            }
            first += keys.len();
            let by_key = doc! { &find.path: { "$in": values(keys)? } };
            let filter = all(vec![self.connection.form(&find.find.filter)?, by_key]);
            // The key is read from the field, which a projection may leave out.
            let whole = Find {
                projection: None,
                ..find.find.clone()
            };
            let mut session = self.lock().await?;
            let mut cursor = self.send(&mut session, &whole, filter, None).await?;
            cost.queries += 1;
            while self.answer(cursor.advance(&mut session).await, about(&find.find))? {
                let document = cursor.current();
                let shown = match &find.find.projection {
                    Some(projection) => {
                        Some(projection.apply_matched(&find.find.filter, document)?)
                    }
                    None => None,
                };
                let mut having: Vec<usize> = index
                    .keys_of(document)?
                    .iter()
                    .flatten()
                    .filter_map(|value| positions.get(&key::of(value.as_raw_bson_ref())))
                    .flatten()
                    .copied()
                    .collect();
                for (position, filter) in &by_filter {
                    if filter.matches(document)? {
                        having.push(*position);
                    }
                }
                having.sort_unstable();
                having.dedup();
                for position in having {
                    cost.documents_returned += 1;
                    if each(position, shown.as_deref().unwrap_or(document))?.is_break() {
                        return Ok(cost);
                    }
                }
            }
        }
        Ok(cost)
    }

    /// Runs a pipeline for each of several keys, on the documents with the key: one request. Passes its rows with the
    /// positions of their keys.
    async fn look_up(
        &self,
        find: &FindByKey,
        pipeline: Vec<Document>,
        each: Each<'_>,
    ) -> Result<Cost> {
        let mut cost = Cost::default();
        let mut first = 0;
        for keys in chunks(&find.keys) {
            let rows = values(keys)?.into_iter().zip(first..);
            let rows: Vec<Document> = rows
                // The stage accepts expressions: without `$literal` a text that begins with `$` is a path.
                .map(|(key, position): (Bson, i64)| {
                    doc! { "position": position, "key": { "$literal": key } }
                })
                .collect();
            first = first.saturating_add(signed(keys.len() as u64));
            let stages = vec![
                doc! { "$documents": rows },
                doc! { "$lookup": {
                    "from": &find.find.collection,
                    "localField": "key",
                    "foreignField": &find.path,
                    "pipeline": pipeline.clone(),
                    "as": "found",
                } },
                doc! { "$unwind": "$found" },
            ];
            let mut session = self.lock().await?;
            let about = about(&find.find);
            let sent = self.send_pipeline(&mut session, None, stages, about);
            let mut cursor = sent.await?;
            cost.queries += 1;
            while self.answer(cursor.advance(&mut session).await, about)? {
                let row = cursor.current();
                let found = row.get_document("found").map_err(Error::malformed)?;
                cost.documents_returned += 1;
                let position = index(raw_number(row, "position"));
                let flow = match &find.find.projection {
                    Some(projection) => {
                        let shown = projection.apply_matched(&find.find.filter, found)?;
                        each(position, &shown)?
                    }
                    None => each(position, found)?,
                };
                if flow.is_break() {
                    return Ok(cost);
                }
            }
        }
        Ok(cost)
    }

    /// The number of documents that a pipeline passes.
    async fn count_of(&self, find: &Find, mut pipeline: Vec<Document>) -> Result<u64> {
        pipeline.push(counted());
        let mut session = self.lock().await?;
        let collection = Some(find.collection.as_str());
        let sent = self.send_pipeline(&mut session, collection, pipeline, about(find));
        let mut cursor = sent.await?;
        Ok(
            match self.answer(cursor.advance(&mut session).await, about(find))? {
                true => raw_number(cursor.current(), "count"),
                false => 0,
            },
        )
    }
}

/// Whether a `$lookup` by a key finds other documents than a filter by it, or a document can match the key though no single value of it
/// equals the key: `$lookup` takes the elements of an array for keys, null for a field of elements that are not documents, and, on some
/// servers, a regular expression for a pattern.
fn has_other_lookup(key: &RawBson) -> bool {
    matches!(
        key,
        RawBson::Null | RawBson::Array(_) | RawBson::RegularExpression(_)
    )
}

/// Whether a filter matches one document at most: it names the `_id`, which is never an array.
fn is_of_one(filter: &Filter) -> bool {
    match filter {
        Filter::And(filters) => filters.iter().any(is_of_one),
        Filter::Path(path, Test::Eq(_)) => path == "_id",
        _ => false,
    }
}

/// The query of one of several keys.
fn of_key(find: &FindByKey, key: &RawBson) -> Find {
    let with_key = Filter::Path(find.path.clone().into(), Test::Eq(key.clone()));
    Find {
        filter: with_key.and(find.find.filter.clone()),
        ..find.find.clone()
    }
}

/// The stages that select the documents of a query, in an order if one is given.
fn selected(connection: &Connection, find: &Find, order: Option<&Sort>) -> Result<Vec<Document>> {
    let mut stages = Vec::new();
    let filter = connection.form(&find.filter)?;
    if !filter.is_empty() {
        stages.push(doc! { "$match": filter });
    }
    stages.extend(order.map(|order| doc! { "$sort": order.to_document() }));
    if find.skip > 0 {
        stages.push(doc! { "$skip": signed(find.skip) });
    }
    if let Some(limit) = find.limit {
        stages.push(doc! { "$limit": signed(limit) });
    }
    Ok(stages)
}

fn counted() -> Document {
    doc! { "$group": { "_id": null, "count": { "$sum": 1 } } }
}

fn about(find: &Find) -> About<'_> {
    About {
        collection: &find.collection,
        can_fail: find.filter.has_expr(),
        shows: find.projection.is_some(),
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The server requires that the sum of both numbers is an `i64`, and takes a limit of 0 for no limit.
fn skip_and_limit(find: &Find, limit: Option<u64>) -> (i64, Option<i64>) {
    let skip = signed(find.skip);
    let limit = limit.map(|limit| signed(limit).min(i64::MAX.saturating_sub(skip)));
    (skip, limit.filter(|limit| *limit > 0))
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn values(values: &[RawBson]) -> Result<Vec<Bson>> {
    let values = values.iter().map(|value| Bson::try_from(value.clone()));
    values.collect::<Result<_, _>>().map_err(Error::malformed)
}

/// The values, in parts that fit in one request each.
fn chunks(values: &[RawBson]) -> Vec<&[RawBson]> {
    let (mut chunks, mut begin, mut len) = (Vec::new(), 0, 0);
    for (position, value) in values.iter().enumerate() {
        // In an array a value also has its type and its position, and in a row the names.
        let more = key::of(value.as_raw_bson_ref()).len() + 64;
        if len + more > VALUES_LEN && position > begin {
            chunks.push(&values[begin..position]);
            (begin, len) = (position, 0);
        }
        len += more;
    }
    if begin < values.len() {
        chunks.push(&values[begin..]);
    }
    chunks
}

fn refuse_position(find: &FindByKey) -> Result<()> {
    match find.find.after {
        None => Ok(()),
        Some(_) => Err(Error::new(
            ErrorKind::InvalidQuery,
            "query by keys has a position: leave `after` empty, since each key has its own order",
        )),
    }
}

#[async_trait]
impl Reader for MongoTransaction {
    async fn get(&self, collection: &str, ids: &[RawBson], each: Each<'_>) -> Result<Cost> {
        let mut cost = Cost::default();
        let about = About::collection(collection);
        let mut first = 0;
        for ids in chunks(ids) {
            let mut positions: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
            let mut wanted = Vec::new();
            for (position, id) in ids.iter().enumerate() {
                let positions = positions.entry(key::of(id.as_raw_bson_ref())).or_default();
                if positions.is_empty() {
                    wanted.push(Bson::try_from(id.clone()).map_err(Error::malformed)?);
                }
                positions.push(first + position);
            }
            first += ids.len();
            let filter = match &wanted[..] {
                // The server has a special plan for one `_id`.
                [id @ (Bson::ObjectId(_) | Bson::String(_) | Bson::Int32(_) | Bson::Int64(_))] => {
                    doc! { "_id": id }
                }
                _ => doc! { "_id": { "$in": wanted } },
            };
            let mut session = self.lock().await?;
            let mut cursor = self.send_filter(&mut session, collection, filter).await?;
            cost.queries += 1;
            while self.answer(cursor.advance(&mut session).await, about)? {
                let document = cursor.current();
                let id = path::get(document, "_id").unwrap_or(RawBsonRef::Null);
                for position in positions.get(&key::of(id)).into_iter().flatten() {
                    cost.documents_returned += 1;
                    if each(*position, document)?.is_break() {
                        return Ok(cost);
                    }
                }
            }
        }
        Ok(cost)
    }

    async fn find(&self, find: &Find, each: Each<'_>) -> Result<Cost> {
        if let Some(position) = &find.after {
            return self.find_after(find, position, each).await;
        }
        if find.limit == Some(0) {
            // The server takes a limit of 0 for no limit.
            return Ok(Cost::default());
        }
        let mut session = self.lock().await?;
        let mut cost = Cost {
            queries: 1,
            ..Cost::default()
        };
        let filter = self.connection.form(&find.filter)?;
        let mut cursor = self.send(&mut session, find, filter, find.limit).await?;
        while self.answer(cursor.advance(&mut session).await, about(find))? {
            cost.documents_returned += 1;
            let position = index(cost.documents_returned - 1);
            if each(position, cursor.current())?.is_break() {
                break;
            }
        }
        Ok(cost)
    }

    async fn find_by_key(&self, find: &FindByKey, each: Each<'_>) -> Result<Cost> {
        refuse_position(find)?;
        if find.find.limit == Some(0) {
            return Ok(Cost::default());
        }
        if find.find.limit.is_none() && find.find.skip == 0 {
            return self.find_all_by_key(find, each).await;
        }
        if find.keys.iter().any(has_other_lookup) {
            let mut cost = Cost::default();
            let mut is_broken = false;
            for (position, key) in find.keys.iter().enumerate() {
                let each: Each<'_> = &mut |_, document: &RawDocument| {
                    let flow = each(position, document)?;
                    is_broken = flow.is_break();
                    Ok(flow)
                };
                cost += self.find(&of_key(find, key), each).await?;
                if is_broken {
                    break;
                }
            }
            return Ok(cost);
        }
        let pipeline = selected(&self.connection, &find.find, Some(&total(&find.find.sort)?))?;
        self.look_up(find, pipeline, each).await
    }

    async fn count(&self, find: &Find) -> Result<(u64, Cost)> {
        if find.after.is_some() {
            let mut count = 0;
            let each: Each<'_> = &mut |_, _| {
                count += 1;
                Ok(ControlFlow::Continue(()))
            };
            let cost = self.find(find, each).await?;
            return Ok((count, cost));
        }
        if find.limit == Some(0) {
            return Ok((0, Cost::default()));
        }
        let count = self
            .count_of(find, selected(&self.connection, find, None)?)
            .await?;
        let cost = Cost {
            queries: 1,
            ..Cost::default()
        };
        Ok((count, cost))
    }

    async fn count_by_key(&self, find: &FindByKey) -> Result<(Vec<u64>, Cost)> {
        refuse_position(find)?;
        let mut counts = vec![0; find.keys.len()];
        if find.find.limit == Some(0) || find.keys.is_empty() {
            return Ok((counts, Cost::default()));
        }
        if find.keys.iter().any(has_other_lookup) {
            let mut cost = Cost::default();
            for (count, key) in counts.iter_mut().zip(&find.keys) {
                let (found, of_key) = self.count(&of_key(find, key)).await?;
                *count = found;
                cost += of_key;
            }
            return Ok((counts, cost));
        }
        let mut pipeline = selected(&self.connection, &find.find, None)?;
        pipeline.push(counted());
        let each: Each<'_> = &mut |position, row: &RawDocument| {
            counts[position] = raw_number(row, "count");
            Ok(ControlFlow::Continue(()))
        };
        let find = FindByKey {
            find: Find {
                projection: None,
                ..find.find.clone()
            },
            ..find.clone()
        };
        let cost = self.look_up(&find, pipeline, each).await?;
        Ok((counts, cost))
    }

    async fn aggregate(&self, aggregate: &Aggregate, each: Each<'_>) -> Result<Cost> {
        self.group(aggregate, each).await
    }

    async fn explain(&self, find: &Find) -> Result<Explain> {
        let (skip, limit) = skip_and_limit(find, find.limit);
        let mut command = doc! {
            "find": &find.collection,
            "filter": self.connection.form(&find.filter)?,
            "sort": total(&find.sort)?.to_document(),
            "skip": skip,
        };
        if let Some(limit) = limit {
            command.insert("limit", limit);
        }
        let command = doc! { "explain": command, "verbosity": "executionStats" };
        let explained = self.connection.database.run_command(command).await;
        let explained = driver(explained, about(find))?;
        Ok(explain::read(&explained))
    }

    async fn index_of(&self, _find: &Find) -> Result<Option<String>> {
        Ok(None)
    }
}
