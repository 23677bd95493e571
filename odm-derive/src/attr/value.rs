//! Keys and values of attributes.

use proc_macro2::Span;
use quote::ToTokens;
use syn::{
    Attribute, Expr, ExprLit, Lit, LitInt, LitStr, Meta, Path, Token, Type, punctuated::Punctuated,
    spanned::Spanned,
};

use super::text;
use crate::{ctxt::Ctxt, types};

/// A key that may be given once.
pub(crate) struct Once<T> {
    key: &'static str,
    seen: bool,
    value: Option<T>,
}

impl<T> Once<T> {
    pub(crate) fn new(key: &'static str) -> Self {
        Once {
            key,
            seen: false,
            value: None,
        }
    }

    /// Sets the value of the key at `at`. A wrong value, which has been reported, is `None`.
    pub(crate) fn set(&mut self, cx: &Ctxt, at: &Meta, value: Option<T>) {
        if self.seen {
            cx.error(at, format!("duplicate key `{}`", self.key));
        } else {
            self.seen = true;
            self.value = value;
        }
    }

    pub(crate) fn get(self) -> Option<T> {
        self.value
    }
}

/// The name of an identifier or a path, without `r#`.
pub(crate) fn unraw(path: &Path) -> String {
    match path.get_ident() {
        Some(ident) => types::name(ident),
        None => text(path),
    }
}

/// The keys of `#[attribute(key, key = value, key(..))]`.
pub(crate) fn keys(cx: &Ctxt, attr: &Attribute) -> Vec<(String, Meta)> {
    keys_with(cx, attr, text_key(&unraw(attr.path())))
}

/// The keys of an attribute in which a text without a key is meant for the `text_key`.
pub(crate) fn keys_with(
    cx: &Ctxt,
    attr: &Attribute,
    text_key: Option<&str>,
) -> Vec<(String, Meta)> {
    match &attr.meta {
        Meta::Path(_) => Vec::new(),
        Meta::NameValue(_) => {
            let name = unraw(attr.path());
            let example = match name.as_str() {
                "document" => "`#[document(collection = \"..\")]`".to_owned(),
                "projection" | "patch" => format!("`#[{name}(of = \"..\")]`"),
                "database" => "`#[database(name = \"..\", version = 1)]`".to_owned(),
                "embed" | "index" | "version" | "opaque" => {
                    format!("`#[{name}]` or `#[{name}(..)]`")
                }
                "created_at" | "updated_at" => format!("`#[{name}]`"),
                _ => format!("`#[{name}(..)]`"),
            };
            cx.error(&attr.meta, format!("expected {example}"));
            Vec::new()
        }
        Meta::List(_) => listed(cx, &attr.meta, text_key),
    }
}

/// The keys in the parentheses of one key.
pub(super) fn nested(cx: &Ctxt, meta: &Meta) -> Vec<(String, Meta)> {
    listed(cx, meta, text_key(&unraw(meta.path())))
}

fn listed(cx: &Ctxt, meta: &Meta, text_key: Option<&str>) -> Vec<(String, Meta)> {
    let Meta::List(list) = meta else {
        let key = text(meta.path());
        cx.error(meta, format!("expected `{key}(..)`"));
        return Vec::new();
    };
    if let Ok(value) = list.parse_args::<LitStr>() {
        cx.error(&value, unkeyed(text_key, &value));
        return Vec::new();
    }
    match list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) {
        Ok(metas) => metas
            .into_iter()
            .map(|meta| (text(meta.path()), meta))
            .collect(),
        Err(error) => {
            cx.syntax(error);
            Vec::new()
        }
    }
}

/// The key for which a text without a key is meant.
fn text_key(attribute: &str) -> Option<&'static str> {
    match attribute {
        "document" | "split" => Some("collection"),
        "projection" | "patch" => Some("of"),
        "database" | "index" => Some("name"),
        _ => None,
    }
}

/// The right form of a text without a key.
fn unkeyed(key: Option<&str>, value: &LitStr) -> String {
    if let Some(key) = key {
        let text = value.token();
        return format!("expected a key before the string: write `{key} = {text}`");
    }
    let text = value.value();
    format!("expected a key, not a string: write `{text}` without quotes")
}

/// The name in backticks for which a text was probably meant, for the end of a message.
pub(crate) fn meant(text: &str, valid: &str) -> String {
    let names = valid.split('`').skip(1).step_by(2);
    let near = names
        .map(|name| (distance(text, name), name))
        .filter(|(distance, name)| *distance <= 1.max(name.len() / 3))
        .min();
    near.map_or_else(String::new, |(_, name)| format!("; did you mean `{name}`?"))
}

/// The number of characters to insert, remove, replace or swap to make one text of the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, other) | (other, 0) => other,
                _ => {
                    let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let mut least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        least = least.min(rows[i - 2][j - 2] + 1);
                    }
                    least
                }
            };
        }
    }
    rows[a.len()][b.len()]
}

/// A key without a value.
pub(crate) fn flag(cx: &Ctxt, meta: &Meta) -> Option<Span> {
    match meta {
        Meta::Path(path) => Some(path.span()),
        _ => {
            cx.error(meta, format!("`{}` takes no value", text(meta.path())));
            None
        }
    }
}

/// `key = "text"`.
pub(crate) fn string(cx: &Ctxt, meta: &Meta) -> Option<LitStr> {
    match literal(meta) {
        Some(Lit::Str(value)) => Some(value.clone()),
        _ => {
            cx.error(
                meta,
                format!("expected a string: `{} = \"..\"`", text(meta.path())),
            );
            None
        }
    }
}

/// A key that has one value only, as `refresh = "later"`.
pub(crate) fn only(cx: &Ctxt, meta: &Meta, value: &str, without: &str) -> Option<()> {
    let key = text(meta.path());
    let Some(Lit::Str(literal)) = literal(meta) else {
        cx.error(meta, format!("expected a string: `{key} = \"{value}\"`"));
        return None;
    };
    if literal.value() == value {
        return Some(());
    }
    cx.error(
        literal,
        format!(
            "unknown value `\"{}\"` of `{key}`: write `{key} = \"{value}\"`; without it, {without}",
            literal.value()
        ),
    );
    None
}

/// `key = 1`.
pub(super) fn integer(cx: &Ctxt, meta: &Meta) -> Option<LitInt> {
    match literal(meta) {
        Some(Lit::Int(value)) => Some(value.clone()),
        _ => {
            cx.error(
                meta,
                format!("expected a whole number: `{} = 1`", text(meta.path())),
            );
            None
        }
    }
}

/// `key = "a::path"`.
pub(super) fn path(cx: &Ctxt, meta: &Meta) -> Option<Path> {
    let value = string(cx, meta)?;
    value.parse_with(Path::parse_mod_style).ok().or_else(|| {
        cx.error(&value, format!("`{}` is not a path", value.value()));
        None
    })
}

/// `key = "Type"`. Errors in the type stand under the literal, but no fix is proposed for it.
pub(crate) fn ty(cx: &Ctxt, meta: &Meta) -> Option<Type> {
    let value = string(cx, meta)?;
    let tokens = value.value().parse().ok();
    let tokens = tokens.map(|tokens| types::located(tokens, value.span()));
    tokens
        .and_then(|tokens| syn::parse2(tokens).ok())
        .or_else(|| {
            cx.error(&value, format!("`{}` is not a type", value.value()));
            None
        })
}

/// A key that is not known here.
pub(crate) fn unknown(cx: &Ctxt, meta: &Meta, attribute: &str, valid: &str) {
    let key = text(meta.path());
    let attribute = if attribute.ends_with(')') {
        attribute.to_owned()
    } else {
        format!("{attribute}(..)")
    };
    cx.error(
        meta.path(),
        format!(
            "unknown key `{key}` in `#[{attribute}]`, expected {valid}{}",
            meant(&key, valid)
        ),
    );
}

/// The literal in `key = literal`. Literals from `macro_rules!` come in a group.
pub(super) fn literal(meta: &Meta) -> Option<&Lit> {
    fn of(expr: &Expr) -> Option<&Lit> {
        match expr {
            Expr::Lit(ExprLit { lit, .. }) => Some(lit),
            Expr::Group(group) => of(&group.expr),
            _ => None,
        }
    }
    match meta {
        Meta::NameValue(pair) => of(&pair.value),
        _ => None,
    }
}

/// The function in `key = path`, which the error describes. Paths from `macro_rules!` come in a group.
pub(crate) fn function(cx: &Ctxt, meta: &Meta, expected: &str) -> Option<Path> {
    fn of(expr: &Expr) -> Option<&Path> {
        match expr {
            Expr::Path(path) => Some(&path.path),
            Expr::Group(group) => of(&group.expr),
            _ => None,
        }
    }
    let path = match meta {
        Meta::NameValue(pair) => of(&pair.value).cloned(),
        _ => None,
    };
    if path.is_none() {
        cx.error(meta, format!("expected a function that {expected}"));
    }
    path
}

/// The tokens of a key with its value, for a span.
pub(super) fn tokens(meta: &Meta) -> proc_macro2::TokenStream {
    meta.to_token_stream()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_proposed() {
        let valid = "`collection`, `index` or `crate`";
        assert_eq!(meant("colection", valid), "; did you mean `collection`?");
        assert_eq!(meant("idnex", valid), "; did you mean `index`?");
        assert_eq!(meant("table", valid), "");
        assert_eq!(meant("", valid), "");
    }
}
