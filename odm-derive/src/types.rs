//! Identifiers and types, looked at as tokens.

use std::collections::BTreeSet;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{GenericArgument, Path, PathArguments, PathSegment, Type, TypeGenerics, parse_quote};

/// A field's identifier at the span of a literal, such that errors stand under the literal but no
/// fix is proposed for the text in it. `None` if it cannot be one.
pub(crate) fn ident(name: &str, span: Span) -> Option<Ident> {
    let span = Span::mixed_site().located_at(span);
    if let Ok(mut ident) = syn::parse_str::<Ident>(name) {
        ident.set_span(span);
        return Some(ident);
    }
    let mut ident = syn::parse_str::<Ident>(&format!("r#{name}")).ok()?;
    ident.set_span(span);
    Some(ident)
}

/// Tokens from a literal, with a span as [`ident`] has it.
pub(crate) fn located(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                let inner = located(group.stream(), span);
                token = Group::new(group.delimiter(), inner).into();
            }
            token.set_span(Span::mixed_site().located_at(span));
            token
        })
        .collect()
}

/// An identifier that is written like this, with `r#` or `_` where it must be.
pub(crate) fn field_ident(name: &str, span: Span) -> Option<Ident> {
    let mut ident = ident(name, span).or_else(|| ident(&format!("{name}_"), span))?;
    ident.set_span(span);
    Some(ident)
}

/// The name of an identifier, without `r#`.
pub(crate) fn name(ident: &Ident) -> String {
    let text = ident.to_string();
    match text.strip_prefix("r#") {
        Some(name) => name.to_owned(),
        None => text,
    }
}

/// All identifiers in some tokens, without `r#`.
pub(crate) fn idents(tokens: impl ToTokens) -> BTreeSet<String> {
    fn collect(tokens: TokenStream, into: &mut BTreeSet<String>) {
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    into.insert(name(&ident));
                }
                TokenTree::Group(group) => collect(group.stream(), into),
                _ => {}
            }
        }
    }
    let mut idents = BTreeSet::new();
    collect(tokens.to_token_stream(), &mut idents);
    idents
}

/// Whether one of the names is among the tokens.
pub(crate) fn mentions<'a>(
    tokens: impl ToTokens,
    names: impl IntoIterator<Item = &'a Ident>,
) -> bool {
    let mut names = names.into_iter().peekable();
    if names.peek().is_none() {
        return false;
    }
    let idents = idents(tokens);
    names.any(|name| idents.contains(&name.to_string()))
}

/// An identifier like `base` that the user's tokens do not use, so that generated items hide none of the
/// user's.
pub(crate) fn fresh(base: &str, used: &BTreeSet<String>) -> Ident {
    let mut name = base.to_owned();
    while used.contains(&name) {
        name.push('_');
    }
    Ident::new(&name, Span::call_site())
}

/// An item with its own parameters as arguments.
pub(crate) fn applied(ident: &Ident, generics: &TypeGenerics<'_>) -> Path {
    let arguments = generics.to_token_stream();
    if arguments.is_empty() {
        return ident.clone().into();
    }
    parse_quote!(#ident #arguments)
}

/// A type with `Self` replaced, for use outside of the type's own definition.
pub(crate) fn without_self(ty: &Type, this: &Path) -> Type {
    fn replace(tokens: TokenStream, this: &Path) -> TokenStream {
        tokens
            .into_iter()
            .flat_map(|token| match token {
                TokenTree::Ident(ident) if ident == "Self" => this
                    .to_token_stream()
                    .into_iter()
                    .map(|mut token| {
                        token.set_span(ident.span());
                        token
                    })
                    .collect(),
                TokenTree::Group(group) => {
                    let mut new = Group::new(group.delimiter(), replace(group.stream(), this));
                    new.set_span(group.span());
                    TokenStream::from(TokenTree::Group(new))
                }
                token => token.into(),
            })
            .collect()
    }
    if !idents(ty).contains("Self") {
        return ty.clone();
    }
    syn::parse2(replace(ty.to_token_stream(), this)).unwrap_or_else(|_| ty.clone())
}

/// The last segment of a type that is a path, such as `Ref<Part>` in `odm::Ref<Part>`.
fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(paren) => last_segment(&paren.elem),
        _ => None,
    }
}

/// Whether the type is written `name` or `name<..>`.
pub(crate) fn is_written(ty: &Type, name: &str) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == name)
}

/// Whether the type is written like a type without fields, or like a container of such types.
pub(crate) fn is_plain(ty: &Type) -> bool {
    is_scalar(innermost(ty))
}

/// Whether the type is written like a primitive type of the language that is a scalar of stored values.
pub(crate) fn is_primitive(ty: &Type) -> bool {
    const PRIMITIVES: [&str; 9] = ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "f64"];
    match ty {
        Type::Path(path) if path.qself.is_none() => {
            let ident = path.path.get_ident().map(Ident::to_string);
            ident.is_some_and(|ident| PRIMITIVES.contains(&&*ident))
        }
        _ => false,
    }
}

/// Whether the type is written like a type without fields.
pub(crate) fn is_scalar(ty: &Type) -> bool {
    const SCALARS: [&str; 16] = [
        "String", "char", "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32",
        "f64", "usize", "ObjectId", "DateTime",
    ];
    // An identifier becomes a text for each comparison.
    let name = last_segment(ty).map(|segment| segment.ident.to_string());
    name.is_some_and(|name| SCALARS.contains(&&*name))
}

/// `T`, if the type is written `name<T>`.
pub(crate) fn argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let segment = last_segment(ty).filter(|segment| segment.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    match (arguments.args.first(), arguments.args.len()) {
        (Some(GenericArgument::Type(ty)), 1) => Some(ty),
        _ => None,
    }
}

/// The name of the library's private module among the generated items.
pub(crate) const PRIVATE: &str = "_odm";

/// `T`, if the type is the library's `Native<T>`, which no user can name like that.
pub(crate) fn native(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else {
        return None;
    };
    let is_private = path
        .path
        .segments
        .first()
        .is_some_and(|segment| segment.ident.to_string().trim_end_matches('_') == PRIVATE);
    is_private.then(|| argument(ty, "Native")).flatten()
}

/// The types in the angle brackets of a type.
pub(crate) fn arguments(ty: &Type) -> Vec<&Type> {
    let Some(PathArguments::AngleBracketed(arguments)) =
        last_segment(ty).map(|segment| &segment.arguments)
    else {
        return Vec::new();
    };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}

/// The elements of tuples in a type, at any depth.
pub(crate) fn tuple_elements(ty: &Type) -> Vec<&Type> {
    fn collect<'a>(ty: &'a Type, into: &mut Vec<&'a Type>) {
        match ty {
            Type::Tuple(tuple) => {
                for element in &tuple.elems {
                    into.push(element);
                    collect(element, into);
                }
            }
            Type::Array(array) => collect(&array.elem, into),
            Type::Group(group) => collect(&group.elem, into),
            Type::Paren(paren) => collect(&paren.elem, into),
            _ => {
                for ty in arguments(ty) {
                    collect(ty, into);
                }
            }
        }
    }
    let mut elements = Vec::new();
    collect(ty, &mut elements);
    elements
}

/// The hash of a name by FNV-1a with 64 bits, with which checks at compile time compare it.
pub(crate) fn fnv1a(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A type as a message shows it.
pub(crate) fn written(ty: &Type) -> String {
    ty.to_token_stream().to_string().replace(' ', "")
}

/// Whether two types are written with the same last name, and `Self` as this one.
pub(crate) fn is_same_name(a: &Type, b: &Type, this: &Ident) -> bool {
    let name = |ty| {
        let segment = last_segment(ty)?;
        let ident = &segment.ident;
        Some(name(if ident == "Self" { this } else { ident }))
    };
    name(a).is_some() && name(a) == name(b)
}

/// The type in the containers of the standard library, as far as the tokens tell.
pub(crate) fn innermost(ty: &Type) -> &Type {
    const CONTAINERS: [(&str, usize); 8] = [
        ("Option", 0),
        ("Box", 0),
        ("Vec", 0),
        ("VecDeque", 0),
        ("BTreeSet", 0),
        ("HashSet", 0),
        ("BTreeMap", 1),
        ("HashMap", 1),
    ];
    let inner = last_segment(ty).and_then(|segment| {
        let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
            return None;
        };
        let ident = segment.ident.to_string();
        let (_, position) = CONTAINERS.iter().find(|(name, _)| ident == *name)?;
        match arguments.args.iter().nth(*position)? {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        }
    });
    inner.map_or(ty, innermost)
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn keywords_become_raw() {
        let span = Span::call_site();
        assert_eq!(ident("type", span).unwrap(), "r#type");
        assert_eq!(ident("name", span).unwrap(), "name");
        assert!(ident("self", span).is_none());
        assert!(ident("a b", span).is_none());
        assert!(ident("", span).is_none());
        assert_eq!(field_ident("crate", span).unwrap(), "crate_");
        assert!(field_ident("content-type", span).is_none());
    }

    #[test]
    fn types_as_written() {
        let ty: Type = syn::parse_quote!(::odm::Ref<Part>);
        assert!(is_written(&ty, "Ref"));
        let part: Type = syn::parse_quote!(Part);
        assert_eq!(argument(&ty, "Ref"), Some(&part));
        assert_eq!(argument(&ty, "Option"), None);
    }

    #[test]
    fn containers_are_looked_into() {
        let ty: Type = syn::parse_quote!(Option<HashMap<String, std::vec::Vec<Box<T>>>>);
        let t: Type = syn::parse_quote!(T);
        assert_eq!(innermost(&ty), &t);
        let other: Type = syn::parse_quote!(Paired<T>);
        assert_eq!(innermost(&other), &other);
    }

    #[test]
    fn elements_of_tuples_are_found_at_any_depth() {
        let ty: Type = syn::parse_quote!(Option<Vec<(A, [(B, C); 2])>>);
        let elements: Vec<_> = tuple_elements(&ty).into_iter().map(written).collect();
        assert_eq!(elements, ["A", "[(B,C);2]", "B", "C"]);
    }

    #[test]
    fn names_are_hashed_as_the_library_does() {
        // Published test vectors of FNV-1a.
        assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn self_is_named() {
        let ty: Type = syn::parse_quote!(Vec<Box<Self>>);
        let expected: Type = syn::parse_quote!(Vec<Box<Comment<T>>>);
        assert_eq!(without_self(&ty, &syn::parse_quote!(Comment<T>)), expected);
    }

    #[test]
    fn fresh_names_are_not_in_use() {
        let used = idents(quote!(
            struct A {
                b: (P, P_),
            }
        ));
        assert_eq!(fresh("P", &used), "P__");
        assert_eq!(fresh("Q", &used), "Q");
    }
}
