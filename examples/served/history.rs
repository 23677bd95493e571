//! Random histories of writes, by the descriptions of models alone.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use odm::{
    bson::{Bson, DateTime, Document, doc, oid::ObjectId},
    derive::{DerivedShape, FieldKind, Model, Shape, SubsetShape},
};

/// A document that is to be stored.
pub(crate) struct Form {
    /// As a value of the model is stored. What its derived fields say counts for nothing, and is wrong as a rule.
    pub(crate) whole: Document,
    /// As a client sends it: the same, or without the derived fields.
    pub(crate) sent: Document,
}

/// What happens to a document.
pub(crate) enum Change {
    Insert(Form),
    Replace(Form),
    /// A replacement, or an insert if there is no such document.
    Upsert(Form),
    Update(Bson, Document),
    Delete(Bson),
}

/// A change of a document of a collection.
pub(crate) struct Write {
    pub(crate) collection: &'static str,
    pub(crate) change: Change,
}

impl Write {
    /// The write as a client is told it.
    pub(crate) fn request(&self) -> Document {
        let (name, id, value) = match &self.change {
            Change::Insert(form) => ("insert", None, &form.sent),
            Change::Replace(form) => ("replace", form.sent.get("_id"), &form.sent),
            Change::Upsert(form) => ("upsert", form.sent.get("_id"), &form.sent),
            Change::Update(id, update) => ("update", Some(id), update),
            Change::Delete(id) => ("delete", Some(id), &Document::new()),
        };
        doc! { "collection": self.collection, "do": name, "id": id, "with": value }
    }
}

/// What a generator knows of a model.
pub(crate) struct Described {
    collection: &'static str,
    schema: Document,
    /// The collections that fields refer to.
    references: BTreeMap<String, &'static str>,
    subsets: BTreeMap<String, SubsetShape>,
    /// The fields that are stored as cold parts.
    cold: Vec<&'static str>,
    /// The fields that clients cannot write.
    pub(crate) derived: BTreeSet<String>,
}

impl Described {
    pub(crate) fn new(model: &Model) -> Described {
        let mut described = Described {
            collection: model.collection,
            schema: (model.schema)(),
            references: BTreeMap::new(),
            subsets: BTreeMap::new(),
            cold: Vec::new(),
            derived: BTreeSet::new(),
        };
        described.describe((model.shape)(), "");
        described
    }

    fn describe(&mut self, shape: &Shape, within: &str) {
        for field in shape.fields {
            let path = joined(within, field.name);
            match field.kind {
                FieldKind::Plain => {}
                FieldKind::Embed { shape, .. } => self.describe(shape(), &path),
                FieldKind::Reference(reference) => {
                    self.references.insert(path, reference.collection);
                }
                FieldKind::Derived(derived) => {
                    if let DerivedShape::Subset(subset) = derived {
                        self.subsets.insert(path.clone(), subset);
                    }
                    self.derived.insert(path);
                }
                FieldKind::Split(split) => {
                    self.cold.push(field.name);
                    self.describe((split.shape)(), &path);
                    let fields = self.schema.get_document_mut("properties");
                    let fields = fields.expect("a model has fields");
                    fields.insert(field.name, (split.schema)());
                }
            }
        }
    }

    /// The schema of a field.
    fn field(&self, name: &str) -> &Document {
        let mut fields = properties(&self.schema);
        let field = fields.find(|(field, _)| *field == name);
        field.expect("the model has the field").1
    }
}

fn joined(path: &str, name: &str) -> String {
    match (path, name) {
        ("", path) | (path, "") => path.to_owned(),
        (path, name) => format!("{path}.{name}"),
    }
}

/// A generator of writes to the collections of a database.
pub(crate) struct Generator<'m> {
    models: &'m [Described],
    random: Rng,
}

impl<'m> Generator<'m> {
    pub(crate) fn new(models: &'m [Described], seed: u64) -> Generator<'m> {
        Generator {
            models,
            random: Rng::with_seed(seed),
        }
    }

    pub(crate) fn write(&mut self) -> Write {
        let models = self.models;
        let model = &models[self.random.usize(..models.len())];
        let change = match self.random.u8(..20) {
            0..8 => Change::Insert(self.form(model)),
            8..10 => Change::Replace(self.form(model)),
            10 => Change::Upsert(self.form(model)),
            11..18 => Change::Update(self.id(model.collection), self.update(model)),
            _ => Change::Delete(self.id(model.collection)),
        };
        Write {
            collection: model.collection,
            change,
        }
    }

    fn is_rare(&mut self) -> bool {
        self.random.u8(..12) == 0
    }

    fn chosen<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.random.usize(..from.len())]
    }

    fn model(&self, collection: &str) -> &'m Described {
        let model = self
            .models
            .iter()
            .find(|model| model.collection == collection);
        model.expect("a model of the database has the collection")
    }

    /// One of few ids, so that references often lead to a document, and sometimes not.
    fn id(&mut self, collection: &str) -> Bson {
        let number = self.random.u8(..6);
        match kinds(self.model(collection).field("_id"))[0] {
            "objectId" => ObjectId::from_bytes([number; 12]).into(),
            "string" => format!("id {number}").into(),
            _ => i32::from(number).into(),
        }
    }

    fn form(&mut self, model: &Described) -> Form {
        let Bson::Document(mut whole) = self.value(model, "", &model.schema) else {
            unreachable!("a model is a document")
        };
        if self.is_rare() {
            // A document without its cold part is refused, which its schema does not say.
            let is_kept = |name: &str| name == "_id" || model.cold.contains(&name);
            let names = whole.keys().filter(|name| !is_kept(name)).cloned();
            let names: Vec<String> = names.collect();
            match self.random.u8(..3) {
                0 => whole.insert(self.chosen(&names), Bson::Boolean(true)),
                1 => whole.remove(self.chosen(&names)),
                _ => whole.insert("not_of_the_model", 1),
            };
        }
        let mut sent = whole.clone();
        if self.random.bool() {
            for path in &model.derived {
                remove(&mut sent, path);
            }
        }
        Form { whole, sent }
    }

    /// A value of a schema at a path, whose references lead to one of few ids.
    fn value(&mut self, model: &Described, path: &str, schema: &Document) -> Bson {
        if let Ok(variants) = schema.get_array("anyOf") {
            let variant = self.chosen(variants).as_document();
            return self.value(model, path, variant.expect("a schema is a document"));
        }
        let kinds = kinds(schema);
        let kind = if kinds.contains(&"null") && self.random.u8(..4) == 0 {
            "null"
        } else {
            kinds[0]
        };
        let reference = model.references.get(path);
        let number = self.random.i32(0..40);
        match (kind, reference) {
            ("null", _) => Bson::Null,
            ("array", _) => {
                let length = self.random.usize(..4);
                (0..length)
                    .map(|_| self.item(model, path, schema))
                    .collect()
            }
            (_, Some(collection)) => self.id(collection),
            (_, None) if path == "_id" => self.id(model.collection),
            ("object", None) => {
                let mut object = Document::new();
                for (name, schema) in properties(schema) {
                    object.insert(name, self.value(model, &joined(path, name), schema));
                }
                object.into()
            }
            ("int", None) => number.into(),
            ("long", None) => i64::from(number).into(),
            ("double", None) => (f64::from(number) / 2.0).into(),
            ("bool", None) => (number % 2 == 0).into(),
            ("date", None) => DateTime::from_millis(1_400_000_000_000 + i64::from(number)).into(),
            ("decimal", None) => {
                Bson::Decimal128(format!("{number}.50").parse().expect("a number"))
            }
            ("objectId", None) => {
                ObjectId::from_bytes([u8::try_from(number).expect("it is small"); 12]).into()
            }
            ("string", None) => format!("text {number}").into(),
            (kind, None) => panic!("{path} is a {kind}"),
        }
    }

    /// An element of an array. The schema of a subset does not tell it.
    fn item(&mut self, model: &Described, path: &str, schema: &Document) -> Bson {
        let Some(subset) = model.subsets.get(path) else {
            return self.value(model, path, items(schema));
        };
        let source = self.model(subset.collection);
        let shown = (subset.item)().fields.iter();
        let shown = shown.map(|field| {
            let value = self.value(source, field.name, source.field(field.name));
            (field.name.to_owned(), value)
        });
        shown.collect::<Document>().into()
    }

    fn update(&mut self, model: &Described) -> Document {
        let mut update = Document::new();
        for _ in 0..self.random.u8(1..3) {
            let (position, path, schema) = self.place(model);
            let mut value = self.value(model, &path, schema);
            if self.is_rare() {
                value = "wrong".into();
            }
            let kind = kinds(schema).first().copied().unwrap_or_default();
            let item = match kind {
                "array" => self.item(model, &path, schema),
                _ => Bson::Null,
            };
            let (operator, argument) = match (kind, self.random.u8(..6)) {
                (_, 0) => ("$unset", 1.into()),
                (_, 1) => ("$set", value),
                ("array", 2) => ("$addToSet", item),
                ("array", 3) => ("$pull", item),
                ("array", 4) => ("$pop", 1.into()),
                ("array", _) => (
                    "$push",
                    doc! { "$each": [item], "$position": 0, "$slice": 3 }.into(),
                ),
                ("int" | "long" | "double" | "decimal", 2) => ("$inc", value),
                ("int" | "long" | "double" | "decimal", 3) => ("$mul", value),
                (_, 2) => ("$rename", "renamed".into()),
                (_, 4) => ("$min", value),
                (_, 5) => ("$max", value),
                (_, _) => ("$set", value),
            };
            let fields = update
                .entry(operator.to_owned())
                .or_insert(Document::new().into());
            let fields = fields.as_document_mut().expect("it is a document");
            fields.insert(position, argument);
        }
        update
    }

    /// A path to a value, with and without the positions in arrays, and its schema.
    fn place<'a>(&mut self, model: &'a Described) -> (String, String, &'a Document) {
        let (mut position, mut path, mut schema) = (String::new(), String::new(), &model.schema);
        loop {
            let fields: Vec<_> = properties(schema).collect();
            if !fields.is_empty() {
                let (name, of) = *self.chosen(&fields);
                position = joined(&position, name);
                path = joined(&path, name);
                schema = of;
            } else if schema.contains_key("items") {
                position = joined(&position, &self.random.u8(..2).to_string());
                schema = items(schema);
            }
            let is_inner =
                !properties(schema).collect::<Vec<_>>().is_empty() || schema.contains_key("items");
            if !is_inner || self.random.bool() {
                return (position, path, schema);
            }
        }
    }
}

/// The types of a schema.
fn kinds(schema: &Document) -> Vec<&str> {
    match schema.get("bsonType") {
        Some(Bson::String(kind)) => vec![kind],
        Some(Bson::Array(kinds)) => kinds.iter().filter_map(Bson::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The fields of a schema, with their schemas.
fn properties(schema: &Document) -> impl Iterator<Item = (&str, &Document)> {
    let fields = schema.get_document("properties").into_iter().flatten();
    fields.filter_map(|(name, schema)| Some((name.as_str(), schema.as_document()?)))
}

/// The schema of the elements of an array.
fn items(schema: &Document) -> &Document {
    schema.get_document("items").expect("an array has elements")
}

/// Removes a field, also of the elements of arrays.
fn remove(document: &mut Document, path: &str) {
    let Some((first, rest)) = path.split_once('.') else {
        document.remove(path);
        return;
    };
    match document.get_mut(first) {
        Some(Bson::Document(inner)) => remove(inner, rest),
        Some(Bson::Array(elements)) => {
            let elements = elements.iter_mut().filter_map(Bson::as_document_mut);
            elements.for_each(|element| remove(element, rest));
        }
        _ => {}
    }
}
