//! Smaller cases, which help to understand a disagreement.

use odm::bson::{Bson, Document, RawDocumentBuf};

use super::case::{Case, Statement};

/// Cases that lack one part of a case.
pub(crate) fn smaller(case: &Case) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (at, document) in case.documents.iter().enumerate() {
        if case.documents.len() > 1 {
            let mut smaller = case.clone();
            smaller.documents.remove(at);
            cases.push(smaller);
        }
        if case.documents.len() < 3 {
            let document = Document::try_from(document).expect("a document is well-formed");
            for one in of_document(&document) {
                if one.get("_id") == document.get("_id") {
                    let mut smaller = case.clone();
                    smaller.documents[at] = RawDocumentBuf::try_from(&one).expect("it is BSON");
                    cases.push(smaller);
                }
            }
        }
    }
    let with = |statement| Case { documents: case.documents.clone(), statement };
    match &case.statement {
        Statement::Find { filter, sort, projection } => {
            let find = |filter: &Document, sort: &Document, projection: &Document| {
                with(Statement::Find {
                    filter: filter.clone(),
                    sort: sort.clone(),
                    projection: projection.clone(),
                })
            };
            let filters = of_document(filter);
            cases.extend(filters.iter().map(|filter| find(filter, sort, projection)));
            let sorts = of_document(sort);
            cases.extend(sorts.iter().map(|sort| find(filter, sort, projection)));
            let shown = of_document(projection);
            cases.extend(shown.iter().map(|shown| find(filter, sort, shown)));
        }
        Statement::Update { filter, update, array_filters, upsert } => {
            let change = |filter: &Document, update: &Document, array_filters: &[Document]| {
                with(Statement::Update {
                    filter: filter.clone(),
                    update: update.clone(),
                    array_filters: array_filters.to_vec(),
                    upsert: *upsert,
                })
            };
            let filters = of_document(filter).into_iter();
            let filters = filters.filter(|one| one.get("_id") == filter.get("_id"));
            cases.extend(filters.map(|filter| change(&filter, update, array_filters)));
            let updates = of_document(update).into_iter();
            let updates = updates.filter(|update| !update.is_empty());
            cases.extend(updates.map(|update| change(filter, &update, array_filters)));
            for (at, one) in array_filters.iter().enumerate() {
                let mut fewer = array_filters.clone();
                fewer.remove(at);
                cases.push(change(filter, update, &fewer));
                for one in of_document(one) {
                    let mut smaller = array_filters.clone();
                    smaller[at] = one;
                    cases.push(change(filter, update, &smaller));
                }
            }
        }
    }
    cases
}

fn of_document(document: &Document) -> Vec<Document> {
    let mut all = Vec::new();
    for (name, value) in document {
        let mut fewer = document.clone();
        fewer.remove(name);
        all.push(fewer);
        for one in of_value(value) {
            let mut smaller = document.clone();
            smaller.insert(name, one);
            all.push(smaller);
        }
    }
    all
}

fn of_value(value: &Bson) -> Vec<Bson> {
    match value {
        Bson::Document(document) => {
            let inner = document.values().cloned();
            let smaller = of_document(document).into_iter().map(Bson::Document);
            inner.chain(smaller).collect()
        }
        Bson::Array(array) => {
            let mut all = array.clone();
            for (at, element) in array.iter().enumerate() {
                let mut fewer = array.clone();
                fewer.remove(at);
                all.push(Bson::Array(fewer));
                for one in of_value(element) {
                    let mut smaller = array.clone();
                    smaller[at] = one;
                    all.push(Bson::Array(smaller));
                }
            }
            all
        }
        Bson::Int32(1) => Vec::new(),
        _ => vec![Bson::Int32(1)],
    }
}
