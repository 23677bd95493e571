//! The query language on BSON.

use odm::{
    bson::{Bson, DateTime, Document, RawDocumentBuf, doc, rawdoc},
    mql::{Filter, Projection, Schema, Update, key, order},
};

use super::{Taken, grows_with_input, taken_by};

fn numbers(size: usize) -> impl DoubleEndedIterator<Item = i64> + Clone {
    0..size as i64
}

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap()
}

/// A document with a field for each of the numbers, in another order than that of their names.
fn fields(size: usize) -> Document {
    numbers(size).rev().map(|n| (format!("f{n}"), Bson::Int64(n))).collect()
}

fn array(size: usize) -> Vec<i64> {
    numbers(size).collect()
}

fn changed(update: Document, filters: &[Document], document: &Document) -> Taken {
    let document = raw(document);
    taken_by(|| {
        Update::parse(&update, filters).unwrap().apply(&document, false, DateTime::now()).unwrap()
    })
}

grows_with_input! {
    4_000: async fn a_filter_of_many_conditions_on_a_small_document(size: usize) -> Taken {
        let filter: Document = numbers(size).map(|n| (format!("f{n}"), Bson::Null)).collect();
        taken_by(|| Filter::parse(&filter).unwrap().matches(&rawdoc! { "f": 1 }).unwrap())
    }

    4_000: async fn a_list_of_values_in_a_long_array(size: usize) -> Taken {
        let document = raw(&doc! { "a": array(size) });
        let none: Vec<i64> = numbers(size).map(|n| -1 - n).collect();
        let filter = doc! { "$or": [{ "a": { "$in": none.clone() } }, { "a": { "$all": none.clone() } }, { "a": { "$not": { "$nin": none } } }] };
        taken_by(|| Filter::parse(&filter).unwrap().matches(&document).unwrap())
    }

    4_000: async fn a_list_that_an_expression_searches(size: usize) -> Taken {
        let document = raw(&doc! { "a": array(size) });
        let filter = doc! { "$expr": { "$in": [-1, "$a"] } };
        taken_by(|| Filter::parse(&filter).unwrap().matches(&document).unwrap())
    }

    4_000: async fn a_schema_of_many_properties(size: usize) -> Taken {
        let properties: Document = numbers(size).map(|n| (format!("f{n}"), doc! { "bsonType": "long" }.into())).collect();
        let required: Vec<String> = numbers(size).map(|n| format!("f{n}")).collect();
        let schema = rawdoc_of(doc! { "required": required, "properties": properties, "additionalProperties": false });
        let document = raw(&fields(size));
        taken_by(|| assert!(Schema::parse(&schema).unwrap().matches(&document).unwrap()))
    }

    4_000: async fn the_violations_of_a_schema(size: usize) -> Taken {
        let properties: Document = numbers(size).map(|n| (format!("f{n}"), doc! { "bsonType": "string" }.into())).collect();
        let schema = rawdoc_of(doc! { "properties": properties });
        let document = raw(&fields(size));
        taken_by(|| assert!(!Schema::parse(&schema).unwrap().violations(&document).unwrap().is_empty()))
    }

    4_000: async fn items_that_are_unique(size: usize) -> Taken {
        let schema = rawdoc_of(doc! { "properties": { "a": { "uniqueItems": true, "items": { "enum": array(size) } } } });
        let document = raw(&doc! { "a": array(size) });
        taken_by(|| assert!(Schema::parse(&schema).unwrap().matches(&document).unwrap()))
    }

    1_000: async fn documents_that_are_unique_items(size: usize) -> Taken {
        let schema = rawdoc_of(doc! { "properties": { "a": { "uniqueItems": true } } });
        let items: Vec<Document> = numbers(size).map(|n| doc! { "x": n, "y": [n] }).collect();
        let document = raw(&doc! { "a": items });
        taken_by(|| assert!(Schema::parse(&schema).unwrap().matches(&document).unwrap()))
    }

    4_000: async fn values_of_a_schema_of_many(size: usize) -> Taken {
        let values: Vec<Document> = numbers(size).map(|n| doc! { "x": n }).collect();
        let schema = rawdoc_of(doc! { "properties": { "a": { "items": { "enum": values.clone() } } } });
        let document = raw(&doc! { "a": values });
        taken_by(|| assert!(Schema::parse(&schema).unwrap().matches(&document).unwrap()))
    }

    4_000: async fn a_schema_of_dependencies_and_patterns(size: usize) -> Taken {
        let dependencies: Document = numbers(size).map(|n| (format!("f{n}"), vec![format!("f{}", n / 2)].into())).collect();
        let schema = rawdoc_of(doc! { "dependencies": dependencies, "patternProperties": { "^f": { "bsonType": "long" } } });
        let document = raw(&fields(size));
        taken_by(|| assert!(Schema::parse(&schema).unwrap().matches(&document).unwrap()))
    }

    4_000: async fn an_update_of_many_fields_that_are_there(size: usize) -> Taken {
        changed(doc! { "$inc": numbers(size).map(|n| (format!("f{n}"), 1.into())).collect::<Document>() }, &[], &fields(size))
    }

    4_000: async fn an_update_of_many_new_fields(size: usize) -> Taken {
        changed(doc! { "$set": fields(size) }, &[], &doc! { "_id": 1 })
    }

    4_000: async fn an_update_that_removes_many_fields(size: usize) -> Taken {
        changed(doc! { "$unset": fields(size) }, &[], &fields(size))
    }

    1_000: async fn an_update_that_renames_many_fields(size: usize) -> Taken {
        let names: Document = numbers(size).map(|n| (format!("f{n}"), format!("g{n}").into())).collect();
        changed(doc! { "$rename": names }, &[], &fields(size))
    }

    4_000: async fn an_update_of_many_positions(size: usize) -> Taken {
        let all: Document = numbers(size).rev().map(|n| (format!("a.{n}"), (-n).into())).collect();
        changed(doc! { "$set": all }, &[], &doc! { "a": array(size) })
    }

    1_000: async fn an_update_by_many_array_filters_of_many_fields(size: usize) -> Taken {
        let all: Document = numbers(size).map(|n| (format!("a{n}.$[e{n}]"), 0.into())).collect();
        let filters: Vec<Document> = numbers(size).map(|n| doc! { format!("e{n}"): 1 }).collect();
        let document: Document = numbers(size).map(|n| (format!("a{n}"), vec![1].into())).collect();
        changed(doc! { "$set": all }, &filters, &document)
    }

    4_000: async fn a_projection_of_many_fields(size: usize) -> Taken {
        let projection: Document = numbers(size).map(|n| (format!("f{n}"), 1.into())).collect();
        let document = raw(&fields(size));
        taken_by(|| Projection::parse(&projection).unwrap().apply(&document).unwrap())
    }

    4_000: async fn a_projection_without_many_fields(size: usize) -> Taken {
        let projection: Document = numbers(size).map(|n| (format!("f{n}"), 0.into())).collect();
        let document = raw(&fields(size));
        taken_by(|| Projection::parse(&projection).unwrap().apply(&document).unwrap())
    }

    1_000: async fn a_projection_of_many_computed_fields(size: usize) -> Taken {
        let projection: Document = numbers(size).map(|n| (format!("g{n}"), doc! { "$add": ["$x", n] }.into())).collect();
        let document = rawdoc! { "x": 1 };
        taken_by(|| Projection::parse(&projection).unwrap().apply(&document).unwrap())
    }

    4_000: async fn a_projection_of_a_long_array(size: usize) -> Taken {
        let items: Vec<Document> = numbers(size).map(|n| doc! { "x": n, "y": n }).collect();
        let document = raw(&doc! { "a": items.clone(), "b": items });
        let projection = doc! { "a.x": 1, "b": { "$elemMatch": { "x": -1 } } };
        taken_by(|| Projection::parse(&projection).unwrap().apply(&document).unwrap())
    }

    4_000: async fn a_comparison_of_large_values(size: usize) -> Taken {
        let [a, b] = [raw(&fields(size)), raw(&fields(size))];
        taken_by(|| {
            let [a, b] = [&a, &b].map(|document| odm::bson::RawBsonRef::Document(document));
            assert!(order::equal(a, b));
            key::of(a)
        })
    }

    4_000: async fn the_document_that_an_upsert_begins_with(size: usize) -> Taken {
        let filter = doc! { "$and": numbers(size).map(|n| doc! { format!("f{n}"): n }).collect::<Vec<_>>() };
        let filter = Filter::parse(&filter).unwrap();
        taken_by(|| filter.upsert_seed().unwrap())
    }

    4_000: async fn a_filter_as_a_document(size: usize) -> Taken {
        let filter = Filter::parse(&doc! { "a": { "$in": array(size) }, "$or": numbers(size).map(|n| doc! { format!("f{n}"): n }).collect::<Vec<_>>() }).unwrap();
        taken_by(|| Filter::parse(&filter.to_document()).unwrap().matches(&rawdoc! { "a": 1 }).unwrap())
    }
}

fn rawdoc_of(document: Document) -> RawDocumentBuf {
    raw(&document)
}
