//! One step of a migration, and its effect on a document.

use std::{
    error::Error as StdError,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use bson::{Bson, Document, RawBson, RawDocument, RawDocumentBuf};
use odm_mql::{Filter, path};
use odm_store::{Error, ErrorKind, Result};
use serde::{Serialize, de::DeserializeOwned};

use crate::model::{self, read_value, to_raw};

/// One step of a migration: a change of all documents of a collection.
///
/// A path goes through embedded values, through all elements of lists, and by `*` through all values of a map:
/// `lines.title`, `prices.*.amount`. The step skips a document without a value on the path.
///
/// ```
/// use odm::migration::{Migrations, Step};
///
/// // In each line of each order, and in the price for each country.
/// let steps = Migrations::new().to(2, [
///     Step::rename("parts", "lines.title", "lines.name"),
///     Step::change("parts", "prices.*.amount", |euros: f64| (euros * 100.0) as i64),
/// ]);
/// # odm::derive::examples::migrated(
/// #     odm::bson::doc! { "_id": 1_i64, "lines": [{ "title": "nut" }], "prices": { "de": { "amount": 2.5 } } }, steps,
/// #     odm::bson::doc! { "_id": 1_i64, "lines": [{ "name": "nut" }], "prices": { "de": { "amount": 250_i64 } } },
/// # );
/// ```
#[derive(Clone)]
pub struct Step {
    text: String,
    pub(super) collection: String,
    pub(super) action: Action,
    /// The fields that it changes, each as a collection and a path.
    pub(super) touched: Vec<(String, String)>,
}

/// The action of a step.
#[derive(Clone)]
pub(super) enum Action {
    /// Changes each document by itself.
    Change(Arc<DocumentTransform>),
    /// Moves the documents that match to another collection.
    Move { to: String, filter: Filter },
    /// Removes all documents.
    Drop,
    /// Puts the cold parts at a path back into their documents.
    Inline { path: String },
    /// Its arguments make no valid step.
    Invalid(Error),
}

/// Returns a document as the step makes it, or `None` if it stays as it is.
type DocumentTransform = dyn Fn(&RawDocument) -> Result<Option<RawDocumentBuf>> + Send + Sync;

/// Why a value cannot be changed.
type Cause = Box<dyn StdError + Send + Sync>;

impl Step {
    /// Renames a field. `to` has the same parent as `from`: `lines.title` becomes `lines.name`.
    ///
    /// ```
    /// # use odm::migration::{Migrations, Step};
    /// // { votes: 3 } becomes { ratings: 3 }.
    /// let steps = Migrations::new().to(2, [Step::rename("parts", "votes", "ratings")]);
    /// # odm::derive::examples::migrated(
    /// #     odm::bson::doc! { "_id": 1_i64, "votes": 3 }, steps, odm::bson::doc! { "_id": 1_i64, "ratings": 3 },
    /// # );
    /// ```
    ///
    /// # Errors
    ///
    /// The step fails on a document that has both.
    pub fn rename(collection: &str, from: &str, to: &str) -> Self {
        let text = format!("rename `{from}` of `{collection}` to `{to}`");
        let touched = [from, to];
        let (parent, old) = parent_and_name(from);
        let (other, new) = parent_and_name(to);
        if parent != other {
            let message =
                "a field is renamed in its place; let both paths end in different names only";
            return Step::invalid(text, collection, message.to_owned());
        }
        let (old, new) = (old.to_owned(), new.to_owned());
        Step::in_parents(text, collection, parent, &touched, move |parent| {
            match (parent.contains_key(&old), parent.contains_key(&new)) {
                (false, _) => Ok(false),
                (true, true) => Err(format!("there is a field `{new}` as well").into()),
                (true, false) => {
                    let fields = std::mem::take(parent).into_iter();
                    let renamed = fields.map(|(name, value)| match name == old {
                        true => (new.clone(), value),
                        false => (name, value),
                    });
                    *parent = renamed.collect();
                    Ok(true)
                }
            }
        })
    }

    /// Replaces each value at a path by the result of a function from the stored type to the type of the new model. A field that is missing
    /// stays so. `bson::Bson` is any type.
    ///
    /// ```
    /// # use odm::migration::{Migrations, Step};
    /// // { price: 0.25 } becomes { price: 25 }.
    /// let steps = Migrations::new().to(2, [Step::change("parts", "price", |euros: f64| (euros * 100.0) as i64)]);
    /// # odm::derive::examples::migrated(
    /// #     odm::bson::doc! { "_id": 1_i64, "price": 0.25 }, steps, odm::bson::doc! { "_id": 1_i64, "price": 25_i64 },
    /// # );
    /// ```
    pub fn change<Old, New>(
        collection: &str,
        path: &str,
        change: impl Fn(Old) -> New + Send + Sync + 'static,
    ) -> Self
    where
        Old: DeserializeOwned,
        New: Serialize,
    {
        Step::try_change(collection, path, move |old| Ok::<_, Error>(change(old)))
    }

    /// Changes values as [`change`](Step::change) does, by a function that can fail. An error is found
    /// before anything is changed: `open` fails, and names the document.
    ///
    /// ```
    /// # use odm::migration::{Migrations, Step};
    /// // { qty: "90" } becomes { qty: 90 }, and a text that is no number is an error that names its document.
    /// let steps = Migrations::new().to(2, [Step::try_change("parts", "qty", |text: String| text.parse::<i64>())]);
    /// # odm::derive::examples::migrated(
    /// #     odm::bson::doc! { "_id": 1_i64, "qty": "90" }, steps, odm::bson::doc! { "_id": 1_i64, "qty": 90_i64 },
    /// # );
    /// ```
    pub fn try_change<Old, New, E>(
        collection: &str,
        path: &str,
        change: impl Fn(Old) -> std::result::Result<New, E> + Send + Sync + 'static,
    ) -> Self
    where
        Old: DeserializeOwned,
        New: Serialize,
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        let text = format!("change `{path}` of `{collection}`");
        let (parent, name) = parent_and_name(path);
        let name = name.to_owned();
        Step::in_parents(text, collection, parent, &[path], move |parent| {
            let values: Vec<&mut Bson> = match name.as_str() {
                "*" => parent.iter_mut().map(|(_, value)| value).collect(),
                name => parent.get_mut(name).into_iter().collect(),
            };
            let mut is_changed = false;
            for value in values {
                let new = change(read(value)?).map_err(Into::into)?;
                let new = written(&new)?;
                is_changed |= new != *value;
                *value = new;
            }
            Ok(is_changed)
        })
    }

    /// Adds a field with a value to each document, or to each embedded value on the path, that lacks it.
    ///
    /// ```
    /// # use odm::migration::{Migrations, Step};
    /// // {} becomes { tags: [] }. A new `Option`, or a field with a default for serde, needs no step.
    /// let steps = Migrations::new().to(2, [Step::add("parts", "tags", Vec::<String>::new())]);
    /// # odm::derive::examples::migrated(
    /// #     odm::bson::doc! { "_id": 1_i64 }, steps, odm::bson::doc! { "_id": 1_i64, "tags": [] },
    /// # );
    /// ```
    pub fn add(collection: &str, path: &str, value: impl Serialize) -> Self {
        let text = format!("add `{path}` to `{collection}`");
        let (parent, name) = parent_and_name(path);
        let value = match written(&value) {
            Ok(value) => value,
            Err(error) => return Step::invalid(text, collection, error.to_string()),
        };
        let name = name.to_owned();
        Step::in_parents(text, collection, parent, &[path], move |parent| {
            let is_missing = !parent.contains_key(&name);
            if is_missing {
                parent.insert(name.clone(), value.clone());
            }
            Ok(is_missing)
        })
    }

    /// Removes a field.
    ///
    /// ```
    /// # use odm::migration::{Migrations, Step};
    /// // { color: "red" } becomes {}.
    /// let steps = Migrations::new().to(2, [Step::remove("parts", "color")]);
    /// # odm::derive::examples::migrated(
    /// #     odm::bson::doc! { "_id": 1_i64, "color": "red" }, steps, odm::bson::doc! { "_id": 1_i64 },
    /// # );
    /// ```
    pub fn remove(collection: &str, path: &str) -> Self {
        let text = format!("remove `{path}` of `{collection}`");
        let (parent, name) = parent_and_name(path);
        let name = name.to_owned();
        Step::in_parents(text, collection, parent, &[path], move |parent| {
            Ok(parent.remove(&name).is_some())
        })
    }

    /// Replaces each document of a collection by the result of a function from a type that reads the old documents to a type that writes
    /// the new ones, with the same `_id`. `bson::Document` is any document.
    ///
    /// ```
    /// # use odm::migration::{Migrations, Step};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Deserialize)]
    /// struct Old {
    ///     #[serde(rename = "_id")]
    ///     id: i64,
    ///     first: String,
    ///     last: String,
    /// }
    ///
    /// #[derive(Serialize)]
    /// struct New {
    ///     #[serde(rename = "_id")]
    ///     id: i64,
    ///     name: String,
    /// }
    ///
    /// // { first: "Ann", last: "Lee" } becomes { name: "Ann Lee" }.
    /// let joined = |old: Old| New { id: old.id, name: format!("{} {}", old.first, old.last) };
    /// let steps = Migrations::new().to(2, [Step::map("parts", joined)]);
    /// # odm::derive::examples::migrated(
    /// #     odm::bson::doc! { "_id": 1_i64, "first": "Ann", "last": "Lee" }, steps,
    /// #     odm::bson::doc! { "_id": 1_i64, "name": "Ann Lee" },
    /// # );
    /// ```
    pub fn map<Old, New>(
        collection: &str,
        change: impl Fn(Old) -> New + Send + Sync + 'static,
    ) -> Self
    where
        Old: DeserializeOwned,
        New: Serialize,
    {
        Step::try_map(collection, move |old| Ok::<_, Error>(change(old)))
    }

    /// Changes documents as [`map`](Step::map) does, by a function that can fail.
    ///
    /// ```
    /// # use odm::migration::{Migrations, Step};
    /// use odm::bson::Document;
    ///
    /// // { low: 1, high: 5 } becomes { range: 4 }. What is no number is an error that names the document.
    /// let steps = Migrations::new().to(2, [Step::try_map("parts", |mut old: Document| {
    ///     let range = old.get_i32("high")? - old.get_i32("low")?;
    ///     old.remove("high");
    ///     old.remove("low");
    ///     old.insert("range", range);
    ///     Ok::<_, Box<dyn std::error::Error + Send + Sync>>(old)
    /// })]);
    /// # odm::derive::examples::migrated(
    /// #     odm::bson::doc! { "_id": 1_i64, "low": 1, "high": 5 }, steps, odm::bson::doc! { "_id": 1_i64, "range": 4 },
    /// # );
    /// ```
    pub fn try_map<Old, New, E>(
        collection: &str,
        change: impl Fn(Old) -> std::result::Result<New, E> + Send + Sync + 'static,
    ) -> Self
    where
        Old: DeserializeOwned,
        New: Serialize,
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        let text = format!("change the documents of `{collection}`");
        let change = move |document: &RawDocument| -> std::result::Result<_, Cause> {
            let old = model::read::<Old>(document).map_err(|error| unreadable(error.source))?;
            let new = change(old).map_err(Into::into)?;
            Ok(Some(bson::serialize_to_raw_document_buf(&new)?))
        };
        Step::by(text, collection, &[""], change)
    }

    /// Moves the documents that match a filter, in MongoDB's form, to another collection.
    ///
    /// ```
    /// # use odm::migration::{Migrations, Step};
    /// use odm::bson::doc;
    ///
    /// // What is sold no more goes to a collection of its own.
    /// let steps = Migrations::new().to(2, [Step::move_documents("archive", "parts", doc! { "sold": true })]);
    /// # odm::derive::examples::migrated_of(
    /// #     "archive", doc! { "_id": 1_i64, "sold": true }, steps, Some(doc! { "_id": 1_i64, "sold": true }),
    /// # );
    /// ```
    ///
    /// # Errors
    ///
    /// The step fails if a document there has the same `_id`.
    pub fn move_documents(from: &str, to: &str, filter: Document) -> Self {
        let text = format!("move documents of `{from}` to `{to}`");
        match Filter::parse(&filter) {
            Err(error) => Step::invalid(text, from, error.to_string()),
            Ok(filter) => Step {
                text,
                collection: from.to_owned(),
                touched: whole([from, to]),
                action: Action::Move {
                    to: to.to_owned(),
                    filter,
                },
            },
        }
    }

    /// Removes all documents of a collection.
    ///
    /// ```
    /// # use odm::migration::{Migrations, Step};
    /// let steps = Migrations::new().to(2, [Step::drop_collection("parts")]);
    /// # odm::derive::examples::migrated_of("parts", odm::bson::doc! { "_id": 1_i64 }, steps, None);
    /// ```
    pub fn drop_collection(collection: &str) -> Self {
        Step {
            text: format!("drop `{collection}`"),
            collection: collection.to_owned(),
            touched: whole([collection]),
            action: Action::Drop,
        }
    }

    /// Puts the cold parts of a `#[split(..)]` that the stored version has declared at a path back into their
    /// documents. Values that were not divided stay in place. The opposite needs no step: if a model declares a `#[split(..)]`, `open`
    /// divides the documents.
    ///
    /// ```
    /// # use odm::{Embedded, migration::{Migrations, Step}, prelude::*}; use serde::{Deserialize, Serialize};
    /// # mod old {
    /// #     use odm::prelude::*; use serde::{Deserialize, Serialize};
    /// #     #[derive(Debug, Serialize, Deserialize, Embed)] pub struct Detail { pub plot: String }
    /// #     #[derive(Debug, Serialize, Deserialize, Document)] #[document(collection = "movies")]
    /// #     pub struct Movie {
    /// #         #[serde(rename = "_id")] pub id: i64,
    /// #         #[split(collection = "details", key = "_id")] pub detail: Cold<Detail>,
    /// #     }
    /// #     #[derive(Database)] #[database(name = "cinema", version = 1)]
    /// #     pub struct Cinema { pub movies: Repository<Movie> }
    /// # }
    /// # use old::Detail;
    /// // In version 1 it was `#[split(..)] detail: Cold<Detail>`.
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[document(collection = "movies")]
    /// struct Movie {
    ///     #[serde(rename = "_id")]
    ///     id: i64,
    ///     #[embed]
    ///     detail: Detail,
    /// }
    ///
    /// fn steps() -> Migrations {
    ///     Migrations::new().to(2, [Step::inline("movies", "detail")])
    /// }
    /// # #[derive(Database)] #[database(name = "cinema", version = 2, migrations = steps)]
    /// # struct Cinema { movies: Repository<Movie> }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # let store = Embedded::memory().await?;
    /// # let movie = old::Movie { id: 1, detail: Cold::new(Detail { plot: "A shark.".into() }) };
    /// # old::Cinema::open(store.clone()).await?.movies.insert(movie).await?;
    /// # let cinema = Cinema::open(store).await?;
    /// # assert_eq!(cinema.movies.get(1).await?.detail.plot, "A shark.");
    /// # Ok::<_, odm::Error>(()) }).unwrap();
    /// ```
    pub fn inline(collection: &str, path: &str) -> Self {
        Step {
            text: format!("inline `{path}` of `{collection}`"),
            collection: collection.to_owned(),
            touched: vec![(collection.to_owned(), path.to_owned())],
            action: Action::Inline {
                path: path.to_owned(),
            },
        }
    }

    fn invalid(text: String, collection: &str, message: String) -> Self {
        let message = format!("invalid step: {text}: {message}");
        Step {
            text,
            collection: collection.to_owned(),
            touched: Vec::new(),
            action: Action::Invalid(Error::new(ErrorKind::Schema, message)),
        }
    }

    /// A step that changes the documents, or embedded values, at a path.
    fn in_parents(
        text: String,
        collection: &str,
        parent: &str,
        touched: &[&str],
        change: impl Fn(&mut Document) -> std::result::Result<bool, Cause> + Send + Sync + 'static,
    ) -> Self {
        let steps: Vec<String> = match parent {
            "" => Vec::new(),
            path => path.split('.').map(str::to_owned).collect(),
        };
        let mut named = touched.iter().flat_map(|path| path.split('.'));
        if named.any(|name| name.is_empty() || path::position(name).is_some()) {
            let message = "a path consists of names, and `*` for all values of a map".to_owned();
            return Step::invalid(text, collection, message);
        }
        if touched.contains(&"_id") {
            let message = "`_id` cannot be changed; move the documents by a program".to_owned();
            return Step::invalid(text, collection, message);
        }
        Step::by(text, collection, touched, move |document: &RawDocument| {
            let mut changed = Document::try_from(document)?;
            let is_changed = in_documents(&mut changed, &steps, &change)?;
            Ok(match is_changed {
                true => Some(RawDocumentBuf::try_from(&changed)?),
                false => None,
            })
        })
    }

    fn by(
        text: String,
        collection: &str,
        touched: &[&str],
        change: impl Fn(&RawDocument) -> std::result::Result<Option<RawDocumentBuf>, Cause>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let (step, of) = (text.clone(), collection.to_owned());
        let change = move |document: &RawDocument| {
            let failed = |cause: Cause| failed(&step, &of, document, cause);
            match catch_unwind(AssertUnwindSafe(|| change(document))) {
                Ok(changed) => changed.map_err(failed),
                Err(_) => Err(failed("its function panicked".into())),
            }
        };
        let touched = touched
            .iter()
            // A map is touched as a whole.
            .map(|path| path.split(".*").next().unwrap_or_default().to_owned());
        Step {
            text,
            collection: collection.to_owned(),
            touched: touched.map(|path| (collection.to_owned(), path)).collect(),
            action: Action::Change(Arc::new(change)),
        }
    }
}

/// The action, as `rename `votes` of `parts` to `ratings``.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Step").field(&self.text).finish()
    }
}

fn read<V: DeserializeOwned>(value: &Bson) -> std::result::Result<V, Cause> {
    read_value(RawBson::try_from(value.clone())?).map_err(|error| unreadable(error.source))
}

/// The value as it is stored in documents.
fn written<V: Serialize>(value: &V) -> std::result::Result<Bson, Cause> {
    Ok(Bson::try_from(to_raw(value)?)?)
}

/// The message of serde about a value that cannot be read.
fn unreadable(error: bson::error::Error) -> Cause {
    match &error.message {
        Some(message) => message.trim_end_matches('.').to_owned().into(),
        None => error.into(),
    }
}

/// The error of a step on a document, without advice. Its source is the reason.
pub(super) fn failed(
    step: impl fmt::Display,
    collection: &str,
    document: &RawDocument,
    cause: Cause,
) -> Error {
    let id = path::get(document, "_id").map(Into::into);
    let shown = id.as_ref().map(odm_store::show).unwrap_or_default();
    let message = format!("failed migration: {step}: `{collection}` with `_id` = {shown}: {cause}");
    let error = Error::new(ErrorKind::FailedMigration, message).with_source(cause);
    error.at(collection, None, id)
}

fn whole<const N: usize>(collections: [&str; N]) -> Vec<(String, String)> {
    let all = collections.into_iter();
    all.map(|name| (name.to_owned(), String::new())).collect()
}

/// The path of the value that holds a field, and the name of the field in it.
fn parent_and_name(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}

/// Changes all documents at the end of a path. Returns whether any was changed.
fn in_documents(
    document: &mut Document,
    path: &[String],
    change: &impl Fn(&mut Document) -> std::result::Result<bool, Cause>,
) -> std::result::Result<bool, Cause> {
    let Some((first, rest)) = path.split_first() else {
        return change(document);
    };
    let mut is_changed = false;
    for (name, value) in document.iter_mut() {
        if first == "*" || name == first {
            is_changed |= in_value(value, rest, change)?;
        }
    }
    Ok(is_changed)
}

fn in_value(
    value: &mut Bson,
    path: &[String],
    change: &impl Fn(&mut Document) -> std::result::Result<bool, Cause>,
) -> std::result::Result<bool, Cause> {
    match value {
        Bson::Document(document) => in_documents(document, path, change),
        Bson::Array(elements) => {
            let mut is_changed = false;
            for element in elements {
                is_changed |= in_value(element, path, change)?;
            }
            Ok(is_changed)
        }
        _ => Ok(false),
    }
}
