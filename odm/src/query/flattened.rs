//! Changes of flattened values, whose fields are stored in place of their own.

use std::borrow::Cow;

use bson::{RawBson, raw::RawDocumentBuf};
use odm_mql::Operation;
use odm_store::Result;
use serde::Serialize;

use super::Update;
use crate::model::{
    EmbedField, FieldKind, Flattened, IntoValue, Is, Path, Shape, Structure, references, to_raw_at,
};

impl<M, T> Update<M, T> {
    /// Sets a flattened value as a whole, such as an enum that gets another variant: its fields are set, and fields that only the previous
    /// value had are removed. Derived fields in it are computed from the new value.
    ///
    /// ```
    /// use odm::{Embedded, prelude::*};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Debug, PartialEq, Serialize, Deserialize, Embed)]
    /// #[serde(tag = "state", rename_all = "lowercase")]
    /// enum State {
    ///     Open,
    ///     Closed { by: String },
    /// }
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[document(collection = "tickets")]
    /// struct Ticket {
    ///     #[serde(rename = "_id")]
    ///     id: i64,
    ///     #[embed]
    ///     #[serde(flatten)]
    ///     state: State, // stored as { _id: 1, state: "closed", by: "ann" }
    /// }
    ///
    /// # #[derive(Database)] #[database(name = "desk", version = 1)] struct Desk { tickets: Repository<Ticket> }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # let desk = Desk::open(Embedded::memory().await?).await?;
    /// desk.tickets.insert(Ticket { id: 1, state: State::Closed { by: "ann".into() } }).await?;
    /// let opened = desk.tickets.update(1).set_flattened(Ticket::fields().state, State::Open).returning().await?;
    /// assert_eq!(opened.state, State::Open);
    /// # Ok::<_, odm::Error>(()) }).unwrap();
    /// ```
    pub fn set_flattened<V, P, How>(self, _: Flattened<V, P>, value: impl IntoValue<V, How>) -> Self
    where
        V: Serialize + EmbedField,
        P: Path<Root: Is<M>>,
    {
        let value = value.into_value();
        let operations = to_raw_at(P::TEXT, &value)
            .and_then(|stored| operations(<V::Value as Structure>::shape(), stored));
        let changes = Update::<V>::of_value(operations, references(&value));
        match P::TEXT {
            "" => self.with_changes(changes),
            outer => self.change_within(outer, Ok(outer.to_owned()), changes, None),
        }
    }
}

/// Sets the stored fields of a value, and removes the other fields that a value of the type could store.
fn operations(
    shape: &'static Shape,
    stored: RawBson,
) -> Result<Vec<(Cow<'static, str>, Operation)>> {
    let stored = match stored {
        RawBson::Document(stored) => stored,
        // `None` of an `Option`.
        _ => RawDocumentBuf::new(),
    };
    let mut derived = Vec::new();
    let mut names = Vec::new();
    add_names(shape, &mut names, &mut derived);
    let mut operations: Vec<(Cow<'static, str>, Operation)> = Vec::new();
    for element in &stored {
        let (name, value) = element.map_err(odm_store::Error::malformed)?;
        if !derived.contains(&name.as_str()) {
            operations.push((
                name.as_str().to_owned().into(),
                Operation::Set(value.into()),
            ));
        }
    }
    for name in names {
        if !derived.contains(&name) && operations.iter().all(|(other, _)| other != name) {
            operations.push((name.into(), Operation::Unset));
        }
    }
    Ok(operations)
}

/// Adds the stored names of a value and of the values flattened into it to `names`, or to `derived` for derived fields.
fn add_names(
    shape: &'static Shape,
    names: &mut Vec<&'static str>,
    derived: &mut Vec<&'static str>,
) {
    for field in shape.fields {
        match field.kind {
            FieldKind::Embed { shape, .. } if field.name.is_empty() => {
                add_names(shape(), names, derived);
            }
            FieldKind::Derived(_) => derived.push(field.name),
            _ => names.push(field.name),
        }
    }
}
