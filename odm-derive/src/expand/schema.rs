//! The schema of a type, and the functions that check its values.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Type, spanned::Spanned};

use super::{stored::has_default, structure::is_comparable};
use crate::{
    ast::Form,
    attr::Concerns,
    derive::Derive,
    model::{Checked, Head, Kind, Member, Optional, Place, Role, Structure, VariantContent},
    types,
};

/// ```ignore
/// fn has_checks(types: &mut SchemaTypes) -> bool {
///     true || any_has_checks::<Self>(types, &[Probe::<Vec<Line>>::HAS_CHECKS])
/// }
///
/// // if there is a flattened value without known fields, which is not in the shape
/// fn schema(types: &mut SchemaTypes) -> BsonDocument {
///     object_schema::<Self>(types, &[
///         Property { name: "name", required: true, schema: Probe::<String>::DESCRIBED.schema, rules: &[..] },
///     ], false)
/// }
///
/// fn check(&self, at: &ValueLocation<'_>, found: &mut Vec<Violation>) {
///     { let value = &self.number; check_with(even(value), &at.join("number"), found); }
///     Probe::<Vec<Line>>::NEW.check(&self.lines, &at.join("lines"), found);
/// }
/// ```
///
/// The compiler need not know the type of a field yet: a wrong type is reported elsewhere.
pub(super) fn expand(head: &Head, structure: &Structure) -> TokenStream {
    if head.derive == Derive::Projection {
        return TokenStream::new();
    }
    let private = &head.private;
    let made = match &structure.forms {
        Some(forms) => {
            let variants = forms.iter().map(|form| {
                let name = &form.name;
                let content = match &form.content {
                    VariantContent::None => quote!(#private::None),
                    VariantContent::Array => some(head, quote!(#private::any_array_schema)),
                    VariantContent::Any => some(head, quote!(#private::any_schema)),
                    VariantContent::Fields(this) => {
                        some(head, quote!(<#this as #private::Structure>::schema))
                    }
                    VariantContent::Value(ty) => {
                        let schema = schema_of(head, ty, true);
                        some(head, schema.unwrap_or_else(|| quote!(#private::any_schema)))
                    }
                };
                let form = match &form.form {
                    Form::External => quote!(External),
                    Form::Internal { tag } => quote!(Internal(#tag)),
                    Form::Adjacent { tag, content } => quote!(Adjacent(#tag, #content)),
                    Form::Untagged => quote!(Untagged),
                };
                quote!(#private::VariantSchema {
                    name: #name,
                    form: #private::EnumForm::#form,
                    content: #content,
                })
            });
            let is_closed = structure.is_closed;
            quote!(#private::variants_schema::<Self>(types, &[#(#variants),*], #is_closed))
        }
        None if is_by_shape(structure) => return checks(head, structure),
        None => {
            let properties = structure
                .members
                .iter()
                .filter(|member| !matches!(member.role, Role::Split(_)))
                .map(|member| property(head, structure, member));
            let is_closed = structure.is_closed;
            quote!(#private::object_schema::<Self>(types, &[#(#properties),*], #is_closed))
        }
    };
    let checks = checks(head, structure);
    quote! {
        fn schema(types: &mut #private::SchemaTypes) -> #private::BsonDocument {
            #made
        }

        #checks
    }
}

/// Whether the schema is made of the description of the fields, in which a flattened value without known fields is not.
pub(super) fn is_by_shape(structure: &Structure) -> bool {
    let is_described = |member: &Member| {
        matches!(member.place, Place::At(_)) || !matches!(member.role, Role::Plain)
    };
    structure.forms.is_none() && structure.members.iter().all(is_described)
}

/// The parts of a field's description besides its name and its content.
pub(super) struct Stated {
    /// The operands and the schema.
    pub(super) described: Option<TokenStream>,
    pub(super) required: Option<TokenStream>,
    pub(super) rules: Vec<TokenStream>,
}

/// ```ignore
/// described: Probe::<Audit>::DESCRIBED, required: true, rules: &[Rule { .. }],
/// ```
pub(super) fn of_field(head: &Head, structure: &Structure, member: &Member) -> Stated {
    let private = &head.private;
    let ty = &member.ty;
    let is_stated = head.derive != Derive::Projection
        && is_by_shape(structure)
        && !matches!(member.role, Role::Split(_));
    let schema = || schema_of_field(head, member).filter(|_| is_stated);
    let (required, rules) = if is_stated {
        (required(head, structure, member), rules(head, member))
    } else {
        (None, Vec::new())
    };
    let described = match (is_comparable(head, member), member.is_unseen()) {
        (true, false) => Some(quote!(#private::Probe::<#ty>::DESCRIBED)),
        (true, true) => {
            let operand = quote!(#private::Probe::<#ty>::DESCRIBED.operand);
            Some(quote!(#private::Described { operand: #operand, ..#private::Described::UNKNOWN }))
        }
        (false, _) => schema().map(
            |schema| quote!(#private::Described { schema: #schema, ..#private::Described::UNKNOWN }),
        ),
    };
    Stated {
        described,
        required,
        rules,
    }
}

/// The schema and the checks of a type that is stored as the one value in it.
pub(super) fn wrapper(head: &Head, inner: &Type, field: &syn::Member) -> TokenStream {
    let private = &head.private;
    quote! {
        fn has_checks(types: &mut #private::SchemaTypes) -> bool {
            #private::any_has_checks::<Self>(types, &[<#inner as #private::Structure>::has_checks])
        }

        fn schema(types: &mut #private::SchemaTypes) -> #private::BsonDocument {
            <#inner as #private::Structure>::schema(types)
        }

        fn check(
            &self,
            at: &#private::ValueLocation<'_>,
            found: &mut ::std::vec::Vec<#private::Violation>,
        ) {
            <#inner as #private::Structure>::check(&self.#field, at, found);
        }
    }
}

fn some(head: &Head, schema: TokenStream) -> TokenStream {
    let private = &head.private;
    quote!(#private::Some(#schema))
}

/// `None` stands for the schema of any value.
fn schema_of_field(head: &Head, member: &Member) -> Option<TokenStream> {
    match (&member.role, member.is_unseen()) {
        (_, true) => None,
        (Role::Reference { .. } | Role::Derived(_), _) => schema_of(head, &member.ty, false),
        _ => schema_of(head, &member.ty, true),
    }
}

fn rules(head: &Head, member: &Member) -> Vec<TokenStream> {
    let private = &head.private;
    let rules = member.validate.iter().flat_map(|validate| &validate.rules);
    let rules = rules.map(|rule| {
        let (keyword, value) = (rule.keyword, rule.value.emit(private));
        quote!(#private::Rule { keyword: #keyword, value: #value })
    });
    rules.collect()
}

fn property(head: &Head, structure: &Structure, member: &Member) -> TokenStream {
    let private = &head.private;
    let name = member.stored(structure);
    let schema = schema_of_field(head, member);
    let schema = schema.unwrap_or_else(|| quote!(#private::any_schema));
    let required = required(head, structure, member).unwrap_or_else(|| quote!(false));
    let rules = rules(head, member);
    quote! {
        #private::Property {
            name: #name,
            required: #required,
            schema: #schema,
            rules: &[#(#rules),*],
        }
    }
}

/// `known` says whether a type that depends on a parameter has the bound.
fn schema_of(head: &Head, ty: &Type, known: bool) -> Option<TokenStream> {
    let private = &head.private;
    match (head.is_dependent(ty), known) {
        (false, _) => Some(quote!(#private::Probe::<#ty>::DESCRIBED.schema)),
        (true, true) => Some(quote!(<#ty as #private::Known>::schema)),
        (true, false) => None,
    }
}

/// `None` stands for a field that is not required.
pub(super) fn required(head: &Head, structure: &Structure, member: &Member) -> Option<TokenStream> {
    let private = &head.private;
    let is_id = member.stored(structure) == "_id";
    // A document from before may lack a field that the library fills in.
    let is_filled_in =
        matches!(member.role, Role::Derived(_)) || matches!(member.kind, Kind::Version);
    if has_default(structure, member) || is_id || is_filled_in {
        return None;
    }
    let always = || Some(quote!(true));
    let by_type = |ty: &Type| {
        if head.is_dependent(ty) {
            None
        } else if member.otherwise || types::is_scalar(ty) {
            // A function of its own is not asked where the field is missing.
            always()
        } else {
            Some(quote!(!#private::Probe::<#ty>::FROM_NOTHING))
        }
    };
    match member.place {
        Place::At(_) if structure.is_variant => match member.skipped {
            Some(_) => None,
            None => by_type(&member.ty),
        },
        Place::At(position) => match &structure.names[position].optional {
            Optional::Never => always(),
            Optional::Always => None,
            Optional::ByType(ty) => by_type(ty),
        },
        Place::Flattened { optional } => (structure.is_variant || !optional).then(|| quote!(true)),
        Place::Whole => None,
    }
}

/// The checks by functions, also in embedded values.
fn checks(head: &Head, structure: &Structure) -> TokenStream {
    let private = &head.private;
    let members: Vec<&Member> = structure
        .members
        .iter()
        .filter(|member| member.is_checked())
        .collect();
    let has_with = members.iter().any(|member| member.with().is_some());
    let inner = members
        .iter()
        .filter(|member| matches!(member.role, Role::Embed { .. }))
        .map(|member| {
            let ty = &member.ty;
            match (&member.checked, head.is_dependent(ty)) {
                (Checked::Fields(..), _) => quote!(<#ty as #private::Structure>::has_checks),
                (_, true) => quote!(<#ty as #private::Known>::has_checks),
                (_, false) => quote!(#private::Probe::<#ty>::HAS_CHECKS),
            }
        });
    let inner: Vec<_> = inner.collect();
    if !has_with && inner.is_empty() {
        return TokenStream::new();
    }
    let calls = members.iter().map(|member| match &member.checked {
        Checked::Not => TokenStream::new(),
        Checked::Field(field) => check_of(head, structure, member, &quote!(&self.#field)),
        Checked::Variant(variant) => {
            let check = check_of(head, structure, member, &quote!(value));
            quote!(if let Self::#variant { 0: value } = self { #check })
        }
        Checked::Fields(variant, position) => {
            let inner = &structure.variants[*position];
            let outer = member.stored(structure);
            let members = inner.members.iter().filter(|member| member.is_checked());
            let checks = members.filter_map(|member| match &member.checked {
                Checked::Field(field) => {
                    let check = check_of(head, inner, member, &quote!(value));
                    Some(quote!(if let Self::#variant { #field: value, .. } = self { #check }))
                }
                _ => None,
            });
            let checks: Vec<_> = checks.collect();
            if checks.is_empty() {
                TokenStream::new()
            } else {
                quote!({ let at = &at.join(#outer); #(#checks)* })
            }
        }
    });
    // There are no values of the hidden type of a variant.
    let check = (!structure.is_variant).then(|| {
        quote! {
            fn check(
                &self,
                at: &#private::ValueLocation<'_>,
                found: &mut ::std::vec::Vec<#private::Violation>,
            ) {
                #(#calls)*
            }
        }
    });
    quote! {
        fn has_checks(types: &mut #private::SchemaTypes) -> bool {
            #has_with || #private::any_has_checks::<Self>(types, &[#(#inner),*])
        }

        #check
    }
}

/// The checks of one value: by the function of its field, and of the values that are embedded in it.
fn check_of(
    head: &Head,
    structure: &Structure,
    member: &Member,
    value: &TokenStream,
) -> TokenStream {
    let private = &head.private;
    let name = member.stored(structure);
    let at = quote!(&at.join(#name));
    let ty = &member.ty;
    let by_function = member.with().map(|with| {
        // An argument that stands at the path: so does the error about its type.
        let argument = Ident::new("value", Span::mixed_site().located_at(with.span()));
        let call = quote_spanned!(with.span()=> #with(#argument));
        quote!({ let #argument = #value; #private::check_with(#call, #at, found); })
    });
    let is_embedded = matches!(member.role, Role::Embed { .. });
    let by_type = is_embedded.then(|| {
        if head.is_dependent(ty) {
            quote!(<#ty as #private::Known>::check(#value, #at, found);)
        } else {
            quote!(#private::Probe::<#ty>::NEW.check(#value, #at, found);)
        }
    });
    quote!(#by_function #by_type)
}

/// ```ignore
/// const _: () = validates_number::<i64>();
/// ```
pub(super) fn fits(head: &Head, structure: &Structure) -> TokenStream {
    let mut fits = Vec::new();
    for member in &structure.members {
        let ty = &member.ty;
        let rules = member.validate.iter().flat_map(|validate| &validate.rules);
        let mut concerns: Vec<(Concerns, Span)> =
            rules.map(|rule| (rule.concerns, rule.at)).collect();
        concerns.sort_by_key(|(concerns, _)| *concerns);
        concerns.dedup_by_key(|(concerns, _)| *concerns);
        for (concerns, at) in concerns.into_iter().filter(|_| !head.is_dependent(ty)) {
            let at = head.private_at(at);
            let fit = match concerns {
                Concerns::Number => quote!(validates_number),
                Concerns::Text => quote!(validates_text),
                Concerns::List => quote!(validates_list),
            };
            fits.push(quote_spanned!(ty.span()=> const _: () = #at::#fit::<#ty>();));
        }
    }
    quote!(#(#fits)*)
}
