//! Patches: the changes of a document that a request names.

use serde::{Deserialize, Deserializer};

use super::Update;
use crate::model::Document;

/// The changes of a document that a request names, as the body of an HTTP `PATCH`: a struct of `Option`s, of which
/// those with a value set a field, by [`set_all`](Update::set_all).
///
/// Derive it: `#[derive(Patch)] #[patch(of = "Task")]`. Its fields and their types are checked against those of the
/// document at compile time. With a [`Deserialize`] that ignores unknown fields, as serde's is, misspelt names in a
/// request go unnoticed: `#[serde(deny_unknown_fields)]` refuses them.
///
/// ```
/// # use odm::{Embedded, prelude::*}; use serde::{Deserialize, Serialize};
/// # #[derive(Debug, Serialize, Deserialize, Document)] #[document(collection = "tasks")]
/// # struct Task { #[serde(rename = "_id")] id: i64, title: String, note: Option<String> }
/// # #[derive(Database)] #[database(name = "work", version = 1)]
/// # struct Work { tasks: Repository<Task> }
/// #[derive(Debug, Deserialize, Patch)]
/// #[patch(of = "Task")]
/// #[serde(deny_unknown_fields)]
/// struct TaskPatch {
///     title: Option<String>,
///     // Of a field that is an `Option` itself: `null` empties it.
///     #[serde(default, deserialize_with = "odm::present")]
///     note: Option<Option<String>>,
/// }
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// # let work = Work::open(Embedded::memory().await?).await?;
/// # work.tasks.insert(Task { id: 1, title: "Write".into(), note: Some("soon".into()) }).await?;
/// let patch: TaskPatch = serde_json::from_str(r#"{ "note": null }"#).unwrap();
/// let task = work.tasks.update(1).set_all(patch).returning().await?;
/// assert_eq!((task.title.as_str(), task.note), ("Write", None));
/// # Ok::<_, odm::Error>(()) }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a patch",
    label = "not a patch",
    note = "derive `Patch` for it, with `#[patch(of = \"..\")]`"
)]
pub trait Patch {
    /// The document.
    type Of: Document;

    /// Returns the changes, of which there may be none.
    fn changes(self) -> Update<Self::Of>;
}

/// Reads a value that is present, a `null` too, as `Some`: for `#[serde(default, deserialize_with = "odm::present")]`
/// on an `Option` of an `Option`, where a missing field and a `null` differ.
///
/// # Errors
///
/// Those of the value.
pub fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
