//! The relations as a document, for programs that show them.

use bson::{Bson, Document, doc};

use super::Relations;
use crate::catalog::{Cardinality, DerivedField, Edge, derived::FieldRead};

impl Relations {
    /// The relations as a document, for a program that shows them. It has a list of documents for each of
    ///
    /// - `collections`: their `name`;
    /// - `references`: from the `path` in documents `from` a collection `to` another one, whether there are `many` at the path, whether it
    ///   may dangle (`unchecked`), and the `inverse`;
    /// - `derived` fields: their `kind`, the collection of the `holder` and the `path` in it, the collection of the `source`, the paths
    ///   that are `read` in it, and where the kind has them `via`, the path of the reference between the two, `reverse` if that is in the
    ///   source, and the `filter` of the sources that count; whether the refresh is `deferred`, and whether a copy is `frozen`;
    /// - `splits`: the `path` in documents of the collection `hot`, whose value is a document of the collection `cold` that names it by
    ///   `key`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let relations = Shop::catalog()?.to_document();
    /// let counts = relations.get_array("derived").unwrap().iter().map(|field| field.as_document().unwrap());
    /// let count = counts.into_iter().find(|field| field.get_str("path").ok() == Some("review_count")).unwrap();
    /// assert_eq!((count.get_str("source").unwrap(), count.get_str("via").unwrap()), ("reviews", "product"));
    /// # Ok(()) });
    /// ```
    pub fn to_document(&self) -> Document {
        let collections = self.collections.iter().map(|of| doc! { "name": &of.name });
        let references = self.edges.iter().map(reference);
        let derived = self.derived.iter().map(derived);
        let splits = self.splits.iter().map(|split| {
            doc! { "hot": &split.hot, "path": &split.path, "cold": &split.cold, "key": &split.key }
        });
        doc! {
            "collections": list(collections),
            "references": list(references),
            "derived": list(derived),
            "splits": list(splits),
        }
    }
}

fn list(documents: impl Iterator<Item = Document>) -> Vec<Bson> {
    documents.map(Bson::from).collect()
}

fn reference(edge: &Edge) -> Document {
    let many = edge.cardinality == Cardinality::Many || edge.list.is_some();
    let mut reference = doc! { "from": &edge.from, "path": &edge.path, "to": &edge.to, "many": many, "unchecked": edge.unchecked };
    if let Some(inverse) = &edge.inverse {
        reference.insert("inverse", inverse);
    }
    reference
}

fn derived(field: &DerivedField) -> Document {
    let reference = field.reference();
    let source = field.source();
    let is_read = |read: &FieldRead<'_>| {
        let is_reference = reference.as_ref().is_some_and(|one| one.path == read.path);
        read.collection == source && !read.path.is_empty() && !is_reference
    };
    let mut read: Vec<String> = Vec::new();
    for one in field.reads().into_iter().filter(is_read) {
        let path = one.path.into_owned();
        if !read.contains(&path) {
            read.push(path);
        }
    }
    let mut document = doc! { "kind": field.kind(), "holder": field.holder(), "path": field.path().into_owned(), "source": source };
    document.insert("read", read);
    if let Some(reference) = reference {
        document.insert("via", reference.path.into_owned());
        document.insert("reverse", reference.is_in_source);
    }
    if let Some(filter) = field.filter() {
        document.insert("filter", filter.to_document());
    }
    document.insert("deferred", field.is_deferred());
    document.insert(
        "frozen",
        matches!(field, DerivedField::Copy(copy) if copy.frozen),
    );
    document
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use crate::derive::examples::{Shop, example};

    #[test]
    fn a_document_shows_what_each_field_is_derived_from() {
        use crate::prelude::Database;
        example(async |_| {
            let relations = Shop::catalog()?.to_document();
            let of = |list: &str, path: &str| {
                let mut all = relations.get_array(list).unwrap().iter();
                let found = all.find(|one| {
                    let one = one.as_document().unwrap();
                    one.get_str("path").ok() == Some(path)
                });
                found.unwrap().as_document().unwrap().clone()
            };
            assert_eq!(
                of("derived", "product_name"),
                doc! {
                    "kind": "copy", "holder": "warranties", "path": "product_name", "source": "products", "read": ["name"],
                    "via": "product", "reverse": false, "deferred": true, "frozen": false,
                }
            );
            let count = of("derived", "review_count");
            assert_eq!(count.get_str("kind").unwrap(), "count");
            assert!(count.get_bool("reverse").unwrap());
            let lines = of("references", "lines.product");
            assert!(lines.get_bool("many").unwrap());
            let split =
                doc! { "hot": "products", "path": "manual", "cold": "manuals", "key": "product" };
            assert_eq!(of("splits", "manual"), split);
            Ok(())
        });
    }
}
