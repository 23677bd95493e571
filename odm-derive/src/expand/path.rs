//! The paths of typed fields.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::Path;

use crate::model::Head;

/// The path of the field that is stored under one of the names of `this`.
pub(crate) fn at(head: &Head, this: &Path, position: usize, path: TokenStream) -> TokenStream {
    let private = &head.private;
    let position = Literal::usize_unsuffixed(position);
    quote!(#private::FieldPath<#path, #this, #position>)
}
