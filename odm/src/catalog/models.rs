//! The fields of models as a version of a database has declared them, and the differences between two versions.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
};

use bson::{Bson, Document, RawDocumentBuf, doc};
use odm_mql::Schema;
use odm_store::Result;
use serde::{Deserialize, Serialize};

use super::{join, validators};

/// The documents of one collection in a version of a database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredModel {
    pub(crate) collection: String,
    /// The schema of the type, also if the collection is not validated.
    #[serde(with = "odm_mql::stored_value")]
    schema: Document,
}

/// A field of a model, by its schema.
#[derive(Debug, Clone, PartialEq)]
struct StoredField {
    required: bool,
    /// Its whole schema, without its inner fields.
    rules: Document,
}

/// A difference between the documents of two versions of a database.
///
/// ```
/// # use odm::{Embedded, migration::FieldChangeKind, prelude::*};
/// # mod old {
/// #     use odm::prelude::*; use serde::{Deserialize, Serialize};
/// #     #[derive(Serialize, Deserialize, Document)] #[document(collection = "parts")]
/// #     pub struct Part { #[serde(rename = "_id")] pub id: i64 }
/// #     #[derive(Database)] #[database(name = "shop", version = 1)] pub struct Shop { pub parts: Repository<Part> }
/// # }
/// # mod new {
/// #     use odm::prelude::*; use serde::{Deserialize, Serialize};
/// #     #[derive(Serialize, Deserialize, Document)] #[document(collection = "parts")]
/// #     pub struct Part { #[serde(rename = "_id")] pub id: i64, pub color: Option<String> }
/// #     #[derive(Database)] #[database(name = "shop", version = 2)] pub struct Shop { pub parts: Repository<Part> }
/// # }
/// # use new::Shop;
/// # odm::derive::examples::example(async |_| {
/// # let store = Embedded::memory().await?;
/// # old::Shop::open(store.clone()).await?;
/// // Before version 2 is deployed, in which a part has a `color`:
/// let changes = Shop::check(&store).await?;
/// let change = &changes.fields[0];
/// assert_eq!((change.collection.as_str(), change.path.as_str()), ("parts", "color"));
/// assert!(matches!(change.kind, FieldChangeKind::Added { required: false, .. }));
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChange {
    /// The collection.
    pub collection: String,
    /// The path of the field; empty for the collection itself.
    pub path: String,
    /// The difference.
    pub kind: FieldChangeKind,
}

/// The difference in a field, or a collection, of two versions.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::migration::FieldChangeKind;
///
/// // Is there anything for which a migration needs a step?
/// let changes = Shop::check(&Embedded::memory().await?).await?;
/// let needs_step = |kind: &FieldChangeKind| !matches!(kind, FieldChangeKind::Added { required: false, .. });
/// assert!(!changes.fields.iter().any(|change| needs_step(&change.kind)));
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldChangeKind {
    /// It is new.
    Added {
        /// Whether every document must have it to be read.
        required: bool,
        /// The paths of removed fields of the same shape beside it: it may be one of these under a new name.
        like: Vec<String>,
    },
    /// No model has it any more. Stored values stay until a migration removes them.
    Removed,
    /// It has another type.
    Retyped {
        /// The types of its values before.
        from: String,
        /// The types of its values now.
        to: String,
    },
    /// It is required now, and could be missing before.
    Required,
    /// It can be missing now.
    Optional,
    /// Its rules by `#[validate(..)]`, or the range of its numbers, have changed.
    Rules,
}

impl StoredModel {
    pub(super) fn new(collection: &str, schema: Document) -> Self {
        StoredModel {
            collection: collection.to_owned(),
            schema,
        }
    }

    /// Its schema, parsed for `mql`.
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if a library of another version has stored a schema that this one cannot read.
    pub(crate) fn parse(&self) -> Result<Schema> {
        validators::parse(&self.collection, &self.schema)
    }

    /// Whether it has a field at a path.
    pub(super) fn has_field(&self, path: &str) -> bool {
        self.fields().contains_key(path)
    }

    /// Whether it names the value at a path, or a value within it. A field whose content it does not name includes all values in it.
    pub(super) fn names(&self, path: &str) -> bool {
        let fields = self.fields();
        let is_within = |field: &str, holder: &str| {
            let rest = field.strip_prefix(holder);
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        let is_leaf = |field: &str| !fields.keys().any(|other| is_within(other, field));
        path.is_empty()
            || fields.keys().any(|field| {
                field == path
                    || is_within(field, path)
                    || (is_within(path, field) && is_leaf(field))
            })
    }

    /// The names of the fields at the top of the documents. They do not include other stored names, such as the keys of a flattened map.
    pub(super) fn top(&self) -> impl Iterator<Item = String> {
        let paths = self.fields().into_keys();
        paths.filter(|path| !path.contains('.'))
    }

    /// The names of the fields at the top that every document has, each with whether it can be null. They are unknown if a library of
    /// another version has stored a schema that this one cannot read.
    pub(super) fn required(&self) -> Vec<(String, bool)> {
        let Ok(schema) = self.parse() else {
            return Vec::new();
        };
        let takes_null = |name: &str| {
            let null = RawDocumentBuf::try_from(&doc! { name: Bson::Null });
            let found = null.map(|null| schema.violations(&null).unwrap_or_default());
            found.is_ok_and(|found| !found.iter().any(|violation| violation.path == name))
        };
        let fields = self.fields().into_iter();
        let required = fields.filter(|(path, field)| field.required && !path.contains('.'));
        let required = required.map(|(name, _)| {
            let takes_null = takes_null(&name);
            (name, takes_null)
        });
        required.collect()
    }

    fn fields(&self) -> BTreeMap<String, StoredField> {
        let mut fields = BTreeMap::new();
        collect(&self.schema, "", true, &mut fields);
        fields
    }

    /// Whether fields that the type does not name make a document unreadable.
    fn is_closed(&self) -> bool {
        is_closed(&self.schema)
    }
}

/// The differences between two versions, in the order of collections and paths.
pub(crate) fn differences<'m>(
    before: &'m [StoredModel],
    after: &'m [StoredModel],
) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    let names = |models: &'m [StoredModel]| models.iter().map(|model| &model.collection);
    let all: BTreeSet<&String> = names(before).chain(names(after)).collect();
    let by_name = |models: &'m [StoredModel]| -> HashMap<&'m String, &'m StoredModel> {
        names(models).zip(models).collect()
    };
    let (before, after) = (by_name(before), by_name(after));
    for collection in all {
        let mut add = |path: &str, kind| {
            changes.push(FieldChange {
                collection: collection.clone(),
                path: path.to_owned(),
                kind,
            });
        };
        match (before.get(collection), after.get(collection)) {
            (None, _) => add(
                "",
                FieldChangeKind::Added {
                    required: false,
                    like: Vec::new(),
                },
            ),
            (_, None) => add("", FieldChangeKind::Removed),
            (Some(before), Some(after)) => between(&before.fields(), &after.fields(), add),
        }
    }
    changes
}

/// Whether programs of the version before can read and write the documents of the version after: only optional fields were added.
pub(super) fn is_readable_by(before: &[StoredModel], after: &[StoredModel]) -> bool {
    differences(before, after).iter().all(|change| {
        let mut models = before.iter();
        let model = models.find(|model| model.collection == change.collection);
        match &change.kind {
            FieldChangeKind::Added { required, .. } => {
                !required && !model.is_some_and(StoredModel::is_closed)
            }
            _ => false,
        }
    })
}

fn between(
    before: &BTreeMap<String, StoredField>,
    after: &BTreeMap<String, StoredField>,
    mut add: impl FnMut(&str, FieldChangeKind),
) {
    let is_new = |path: &str| !before.contains_key(path);
    let is_gone = |path: &str| !after.contains_key(path);
    for (path, field) in before {
        match after.get(path) {
            // A field within a removed one.
            None if parent(path).is_some_and(is_gone) => {}
            None => add(path, FieldChangeKind::Removed),
            Some(new) => {
                let (from, to) = (types(&field.rules), types(&new.rules));
                if from != to {
                    add(path, FieldChangeKind::Retyped { from, to });
                } else if field.rules != new.rules {
                    add(path, FieldChangeKind::Rules);
                }
                match (field.required, new.required) {
                    (false, true) => add(path, FieldChangeKind::Required),
                    (true, false) => add(path, FieldChangeKind::Optional),
                    _ => {}
                }
            }
        }
    }
    for (path, field) in after {
        if before.contains_key(path) || parent(path).is_some_and(is_new) {
            continue;
        }
        let is_beside = |other: &&String| parent(other) == parent(path);
        let gone = before.iter().filter(|(path, _)| is_gone(path));
        let alike = gone.filter(|(_, other)| types(&other.rules) == types(&field.rules));
        let like = alike.map(|(path, _)| path).filter(is_beside).cloned();
        add(
            path,
            FieldChangeKind::Added {
                required: field.required,
                like: like.collect(),
            },
        );
    }
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('.').map(|(parent, _)| parent)
}

/// Adds the fields of an object, of the elements of a list and of the alternatives of an enum.
fn collect(
    schema: &Document,
    at: &str,
    required: bool,
    fields: &mut BTreeMap<String, StoredField>,
) {
    let names = schema.get_array("required");
    let is_required = |name: &str| {
        let mut names = names.iter().flat_map(|names| names.iter());
        required && names.any(|other| other.as_str() == Some(name))
    };
    if let Ok(properties) = schema.get_document("properties") {
        for (name, property) in properties {
            let Some(property) = property.as_document() else {
                continue;
            };
            let path = join(at, name);
            let mut rules = property.clone();
            for keyword in ["properties", "required", "allOf"] {
                rules.remove(keyword);
            }
            let mut items = property;
            if let (Ok(inner), Ok(of)) = (
                property.get_document("items"),
                rules.get_document_mut("items"),
            ) {
                of.remove("properties");
                of.remove("required");
                items = inner;
            }
            let field = StoredField {
                required: is_required(name),
                rules,
            };
            fields.insert(path.clone(), field);
            collect(items, &path, true, fields);
        }
    }
    if let Ok(all) = schema.get_array("allOf") {
        for schema in all.iter().filter_map(Bson::as_document) {
            collect(schema, at, required, fields);
        }
    }
}

/// The types of a value, in words.
fn types(rules: &Document) -> String {
    let named = match rules.get("bsonType") {
        Some(Bson::String(name)) => name.clone(),
        Some(Bson::Array(names)) => {
            let names = names.iter().filter_map(Bson::as_str);
            names.collect::<Vec<_>>().join(" or ")
        }
        _ => {
            let alternatives = ["anyOf", "oneOf", "allOf"];
            let mut found = alternatives
                .iter()
                .filter_map(|name| rules.get_array(name).ok());
            match found.next() {
                Some(all) => {
                    let texts = all.iter().filter_map(Bson::as_document).map(types);
                    texts.collect::<Vec<_>>().join(" or ")
                }
                None => "any".to_owned(),
            }
        }
    };
    match rules.get("items") {
        Some(Bson::Document(items)) => format!("{named} of {}", types(items)),
        _ => named,
    }
}

fn is_closed(schema: &Document) -> bool {
    schema.get("additionalProperties") == Some(&Bson::Boolean(false))
        || schema.values().any(|value| match value {
            Bson::Document(inner) => is_closed(inner),
            Bson::Array(all) => all.iter().filter_map(Bson::as_document).any(is_closed),
            _ => false,
        })
}

impl fmt::Display for FieldChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FieldChange {
            collection, path, ..
        } = self;
        let is_collection = path.is_empty();
        let name = join(collection, path);
        match &self.kind {
            FieldChangeKind::Added { .. } if is_collection => {
                write!(f, "new collection `{collection}`")
            }
            FieldChangeKind::Removed if is_collection => write!(
                f,
                "no model has the collection `{collection}` any more: its documents stay"
            ),
            FieldChangeKind::Added { required, like } => {
                let word = if *required { "required" } else { "optional" };
                write!(f, "new {word} field `{name}`")?;
                match like.first() {
                    Some(old) => write!(
                        f,
                        ": if it is `{old}` under a new name, say so by `#[document(renamed(from = \
                         \"{old}\", to = \"{path}\"))]`"
                    ),
                    None => Ok(()),
                }
            }
            FieldChangeKind::Removed => {
                write!(
                    f,
                    "no model has `{name}` any more: stored values stay, unread"
                )
            }
            FieldChangeKind::Retyped { from, to } => {
                write!(f, "`{name}` was {from}, and is {to}")
            }
            FieldChangeKind::Required => write!(f, "`{name}` could be missing, and is required"),
            FieldChangeKind::Optional => write!(f, "`{name}` was required, and can be missing"),
            FieldChangeKind::Rules => write!(f, "other rules for `{name}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(schema: Document) -> Vec<StoredModel> {
        vec![StoredModel::new("parts", schema)]
    }

    fn texts(before: Document, after: Document) -> Vec<String> {
        let changes = differences(&model(before), &model(after));
        changes.iter().map(FieldChange::to_string).collect()
    }

    #[test]
    fn differences_are_said_in_words_field_by_field() {
        let before = doc! {
            "bsonType": "object",
            "required": ["name", "lines"],
            "properties": {
                "name": { "bsonType": "string" },
                "votes": { "bsonType": ["int", "null"] },
                "lines": { "bsonType": "array", "items": {
                    "bsonType": "object",
                    "required": ["price"],
                    "properties": { "price": { "bsonType": "double" } },
                } },
            },
        };
        let after = doc! {
            "bsonType": "object",
            "required": ["name", "lines", "stock"],
            "properties": {
                "name": { "bsonType": "string", "minLength": 1 },
                "ratings": { "bsonType": ["int", "null"] },
                "stock": { "bsonType": "long" },
                "lines": { "bsonType": "array", "items": {
                    "bsonType": "object",
                    "properties": { "price": { "bsonType": "decimal" } },
                } },
            },
        };
        assert_eq!(
            texts(before.clone(), after),
            [
                "`parts.lines.price` was double, and is decimal",
                "`parts.lines.price` was required, and can be missing",
                "other rules for `parts.name`",
                "no model has `parts.votes` any more: stored values stay, unread",
                "new optional field `parts.ratings`: if it is `votes` under a new name, say so by \
                 `#[document(renamed(from = \"votes\", to = \"ratings\"))]`",
                "new required field `parts.stock`",
            ]
        );
        assert_eq!(texts(before.clone(), before), [""; 0]);
    }

    #[test]
    fn older_programs_can_go_on_where_only_optional_fields_were_added() {
        let with = |name: &str, required: bool, closed: bool| {
            let mut schema = doc! { "bsonType": "object", "properties": { "a": {}, name: {} } };
            if required {
                schema.insert("required", vec![name]);
            }
            if closed {
                schema.insert("additionalProperties", false);
            }
            model(schema)
        };
        let only = with("a", false, false);
        assert!(is_readable_by(&only, &with("b", false, false)));
        assert!(!is_readable_by(&only, &with("b", true, false)));
        assert!(!is_readable_by(&with("b", false, false), &only));
        assert!(!is_readable_by(
            &with("a", false, true),
            &with("b", false, true)
        ));
    }
}
