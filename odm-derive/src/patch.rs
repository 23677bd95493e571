//! `Patch`: all stages of the derive. A patch is not stored, so nothing of the other derives applies to it.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Data, DeriveInput, Field, Fields, LitStr};

use crate::{
    attr::{
        self, Position,
        value::{Once, flag, keys, string, unknown},
    },
    ctxt::Ctxt,
    derive::Derive,
    types,
};

/// ```ignore
/// impl Patch for TaskPatch {
///     type Of = Task;
///     fn changes(self) -> Update<Task> {
///         let fields = fields_of::<Task>();
///         Update::<Task>::new().set_if(fields.title, self.title).set_if(fields.price.value, self.price)
///     }
/// }
/// ```
pub(crate) fn derive(item: &DeriveInput) -> TokenStream {
    let cx = Ctxt::new();
    let attrs = attr::ContainerAttributes::new(&cx, Derive::Patch, &item.attrs);
    let changes = changes(&cx, item);
    if attrs.of.is_none() && !attrs.mistaken {
        let message = format!(
            "patch without a document: add `#[patch(of = \"..\")]` to `{}`",
            item.ident
        );
        cx.error(&item.ident, message);
    }
    let (errors, changes) = match cx.finish() {
        Ok(()) => (None, changes),
        // Its uses are not reported too.
        Err(errors) => (Some(errors), Vec::new()),
    };
    let Some(of) = attrs.of else {
        return quote!(#errors);
    };
    let ident = &item.ident;
    let private = match &attrs.krate {
        Some(path) => quote!(#path::derive),
        None => quote!(::odm::derive),
    };
    let (impl_generics, ty_generics, where_clause) = item.generics.split_for_impl();
    let is_empty = changes.is_empty();
    let fields = (!is_empty).then(|| quote!(let fields = #private::fields_of::<#of>();));
    let changes = changes.into_iter().map(|Change { path, ident }| {
        let span = ident.span();
        let path = path.into_iter();
        quote_spanned!(span=> .set_if(fields #(.#path)*, self.#ident))
    });
    quote! {
        #errors

        #[automatically_derived]
        impl #impl_generics #private::Patch for #ident #ty_generics #where_clause {
            type Of = #of;

            fn changes(self) -> #private::Update<#of> {
                #fields
                #private::Update::<#of>::new() #(#changes)*
            }
        }
    }
}

/// A field, and the path of the field of the document that it sets.
struct Change<'a> {
    path: Vec<Ident>,
    ident: &'a Ident,
}

fn changes<'a>(cx: &Ctxt, item: &'a DeriveInput) -> Vec<Change<'a>> {
    let Data::Struct(data) = &item.data else {
        return unsuitable(cx, item);
    };
    let Fields::Named(fields) = &data.fields else {
        return unsuitable(cx, item);
    };
    let changes = fields.named.iter().map(|field| change(cx, field));
    changes.collect::<Vec<_>>().into_iter().flatten().collect()
}

fn unsuitable<'a>(cx: &Ctxt, item: &'a DeriveInput) -> Vec<Change<'a>> {
    let message = "`Patch` cannot be derived for this: it is a struct with named fields, of which each is an `Option`";
    cx.error(&item.ident, message);
    Vec::new()
}

fn change<'a>(cx: &Ctxt, field: &'a Field) -> Option<Change<'a>> {
    let ident = field.ident.as_ref()?;
    let mut path = Once::new("path");
    let mut skip = Once::new("skip");
    for attr in attr::own(cx, Derive::Patch, Position::Field, &field.attrs) {
        for (key, meta) in keys(cx, attr) {
            match key.as_str() {
                "path" => path.set(cx, &meta, string(cx, &meta)),
                "skip" => skip.set(cx, &meta, flag(cx, &meta)),
                _ => unknown(cx, &meta, "patch", "`path` or `skip`"),
            }
        }
    }
    if skip.get().is_some() {
        return None;
    }
    if !types::is_written(&field.ty, "Option") {
        let name = types::name(ident);
        let message = format!(
            "`{name}` is no `Option`: a patch leaves a field without a value as it is; write `Option<..>`, or \
             `#[patch(skip)]` for a field that is not the document's"
        );
        cx.error(&field.ty, message);
        return None;
    }
    let path = match path.get() {
        Some(path) => names(cx, &path)?,
        None => vec![ident.clone()],
    };
    Some(Change { path, ident })
}

fn names(cx: &Ctxt, path: &LitStr) -> Option<Vec<Ident>> {
    let text = path.value();
    let names = text
        .split('.')
        .map(|name| types::ident(name.trim(), path.span()));
    let names: Option<Vec<Ident>> = names.collect();
    if names.is_none() {
        let message = format!("`{text}` is not a path of fields, such as `price.value`");
        cx.error(path, message);
    }
    names
}
