//! `index(fields = "a, -b.c", unique, filter = path, name = "..")`.

use syn::{Ident, LitStr, Meta, Path};

use super::value::{Once, flag, function, nested, string, unknown};
use crate::{ctxt::Ctxt, types::ident};

/// A declared index of several fields.
#[derive(Clone)]
pub(crate) struct Index {
    /// The literal in which the fields are named.
    pub(crate) literal: LitStr,
    pub(crate) keys: Vec<Key>,
    pub(crate) unique: bool,
    pub(crate) case_insensitive: bool,
    /// A function that returns the filter of a partial index.
    pub(crate) filter: Option<Path>,
    pub(crate) name: Option<LitStr>,
}

/// One field of an index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    /// The Rust fields on the path to it.
    pub(crate) path: Vec<Ident>,
    /// The key of the entry, if that is a map.
    pub(crate) entry: Option<String>,
    pub(crate) descending: bool,
}

impl Index {
    /// Reads `index(..)`, or `unique(..)`, which is an index that is unique.
    pub(super) fn new(cx: &Ctxt, meta: &Meta) -> Option<Self> {
        let is_unique = meta.path().is_ident("unique");
        let form = if is_unique { "unique" } else { "index" };
        let mut fields = Once::new("fields");
        let mut unique = Once::new("unique");
        let mut case_insensitive = Once::new("case_insensitive");
        let mut filter_of = Once::new("filter");
        let mut name_of = Once::new("name");
        let before = cx.count();
        for (key, meta) in nested(cx, meta) {
            match key.as_str() {
                "fields" => fields.set(cx, &meta, string(cx, &meta)),
                "unique" if !is_unique => unique.set(cx, &meta, flag(cx, &meta)),
                "case_insensitive" => case_insensitive.set(cx, &meta, flag(cx, &meta)),
                "filter" => filter_of.set(cx, &meta, filter(cx, &meta)),
                "name" => name_of.set(cx, &meta, name(cx, &meta)),
                _ => unknown(
                    cx,
                    &meta,
                    &format!("document({form}(..))"),
                    if is_unique {
                        "`fields`, `case_insensitive`, `filter` or `name`"
                    } else {
                        "`fields`, `unique`, `case_insensitive`, `filter` or `name`"
                    },
                ),
            }
        }
        let Some(literal) = fields.get() else {
            if cx.count() == before {
                cx.error(
                    meta,
                    format!("index without fields: write `{form}(fields = \"a, -b.c\")`"),
                );
            }
            return None;
        };
        match keys(&literal, "an index", "index(fields = \"a, -b.c\")") {
            Ok(keys) => Some(Index {
                literal,
                keys,
                unique: is_unique || unique.get().is_some(),
                case_insensitive: case_insensitive.get().is_some(),
                filter: filter_of.get(),
                name: name_of.get(),
            }),
            Err(message) => {
                cx.error(&literal, message);
                None
            }
        }
    }
}

/// The function that returns the filter of a partial index.
pub(super) fn filter(cx: &Ctxt, meta: &Meta) -> Option<Path> {
    function(
        cx,
        meta,
        "returns a `Filter` of the document: `filter = active`",
    )
}

/// The name of an index.
pub(super) fn name(cx: &Ctxt, meta: &Meta) -> Option<LitStr> {
    let name = string(cx, meta)?;
    if name.value().is_empty() || name.value().contains('\0') {
        cx.error(&name, "the name of an index is not empty and holds no NUL");
        return None;
    }
    Some(name)
}

/// Reads `a, -b.c`.
pub(crate) fn keys(literal: &LitStr, what: &str, form: &str) -> Result<Vec<Key>, String> {
    let text = literal.value();
    if text.trim().is_empty() {
        return Err(format!("{what} has at least one field: `{form}`"));
    }
    let mut keys: Vec<Key> = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (descending, path) = match part.strip_prefix('-') {
            Some(path) => (true, path.trim_start()),
            None => (false, part),
        };
        if path.is_empty() {
            return Err(format!("a field is missing in `{text}`"));
        }
        let (path, entry) = match path.strip_suffix(']').and_then(|path| path.split_once('[')) {
            Some((path, entry)) => (path, Some(entry.to_owned())),
            None => (path, None),
        };
        if let Some(entry) = &entry
            && (entry.is_empty() || entry.starts_with('$') || entry.contains(['.', '\0']))
        {
            return Err(format!(
                "no path leads to the entry `{entry}` of a map: its key is empty, begins with `$`, or has a dot or a NUL in it"
            ));
        }
        let path = path
            .split('.')
            .map(|name| {
                ident(name, literal.span()).ok_or_else(|| {
                    format!(
                        "`{name}` is not the name of a field: write the names of Rust fields, with \
                         dots between them, `-` before a descending one, and the key of a map's entry as in `names[en]`"
                    )
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        if keys
            .iter()
            .any(|key| key.path == path && key.entry == entry)
        {
            return Err(format!("`{part}` is in {what} twice"));
        }
        keys.push(Key {
            path,
            entry,
            descending,
        });
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<(bool, String)>, String> {
        let keys = keys(
            &LitStr::new(text, proc_macro2::Span::call_site()),
            "an index",
            "..",
        )?;
        let path = |key: &Key| {
            let names = key.path.iter().map(ToString::to_string);
            let names: Vec<_> = names.chain(key.entry.clone()).collect();
            names.join("/")
        };
        Ok(keys.iter().map(|key| (key.descending, path(key))).collect())
    }

    #[test]
    fn fields_are_rust_names_with_dots_and_signs() {
        assert_eq!(
            parse(" a, -b.c ,- type").unwrap(),
            [
                (false, "a".into()),
                (true, "b/c".into()),
                (true, "r#type".into())
            ]
        );
    }

    #[test]
    fn what_is_no_field_is_named() {
        assert!(parse("").unwrap_err().contains("at least one"));
        assert!(parse("a,,b").unwrap_err().contains("missing"));
        assert!(parse("a, -").unwrap_err().contains("missing"));
        assert!(parse("a b").unwrap_err().contains("`a b`"));
        assert!(parse("a..b").unwrap_err().contains("not the name"));
        assert!(parse("tags.$").unwrap_err().contains("`$`"));
        assert!(parse("a, -a").unwrap_err().contains("twice"));
    }
}
