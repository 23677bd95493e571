//! `Structure`: the stored names, the typed fields and the shape.

use std::borrow::Cow;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Type, parse_quote, spanned::Spanned};

use super::{children, copies, embedded::embedded, outline, reference, schema, split, stored};
use crate::{
    attr::Public,
    derive::Derive,
    model::{Head, Kind, Member, Place, Role, Structure},
};

/// ```ignore
/// pub struct ProductFields<P> {
///     /// The user's documentation, or where it is stored.
///     pub catalog_number: Field<i64, FieldPath<P, Product, 1>, Plain>,
///     pub audit: Flattened<Audit, P>,
/// }
/// impl<P: Path> FieldSet for ProductFields<P> {
///     const NEW: Self = Self { catalog_number: TypedField::TYPED, audit: TypedField::TYPED };
/// }
/// impl Structure for Product {
///     const NAMES: &'static [StoredName] = &[StoredName { text: "_id", hash: 0x.., optional: false, .. }, ..];
///     type Fields<P: Path> = ProductFields<P>;
///     fn shape() -> &'static Shape {
///         static ONE: Shape = Shape {
///             name: "Product",
///             fields: &[FieldShape { name: "_id", kind: FieldKind::Plain, described: Probe::<ObjectId>::DESCRIBED, .. }, { assert!(is_flat::<Audit>(), ".."); embed::<Audit>("") } .., ..],
///         };
///         &ONE
///     }
/// }
/// ```
///
/// The paths are positions in `NAMES` and not types of their own, which would cost compile time.
pub(crate) fn expand(head: &Head, structure: &Structure) -> TokenStream {
    let fields = fields(head, structure);
    let private = &head.private;
    let path = &head.path;
    let Structure {
        this,
        name,
        fields: fields_ident,
        ..
    } = structure;
    let (impl_generics, _, where_clause) = head.generics.split_for_impl();
    let arguments = arguments(head, quote!(#path));
    let names = stored::names(head, structure);
    let shapes = structure
        .members
        .iter()
        .filter_map(|member| shape(head, structure, member));
    let copies = copies::constant(head, structure);
    let outline = outline::expand(head, structure);
    let needs = stored::constants(head, structure);
    let checks = copies::checks(head, structure);
    let readable = stored::checks(head, structure);
    let schema = schema::expand(head, structure);
    let fits = schema::fits(head, structure);
    let variants = structure
        .variants
        .iter()
        .map(|variant| hidden(head, structure, variant));
    let shape = quote!(#private::Shape { name: #name, fields: &[#(#shapes),*] });
    let is_checked = !structure.members.iter().all(is_unchecked);
    let shape = constant(head, quote!(#private::Shape), &shape, is_checked);
    quote! {
        #fields

        #[automatically_derived]
        impl #impl_generics #private::Structure for #this #where_clause {
            #names
            #copies
            #needs
            #outline
            type Fields<#path: #private::Path> = #fields_ident #arguments;

            fn shape() -> &'static #private::Shape {
                #shape
            }

            #schema
        }

        #checks
        #readable
        #fits
        #(#variants)*
    }
}

/// A reference to a value for ever. A static is computed, and its errors are reported, also where nothing uses
/// it; but it cannot depend on parameters, and takes the compiler time where there are no errors.
pub(super) fn constant(
    head: &Head,
    ty: TokenStream,
    value: &TokenStream,
    is_checked: bool,
) -> TokenStream {
    if is_checked && head.generics.params.is_empty() {
        quote! {
            static ONE: #ty = #value;
            &ONE
        }
    } else {
        quote!(const { &#value })
    }
}

/// The arguments of the struct of typed fields: the path, and the arguments of the item.
fn arguments(head: &Head, path: TokenStream) -> TokenStream {
    let params = head.generics.params.iter().map(|param| match param {
        syn::GenericParam::Type(param) => &param.ident,
        syn::GenericParam::Const(param) => &param.ident,
        syn::GenericParam::Lifetime(param) => &param.lifetime.ident,
    });
    quote!(<#path, #(#params),*>)
}

/// The typed fields of the item at its own top: the value of `Self::fields()`, as a constant.
pub(super) fn root(head: &Head, structure: &Structure) -> TokenStream {
    let private = &head.private;
    let this = &structure.this;
    quote! {
        <<#this as #private::Structure>::Fields<#private::Root<#this>> as #private::FieldSet>::NEW
    }
}

fn fields(head: &Head, structure: &Structure) -> TokenStream {
    let private = &head.private;
    let path = &head.path;
    let ident = &structure.fields;
    let doc = format!(" The fields of `{}`.", structure.name);
    let declared = head.generics_with(quote!(#path));
    let (declared, _, where_clause) = declared.split_for_impl();
    let bounded = head.generics_with(quote!(#path: #private::Path));
    let (bounded, ty_generics, _) = bounded.split_for_impl();

    let typed: Vec<&Member> = structure
        .members
        .iter()
        .filter(|member| member.ident.is_some())
        .collect();
    let idents: Vec<_> = typed.iter().map(|member| &member.ident).collect();
    let types = typed
        .iter()
        .map(|member| field_type(head, structure, member));
    let docs = typed.iter().map(|member| docs(structure, member));
    // Every parameter must be used; a field at a path of its own uses them all.
    let used = typed
        .iter()
        .any(|member| matches!(member.place, Place::At(_)));
    let phantom = head.fresh("__unused");
    let (phantom_field, phantom_value) = if used {
        (None, None)
    } else {
        let this = &structure.this;
        (
            Some(quote!(#phantom: #private::Phantom<fn() -> (#path, #this)>,)),
            Some(quote!(#phantom: #private::Phantom,)),
        )
    };
    quote! {
        #[doc = #doc]
        pub struct #ident #declared #where_clause {
            #(#docs pub #idents: #types,)*
            #phantom_field
        }

        #[automatically_derived]
        impl #bounded #private::FieldSet for #ident #ty_generics #where_clause {
            const NEW: Self = Self { #(#idents: #private::TypedField::TYPED,)* #phantom_value };
        }
    }
}

fn field_type(head: &Head, structure: &Structure, member: &Member) -> TokenStream {
    let private = &head.private;
    let path = &head.path;
    let this = &structure.this;
    let ty = value_type(head, member);
    let kind = match member.kind {
        Kind::Plain => "Plain",
        Kind::Unchecked => "Unchecked",
        Kind::Identity => "Identity",
        Kind::Version => "Version",
        Kind::WriteTime => "WriteTime",
        Kind::Derived => "Derived",
    };
    let kind = Ident::new(kind, Span::call_site());
    match member.place {
        Place::At(position) => {
            let position = Literal::usize_unsuffixed(position);
            // In one piece, since the macro takes longer for tokens that are put together.
            match member.role {
                Role::Split(_) => quote! {
                    #private::Field<#ty, #private::ColdPath<#private::FieldPath<#path, #this, #position>>, #private::#kind>
                },
                _ => quote! {
                    #private::Field<#ty, #private::FieldPath<#path, #this, #position>, #private::#kind>
                },
            }
        }
        Place::Flattened { optional: false } if !member.users || head.is_dependent(&member.ty) => {
            quote!(#private::Flattened<#ty, #path>)
        }
        Place::Flattened { optional: false } => {
            let optional = quote!({ #private::Probe::<#ty>::OPTIONAL });
            quote!(#private::Flattened<#ty, #private::FlatPath<#path, #optional>>)
        }
        Place::Flattened { optional: true } | Place::Whole => {
            quote!(#private::Flattened<#ty, #private::FlatPath<#path, true>>)
        }
    }
}

/// The type of the value of a typed field.
pub(super) fn value_type<'a>(head: &Head, member: &'a Member) -> Cow<'a, Type> {
    let private = &head.private;
    let ty = &member.ty;
    if member.otherwise {
        Cow::Owned(parse_quote!(#private::StoredOtherwise<#ty>))
    } else {
        Cow::Borrowed(ty)
    }
}

fn docs(structure: &Structure, member: &Member) -> TokenStream {
    if !member.docs.is_empty() {
        let docs = &member.docs;
        return quote!(#(#docs)*);
    }
    let doc = match member.place {
        Place::At(_) => format!(" Stored as `{}`.", member.stored(structure)),
        Place::Flattened { .. } | Place::Whole => " Its fields are stored in its place.".to_owned(),
    };
    quote!(#[doc = #doc])
}

/// The description of a field, with its operands, its name in requests, and its schema.
fn shape(head: &Head, structure: &Structure, member: &Member) -> Option<TokenStream> {
    let private = &head.private;
    let is_named = matches!(member.place, Place::At(_));
    let shape = described(head, structure, member);
    match &member.public {
        None if shape.is_none() && !is_plain(member) => return None,
        Some(public) if shape.is_none() && !is_plain(member) => return Some(unnamed(public)),
        Some(public) if public.name.is_some() && !is_named => return Some(unnamed(public)),
        _ => {}
    }
    let stated = schema::of_field(head, structure, member);
    let public = member.public.as_ref().map(|public| match &public.name {
        Some(name) => quote!(#private::Some(#name)),
        None => quote!(#private::None),
    });
    let Some(shape) = shape else {
        // All fields, since the compiler proves of what a literal takes from another value that it has no interior mutability.
        let stored = member.stored(structure);
        let schema::Stated {
            described,
            required,
            rules,
        } = stated;
        let unknown = described
            .is_none()
            .then(|| quote!(#private::Described::UNKNOWN));
        let public = public.unwrap_or_else(|| quote!(#private::Some(#stored)));
        let optional = required.is_none().then_some(false);
        return Some(quote! {
            #private::FieldShape {
                name: #stored,
                kind: #private::FieldKind::Plain,
                described: #described #unknown,
                public: #public,
                copied: #private::None,
                required: #required #optional,
                rules: &[#(#rules),*],
            }
        });
    };
    let mut others = TokenStream::new();
    for (name, value) in [
        ("described", stated.described),
        ("public", public),
        ("required", stated.required),
    ] {
        let name = Ident::new(name, Span::call_site());
        others.extend(value.map(|value| quote!(#name: #value,)));
    }
    if !stated.rules.is_empty() {
        let rules = stated.rules;
        others.extend(quote!(rules: &[#(#rules),*],));
    }
    Some(if others.is_empty() {
        shape
    } else {
        quote!(#private::FieldShape { #others ..#shape })
    })
}

/// Whether its description has no errors, and no values with fields, whose descriptions the library knows by their addresses.
fn is_unchecked(member: &Member) -> bool {
    match &member.role {
        Role::Plain => true,
        Role::Reference {
            on_delete, inverse, ..
        } => on_delete.is_none() && inverse.is_none() && member.skipped.is_none(),
        Role::Embed { .. } | Role::Derived(_) | Role::Split(_) => false,
    }
}

/// Whether it is a field of its own that the library does not look into.
fn is_plain(member: &Member) -> bool {
    matches!((&member.role, member.place), (Role::Plain, Place::At(_)))
}

/// Whether a request may compare a value with it.
pub(super) fn is_comparable(head: &Head, member: &Member) -> bool {
    head.derive != Derive::Projection
        && matches!(member.place, Place::At(_))
        && !matches!(member.role, Role::Split(_))
        && !member.otherwise
        && !head.is_dependent(&member.ty)
}

/// The error of a field that has no name for clients.
fn unnamed(public: &Public) -> TokenStream {
    let message = "clients see the fields of this value, or the value itself, and no name of it: mark the fields in it";
    quote_spanned!(public.at.span()=> ::core::compile_error!(#message))
}

/// A function call, so that a type that does not fit is underlined. A plain field has none.
fn described(head: &Head, structure: &Structure, member: &Member) -> Option<TokenStream> {
    let private = &head.private;
    let stored = member.stored(structure);
    let ty = &member.ty;
    let span = ty.span();
    Some(match (&member.role, member.place) {
        (Role::Plain, _) => return None,
        (Role::Embed { .. }, Place::Flattened { .. }) => {
            let message = "only an embedded value, or an `Option` of one, can be flattened";
            let flat = quote_spanned!(span=> ::core::assert!(#private::is_flat::<#ty>(), #message));
            quote!({ #flat; #private::embed::<#ty>("") })
        }
        (Role::Embed { .. }, _) => quote!(#private::embed::<#ty>(#stored)),
        (Role::Reference { .. }, _) => return reference::shape(head, stored, member),
        (Role::Derived(derived), _) => return derived.shape(head, structure, member),
        (Role::Split(declared), _) => split::shape(head, stored, ty, declared),
    })
}

/// The type of a variant with fields of its own. There are no values of it.
///
/// ```ignore
/// pub struct ShapeCircle(Phantom<fn() -> Shape>);
/// // its `Structure`, and the implementations of an embedded value
/// ```
fn hidden(head: &Head, of: &Structure, variant: &Structure) -> TokenStream {
    let private = &head.private;
    let ident = &variant.ident;
    let doc = format!(" What is in `{}`.", variant.name);
    let of = &of.this;
    let (impl_generics, _, where_clause) = head.generics.split_for_impl();
    let structure = expand(head, variant);
    let embedded = embedded(head, &variant.this, &children::no_parent(head), None);
    quote! {
        #[doc = #doc]
        pub struct #ident #impl_generics (#private::Phantom<fn() -> #of>) #where_clause;
        #structure
        #embedded
    }
}
