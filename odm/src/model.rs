//! Models: the traits that the derives implement, typed fields, references, and the types of values
//! that documents hold.
//!
//! ```
//! use odm::prelude::*;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, Serialize, Deserialize, Embed)]
//! struct Money {
//!     value: f64,
//!     currency: String,
//! }
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[document(collection = "products")]
//! struct Product {
//!     #[serde(rename = "_id")]
//!     id: ObjectId,
//!     #[index(unique)]
//!     name: String,
//!     #[embed]
//!     price: Money,
//! }
//!
//! assert_eq!(Product::COLLECTION, "products");
//! assert_eq!(Product::fields().price.currency.path(), "price.currency");
//! ```
//!
//! The derives are [`Document`](derive@crate::Document), [`Embed`](derive@crate::Embed), [`Projection`](derive@crate::Projection),
//! [`Patch`](derive@crate::Patch) and [`Database`](derive@crate::Database); their pages list the attributes.

mod ancestors;
mod bare;
mod cold;
mod content;
mod date_time;
pub(crate) mod derived;
mod document;
mod elements;
mod field;
mod hidden;
pub mod native;
mod object_id;
mod operand;
mod path;
mod public;
mod read;
mod reference;
mod related;
mod same;
mod schema;
mod shape;
mod subset;
mod unique;
mod validation;
mod value;

pub use ancestors::Ancestors;
pub use cold::Cold;
pub use content::MapKey;
pub use date_time::DateTime;
pub use document::{Document, Embed, Projection, SequenceId, Structure};
pub use field::Field;
pub use object_id::ObjectId;
pub use public::Public;
pub use reference::Ref;
pub use subset::Subset;
pub use validation::{ValidationAction, ValidationLevel};
pub use value::Ordered;
pub(crate) use {unique::StoredKey, value::to_raw};

/// The bounds of methods on values, fields and documents.
///
/// The methods of fields, filters, updates and queries name these traits, and the kinds of fields, in their bounds. If a type lacks one,
/// the compiler's error names the missing one. A program names them only in functions that are generic over documents or fields:
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::model::{Field, Ordered, bounds::{IntoValue, Path}};
///
/// /// Matches a range of values of any field with an order.
/// fn within<V, P, T>(field: Field<V, P>, from: T, to: T) -> Filter<P::Root>
/// where
///     V: serde::Serialize + Ordered,
///     P: Path,
///     T: IntoValue<V>,
/// {
///     field.gte(from) & field.lt(to)
/// }
/// assert_eq!(shop.parts.find(within(Part::fields().qty, 0, 100)).count().await?, 2);
/// # Ok(()) });
/// ```
pub mod bounds {
    #[doc(inline)]
    pub use super::{
        ancestors::AncestorsList,
        content::Known,
        document::{AutoId, Insertable, IntoId, Versioned},
        elements::{ElementValue, Map},
        field::{
            Derived, Flattened, Identity, Plain, Settable, StoredOtherwise, Unchecked, Version,
            WriteTime,
        },
        path::Path,
        reference::{Joinable, Link},
        related::ChildOf,
        unique::UniqueKey,
        value::{
            Addable, Contains, Date, Distinct, IntoAmount, IntoValue, List, Number, Optional,
            Returned, Text,
        },
    };
}
#[doc(hidden)]
pub use bounds::*;
#[doc(hidden)]
pub use native::Native;

// Generated code and the layers above need these; programs do not name them.
#[doc(hidden)]
pub use bare::{bare_model, check_of, schema_of};
#[doc(hidden)]
pub use cold::{ColdOf, HasCold, SplitField};
#[doc(hidden)]
pub use content::ValueLocation;
#[doc(hidden)]
pub use document::{Element, IdOfNumber, stored_id_of_number};
#[doc(hidden)]
pub use field::{FieldSet, Through, TypedField};
pub(crate) use hidden::{check_references, references};
#[doc(hidden)]
pub use operand::Operand;
pub(crate) use operand::read_bool;
pub(crate) use path::fnv1a;
#[doc(hidden)]
pub use path::{ColdPath, FieldPath, FlatPath, HotPath, PathHash, Root};
#[doc(hidden)]
pub use read::{ReadCheck, Unreadable, check_readable};
pub(crate) use read::{read, read_value, unstorable};
#[doc(hidden)]
pub use reference::{IdFrom, Linked, NoKey, Referable};
#[doc(hidden)]
pub use related::{EmbedField, Has, NoParent, ParentIn, ParentOf, ReferenceField, RefersWithin};
#[doc(hidden)]
pub use same::{Changes, Is, IsOf, Names, Shows};
#[doc(hidden)]
pub use schema::{
    EnumForm, Property, Rule, RuleValue, SchemaOf, SchemaTypes, VariantSchema, any as any_schema,
    any_array as any_array_schema, any_has_checks, object as object_schema,
    variants as variants_schema,
};
#[doc(hidden)]
pub use shape::{
    Container, DerivedReads, Described, Expires, FieldKind, FieldShape, Index, IndexField, Inner,
    Model, OnDelete, Outline, ReferenceShape, Renamed, Shape, ShownNames, SplitShape, StoredName,
};
#[doc(hidden)]
pub use subset::{HasSubset, SubsetField, SubsetItem, SubsetOf};
#[doc(hidden)]
pub use unique::HasUnique;
#[doc(hidden)]
pub use validation::{Check, ValidatesList, ValidatesNumber, ValidatesText, Validation};
#[doc(hidden)]
pub use value::{ById, Same, ViaSome};
#[doc(hidden)]
pub(crate) use value::{id_to_raw, to_raw_at};
