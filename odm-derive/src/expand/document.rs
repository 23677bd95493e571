//! `Document`, and the implementations beside it.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Generics, Type, parse_quote, spanned::Spanned};

use super::{
    children, filter::declared_filter, item, new, path::at, reference, related, split, structure,
};
use crate::{
    ast::IdSource,
    attr::{Expires, Index, Renamed, Validation, index::Key},
    model::{Document, Head, New, Place, Role},
    types,
};

pub(super) fn expand(document: &Document) -> TokenStream {
    let head = &document.head;
    let generics = generics(head);
    let fields = structure::expand(head, &document.structure);
    let related = related::expand(head, &document.structure);
    let itself = itself(document, &generics);
    let into_id = into_id(head, &generics, &document.id_type);
    let children = children::expand(head, &generics, &document.structure);
    let version = document.version.as_ref().map(|(ty, _)| version(head, ty));
    let times = [&document.created_at, &document.updated_at];
    let times = times
        .into_iter()
        .flatten()
        .map(|(ty, _)| write_time(head, ty));
    let item = item::expand(head, &generics, &document.structure, None);
    let cold_parts = split::expand(head, &generics, &document.structure);
    let members = document.structure.members.iter();
    let derived = members.filter_map(|member| match &member.role {
        Role::Derived(derived) => derived.of_document(head, &document.structure, &generics, member),
        _ => None,
    });
    let unique_keys = unique_keys(document, &generics);
    let lists = indexed_lists(document);
    let id = id(head, &document.id_type);
    let new = document
        .new
        .as_ref()
        .map(|new| new::insertable(document, new));
    quote!(#fields #itself #id #into_id #related #children #version #(#times)* #item #(#derived)* #cold_parts #unique_keys #lists #new)
}

/// The type of a generic document does not tell alone whether it meets the bounds of `Document`.
pub(crate) fn generics(head: &Head) -> Generics {
    let mut generics = head.generics.clone();
    if head.has_type_params() {
        let Head { private, this, .. } = head;
        generics.make_where_clause().predicates.push(parse_quote! {
            #this: #private::Serialize
                + #private::DeserializeOwned
                + ::core::marker::Send
                + ::core::marker::Sync
        });
    }
    generics
}

/// ```ignore
/// impl Referable for Part { type Key = ObjectId; type StoredKey = ObjectId; .. }
/// impl Document for Part {
///     type Id = ObjectId;
///     type Itself = Self;
///     const NAME: &'static str = "Part";
///     const COLLECTION: &'static str = "parts";
///     const HASH: u64 = 0x..;
///     const INVERSES: &'static [(&'static str, &'static str)] = &[("tasks", "owner")];
///     fn id(&self) -> &ObjectId { &self.id }
///     // if it declares more than its fields
///     fn model() -> &'static Model {
///         static ONE: Model = Model {
///             indexes: &[Index { name: None, unique: true, case_insensitive: false, .. }],
///             ..Probe::<Part>::BARE_MODEL
///         };
///         &ONE
///     }
/// }
/// ```
fn itself(document: &Document, generics: &Generics) -> TokenStream {
    let Document {
        head,
        collection,
        id,
        id_type,
        ..
    } = document;
    let Head {
        private,
        this,
        name,
        ..
    } = head;
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let inverses = reference::inverses(&document.structure);
    let key = document.native_id.as_ref().unwrap_or(id_type);
    let described_key = self::key(head, key);
    let native_key = document
        .native_id
        .is_some()
        .then(|| native_key(head, id_type));
    let hash = types::fnv1a(&collection.value());
    // A probe does not answer for a generic document.
    let (check, bare) = if head.has_type_params() {
        (
            quote!(#private::check_of::<#this>),
            quote!(#private::bare_model::<#this>()),
        )
    } else {
        (
            quote!(#private::Probe::<#this>::CHECK),
            quote!(#private::Probe::<#this>::BARE_MODEL),
        )
    };
    let declared = declared(document, &check);
    let model = (!declared.is_empty()).then(|| {
        let model = quote!(#private::Model { #declared ..#bare });
        let model = structure::constant(head, quote!(#private::Model), &model, true);
        quote! {
            fn model() -> &'static #private::Model {
                #model
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::Referable for #this #where_clause {
            type Key = #id_type;
            type StoredKey = #key;

            #described_key
            #native_key
        }

        #[automatically_derived]
        impl #impl_generics #private::Document for #this #where_clause {
            type Id = #id_type;
            type Itself = Self;
            const NAME: &'static str = #name;
            const COLLECTION: &'static str = #collection;
            const HASH: ::core::primitive::u64 = #hash;
            #inverses

            fn id(&self) -> &#id_type {
                &self.#id
            }

            #model
        }
    }
}

/// The declarations in the attributes of the document.
///
/// ```ignore
/// indexes: &[Index { name: None, unique: true, case_insensitive: false, .. }],
/// expires: Some(expires(ROOT.seen, 2592000)),
/// id_of_number: Some(stored_id_of_number::<Part, NewPart>),
/// version: Some("revision"),
/// validation: Validation { level: ValidationLevel::Moderate, .. },
/// renamed: &[Renamed { from: "mail", to: "email" }],
/// ```
fn declared(document: &Document, check: &TokenStream) -> TokenStream {
    let head = &document.head;
    let Head { private, this, .. } = head;
    let root = structure::root(head, &document.structure);
    let mut declared = TokenStream::new();
    if !document.indexes.is_empty() {
        let indexes = document.indexes.iter();
        let indexes = indexes.map(|index| index_of(head, &root, index));
        declared.extend(quote!(indexes: &[#(#indexes),*],));
    }
    if let Some(declaration) = &document.expires {
        let expires = expires(head, &root, declaration);
        declared.extend(quote!(expires: #expires,));
    }
    let mut new = document.new.iter();
    if let Some(New { name, .. }) = new.find(|new| new.id_source == Some(IdSource::Sequence)) {
        declared.extend(quote! {
            id_of_number: #private::Some(#private::stored_id_of_number::<#this, #name>),
        });
    }
    for (field, member) in [
        ("version", &document.version),
        ("created_at", &document.created_at),
        ("updated_at", &document.updated_at),
    ] {
        if let Some((_, name)) = member {
            let field = Ident::new(field, Span::call_site());
            declared.extend(quote!(#field: #private::Some(#name),));
        }
    }
    if let Some(validation) = validation(document, check) {
        declared.extend(quote!(validation: #validation,));
    }
    if !document.renamed.is_empty() {
        let renamed = document
            .renamed
            .iter()
            .map(|Renamed { from, to }| quote!(#private::Renamed { from: #from, to: #to }));
        declared.extend(quote!(renamed: &[#(#renamed),*],));
    }
    declared
}

/// ```ignore
/// Validation {
///     level: ValidationLevel::Moderate,
///     action: ValidationAction::Warn,
///     schema: None,
///     check: Probe::<Part>::CHECK,
/// }
/// ```
fn validation(document: &Document, check: &TokenStream) -> Option<TokenStream> {
    let private = &document.head.private;
    let Validation {
        level,
        action,
        schema,
    } = &document.validation;
    if level.is_none() && action.is_none() && schema.is_none() {
        return None;
    }
    let level = Ident::new(level.unwrap_or("Strict"), Span::call_site());
    let action = Ident::new(action.unwrap_or("Error"), Span::call_site());
    let schema = match schema {
        Some(schema) => quote!(#private::Some(#schema)),
        None => quote!(#private::None),
    };
    Some(quote! {
        #private::Validation {
            level: #private::ValidationLevel::#level,
            action: #private::ValidationAction::#action,
            schema: #schema,
            check: #check,
        }
    })
}

/// ```ignore
/// const KEY: Described = Probe::<ObjectId>::DESCRIBED;
/// ```
fn key(head: &Head, ty: &Type) -> Option<TokenStream> {
    let private = &head.private;
    (!head.is_dependent(ty)).then(|| {
        quote! {
            const KEY: #private::Described = #private::Probe::<#ty>::DESCRIBED;
        }
    })
}

/// ```ignore
/// fn write_key<S: Serializer>(key: &Uuid, serializer: S) -> Result<S::Ok, S::Error> {
///     native::serialize(key, serializer)
/// }
/// fn read_key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Uuid, D::Error> {
///     native::deserialize(deserializer)
/// }
/// ```
fn native_key(head: &Head, ty: &Type) -> TokenStream {
    let private = &head.private;
    let result = quote!(::core::result::Result);
    quote! {
        fn write_key<S: #private::Serializer>(key: &#ty, serializer: S) -> #result<S::Ok, S::Error> {
            #private::native::serialize(key, serializer)
        }

        fn read_key<'de, D: #private::Deserializer<'de>>(deserializer: D) -> #result<#ty, D::Error> {
            #private::native::deserialize(deserializer)
        }
    }
}

/// ```ignore
/// const _: () = assert!(!Probe::<ObjectId>::NONE, "..");
/// ```
fn id(head: &Head, ty: &Type) -> Option<TokenStream> {
    let private = &head.private;
    let optional = "an `_id` is always there, and cannot be an `Option`: make it before the document \
                    is inserted, as by `ObjectId::new()`";
    (!types::is_scalar(ty) && !head.is_dependent(ty)).then(|| {
        quote_spanned! {ty.span()=>
            const _: () = ::core::assert!(!#private::Probe::<#ty>::NONE, #optional);
        }
    })
}

/// ```ignore
/// Index {
///     name: None,
///     unique: false,
///     case_insensitive: false,
///     filter: Some(|| declared_filter::<Part>(active)),
///     fields: &[index_field(
///         { assert!(is_followed(ROOT.price), ".."); step(ROOT.price).currency },
///         Direction::Descending,
///     )],
/// }
/// ```
///
/// The fields are followed by the compiler, under the literal that names them.
fn index_of(head: &Head, root: &TokenStream, index: &Index) -> TokenStream {
    let private = &head.private;
    let name = match &index.name {
        Some(name) => quote!(#private::Some(#name)),
        None => quote!(#private::None),
    };
    let (unique, case_insensitive) = (index.unique, index.case_insensitive);
    let this = &head.this;
    let filter = declared_filter(head, index.filter.as_ref(), &quote!(#this));
    // One of several fields may be a text.
    let is_text = case_insensitive && index.keys.len() == 1;
    let span = index.literal.span();
    let fields = index.keys.iter().map(|key| {
        let followed = followed(head, root, span, key);
        let direction = if key.descending {
            quote!(Descending)
        } else {
            quote!(Ascending)
        };
        let direction = quote_spanned!(span=> #private::Direction::#direction);
        // The variable stands at the user's field, where the compiler reports a type that does not fit.
        let function = match (is_text, &key.entry) {
            (true, None) => quote_spanned!(span=> index_text),
            (false, None) => {
                return quote_spanned!(span=> #private::index_field(#followed, #direction));
            }
            (true, Some(_)) => quote_spanned!(span=> index_entry_text),
            (false, Some(_)) => quote_spanned!(span=> index_entry),
        };
        let entry = key.entry.iter();
        quote_spanned! {span=> {
            let field = #followed;
            #private::#function(field, #(#entry,)* #direction)
        }}
    });
    quote! {
        #private::Index {
            name: #name,
            unique: #unique,
            case_insensitive: #case_insensitive,
            filter: #filter,
            fields: &[#(#fields),*],
        }
    }
}

/// ```ignore
/// impl HasUnique<(FieldPath<Root<Part>, Part, 1>,)> for Part {
///     const IGNORES_CASE: bool = false;
/// }
/// ```
///
/// Each unique index of fields of the document itself has one, unless it is partial: several documents can have a key of
/// a partial index.
fn unique_keys(document: &Document, generics: &Generics) -> TokenStream {
    let Document {
        head,
        structure,
        indexes,
        ..
    } = document;
    let Head { private, this, .. } = head;
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let path_of = |key: &Key| {
        let [name] = key.path.as_slice() else {
            return None;
        };
        if key.entry.is_some() {
            return None;
        }
        let mut members = structure.members.iter();
        let member = members.find(|member| member.ident.as_ref() == Some(name))?;
        match member.place {
            Place::At(position) => {
                let root = quote!(#private::Root<#this>);
                Some(at(head, this, position, root))
            }
            _ => None,
        }
    };
    let mut seen = BTreeSet::new();
    // An index that ignores case leaves at most one document for a key, and so goes before another of the same fields.
    let is_first = |index: &&Index| index.case_insensitive;
    let (first, rest): (Vec<&Index>, Vec<&Index>) = indexes
        .iter()
        .filter(|index| index.unique && index.filter.is_none())
        .partition(is_first);
    let keys = first.into_iter().chain(rest).filter_map(|index| {
        let case_insensitive = index.case_insensitive;
        let paths: Vec<TokenStream> = index.keys.iter().map(path_of).collect::<Option<_>>()?;
        // Indexes of the same fields differ in directions.
        seen.insert(quote!(#(#paths,)*).to_string())
            .then_some(quote! {
                #[automatically_derived]
                impl #impl_generics #private::HasUnique<(#(#paths,)*)> for #this #where_clause {
                    const IGNORES_CASE: bool = #case_insensitive;
                }
            })
    });
    keys.collect()
}

/// ```ignore
/// const _: () = assert!(is_indexed_whole::<Vec<Line>>(), "..");
/// ```
///
/// The type of a field behind another one has no name here.
fn indexed_lists(document: &Document) -> TokenStream {
    let Document {
        head,
        structure,
        indexes,
        ..
    } = document;
    let private = &head.private;
    let of_key = |index: &Index, key: &Key| {
        let [name] = key.path.as_slice() else {
            return None;
        };
        let mut members = structure.members.iter();
        let member = members.find(|member| member.ident.as_ref() == Some(name))?;
        let (Role::Embed { .. }, Place::At(_)) = (&member.role, member.place) else {
            return None;
        };
        let ty = &member.ty;
        let message = format!(
            "an index of a list of embedded values is of one of their fields: name it, as in `#[document(index(fields = \"{}.field\"))]`",
            types::name(name)
        );
        (key.entry.is_none() && !head.is_dependent(ty)).then(|| {
            quote_spanned! {index.literal.span()=>
                const _: () = ::core::assert!(#private::is_indexed_whole::<#ty>(), #message);
            }
        })
    };
    let mut checks = TokenStream::new();
    for index in indexes {
        for key in &index.keys {
            checks.extend(of_key(index, key));
        }
    }
    checks
}

/// ```ignore
/// { assert!(is_followed(ROOT.price), ".."); step(ROOT.price).currency }
/// ```
fn followed(head: &Head, root: &TokenStream, span: Span, key: &Key) -> TokenStream {
    let private = &head.private;
    let mut names = key.path.iter();
    let first = names.next();
    names.fold(quote_spanned!(span=> #root.#first), |outer, name| {
        let map = "an index cannot go through a map, whose keys are not known";
        quote_spanned! {span=> {
            ::core::assert!(#private::is_followed(#outer), #map);
            #private::step(#outer).#name
        }}
    })
}

/// ```ignore
/// Some(expires(ROOT.seen, 2592000))
/// ```
fn expires(head: &Head, root: &TokenStream, declared: &Expires) -> TokenStream {
    let Expires {
        literal,
        key,
        after,
    } = declared;
    let span = literal.span();
    let field = followed(head, root, span, key);
    let located = head.private_at(span);
    quote_spanned!(span=> #located::Some(#located::expires(#field, #after)))
}

/// ```ignore
/// impl IntoId<Part> for ObjectId {
///     fn into_id(self) -> ObjectId { self }
/// }
/// impl IntoId<Part> for &ObjectId {
///     fn into_id(self) -> ObjectId { Clone::clone(self) }
/// }
/// ```
///
/// An `_id` that is a parameter has none, since it might be a reference.
pub(crate) fn into_id(head: &Head, generics: &Generics, id: &Type) -> Option<TokenStream> {
    let Head { private, this, .. } = head;
    if head.is_dependent(id) {
        return None;
    }
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    Some(quote! {
        #[automatically_derived]
        impl #impl_generics #private::IntoId<#this> for #id #where_clause {
            type How = #private::ById;

            fn into_id(self) -> #id {
                self
            }
        }

        #[automatically_derived]
        impl #impl_generics #private::IntoId<#this> for &#id #where_clause {
            type How = #private::ById;

            fn into_id(self) -> #id {
                #private::clone_id::<#this>(self)
            }
        }
    })
}

/// ```ignore
/// impl Versioned for Product {
///     type Version = i64;
/// }
/// ```
fn version(head: &Head, ty: &Type) -> TokenStream {
    let Head { private, this, .. } = head;
    quote_spanned! {ty.span()=>
        #[automatically_derived]
        impl #private::Versioned for #this {
            type Version = #ty;
        }
    }
}

/// ```ignore
/// const _: () = write_time::<DateTime>();
/// ```
fn write_time(head: &Head, ty: &Type) -> TokenStream {
    let private = head.private_at(ty.span());
    quote_spanned!(ty.span()=> const _: () = #private::write_time::<#ty>();)
}
