//! Which documents of an import can be stored: those of which all that they refer to is stored, or is stored with
//! them.

use std::collections::{BTreeMap, HashMap};

use bson::RawBson;

use super::{
    import::Sent,
    order::{edges_of, targets},
};
use crate::{
    catalog::{Catalog, Edge},
    error::{Error, ErrorKind, Result, show},
    mql::{key, path},
    session::ReadView,
    store::ReaderExt,
};

/// A reference of a document to one that is neither stored nor there.
pub(super) struct Missing {
    /// The position of the document.
    at: usize,
    path: String,
    to: String,
    id: RawBson,
}

impl Missing {
    /// The position of the document that refers to it.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn error(&self, collection: &str) -> Error {
        let message = format!(
            "dangling reference: `{collection}.{}` = {} is neither in the export nor stored in `{}`; add that \
             document",
            self.path,
            show(&self.id),
            self.to
        );
        let error = Error::new(ErrorKind::DanglingReference, message);
        error.at(collection, Some(&self.path), Some(self.id.clone()))
    }
}

/// Tells of each document whether it can be stored, and names the first reference to what is missing.
pub(super) async fn ready(
    catalog: &Catalog,
    view: &ReadView<'_>,
    documents: &[Sent],
) -> Result<(Vec<bool>, Option<Missing>)> {
    let mut edges: HashMap<&str, Vec<(String, &Edge)>> = HashMap::new();
    let mut sent: HashMap<(&str, Vec<u8>), usize> = HashMap::new();
    for (at, document) in documents.iter().enumerate() {
        edges.entry(document.collection).or_insert_with(|| {
            let edges = edges_of(catalog, document.collection).into_iter();
            edges.filter(|(_, edge)| edge.is_certain()).collect()
        });
        if let Some(id) = path::get(&document.document, "_id") {
            sent.insert((document.collection, key::of(id)), at);
        }
    }
    let mut referrers: Vec<Vec<usize>> = vec![Vec::new(); documents.len()];
    let mut asked: BTreeMap<&str, Vec<Missing>> = BTreeMap::new();
    for (at, document) in documents.iter().enumerate() {
        for (path, edge) in &edges[document.collection] {
            for id in targets(&document.document, path) {
                match sent.get(&(edge.to.as_str(), key::of(id.as_raw_bson_ref()))) {
                    Some(target) => referrers[*target].push(at),
                    None => asked.entry(&edge.to).or_default().push(Missing {
                        at,
                        path: path.clone(),
                        to: edge.to.clone(),
                        id,
                    }),
                }
            }
        }
    }
    let mut missing: Vec<Missing> = Vec::new();
    for (collection, asked) in asked {
        let mut ids: Vec<RawBson> = Vec::new();
        let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
        for Missing { id, .. } in &asked {
            places
                .entry(key::of(id.as_raw_bson_ref()))
                .or_insert_with(|| {
                    ids.push(id.clone());
                    ids.len() - 1
                });
        }
        let (exist, _) = view.exist(collection, &ids).await?;
        let is_missing = |of: &Missing| !exist[places[&key::of(of.id.as_raw_bson_ref())]];
        missing.extend(asked.into_iter().filter(is_missing));
    }
    let mut is_ready = vec![true; documents.len()];
    let mut left: Vec<usize> = missing.iter().map(|missing| missing.at).collect();
    while let Some(at) = left.pop() {
        if std::mem::replace(&mut is_ready[at], false) {
            left.extend(&referrers[at]);
        }
    }
    let first = missing.into_iter().min_by_key(|missing| missing.at);
    Ok((is_ready, first))
}
