//! Filters, sorts and projections as they are written on a command line.

use mongodb::bson::{Bson, Document, doc, oid::ObjectId};

use crate::error::{Failure, Result};

/// Reads conditions, all of which hold: each is a filter in extended JSON, or `field=value`.
pub(crate) fn conditions(all: &[String]) -> Result<Document> {
    let mut parts = Vec::new();
    for condition in all {
        let text = condition.trim();
        parts.push(if text.starts_with('{') {
            document(text)?
        } else {
            pair(text)?
        });
    }
    Ok(match parts.len() {
        0 => Document::new(),
        1 => parts.swap_remove(0),
        _ => doc! { "$and": parts },
    })
}

/// The same conditions on the document that others have at a path.
pub(crate) fn within(path: &str, conditions: Document) -> Result<Document> {
    let mut moved = Document::new();
    for (name, value) in conditions {
        match (name.as_str(), value) {
            ("$and" | "$or" | "$nor", Bson::Array(parts)) => {
                let parts = parts.into_iter().map(|part| match part {
                    Bson::Document(part) => within(path, part).map(Bson::Document),
                    // The server says what is wrong with it.
                    other => Ok(other),
                });
                moved.insert(name, parts.collect::<Result<Vec<Bson>>>()?);
            }
            (operator, _) if operator.starts_with('$') => {
                let message = format!("`{operator}` is no condition on a field");
                let advice = "Conditions on changes are of fields, joined by $and, $or and $nor.";
                return Err(Failure::usage(message).with_advice(advice));
            }
            (_, value) => {
                moved.insert(format!("{path}.{name}"), value);
            }
        }
    }
    Ok(moved)
}

/// Reads a document in extended JSON.
pub(crate) fn document(text: &str) -> Result<Document> {
    let invalid = |why: &dyn std::fmt::Display| {
        let message = format!("`{text}` is no document in extended JSON: {why}");
        Failure::usage(message)
            .with_advice("Write names and texts in double quotes, and the whole in single ones: '{\"qty\": {\"$gt\": 5}}'")
    };
    let json: serde_json::Value = serde_json::from_str(text).map_err(|error| invalid(&error))?;
    match Bson::try_from(json).map_err(|error| invalid(&error))? {
        Bson::Document(document) => Ok(document),
        _ => Err(invalid(&"it is no object")),
    }
}

/// The operators of pairs, the longer ones first.
const OPERATORS: [(&str, &str); 6] = [
    ("!=", "$ne"),
    (">=", "$gte"),
    ("<=", "$lte"),
    ("=", "$eq"),
    (">", "$gt"),
    ("<", "$lt"),
];

/// Reads `field=value`, or with another operator.
fn pair(text: &str) -> Result<Document> {
    let first = text.find(['!', '=', '<', '>']);
    let (field, rest) = text.split_at(first.unwrap_or(0));
    let operator = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign));
    let (Some((sign, name)), false) = (operator, field.is_empty()) else {
        let message = format!("`{text}` is no condition");
        let advice = "A condition is field=value, with one of = != < <= > >=, or a filter such as '{\"qty\": {\"$gt\": 5}}'";
        return Err(Failure::usage(message).with_advice(advice));
    };
    Ok(doc! { field: { *name: value(&rest[sign.len()..]) } })
}

/// Reads a value: extended JSON where it is that, the hexadecimal digits of an ObjectId, else a text.
pub(crate) fn value(text: &str) -> Bson {
    if let Ok(id) = ObjectId::parse_str(text) {
        return Bson::ObjectId(id);
    }
    let json: Option<serde_json::Value> = serde_json::from_str(text).ok();
    let value = json.and_then(|json| Bson::try_from(json).ok());
    value.unwrap_or_else(|| Bson::String(text.to_owned()))
}

/// A filter for the document whose `_id` is written so: the text `7` can be a number and a text.
pub(crate) fn id(text: &str) -> Document {
    let mut ids = vec![value(text)];
    if !matches!(ids[0], Bson::String(_)) {
        ids.push(Bson::String(text.to_owned()));
    }
    doc! { "_id": { "$in": ids } }
}

/// Reads the keys of a sort, `-placed,_id`, or a sort in extended JSON.
pub(crate) fn sort(text: &str) -> Result<Document> {
    if text.trim_start().starts_with('{') {
        return document(text);
    }
    let keys = text
        .split(',')
        .map(|key| match key.trim().strip_prefix('-') {
            Some(key) => (key.to_owned(), Bson::Int32(-1)),
            None => (key.trim().to_owned(), Bson::Int32(1)),
        });
    Ok(keys.collect())
}

/// Reads the fields that are shown, `name,price`, or a projection in extended JSON. The `_id` is there only if it is named.
pub(crate) fn projection(text: &str) -> Result<Document> {
    if text.trim_start().starts_with('{') {
        return document(text);
    }
    let mut fields: Document = text
        .split(',')
        .map(|field| (field.trim().to_owned(), Bson::Int32(1)))
        .collect();
    if !fields.contains_key("_id") {
        fields.insert("_id", 0);
    }
    Ok(fields)
}

#[cfg(test)]
mod tests;
