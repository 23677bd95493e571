//! Finds the documents of an import that can be stored: every document that they refer to is stored, or is stored with them.

use std::collections::{BTreeMap, HashMap};

use bson::RawBson;
use odm_mql::{key, path};
use odm_store::{Error, ErrorKind, ReaderExt, Result, show};

use super::{
    groups::sources_first,
    import::InputDocument,
    order::{edges_of, targets},
};
use crate::{
    catalog::{Catalog, Edge},
    maintain::Imported,
    session::ReadView,
};

/// A reference to a document that is neither stored nor among the imported ones.
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
            "dangling reference: `{collection}.{}` = {} is neither imported nor stored in `{}`; add that document",
            self.path,
            show(&self.id),
            self.to
        );
        let error = Error::new(ErrorKind::DanglingReference, message);
        error.at(collection, Some(&self.path), Some(self.id.clone()))
    }
}

/// Returns the positions of the documents that can be stored, in groups that refer to each other and are stored together, each group after
/// the groups that it refers to; and the first reference to a missing document.
pub(super) async fn ready(
    catalog: &Catalog,
    view: &ReadView<'_>,
    documents: &[InputDocument],
) -> Result<(Vec<Vec<usize>>, Option<Missing>)> {
    let mut edges: HashMap<&str, Vec<(String, &Edge)>> = HashMap::new();
    let mut sent: HashMap<(&str, Vec<u8>), usize> = HashMap::new();
    for (at, document) in documents.iter().enumerate() {
        let Imported {
            collection,
            document,
            ..
        } = &document.imported;
        edges.entry(collection).or_insert_with(|| {
            let edges = edges_of(catalog, collection).into_iter();
            edges.filter(|(_, edge)| edge.is_certain()).collect()
        });
        if let Some(id) = path::get(document, "_id") {
            sent.insert((collection, key::of(id)), at);
        }
    }
    let mut named: Vec<Vec<usize>> = vec![Vec::new(); documents.len()];
    let mut asked: BTreeMap<&str, Vec<Missing>> = BTreeMap::new();
    for (at, document) in documents.iter().enumerate() {
        let imported = &document.imported;
        for (path, edge) in &edges[imported.collection.as_str()] {
            for id in targets(&imported.document, path) {
                match sent.get(&(edge.to.as_str(), key::of(id.as_raw_bson_ref()))) {
                    Some(target) => named[at].push(*target),
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
    missing.iter().for_each(|of| is_ready[of.at] = false);
    let mut groups = sources_first(&named);
    // All other documents that a group refers to are in groups before it.
    groups.retain(|group| {
        let mut all = group.iter().chain(group.iter().flat_map(|&at| &named[at]));
        let is_group_ready = all.all(|&at| is_ready[at]);
        group.iter().for_each(|&at| is_ready[at] = is_group_ready);
        is_group_ready
    });
    let first = missing.into_iter().min_by_key(|missing| missing.at);
    Ok((groups, first))
}
