//! Derived fields, whatever their kinds are.

use proc_macro2::{Ident, TokenStream};
use syn::{Generics, Type};

use super::{Head, Member, Structure};

/// The code for a derived field. Each kind has an implementation beside its rules.
pub(crate) trait DerivedField {
    /// The call that describes the field, under the tokens of which a type that does not fit is
    /// reported.
    fn shape(&self, head: &Head, structure: &Structure, member: &Member) -> Option<TokenStream>;

    /// The fields that it reads and that may be derived themselves: a `DerivedReads`.
    fn reads(&self, head: &Head, structure: &Structure, member: &Member) -> Option<TokenStream>;

    /// A type that holds references to the documents that a database must have for the field of this
    /// type.
    fn refers_to(&self, head: &Head, ty: &Type) -> Option<TokenStream>;

    /// An implementation for the document that has the field.
    fn of_document(
        &self,
        _: &Head,
        _: &Structure,
        _: &Generics,
        _: &Member,
    ) -> Option<TokenStream> {
        None
    }

    /// Whether it shows documents, and so cannot be shown inside another such field.
    fn shows_documents(&self) -> bool {
        false
    }

    /// The same field, if it is a copy.
    fn copy(&self) -> Option<&dyn CopiedField> {
        None
    }
}

/// The code for a copy, which a link can take from the document that it refers to.
pub(crate) trait CopiedField {
    /// The description of the copy and its source: a `Copied`.
    fn copied(&self, head: &Head, structure: &Structure, member: &Member) -> TokenStream;

    /// The check of a position in `COPIES`, under the tokens that name the source.
    fn check(&self, head: &Head, structure: &Structure, position: usize) -> TokenStream;

    /// Whether a copy of this type surely has its source in each document.
    fn is_taken(&self, ty: &Type) -> bool;

    /// The value of a copy of this type, taken from the document in a variable.
    fn taken(&self, head: &Head, ty: &Type, document: &Ident) -> TokenStream;
}
