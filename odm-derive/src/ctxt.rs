//! The collector of errors, which are reported together.

use std::{cell::RefCell, fmt::Display, thread};

use proc_macro2::TokenStream;
use quote::ToTokens;

/// Collects errors, so that a user sees all of them in one run of the compiler.
///
/// Dropping it without [`finish`](Ctxt::finish) is a bug of this crate, and panics: an error that
/// nobody reads would let a wrong model pass.
pub(crate) struct Ctxt {
    /// `None` once they have been taken.
    errors: RefCell<Option<Vec<syn::Error>>>,
}

impl Ctxt {
    pub(crate) fn new() -> Self {
        Ctxt {
            errors: RefCell::new(Some(Vec::new())),
        }
    }

    /// Reports an error at these tokens.
    pub(crate) fn error(&self, at: impl ToTokens, message: impl Display) {
        self.syntax(syn::Error::new_spanned(at, message));
    }

    /// Reports an error that `syn` has found.
    pub(crate) fn syntax(&self, error: syn::Error) {
        self.errors.borrow_mut().get_or_insert_default().push(error);
    }

    /// The number of errors so far.
    pub(crate) fn count(&self) -> usize {
        self.errors.borrow().as_ref().map_or(0, Vec::len)
    }

    /// Returns the errors as calls of `compile_error!`, if there are any.
    pub(crate) fn finish(self) -> Result<(), TokenStream> {
        let errors = self.errors.take().unwrap_or_default();
        if errors.is_empty() {
            return Ok(());
        }
        Err(errors.iter().map(syn::Error::to_compile_error).collect())
    }

    /// Forgets the errors, which are reported elsewhere.
    pub(crate) fn forget(self) {
        self.errors.take();
    }
}

impl Drop for Ctxt {
    fn drop(&mut self) {
        if !thread::panicking() && self.errors.borrow().is_some() {
            panic!("the errors of a derive were not checked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "were not checked")]
    fn errors_that_nobody_reads_are_a_bug() {
        Ctxt::new();
    }

    #[test]
    fn errors_are_returned_together() {
        let cx = Ctxt::new();
        cx.error(quote::quote!(a), "first");
        cx.error(quote::quote!(b), "second");
        assert_eq!(cx.count(), 2);
        let text = cx.finish().unwrap_err().to_string();
        assert!(text.contains("first") && text.contains("second"));
        assert!(Ctxt::new().finish().is_ok());
    }
}
