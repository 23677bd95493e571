//! `#[reference(parent, one, unchecked, on_delete = "..", inverse = "..")]`.

use proc_macro2::{Ident, Span};
use syn::{Attribute, LitStr, Meta, Path};

use super::value::{Once, flag, keys, meant, string, unknown};
use crate::{ctxt::Ctxt, types::ident};

/// `#[reference(..)]`.
pub(crate) struct Reference {
    /// The attribute's name.
    pub(crate) at: Path,
    pub(crate) parent: bool,
    pub(crate) one: bool,
    /// The place of the key.
    pub(crate) unchecked: Option<Span>,
    /// The literal in which the rule is named, and the rule.
    pub(crate) on_delete: Option<(LitStr, OnDelete)>,
    /// The field of the referenced document that is the inverse reference.
    pub(crate) inverse: Option<(LitStr, Ident)>,
}

/// The effect of deleting a referenced document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnDelete {
    Restrict,
    Cascade,
    Nullify,
    Pull,
    Keep,
}

impl OnDelete {
    const ALL: [(&str, OnDelete); 5] = [
        ("restrict", OnDelete::Restrict),
        ("cascade", OnDelete::Cascade),
        ("nullify", OnDelete::Nullify),
        ("pull", OnDelete::Pull),
        ("keep", OnDelete::Keep),
    ];

    /// The variant of `odm::model::OnDelete`.
    pub(crate) fn variant(self) -> &'static str {
        match self {
            OnDelete::Restrict => "Restrict",
            OnDelete::Cascade => "Cascade",
            OnDelete::Nullify => "Nullify",
            OnDelete::Pull => "Pull",
            OnDelete::Keep => "Keep",
        }
    }
}

impl Reference {
    pub(super) fn new(cx: &Ctxt, attr: &Attribute) -> Self {
        let mut child: Once<Span> = Once::new("child");
        let mut parent: Once<Span> = Once::new("parent");
        let mut one: Once<Meta> = Once::new("one");
        let mut unchecked = Once::new("unchecked");
        let mut on_delete = Once::new("on_delete");
        let mut inverse = Once::new("inverse");
        let before = cx.count();
        for (key, meta) in keys(cx, attr) {
            match key.as_str() {
                "child" => child.set(cx, &meta, flag(cx, &meta)),
                "parent" => parent.set(cx, &meta, flag(cx, &meta)),
                "one" => one.set(cx, &meta, flag(cx, &meta).map(|_| meta.clone())),
                "unchecked" => unchecked.set(cx, &meta, flag(cx, &meta)),
                "on_delete" => on_delete.set(cx, &meta, self::on_delete(cx, &meta)),
                "inverse" => inverse.set(cx, &meta, self::inverse(cx, &meta)),
                _ => unknown(
                    cx,
                    &meta,
                    "reference",
                    "`child`, `parent`, `one`, `unchecked`, `on_delete` or `inverse`",
                ),
            }
        }
        let (child, parent) = (child.get().is_some(), parent.get().is_some());
        let one = one.get();
        let mistaken = cx.count() > before;
        if child && parent {
            cx.error(
                &attr.meta,
                "a reference is one to a `child` or to a `parent`: remove one of the two",
            );
        } else if !child && !parent && !mistaken {
            cx.error(
                &attr.meta,
                "reference without a direction: write `#[reference(child)]` if this document lists what \
                 belongs to it, or `#[reference(parent)]` if it belongs to the referenced document",
            );
        } else if let (Some(one), false, false) = (&one, parent, mistaken) {
            cx.error(
                one,
                "`one` means that a parent has at most one such child: use it with `parent`, not \
                 with `child`",
            );
        }
        Reference {
            at: attr.path().clone(),
            parent,
            one: one.is_some(),
            unchecked: unchecked.get(),
            on_delete: on_delete.get(),
            inverse: inverse.get(),
        }
    }

    /// The delete rule, if one is given.
    pub(crate) fn rule(&self) -> Option<OnDelete> {
        self.on_delete.as_ref().map(|(_, rule)| *rule)
    }

    /// Whether it may dangle.
    pub(crate) fn dangles(&self) -> bool {
        self.unchecked.is_some() || self.rule() == Some(OnDelete::Keep)
    }
}

fn on_delete(cx: &Ctxt, meta: &Meta) -> Option<(LitStr, OnDelete)> {
    let literal = string(cx, meta)?;
    let text = literal.value();
    const RULES: &str = "`restrict`, `cascade`, `nullify`, `pull` or `keep`";
    let rule = OnDelete::ALL.iter().find(|(name, _)| *name == text);
    if rule.is_none() {
        cx.error(
            &literal,
            format!(
                "unknown delete rule `{text}`, expected {RULES}{}",
                meant(&text, RULES)
            ),
        );
    }
    rule.map(|(_, rule)| (literal, *rule))
}

fn inverse(cx: &Ctxt, meta: &Meta) -> Option<(LitStr, Ident)> {
    let literal = string(cx, meta)?;
    let field = ident(&literal.value(), literal.span());
    if field.is_none() {
        cx.error(
            &literal,
            format!(
                "`{}` is not the name of a field of the referenced document",
                literal.value()
            ),
        );
    }
    field.map(|field| (literal, field))
}
