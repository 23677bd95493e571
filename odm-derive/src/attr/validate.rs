//! `#[validate(..)]`: rules for the values of a field, and the validation of a document.

use odm_pattern::Pattern;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{
    Attribute, Expr, Lit, LitStr, Meta, Path, Token, UnOp, punctuated::Punctuated, spanned::Spanned,
};

use super::value::{Once, flag, function, keys, nested, string, unknown};
use crate::ctxt::Ctxt;

/// `#[validate(..)]` on a field.
#[derive(Clone)]
pub(crate) struct Validate {
    /// The attribute's name.
    pub(crate) at: Path,
    pub(crate) rules: Vec<Rule>,
    /// A function that checks a value.
    pub(crate) with: Option<Path>,
}

/// One rule, as a keyword of a schema.
#[derive(Clone)]
pub(crate) struct Rule {
    /// The key that the user wrote.
    pub(crate) at: Span,
    pub(crate) keyword: &'static str,
    pub(crate) value: RuleValue,
    pub(crate) concerns: Concerns,
}

/// The types of values that a rule is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Concerns {
    Number,
    Text,
    List,
}

#[derive(Clone)]
pub(crate) enum RuleValue {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(LitStr),
    List(Vec<RuleValue>),
}

const KEYS: &str = "`min`, `max`, `exclusive_min`, `exclusive_max`, `multiple_of`, `min_length`, \
                    `max_length`, `pattern`, `one_of`, `min_items`, `max_items`, `unique_items` or `with`";

impl Validate {
    pub(super) fn new(cx: &Ctxt, attr: &Attribute) -> Self {
        let mut rules: Vec<Rule> = Vec::new();
        let mut with = Once::new("with");
        let keys = keys(cx, attr);
        if keys.is_empty() && matches!(attr.meta, Meta::Path(_)) {
            cx.error(
                attr.path(),
                "`#[validate(..)]` without a rule: write `#[validate(min = 0)]`",
            );
        }
        for (key, meta) in keys {
            if key == "with" {
                let expected =
                    "takes `&T` and returns a `Result<(), E>` with a message: `with = even`";
                with.set(cx, &meta, function(cx, &meta, expected));
                continue;
            }
            let Some(read) = rules_of(cx, &key, &meta) else {
                continue;
            };
            for rule in read {
                if rules.iter().any(|other| other.keyword == rule.keyword) {
                    cx.error(&meta, format!("`{key}` says again what another rule says"));
                } else {
                    rules.push(rule);
                }
            }
        }
        for (min, max) in [
            ("minimum", "maximum"),
            ("minLength", "maxLength"),
            ("minItems", "maxItems"),
        ] {
            let bound = |keyword: &str| rules.iter().find(|rule| rule.keyword == keyword);
            if let (Some(min), Some(max)) = (bound(min), bound(max))
                && min.value.number() > max.value.number()
            {
                let message = "no value is valid: the lower bound is above the upper one";
                cx.syntax(syn::Error::new(max.at, message));
            }
        }
        Validate {
            at: attr.path().clone(),
            rules,
            with: with.get(),
        }
    }
}

impl RuleValue {
    fn number(&self) -> Option<f64> {
        match self {
            RuleValue::Integer(number) => Some(*number as f64),
            RuleValue::Float(number) => Some(*number),
            _ => None,
        }
    }
}

/// The keywords that a key stands for. `None` if it is wrong, which is reported.
fn rules_of(cx: &Ctxt, key: &str, meta: &Meta) -> Option<Vec<Rule>> {
    let rule = |keyword, value, concerns| Rule {
        at: meta.path().span(),
        keyword,
        value,
        concerns,
    };
    let one = |keyword, value, concerns| Some(vec![rule(keyword, value, concerns)]);
    let exclusive = |bound, keyword, value| {
        let exclusive = rule(keyword, RuleValue::Bool(true), Concerns::Number);
        Some(vec![rule(bound, value, Concerns::Number), exclusive])
    };
    match key {
        "min" => one("minimum", number(cx, meta)?, Concerns::Number),
        "max" => one("maximum", number(cx, meta)?, Concerns::Number),
        "exclusive_min" => exclusive("minimum", "exclusiveMinimum", number(cx, meta)?),
        "exclusive_max" => exclusive("maximum", "exclusiveMaximum", number(cx, meta)?),
        "multiple_of" => {
            let value = number(cx, meta)?;
            if value.number().is_some_and(|number| number <= 0.0) {
                cx.error(meta, "expected a number above 0: `multiple_of = 5`");
                return None;
            }
            one("multipleOf", value, Concerns::Number)
        }
        "min_length" => one("minLength", length(cx, meta)?, Concerns::Text),
        "max_length" => one("maxLength", length(cx, meta)?, Concerns::Text),
        "pattern" => one("pattern", pattern(cx, meta)?, Concerns::Text),
        "one_of" => {
            let (values, concerns) = choices(cx, meta)?;
            one("enum", RuleValue::List(values), concerns)
        }
        "min_items" => one("minItems", length(cx, meta)?, Concerns::List),
        "max_items" => one("maxItems", length(cx, meta)?, Concerns::List),
        "unique_items" => {
            flag(cx, meta)?;
            one("uniqueItems", RuleValue::Bool(true), Concerns::List)
        }
        _ => {
            unknown(cx, meta, "validate", KEYS);
            None
        }
    }
}

/// A value in an expression: a text, or a number with its sign.
fn value(expr: &Expr) -> Option<RuleValue> {
    match expr {
        Expr::Group(group) => value(&group.expr),
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse().ok().map(RuleValue::Integer),
            Lit::Float(number) => number.base10_parse().ok().map(RuleValue::Float),
            Lit::Str(text) => Some(RuleValue::Text(text.clone())),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => match value(&unary.expr)? {
            RuleValue::Integer(number) => Some(RuleValue::Integer(-number)),
            RuleValue::Float(number) => Some(RuleValue::Float(-number)),
            _ => None,
        },
        _ => None,
    }
}

fn value_of(meta: &Meta) -> Option<RuleValue> {
    match meta {
        Meta::NameValue(pair) => value(&pair.value),
        _ => None,
    }
}

fn number(cx: &Ctxt, meta: &Meta) -> Option<RuleValue> {
    let value = value_of(meta).filter(|value| value.number().is_some());
    expected(cx, meta, value, "a number", " = 1")
}

fn length(cx: &Ctxt, meta: &Meta) -> Option<RuleValue> {
    let value = value_of(meta).filter(|value| matches!(value, RuleValue::Integer(0..)));
    expected(cx, meta, value, "a whole number, at least 0", " = 1")
}

/// A regular expression that the library can compile.
fn pattern(cx: &Ctxt, meta: &Meta) -> Option<RuleValue> {
    let text = string(cx, meta)?;
    match Pattern::new(&text.value(), "") {
        Ok(_) if text.value().contains('\0') => {
            cx.error(&text, "a pattern cannot contain a NUL");
            None
        }
        Ok(_) => Some(RuleValue::Text(text)),
        Err(error) => {
            cx.error(&text, error);
            None
        }
    }
}

fn expected<T>(cx: &Ctxt, meta: &Meta, value: Option<T>, what: &str, form: &str) -> Option<T> {
    if value.is_none() {
        let key = meta.path().to_token_stream();
        cx.error(meta, format!("expected {what}: `{key}{form}`"));
    }
    value
}

/// `one_of("a", "b")` or `one_of(1, 2)`.
fn choices(cx: &Ctxt, meta: &Meta) -> Option<(Vec<RuleValue>, Concerns)> {
    let values = match meta {
        Meta::List(list) => {
            let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
            let values = list.parse_args_with(parser).ok();
            values.and_then(|values| values.iter().map(value).collect::<Option<Vec<_>>>())
        }
        _ => None,
    };
    let concerns = values.as_ref().and_then(|values| {
        let is_text = |value: &RuleValue| matches!(value, RuleValue::Text(_));
        match values.iter().filter(|value| is_text(value)).count() {
            _ if values.is_empty() => None,
            0 => Some(Concerns::Number),
            count if count == values.len() => Some(Concerns::Text),
            _ => None,
        }
    });
    let found = values.zip(concerns);
    expected(
        cx,
        meta,
        found,
        "texts, or numbers",
        "(\"small\", \"large\")",
    )
}

/// `#[document(validation(..))]`.
#[derive(Clone, Default)]
pub(crate) struct Validation {
    /// The variant of `ValidationLevel`.
    pub(crate) level: Option<&'static str>,
    /// The variant of `ValidationAction`.
    pub(crate) action: Option<&'static str>,
    /// A function that returns a schema.
    pub(crate) schema: Option<Path>,
}

impl Validation {
    pub(super) fn new(cx: &Ctxt, meta: &Meta) -> Option<Self> {
        let mut level = Once::new("level");
        let mut action = Once::new("action");
        let mut schema = Once::new("schema");
        for (key, meta) in nested(cx, meta) {
            match key.as_str() {
                "level" => {
                    let levels = [
                        ("strict", "Strict"),
                        ("moderate", "Moderate"),
                        ("off", "Off"),
                    ];
                    level.set(cx, &meta, word(cx, &meta, &levels));
                }
                "action" => {
                    let actions = [("error", "Error"), ("warn", "Warn")];
                    action.set(cx, &meta, word(cx, &meta, &actions));
                }
                "schema" => {
                    let expected =
                        "returns the schema as a `bson::Document`: `schema = part_schema`";
                    schema.set(cx, &meta, function(cx, &meta, expected));
                }
                _ => unknown(
                    cx,
                    &meta,
                    "document(validation(..))",
                    "`level`, `action` or `schema`",
                ),
            }
        }
        Some(Validation {
            level: level.get(),
            action: action.get(),
            schema: schema.get(),
        })
    }
}

/// The meaning of one of some words.
fn word(cx: &Ctxt, meta: &Meta, words: &[(&str, &'static str)]) -> Option<&'static str> {
    let literal = string(cx, meta)?;
    let found = words.iter().find(|(word, _)| *word == literal.value());
    if found.is_none() {
        let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        let words = words.join(", ");
        cx.error(&literal, format!("unknown value, expected one of {words}"));
    }
    found.map(|(_, variant)| *variant)
}

impl RuleValue {
    /// As a `RuleValue` of the library.
    pub(crate) fn emit(&self, private: &Ident) -> TokenStream {
        match self {
            RuleValue::Bool(value) => quote!(#private::RuleValue::Bool(#value)),
            RuleValue::Integer(value) => quote!(#private::RuleValue::Integer(#value)),
            RuleValue::Float(value) => quote!(#private::RuleValue::Float(#value)),
            RuleValue::Text(value) => quote!(#private::RuleValue::Text(#value)),
            RuleValue::List(values) => {
                let values = values.iter().map(|value| value.emit(private));
                quote!(#private::RuleValue::List(&[#(#values),*]))
            }
        }
    }
}
