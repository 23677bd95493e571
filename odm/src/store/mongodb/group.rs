//! Groups, which the server computes, and whose rows are chosen and ordered here.

use bson::{Bson, Document, RawBsonRef, RawDocumentBuf, doc};

use super::{
    error::driver,
    read::{about, selected, total},
    session::Session,
};
use crate::{
    error::Result,
    mql::{Group, group::Accumulator, key, path},
    store::{Aggregate, Cost, Each, STORED},
};

impl Session {
    pub(super) async fn group(&self, aggregate: &Aggregate, each: Each<'_>) -> Result<Cost> {
        let (find, group) = (&aggregate.find, &aggregate.group);
        let is_dated = group.keys.iter().any(|key| key.start_of.is_some());
        // The server does not name the document whose key is no date, and has no positions.
        if is_dated || find.after.is_some() || find.limit == Some(0) {
            return aggregate.run_by_find(self, STORED, each).await;
        }
        // Wrong paths are refused in the words of the library.
        let none = group.begin()?;
        let mut stages = selected(find);
        if stages.len() > 1 {
            stages.insert(1, doc! { "$sort": total(&find.sort)?.to_document() });
        }
        stages.extend(
            group
                .unwind
                .iter()
                .map(|path| doc! { "$unwind": field(path) }),
        );
        stages.push(doc! { "$group": stage(group) });
        let mut rows: Vec<RawDocumentBuf> = Vec::new();
        let mut session = self.lock().await?;
        let collection = Some(find.collection.as_str());
        let sent = self.send_pipeline(&mut session, collection, stages, about(find));
        let mut cursor = sent.await?;
        while driver(cursor.advance(&mut session).await, about(find))? {
            rows.push(cursor.current().to_owned());
        }
        let passed = match rows.is_empty() {
            true => aggregate.pass_rows(none, each)?,
            false => {
                rows.sort_by_cached_key(|row| row_key(group, row));
                aggregate.pass(rows.into_iter().map(Ok), each)?
            }
        };
        Ok(Cost {
            queries: 1,
            documents_returned: passed,
            ..Cost::default()
        })
    }
}

fn field(path: &str) -> String {
    format!("${path}")
}

/// The stage `$group`, whose rows are as [`Group`] says.
fn stage(group: &Group) -> Document {
    let keys = group.keys.iter().enumerate().map(|(at, key)| {
        let value = doc! { "$ifNull": [field(&key.path), Bson::Null] };
        (at.to_string(), Bson::from(value))
    });
    let mut stage = doc! { "_id": keys.collect::<Document>() };
    for (at, accumulator) in group.accumulators.iter().enumerate() {
        let value = match accumulator {
            Accumulator::Count => doc! { "$sum": 1_i64 },
            Accumulator::Sum(path) => doc! { "$sum": field(path) },
            Accumulator::Avg(path) => doc! { "$avg": field(path) },
            Accumulator::Min(path) => doc! { "$min": field(path) },
            Accumulator::Max(path) => doc! { "$max": field(path) },
        };
        stage.insert(Group::value_path(at), value);
    }
    stage
}

/// The keys of a row as bytes in their order.
fn row_key(group: &Group, row: &RawDocumentBuf) -> Vec<u8> {
    let mut encoded = Vec::new();
    let keys = row.get_document("_id");
    for at in 0..group.keys.len() {
        let value = keys
            .as_ref()
            .ok()
            .and_then(|keys| path::get(keys, &at.to_string()));
        key::encode(value.unwrap_or(RawBsonRef::Null), &mut encoded);
    }
    encoded
}
