//! For generated code only: not a part of the public API, and may change.
//!
//! The derives emit data and calls of these functions, so that all code with a branch is written, and tested, here and in
//! [`model`](crate::model). There is a file for each topic.

mod collections;
mod copy;
mod cycle;
#[cfg(feature = "__examples")]
pub mod examples;
mod field;
pub mod formula;
mod path;
mod probe;
mod projection;
mod reference;
mod stored;
mod validation;

pub use crate::model::{
    EnumForm, Property, Rule, RuleValue, SchemaTypes, Validation, ValidationAction,
    ValidationLevel, ValueLocation, VariantSchema, any_array_schema, any_has_checks, any_schema,
    check_readable, object_schema, stored_id_of_number, variants_schema,
};
pub use crate::model::{Native, native};
pub use crate::{
    database::{Database, Repeatable, RepositoryField},
    migration::Migrations,
    model::{
        AutoId, ById, ChildOf, Cold, ColdOf, ColdPath, Container, Derived, DerivedReads, Described,
        Document, Embed, EmbedField, Field, FieldKind, FieldPath, FieldSet, FieldShape, FlatPath,
        Flattened, Has, HasCold, HasSubset, HasUnique, Identity, Index, IndexField, Insertable,
        IntoId, Known, Link, Linked, MapKey, Model, NoKey, NoParent, OnDelete, Operand, Ordered,
        Outline, ParentIn, Path, PathHash, Plain, Projection, Ref, Referable, ReferenceField,
        ReferenceShape, RefersWithin, Renamed, Root, SequenceId, Shape, ShownNames, SplitField,
        StoredName, StoredOtherwise, Structure, Subset, SubsetField, SubsetItem, SubsetOf, Text,
        Through, TypedField, Unchecked, Version, Versioned, WriteTime, bare_model, check_of,
        derived::*, schema_of,
    },
    query::{Patch, Update},
    repository::{Any, AtMostOne},
    session::Session,
};
pub use bson::Document as BsonDocument;
pub use collections::{are_distinct, assert_own_collection};
pub use copy::{
    Back, Beside, CopiesOf, CopyOf, Declared, Original, OriginalField, back, beside, check, copied,
    from_source, is_single, of_original,
};
pub use cycle::{ModelEntry, assert_acyclic};
pub use field::{
    WriteTimeField, clone_id, complete, declared_filter, describe, embed, holds_opaque,
    holds_references, holds_relations, id_of_number, is_flat, make_id, migrations, models, outline,
    shown, split, wrapped, write_time,
};
#[cfg(feature = "__steps")]
pub use odm_mql::steps::{steps, steps_of_thread};
pub use odm_mql::{Direction, Violation};
pub use path::{
    Followed, Indexed, IndexedEntries, IndexedText, IndexedTexts, expires, fields_of, index_entry,
    index_entry_text, index_field, index_text, is_followed, is_indexed_whole, step,
};
pub use probe::{Absent, FromNothing, Probe, Unknown};
pub use projection::{SameAs, Shown, Source, source};
pub use reference::{
    DeclaredReference, RefersTo, delete_rule, is_required, parent_path, path_to, points_back,
    reference, target,
};
pub use serde::{self, Deserializer, Serialize, Serializer, de::DeserializeOwned};
pub use std::{
    marker::PhantomData as Phantom,
    option::Option::{None, Some},
};
pub use stored::{assert_own_names, is_defaulted};
pub use validation::{check_with, validates_list, validates_number, validates_text};
