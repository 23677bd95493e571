//! For generated code only: no part of the public API, and free to change.
//!
//! The derives emit data and calls of these functions, so that everything with a branch is written,
//! and tested, here and in [`model`](crate::model). There is a file for each topic.

mod copy;
mod cycle;
mod field;
mod path;
mod probe;
mod projection;
mod reference;
mod subset;

pub use crate::{
    database::{Database, RepositoryField},
    model::{
        ById, ChildOf, Cold, ColdOf, ColdPath, Container, Copied, Derived, Document, Embed,
        EmbedField, Field, FieldKind, FieldPath, FieldSet, FieldShape, FlatPath, Flattened, Has,
        HasCold, HasSubset, Identity, Index, IndexField, IntoId, Link, Linked, Model, OnDelete,
        Outline, Path, PathHash, Plain, Projection, Ref, ReferenceField, ReferenceShape,
        RefersWithin, Related, Root, Shape, ShownFields, ShownNames, SplitField, Structure, Subset,
        SubsetField, SubsetItem, SubsetOf, Through, Unchecked, Version,
    },
    mql::Direction,
    repository::{Any, AtMostOne},
    session::Session,
};
pub use copy::{
    Back, Beside, CopiesOf, CopyOf, Declared, Original, OriginalField, back, beside, check, copied,
    copy, from_source, is_single,
};
pub use cycle::assert_acyclic;
pub use field::{
    Counter, StoredOtherwise, complete, count, counter, embed, holds_references, holds_relations,
    is_flat, model, outline, plain, shown, split, wrapped,
};
pub use path::{Followed, Indexed, fields_of, index_field, is_followed, step};
pub use probe::{Absent, Probe, Unknown};
pub use projection::{SameAs, Shown, Source, source};
pub use reference::{
    DeclaredReference, RefersTo, delete_rule, is_required, parent_path, path_to, points_back,
    reference, target,
};
pub use serde::{Serialize, de::DeserializeOwned};
pub use std::marker::PhantomData as Phantom;
pub use subset::{
    DeclaredSubset, SortPath, Sortable, child, is_hot, shown_names, sort_key, sort_path, subset,
    subset_filter,
};
