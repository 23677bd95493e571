//! The mistakes that were found, to be reported together.

use std::{cell::RefCell, fmt::Display};

use proc_macro2::TokenStream;
use quote::ToTokens;

/// Collects mistakes, so that a user sees all of them in one run of the compiler.
#[derive(Default)]
pub(crate) struct Ctxt(RefCell<Vec<syn::Error>>);

impl Ctxt {
    /// A mistake in these tokens.
    pub(crate) fn error(&self, at: impl ToTokens, message: impl Display) {
        self.syntax(syn::Error::new_spanned(at, message));
    }

    /// A mistake that `syn` has found.
    pub(crate) fn syntax(&self, error: syn::Error) {
        self.0.borrow_mut().push(error);
    }

    /// How many there are so far.
    pub(crate) fn count(&self) -> usize {
        self.0.borrow().len()
    }

    /// All of them as calls of `compile_error!`, if there are any.
    pub(crate) fn finish(self) -> Result<(), TokenStream> {
        let errors = self.0.into_inner();
        if errors.is_empty() {
            return Ok(());
        }
        Err(errors.iter().map(syn::Error::to_compile_error).collect())
    }
}
