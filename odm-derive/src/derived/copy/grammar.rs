//! `#[denormalize(from = "Part.name", via = "part", freeze, refresh = "later")]`.

use proc_macro2::Ident;
use syn::{Attribute, LitStr, Meta, Type};

use crate::{
    attr::value::{Once, flag, keys_with, only, string, unknown},
    ctxt::Ctxt,
    types::{ident, located},
};

/// A copy of a field of another document, as its attribute says.
pub(crate) struct Denormalize {
    /// The source. `None` after an error only.
    pub(crate) from: Option<From>,
    /// The reference to follow.
    pub(crate) via: Option<Via>,
    /// Whether it keeps the value of the time of writing.
    pub(crate) freeze: bool,
    /// Whether it follows its source after the unit that changes it.
    pub(crate) deferred: bool,
}

/// `shop::Part.price.currency`.
#[derive(Clone)]
pub(crate) struct From {
    /// The literal.
    pub(crate) literal: LitStr,
    /// The document.
    pub(crate) ty: Type,
    /// The Rust fields on the path to the value.
    pub(crate) path: Vec<Ident>,
}

/// The reference that a copy follows to its source.
#[derive(Clone)]
pub(crate) enum Via {
    /// A field of the same struct.
    Beside(LitStr, Ident),
    /// A reference of the source to the holder: `Product.parts`.
    Back(Box<From>),
}

impl Denormalize {
    pub(super) fn new(cx: &Ctxt, attr: &Attribute) -> Self {
        let mut from = Once::new("from");
        let mut via = Once::new("via");
        let mut freeze = Once::new("freeze");
        let mut refresh = Once::new("refresh");
        let before = cx.count();
        for (key, meta) in keys_with(cx, attr, Some("from")) {
            match key.as_str() {
                "from" => from.set(cx, &meta, self::from(cx, &meta)),
                "via" => via.set(cx, &meta, self::via(cx, &meta)),
                "freeze" => freeze.set(cx, &meta, flag(cx, &meta)),
                "refresh" => refresh.set(cx, &meta, self::refresh(cx, &meta)),
                "fan_out" => fan_out(cx, &meta),
                _ => unknown(
                    cx,
                    &meta,
                    "denormalize",
                    "`from`, `via`, `freeze` or `refresh`",
                ),
            }
        }
        let from = from.get();
        if from.is_none() && cx.count() == before {
            cx.error(
                &attr.meta,
                "copy without a source: write `#[denormalize(from = \"Model.field\")]`",
            );
        }
        Denormalize {
            from,
            via: via.get(),
            freeze: freeze.get().is_some(),
            deferred: refresh.get().is_some(),
        }
    }
}

/// Refuses the former name of `refresh`.
fn fan_out(cx: &Ctxt, meta: &Meta) {
    let message = "the time of a refresh is set by `refresh`: write `refresh = \"later\"` in place of `fan_out`";
    match meta {
        Meta::NameValue(pair) => cx.error(&pair.value, message),
        _ => cx.error(meta, message),
    }
}

fn refresh(cx: &Ctxt, meta: &Meta) -> Option<()> {
    let without = "copies are new when the write of their source returns";
    only(cx, meta, "later", without)
}

/// Reads `Model.field`.
pub(in crate::derived) fn from(cx: &Ctxt, meta: &Meta) -> Option<From> {
    let literal = string(cx, meta)?;
    report(cx, &literal, path(&literal))
}

fn via(cx: &Ctxt, meta: &Meta) -> Option<Via> {
    let literal = string(cx, meta)?;
    if literal.value().contains('.') {
        return report(cx, &literal, path(&literal)).map(|from| Via::Back(Box::new(from)));
    }
    let field = ident(&literal.value(), literal.span()).ok_or_else(|| {
        format!(
            "`{}` is not the name of a field: write that of a reference beside the copy, or \
             `Model.field` for a reference to this document",
            literal.value()
        )
    });
    report(cx, &literal, field).map(|field| Via::Beside(literal, field))
}

fn report<T>(cx: &Ctxt, literal: &LitStr, result: Result<T, String>) -> Option<T> {
    result.map_err(|message| cx.error(literal, message)).ok()
}

/// Reads `path::Type.field.field`.
fn path(literal: &LitStr) -> Result<From, String> {
    let text = literal.value();
    let Some((ty, path)) = text.split_once('.') else {
        return Err(match text.rsplit_once("::") {
            Some((model, field)) if field.starts_with(char::is_lowercase) => {
                format!("`{text}` names no field: write `{model}.{field}`")
            }
            _ => format!("`{text}` names no field: write `{text}.field`"),
        });
    };
    let ty = ty
        .parse()
        .ok()
        .and_then(|tokens| syn::parse2(located(tokens, literal.span())).ok())
        .filter(|ty| matches!(ty, Type::Path(_)))
        .ok_or_else(|| format!("`{ty}` is not the name of a document: write `Model.field`"))?;
    let path = path
        .split('.')
        .map(|name| {
            ident(name.trim(), literal.span()).ok_or_else(|| {
                format!(
                    "`{name}` is not the name of a field: write the names of Rust fields, with dots \
                     between them"
                )
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(From {
        literal: literal.clone(),
        ty,
        path,
    })
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;

    fn parse(text: &str) -> Result<(String, Vec<String>), String> {
        let from = path(&LitStr::new(text, proc_macro2::Span::call_site()))?;
        let fields = from.path.iter().map(ToString::to_string).collect();
        Ok((crate::attr::text(&from.ty.to_token_stream()), fields))
    }

    #[test]
    fn a_type_and_then_its_fields() {
        assert_eq!(
            parse("shop::Part.price.type").unwrap(),
            ("shop::Part".into(), vec!["price".into(), "r#type".into()])
        );
    }

    #[test]
    fn what_is_no_field_is_named() {
        assert!(parse("Part").unwrap_err().contains("`Part.field`"));
        assert!(
            parse("shop::Part::name")
                .unwrap_err()
                .contains("`shop::Part.name`")
        );
        assert!(
            parse(".name")
                .unwrap_err()
                .contains("not the name of a document")
        );
        assert!(parse("&Part.name").unwrap_err().contains("`&Part`"));
        assert!(
            parse("Part.")
                .unwrap_err()
                .contains("not the name of a field")
        );
        assert!(parse("Part.a b").unwrap_err().contains("`a b`"));
    }
}
