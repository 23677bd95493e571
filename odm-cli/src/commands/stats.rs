//! `stats`: who takes the space, by one pass over the documents, and which indexes nobody uses.

mod indexes;
mod lists;

use std::collections::BTreeMap;

use mongodb::{
    Collection,
    bson::{Bson, Document, RawDocumentBuf, doc},
};

use self::lists::{Lists, values_at};
use super::{BATCH, declared, names};
use crate::{
    error::{Exit, Result},
    output::Output,
    progress::{Progress, Unit},
    source::{Opened, Source},
};

/// How many of the largest are shown.
const SHOWN: usize = 5;

/// The findings of a pass over the documents.
#[derive(Default)]
struct Found {
    collections: Vec<Document>,
    indexes: Vec<Document>,
    largest: Vec<Document>,
    lists: Vec<Document>,
    copies: Vec<Document>,
}

pub(super) async fn run(
    source: &Source<'_>,
    only: Option<&str>,
    output: &mut Output,
) -> Result<Exit> {
    let opened = source.look().await?;
    let names = names(&opened, only).await?;
    let database = opened.database().await?;
    let copies = copies(&declared(database).await?);
    let mut found = Found::default();
    for name in &names {
        let collection = database.collection::<RawDocumentBuf>(name);
        found
            .documents(&collection, copies.get(name).map_or(&[], Vec::as_slice))
            .await?;
        found
            .indexes
            .extend(indexes::rows(&opened, &collection).await?);
    }
    sort_down(&mut found.largest, "bytes");
    sort_down(&mut found.lists, "longest");
    if let Opened::File(file) = &opened {
        let size = &file.size;
        let bytes = size.file.unwrap_or_default() as i64;
        output.section("file", &[doc! { "file": file.path.display().to_string(), "bytes": bytes, "log_bytes": size.log as i64 }])?;
    }
    output.section("collections", &found.collections)?;
    output.section("indexes", &found.indexes)?;
    output.section("largest documents", &found.largest)?;
    output.section("longest lists", &found.lists)?;
    output.section("copies", &found.copies)?;
    Ok(Exit::Done)
}

/// Keeps the greatest ones, in descending order.
fn sort_down(rows: &mut Vec<Document>, by: &str) {
    rows.sort_by_key(|row| std::cmp::Reverse(row.get_i64(by).unwrap_or_default()));
    rows.truncate(SHOWN);
}

/// A copy that documents hold.
struct CopiedField {
    path: String,
    source: String,
}

/// The copies of each collection, as the catalog declares them.
fn copies(declared: &[Document]) -> BTreeMap<String, Vec<CopiedField>> {
    let mut all: BTreeMap<String, Vec<CopiedField>> = BTreeMap::new();
    let relations = declared
        .iter()
        .filter_map(|database| database.get_document("relations").ok());
    let derived = relations
        .filter_map(|relations| relations.get_array("derived").ok())
        .flatten();
    for copy in derived.filter_map(|field| field.as_document()?.get_document("copy").ok()) {
        let text = |name| copy.get_str(name).unwrap_or_default();
        let path = match text("within") {
            "" => text("name").to_owned(),
            within => format!("{within}.{}", text("name")),
        };
        let source = format!("{}.{}", text("source"), text("value"));
        all.entry(text("holder").to_owned())
            .or_default()
            .push(CopiedField { path, source });
    }
    all
}

impl Found {
    /// Passes over the documents of a collection.
    async fn documents(
        &mut self,
        collection: &Collection<RawDocumentBuf>,
        copies: &[CopiedField],
    ) -> Result<()> {
        let name = collection.name();
        let of = collection.estimated_document_count().await?;
        let progress = Progress::new(name, of, Unit::Documents);
        let (mut documents, mut bytes) = (0_i64, 0_i64);
        let mut lists = Lists::default();
        let mut copied = vec![(0_i64, 0_i64); copies.len()];
        let mut found = collection.find(doc! {}).batch_size(BATCH).await?;
        while found.advance().await? {
            let document = found.current();
            let size = document.as_bytes().len() as i64;
            (documents, bytes) = (documents + 1, bytes + size);
            let is_large = self.largest.len() < SHOWN
                || self
                    .largest
                    .iter()
                    .any(|row| row.get_i64("bytes").is_ok_and(|other| other < size));
            if is_large {
                self.largest
                    .push(doc! { "collection": name, "_id": id_of(document), "bytes": size });
                sort_down(&mut self.largest, "bytes");
            }
            lists.add(document);
            for (copy, (values, bytes)) in copies.iter().zip(&mut copied) {
                values_at(document, &copy.path, &mut |size| {
                    (*values, *bytes) = (*values + 1, *bytes + size as i64);
                });
            }
            if documents % 1000 == 0 {
                progress.at(documents as u64, of);
            }
        }
        progress.end();
        let average = if documents == 0 { 0 } else { bytes / documents };
        self.collections.push(doc! { "collection": name, "documents": documents, "bytes": bytes, "average_bytes": average });
        for (path, longest) in lists.longest() {
            let id = id_of(longest.of());
            self.lists.push(doc! { "collection": name, "list": path, "_id": id, "longest": longest.len() as i64 });
        }
        sort_down(&mut self.lists, "longest");
        for (copy, (values, bytes)) in copies.iter().zip(copied) {
            self.copies.push(doc! { "copy": format!("{name}.{}", copy.path), "of": &copy.source, "values": values, "bytes": bytes });
        }
        Ok(())
    }
}

fn id_of(document: &mongodb::bson::RawDocument) -> Bson {
    let id = document.get("_id").ok().flatten();
    id.and_then(|id| Bson::try_from(id).ok())
        .unwrap_or(Bson::Null)
}
