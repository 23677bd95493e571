//! The attributes of serde, as far as they say how a value is stored.
//!
//! A key that is refused wherever it stands is refused here. Mistakes that serde reports itself, such as an
//! unknown key or a wrong rule, are left to it.

use proc_macro2::{Ident, Span};
use syn::{Attribute, Lit, LitStr, Meta, Path};

use super::{
    case::CaseRule,
    text,
    value::{keys, literal, nested, tokens},
};
use crate::ctxt::Ctxt;

/// The attributes on the struct or enum.
#[derive(Default)]
pub(crate) struct SerdeContainer {
    pub(crate) rename_all: Option<Rename>,
    pub(crate) rename_all_fields: Option<Rename>,
    pub(crate) tag: Option<LitStr>,
    pub(crate) content: Option<LitStr>,
    pub(crate) untagged: bool,
    pub(crate) transparent: Option<Path>,
    pub(crate) deny_unknown_fields: Option<Path>,
    pub(crate) default: bool,
}

/// `rename_all = ".."`.
pub(crate) struct Rename {
    /// The literal in which the rule is named.
    pub(crate) at: LitStr,
    pub(crate) rule: CaseRule,
}

/// The attributes on a variant.
#[derive(Default)]
pub(crate) struct SerdeVariant {
    pub(crate) rename: Option<LitStr>,
    pub(crate) rename_all: Option<Rename>,
    pub(crate) skip: bool,
    pub(crate) untagged: bool,
}

/// The attributes on a field.
#[derive(Default)]
pub(crate) struct SerdeField {
    pub(crate) rename: Option<LitStr>,
    pub(crate) skip: Option<Path>,
    /// `skip_serializing` or `skip_deserializing`.
    pub(crate) half_skip: Option<Path>,
    pub(crate) skip_serializing_if: Option<SkipIf>,
    pub(crate) flatten: Option<Path>,
    /// `with`, `serialize_with` or `deserialize_with`, but for the library's own module.
    pub(crate) with: Option<Path>,
    /// `with = "odm::native"`, whose form the library knows.
    pub(crate) native: bool,
    /// It is written by a function of its own.
    pub(crate) writes_with: bool,
    /// It is read by a function of its own.
    pub(crate) reads_with: bool,
    pub(crate) default: bool,
    /// The function in `default = ".."`.
    pub(crate) default_function: Option<LitStr>,
    /// It borrows, which is an error.
    pub(crate) borrows: bool,
}

/// `skip_serializing_if = ".."`.
pub(crate) struct SkipIf {
    /// The attribute's name.
    pub(crate) at: Path,
    /// Whether it is `Option::is_none`.
    pub(crate) is_none: bool,
}

impl SerdeContainer {
    pub(crate) fn new(cx: &Ctxt, attrs: &[Attribute]) -> Self {
        let mut container = SerdeContainer::default();
        for (key, meta) in metas(attrs) {
            match key.as_str() {
                "rename_all" => container.rename_all = rule(cx, &meta),
                "rename_all_fields" => container.rename_all_fields = rule(cx, &meta),
                "tag" => container.tag = text_of(&meta),
                "content" => container.content = text_of(&meta),
                "untagged" => container.untagged = true,
                "transparent" => container.transparent = Some(meta.path().clone()),
                "default" => container.default = true,
                "deny_unknown_fields" => container.deny_unknown_fields = Some(meta.path().clone()),
                "from" | "try_from" | "into" => cx.error(
                    meta.path(),
                    format!(
                        "`#[serde({key})]` stores the fields of another type, which the library \
                         cannot see: derive on that type, and convert where it is read and written"
                    ),
                ),
                "remote" => cx.error(
                    meta.path(),
                    "`#[serde(remote)]` makes no values of this type: derive on a type of your own",
                ),
                _ => {}
            }
        }
        container
    }
}

impl SerdeVariant {
    pub(crate) fn new(cx: &Ctxt, attrs: &[Attribute]) -> Self {
        let mut variant = SerdeVariant::default();
        for (key, meta) in metas(attrs) {
            match key.as_str() {
                "rename" => variant.rename = name(cx, &meta),
                "rename_all" => variant.rename_all = rule(cx, &meta),
                "skip" => variant.skip = true,
                "untagged" => variant.untagged = true,
                "skip_serializing" | "skip_deserializing" => cx.error(
                    meta.path(),
                    format!(
                        "`#[serde({key})]` on a variant leaves values that can be written but not \
                         read, or the other way round: write `#[serde(skip)]`"
                    ),
                ),
                "with" | "serialize_with" | "deserialize_with" => cx.error(
                    meta.path(),
                    format!(
                        "`#[serde({key})]` hides how the variant is stored: put it on a field, or \
                         give the variant a type of its own"
                    ),
                ),
                "alias" => cx.error(
                    meta.path(),
                    "a variant is stored under one name: instead of an alias, change the stored \
                     documents, by an update",
                ),
                "borrow" => borrow(cx, &meta),
                _ => {}
            }
        }
        variant
    }
}

impl SerdeField {
    /// `krate` is the path of this library.
    pub(crate) fn new(cx: &Ctxt, krate: &Path, attrs: &[Attribute]) -> Self {
        let mut field = SerdeField::default();
        for (key, meta) in metas(attrs) {
            let path = || Some(meta.path().clone());
            match key.as_str() {
                "rename" => field.rename = name(cx, &meta),
                "skip" => field.skip = path(),
                "skip_serializing" | "skip_deserializing" => field.half_skip = path(),
                "skip_serializing_if" => {
                    let is_none = text_of(&meta)
                        .is_some_and(|function| function.value().ends_with("Option::is_none"));
                    let at = meta.path().clone();
                    field.skip_serializing_if = Some(SkipIf { at, is_none });
                }
                "flatten" => field.flatten = path(),
                "with" if is_native(krate, &meta) => {
                    field.native = true;
                    field.reads_with = true;
                }
                "with" | "serialize_with" | "deserialize_with" => {
                    field.with = path();
                    field.writes_with |= key != "deserialize_with";
                    field.reads_with |= key != "serialize_with";
                }
                "alias" => cx.error(
                    meta.path(),
                    "a field is found under one stored name: instead of an alias, rename it in the \
                     stored documents, by `#[document(renamed(from = \"..\", to = \"..\"))]`",
                ),
                "default" => {
                    field.default = true;
                    field.default_function = text_of(&meta);
                }
                "borrow" => {
                    field.borrows = true;
                    borrow(cx, &meta);
                }
                _ => {}
            }
        }
        field
    }
}

/// Whether a module is that of this library.
fn is_native(krate: &Path, meta: &Meta) -> bool {
    let named = text_of(meta).and_then(|module| module.parse::<Path>().ok());
    named.is_some_and(|module| {
        let names = |path: &Path| {
            let segments = path.segments.iter();
            segments
                .map(|segment| segment.ident.clone())
                .collect::<Vec<_>>()
        };
        let mut native = names(krate);
        native.push(Ident::new("native", Span::call_site()));
        names(&module) == native
    })
}

fn metas(attrs: &[Attribute]) -> Vec<(String, Meta)> {
    // serde reports in its own words the attributes that do not parse.
    let cx = Ctxt::new();
    let serde = attrs.iter().filter(|attr| attr.path().is_ident("serde"));
    let metas = serde.flat_map(|attr| keys(&cx, attr)).collect();
    cx.forget();
    metas
}

/// A database is not stored, so attributes of serde have no meaning in it.
pub(crate) fn refuse(cx: &Ctxt, attrs: &[Attribute]) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        cx.error(
            attr.path(),
            "a database is not stored: remove `#[serde(..)]`",
        );
    }
}

fn borrow(cx: &Ctxt, meta: &Meta) {
    cx.error(
        meta,
        "a stored value owns what is in it and cannot borrow: use an owned type",
    );
}

fn text_of(meta: &Meta) -> Option<LitStr> {
    match literal(meta) {
        Some(Lit::Str(value)) => Some(value.clone()),
        _ => None,
    }
}

fn rule(cx: &Ctxt, meta: &Meta) -> Option<Rename> {
    let at = name(cx, meta)?;
    let rule = CaseRule::of(&at.value())?;
    Some(Rename { at, rule })
}

/// `key = ".."` or `key(serialize = "..", deserialize = "..")` with the same for both.
fn name(cx: &Ctxt, meta: &Meta) -> Option<LitStr> {
    let Meta::List(_) = meta else {
        return text_of(meta);
    };
    let side = |side: &str| {
        let cx = Ctxt::new();
        let sides = nested(&cx, meta);
        cx.forget();
        sides
            .iter()
            .find(|(key, _)| key == side)
            .and_then(|(_, meta)| text_of(meta))
    };
    let (written, read) = (side("serialize"), side("deserialize"));
    if written.as_ref().map(LitStr::value) != read.as_ref().map(LitStr::value) {
        let key = text(meta.path());
        cx.error(
            tokens(meta),
            format!(
                "what is stored under one name cannot be read under another: write `{key} = \"..\"`"
            ),
        );
    }
    read
}
