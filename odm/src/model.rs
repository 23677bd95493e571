//! What a model is: the traits that the derives implement, typed fields, references, and the static
//! description from which the catalog is built.

mod cold;
mod date_time;
mod document;
mod field;
mod object_id;
mod path;
mod reference;
mod related;
mod shape;
mod subset;
mod value;

pub use cold::{Cold, ColdOf, HasCold, SplitField};
pub use date_time::DateTime;
pub use document::{Document, Embed, IntoId, Projection, Structure};
pub use field::{
    Derived, Field, FieldSet, Flattened, Identity, Plain, Settable, Through, Unchecked, Version,
};
pub use object_id::ObjectId;
#[cfg(test)]
pub(crate) use path::fnv1a;
pub use path::{ColdPath, FieldPath, FlatPath, HotPath, Path, PathHash, Root};
#[doc(hidden)]
pub use reference::Linked;
pub use reference::{Joinable, Link, Ref};
pub use related::{ChildOf, EmbedField, Has, ReferenceField, RefersWithin, Related};
pub use shape::{
    Container, Copied, CopyShape, CountShape, FieldKind, FieldShape, Index, IndexField, Model,
    OnDelete, Outline, ReferenceShape, Shape, ShownFields, ShownNames, SplitShape, SubsetShape,
    Via,
};
pub use subset::{HasSubset, Subset, SubsetField, SubsetItem, SubsetOf};
pub use value::{ById, Contains, IntoValue, List, Number, Ordered, Same, Text, ViaSome, to_raw};
