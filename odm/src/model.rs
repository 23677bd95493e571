//! Models: the traits that the derives implement, typed fields, references, and the types of values
//! that documents hold.

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

pub use cold::Cold;
pub use content::{Known, MapKey};
pub use date_time::DateTime;
pub use document::{
    AutoId, Document, Embed, Insertable, IntoId, Projection, SequenceId, Structure, Versioned,
};
pub use elements::{ElementValue, Map};
pub use field::{
    Derived, Field, Flattened, Identity, Plain, Settable, StoredOtherwise, Unchecked, Version,
    WriteTime,
};
pub use native::Native;
pub use object_id::ObjectId;
pub use path::Path;
pub use reference::{Joinable, Link, Ref};
pub use related::ChildOf;
pub use subset::Subset;
pub(crate) use unique::StoredKey;
pub use unique::UniqueKey;
pub use validation::{ValidationAction, ValidationLevel};
pub use value::{
    Addable, Contains, Date, Distinct, IntoAmount, IntoValue, List, Number, Optional, Ordered,
    Text, to_raw,
};

// Generated code and the layers above need these; a program names none of them.
#[doc(hidden)]
pub use cold::{ColdOf, HasCold, SplitField};
#[doc(hidden)]
pub use content::Location;
#[doc(hidden)]
pub use document::Element;
#[doc(hidden)]
pub use field::{FieldSet, Through};
pub(crate) use hidden::{check_references, references};
pub(crate) use operand::read_bool;
#[doc(hidden)]
pub use operand::{Comparable, Operand};
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
    Container, DerivedReads, Expires, FieldKind, FieldShape, Index, IndexField, Model, OnDelete,
    Outline, ReferenceShape, Renamed, Shape, ShownNames, SplitShape,
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
