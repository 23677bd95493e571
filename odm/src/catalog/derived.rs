//! Derived fields: the list of their kinds, and the properties of each kind.
//!
//! A derived field is a pure function of the stored data. Derived fields are the only nodes of the [graph](super::graph); everything else
//! that the library changes by itself (inverse references, delete rules, cold parts, versions) is an effect on base data.

use std::borrow::Cow;

use bson::RawBson;
use odm_store::Result;
use serde::{Deserialize, Serialize};

use super::stored_form::ChildFilter;
use crate::model::derived::DerivedShape;

mod ancestors;
mod children;
mod computed;
mod copy;
mod count;
mod exists;
mod extreme;
mod sequence;
mod subset;
mod sum;

pub(crate) use ancestors::AncestorsDefinition;
pub(crate) use children::{Children, OfChildren};
pub(crate) use computed::ComputedDefinition;
pub(crate) use copy::{Along, CopyDefinition};
pub(crate) use count::CountDefinition;
pub(crate) use exists::ExistsDefinition;
pub(crate) use extreme::{ExtremeDefinition, MaxDefinition, MinDefinition};
pub(crate) use sequence::SequenceDefinition;
pub(crate) use subset::SubsetDefinition;
pub(crate) use sum::SumDefinition;

/// The properties that every kind of derived field defines.
pub(crate) trait FieldDefinition {
    /// The collection of the documents that hold the field.
    fn holder(&self) -> &str;

    /// The path of the field in its holder, through lists.
    fn path(&self) -> Cow<'_, str>;

    /// The collection of the documents from which the field is computed.
    fn source(&self) -> &str;

    /// The reference between the holder and the documents that the field follows from. `None` if it follows from its own document alone.
    fn reference(&self) -> Option<SourceReference<'_>>;

    /// The paths that the definition reads. Each is a dependency in the graph.
    fn reads(&self) -> Vec<FieldRead<'_>>;

    /// The filter of the definition, if its kind has one.
    fn filter(&self) -> Option<&ChildFilter> {
        None
    }

    /// Whether the worker of the outbox refreshes the field, after the unit that changes its sources.
    fn is_deferred(&self) -> bool;

    fn set_deferred(&mut self, deferred: bool);

    /// The value of the field in a document from before the declaration, which lacks it.
    fn empty(&self) -> EmptyValue;

    /// The arrow of the diagram, from the source to the holder, and its label.
    fn arrow(&self) -> (&'static str, String);
}

/// The value that a derived field reads as in a document that lacks it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EmptyValue {
    /// A value.
    Value(RawBson),
    /// No value: the field is an `Option`.
    Absent,
    /// No valid value: the document cannot be read.
    None,
}

/// The reference between the holder of a derived field and the documents that the field follows from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceReference<'a> {
    pub(crate) path: Cow<'a, str>,
    /// Whether the sources have it, and not the holder.
    pub(crate) is_in_source: bool,
}

impl<'a> SourceReference<'a> {
    fn in_holder(path: impl Into<Cow<'a, str>>) -> Self {
        SourceReference {
            path: path.into(),
            is_in_source: false,
        }
    }

    fn in_source(path: &'a str) -> Self {
        SourceReference {
            path: path.into(),
            is_in_source: true,
        }
    }
}

/// A path that a definition reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FieldRead<'a> {
    /// The collection of the documents.
    pub(crate) collection: &'a str,
    /// The path in them; empty for the whole document.
    pub(crate) path: Cow<'a, str>,
}

impl<'a> FieldRead<'a> {
    fn new(collection: &'a str, path: impl Into<Cow<'a, str>>) -> Self {
        FieldRead {
            collection,
            path: path.into(),
        }
    }

    /// The paths that a filter of documents reads, without the positions in lists.
    fn by_filter(collection: &'a str, filter: &'a odm_mql::Filter) -> impl Iterator<Item = Self> {
        let paths = filter.paths().into_iter();
        paths.map(move |path| FieldRead::new(collection, super::without_positions(path)))
    }
}

/// A definition that can be picked out of the list of all derived fields.
pub(crate) trait FromDerived: FieldDefinition + Sized {
    /// Returns the definition if it is of this kind.
    fn from_derived(derived: &DerivedField) -> Option<&Self>;
}

/// Declares the list of all kinds. The name of a kind is the name of its entries in the stored catalog.
macro_rules! kinds {
    ($($name:literal => $kind:ident($definition:ty)),+ $(,)?) => {
        /// A derived field of any kind.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub(crate) enum DerivedField {
            $(
                #[serde(rename = $name)]
                $kind($definition),
            )+
        }

        impl DerivedField {
            /// Returns the definition that a model declares of the field `name` of the struct
            /// `within`, in documents of a collection.
            pub(super) fn from_shape(
                holder: &str,
                within: &str,
                name: &str,
                shape: &DerivedShape,
            ) -> Result<Self> {
                Ok(match shape {
                    $(DerivedShape::$kind(shape) => {
                        <$definition>::from_shape(holder, within, name, shape)?.into()
                    })+
                })
            }
        }

        impl DerivedField {
            /// The number of kinds.
            pub(crate) const KINDS: usize = [$($name),+].len();

            /// The name of its kind.
            pub(super) fn kind(&self) -> &'static str {
                match self {
                    $(DerivedField::$kind(_) => $name,)+
                }
            }

            fn set_deferred(&mut self, deferred: bool) {
                match self {
                    $(DerivedField::$kind(definition) => definition.set_deferred(deferred),)+
                }
            }
        }

        impl std::ops::Deref for DerivedField {
            type Target = dyn FieldDefinition + Send + Sync;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(DerivedField::$kind(definition) => definition,)+
                }
            }
        }

        $(
            impl FromDerived for $definition {
                fn from_derived(derived: &DerivedField) -> Option<&Self> {
                    match derived {
                        DerivedField::$kind(definition) => Some(definition),
                        _ => None,
                    }
                }
            }

            impl From<$definition> for DerivedField {
                fn from(definition: $definition) -> Self {
                    DerivedField::$kind(definition)
                }
            }
        )+
    };
}

impl DerivedField {
    /// Whether both define the same field with the same value. The time of its refresh does not count.
    pub(super) fn is_same_value(&self, other: &DerivedField) -> bool {
        let at_once = |field: &DerivedField| {
            let mut field = field.clone();
            field.set_deferred(false);
            field
        };
        at_once(self) == at_once(other)
    }

    /// The reference of the holder along which it follows one document, with the collection of that document.
    pub(crate) fn along(&self) -> Option<(String, &str)> {
        match self {
            DerivedField::Ancestors(field) => Some((field.reference.clone(), &field.tree)),
            DerivedField::Copy(copy) => Some((copy.reference()?, &copy.source)),
            _ => None,
        }
    }

    /// Whether its value follows from the history of the documents, and not from their state, so that an import takes the value that a
    /// document brings.
    pub(crate) fn is_of_history(&self) -> bool {
        match self {
            DerivedField::Sequence(_) => true,
            DerivedField::Copy(copy) => copy.frozen,
            _ => false,
        }
    }

    /// Joins another declaration of the field. It is deferred only if all declarations defer it: the others rely on its value when a write
    /// returns.
    pub(super) fn join_deferred(&mut self, other: &DerivedField) {
        self.set_deferred(self.is_deferred() && other.is_deferred());
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

kinds!(
    "ancestors" => Ancestors(AncestorsDefinition),
    "computed" => Computed(ComputedDefinition),
    "copy" => Copy(CopyDefinition),
    "count" => Count(CountDefinition),
    "exists" => Exists(ExistsDefinition),
    "max" => Max(MaxDefinition),
    "min" => Min(MinDefinition),
    "sequence" => Sequence(SequenceDefinition),
    "subset" => Subset(SubsetDefinition),
    "sum" => Sum(SumDefinition),
);
