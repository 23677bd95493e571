//! `#[subset(limit = 10, sort = "-a, b.c", via = "parent", filter = path, refresh = "later")]`.

use syn::{Attribute, Expr, ExprLit, ExprUnary, Lit, LitStr, Meta, Path, UnOp};

use super::super::children::{self, ReferencePath};
use crate::{
    attr::{
        index::{self, Key},
        value::{Once, keys_with, string, unknown},
    },
    ctxt::Ctxt,
};

/// A bounded array of children.
#[derive(Clone)]
pub(crate) struct Subset {
    /// The number of children; negative for the last ones.
    pub(crate) limit: i64,
    /// The literal in which the sort keys are named, and the keys.
    pub(crate) sort: Option<(LitStr, Vec<Key>)>,
    /// The child's reference to the holder.
    pub(crate) via: Option<ReferencePath>,
    /// A function that returns a filter.
    pub(crate) filter: Option<Path>,
    /// Whether it follows the children after the unit that changes them.
    pub(crate) deferred: bool,
}

impl Subset {
    pub(super) fn new(cx: &Ctxt, attr: &Attribute) -> Self {
        let mut limit = Once::new("limit");
        let mut sort = Once::new("sort");
        let mut via = Once::new("via");
        let mut filter = Once::new("filter");
        let mut refresh = Once::new("refresh");
        let before = cx.count();
        for (key, meta) in keys_with(cx, attr, Some("sort")) {
            match key.as_str() {
                "limit" => limit.set(cx, &meta, self::limit(cx, &meta)),
                "sort" => sort.set(cx, &meta, self::sort(cx, &meta)),
                "via" => via.set(cx, &meta, children::reference(cx, &meta, "the child")),
                "filter" => filter.set(cx, &meta, children::filter(cx, &meta)),
                "refresh" => refresh.set(cx, &meta, children::refresh(cx, &meta)),
                _ => unknown(
                    cx,
                    &meta,
                    "subset",
                    "`limit`, `sort`, `via`, `filter` or `refresh`",
                ),
            }
        }
        let (limit, sort) = (limit.get(), sort.get());
        if cx.count() == before && (limit.is_none() || sort.is_none()) {
            cx.error(
                &attr.meta,
                "subset without a limit or a sort: write `#[subset(limit = 10, sort = \"-field\")]`",
            );
        }
        Subset {
            limit: limit.unwrap_or(1),
            sort,
            via: via.get(),
            filter: filter.get(),
            deferred: refresh.get().is_some(),
        }
    }
}

/// `limit = 10` or `limit = -10`.
fn limit(cx: &Ctxt, meta: &Meta) -> Option<i64> {
    let limit = match meta {
        Meta::NameValue(pair) => integer(&pair.value),
        _ => None,
    };
    match limit {
        Some(0) => cx.error(
            meta,
            "a subset of no children shows nothing: remove the field",
        ),
        Some(limit) => return Some(limit),
        None => cx.error(
            meta,
            "expected a whole number: `limit = 10`, or `-10` for the last ten",
        ),
    }
    None
}

fn integer(value: &Expr) -> Option<i64> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) => number.base10_parse::<i32>().ok().map(i64::from),
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => integer(expr).map(|number| -number),
        Expr::Group(group) => integer(&group.expr),
        _ => None,
    }
}

fn sort(cx: &Ctxt, meta: &Meta) -> Option<(LitStr, Vec<Key>)> {
    let literal = string(cx, meta)?;
    match index::keys(&literal, "a sort", "sort = \"a, -b.c\"") {
        Ok(keys) => Some((literal, keys)),
        Err(message) => {
            cx.error(&literal, message);
            None
        }
    }
}
