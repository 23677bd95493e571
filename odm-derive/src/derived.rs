//! Derived fields: the list of their kinds, and the statements of every kind.
//!
//! A kind goes through the same stages as everything else, and has all of them here in a file of its
//! own: the grammar of its attribute, its rules, and the code for a field. No other module asks
//! which kinds there are: the grammar uses this list, the rules the trait [`Declaration`], and later stages [`DerivedField`].

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Path, Type};

use crate::{
    ast::{Field, Input},
    ctxt::Ctxt,
    model::{DerivedField, Head},
};

mod ancestors;
mod children;
mod computed;
mod copy;
mod count;
mod exists;
mod max;
mod min;
mod sequence;
mod subset;
mod sum;

/// All kinds, as their attributes are read.
const KINDS: [&DerivedKind; 10] = [
    &ancestors::KIND,
    &computed::KIND,
    &copy::KIND,
    &count::KIND,
    &exists::KIND,
    &max::KIND,
    &min::KIND,
    &sequence::KIND,
    &subset::KIND,
    &sum::KIND,
];

/// A kind of derived field.
pub(crate) struct DerivedKind {
    /// The name of its attribute.
    pub(crate) attribute: &'static str,
    /// The name of such a field in messages: `a count`.
    pub(crate) noun: &'static str,
    /// Whether an embedded value can have one, beside a reference.
    pub(crate) is_embedded: bool,
    /// Whether a stored document can lack it: the type decides.
    pub(crate) is_optional: bool,
    /// The part of a field that an index can have.
    pub(crate) indexed: Indexed,
    /// Reads its attribute.
    pub(crate) read: fn(&Ctxt, &Attribute) -> Box<dyn Declaration>,
}

/// The part of a field that an index can have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Indexed {
    Nothing,
    /// The field itself.
    Whole,
    /// The field itself, and the fields in it.
    Within,
}

impl DerivedKind {
    /// The kind with this attribute.
    pub(crate) fn of(attribute: &str) -> Option<&'static Self> {
        KINDS.into_iter().find(|kind| kind.attribute == attribute)
    }

    /// Whether an index can have the fields in such a field.
    pub(crate) fn is_indexed_within(&self) -> bool {
        self.indexed == Indexed::Within
    }
}

/// The attribute of a derived field.
pub(crate) struct Declared {
    pub(crate) kind: &'static DerivedKind,
    /// The attribute's name.
    pub(crate) at: Path,
    pub(crate) declaration: Box<dyn Declaration>,
}

impl Declared {
    pub(crate) fn new(cx: &Ctxt, kind: &'static DerivedKind, attr: &Attribute) -> Self {
        Declared {
            kind,
            at: attr.path().clone(),
            declaration: (kind.read)(cx, attr),
        }
    }
}

/// The content of the attribute of a derived field.
pub(crate) trait Declaration {
    /// Checks the field, which stands among others.
    fn check(&self, _cx: &Ctxt, _input: &Input<'_>, _field: &Field<'_>, _fields: &[Field<'_>]) {}

    /// The content as a text: variants of an enum that share a place store the same in it, and so have equal
    /// texts. Only a kind that an embedded value can have needs it.
    fn written(&self) -> Option<String> {
        None
    }

    /// The field, if it has passed the checks.
    fn field(&self, head: &Head, fields: &[Field<'_>]) -> Option<Box<dyn DerivedField>>;
}

/// The type of a reference to a document, as if the field were one.
fn reference_to(head: &Head, document: &Type) -> TokenStream {
    let private = &head.private;
    quote!(#private::Ref<#document>)
}
