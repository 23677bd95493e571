//! The fields that a request may name.

use std::fmt;

use odm_mql::path;
use odm_store::{Error, ErrorKind, Result};

use crate::model::{Container, FieldKind, Operand, Shape};

/// The length to which a message shortens a name from a request.
const SHOWN: usize = 80;

/// The key of a map, in the names that a message lists.
const KEY: &str = "<key>";

/// The fields of a model that a request may name.
#[derive(Debug, Clone)]
pub(super) struct RequestFields {
    collection: &'static str,
    shape: &'static Shape,
    /// The allowed paths, each with the fields embedded at it. `None` for all fields.
    allowed: Option<Vec<String>>,
}

/// The use of a field in a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Purpose {
    Sort,
    Filter,
}

impl Purpose {
    fn fits(self, operand: &Operand) -> bool {
        match self {
            Purpose::Sort => operand.is_ordered,
            Purpose::Filter => operand.is_comparable(),
        }
    }
}

impl RequestFields {
    pub(super) fn all(collection: &'static str, shape: &'static Shape) -> Result<Self> {
        Ok(RequestFields {
            collection,
            shape,
            allowed: None,
        })
    }

    /// The fields at these paths. A path without such a field is a mistake of the program, and an error.
    pub(super) fn only(
        collection: &'static str,
        shape: &'static Shape,
        paths: Vec<String>,
    ) -> Result<Self> {
        let names = named(shape, Purpose::Filter, &|_| true, |_| true);
        for path in &paths {
            if !names.iter().any(|name| name.within(path).is_some()) {
                let message = format!(
                    "allowed path `{path}` of `{collection}`: there is no field that a request could sort or filter by"
                );
                return Err(Error::new(ErrorKind::InvalidQuery, message));
            }
        }
        Ok(RequestFields {
            collection,
            shape,
            allowed: Some(paths),
        })
    }

    /// The field with a name from a request, and its stored path.
    pub(super) fn find(&self, name: &str, purpose: Purpose) -> Result<(Operand, String)> {
        // A recursive type has paths of any length, but no document has a value at a path that `check` refuses as too long.
        let can_be = path::check(name).is_ok();
        let sees = |hidden: &str| self.sees(hidden);
        let found = can_be.then(|| field(self.shape, name, purpose, "", &sees));
        found
            .flatten()
            .filter(|(operand, path)| purpose.fits(operand) && self.allows(path))
            .ok_or_else(|| self.unknown(name, purpose))
    }

    fn allows(&self, path: &str) -> bool {
        let allowed = self.allowed.as_ref();
        allowed.is_none_or(|paths| paths.iter().any(|outer| is_within(path, outer)))
    }

    /// Whether a request may name a field that clients do not see: only if the program allows its path.
    fn sees(&self, hidden: &str) -> bool {
        let mut allowed = self.allowed.iter().flatten();
        allowed.any(|path| is_within(path, hidden))
    }

    #[cold]
    fn unknown(&self, name: &str, purpose: Purpose) -> Error {
        let sees = |hidden: &str| self.sees(hidden);
        let names = named(self.shape, purpose, &sees, |operand| purpose.fits(operand));
        let names: Vec<String> = match &self.allowed {
            None => names.into_iter().map(|name| name.public).collect(),
            Some(paths) => {
                let allowed = |name: &Named| -> Vec<String> {
                    paths.iter().filter_map(|path| name.within(path)).collect()
                };
                names.iter().flat_map(allowed).collect()
            }
        };
        let cannot = match purpose {
            Purpose::Sort => "sorted",
            Purpose::Filter => "filtered",
        };
        let (collection, name) = (self.collection, shortened(name));
        match names.is_empty() {
            true => wrong(format_args!(
                "`{collection}` cannot be {cannot} by any field"
            )),
            false => wrong(format_args!(
                "`{collection}` cannot be {cannot} by `{name}`: use `{}`",
                names.join("`, `")
            )),
        }
    }
}

/// Whether a path is another, or leads into it.
fn is_within(path: &str, outer: &str) -> bool {
    let rest = path.strip_prefix(outer);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn join(outer: &str, name: &str) -> String {
    match (outer, name) {
        (outer, "") => outer.to_owned(),
        ("", name) => name.to_owned(),
        (outer, name) => format!("{outer}.{name}"),
    }
}

/// The field with a path as clients see it, and its stored path. It leads through embedded values, in a filter also through lists and maps
/// of them, or to an entry of a map of scalars.
fn field(
    shape: &Shape,
    path: &str,
    purpose: Purpose,
    outer: &str,
    sees: &dyn Fn(&str) -> bool,
) -> Option<(Operand, String)> {
    let (first, rest) = match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    shape.fields.iter().find_map(|of| {
        let inner = embedded(&of.kind, purpose);
        if of.name.is_empty() {
            return field(
                inner.filter(|_| of.public.is_some())?,
                path,
                purpose,
                outer,
                sees,
            );
        }
        let stored = join(outer, of.name);
        let is_seen = of.public.is_some() || sees(&stored);
        if of.public.unwrap_or(of.name) != first || !is_seen {
            return None;
        }
        match (inner, rest) {
            (Some(inner), Some(rest)) if is_map(&of.kind) => {
                let (key, rest) = rest.split_once('.')?;
                field(inner, rest, purpose, &join(&stored, key), sees)
            }
            (Some(inner), Some(rest)) => field(inner, rest, purpose, &stored, sees),
            (None, Some(key)) if key.contains('.') => None,
            (None, Some(key)) => Some((of.described.operand?.entry()?, join(&stored, key))),
            (_, None) => Some((of.described.operand?, stored)),
        }
    })
}

/// The fields of the embedded values in a field. A sort cannot use a field with several values in one document.
fn embedded(kind: &FieldKind, purpose: Purpose) -> Option<&'static Shape> {
    let FieldKind::Embed { shape, container } = kind else {
        return None;
    };
    let is_single = matches!(container, Container::One | Container::Optional);
    let are_several = matches!(container, Container::Many | Container::Map);
    (is_single || are_several && purpose == Purpose::Filter).then(shape)
}

fn is_map(kind: &FieldKind) -> bool {
    let container = match kind {
        FieldKind::Embed { container, .. } => *container,
        _ => return false,
    };
    container == Container::Map
}

/// A field that a request can name.
struct Named {
    /// The path as clients see it.
    public: String,
    /// The stored path, with the same number of names.
    stored: String,
}

impl Named {
    /// The path as clients see it, with keys of maps as a stored path has them, if the field is there or within.
    fn within(&self, outer: &str) -> Option<String> {
        let mut names = self.public.split('.').zip(self.stored.split('.'));
        let mut path = Vec::new();
        for outer in outer.split('.') {
            path.push(match names.next()? {
                (_, KEY) => outer,
                (public, stored) if stored == outer => public,
                _ => return None,
            });
        }
        path.extend(names.map(|(public, _)| public));
        Some(path.join("."))
    }
}

/// The fields that a request can name for a purpose. A recursive type is listed once.
fn named(
    shape: &'static Shape,
    purpose: Purpose,
    sees: &dyn Fn(&str) -> bool,
    fits: impl Fn(&Operand) -> bool,
) -> Vec<Named> {
    fn add(
        shape: &'static Shape,
        (purpose, sees): (Purpose, &dyn Fn(&str) -> bool),
        outer: &Named,
        around: &mut Vec<*const Shape>,
        fits: &dyn Fn(&Operand) -> bool,
        names: &mut Vec<Named>,
    ) {
        if around.contains(&std::ptr::from_ref(shape)) {
            return;
        }
        around.push(shape);
        for field in shape.fields {
            let path = Named {
                public: join(&outer.public, field.public.unwrap_or(field.name)),
                stored: join(&outer.stored, field.name),
            };
            if field.public.is_none() && (field.name.is_empty() || !sees(&path.stored)) {
                continue;
            }
            let entry = |path: &Named| Named {
                public: join(&path.public, KEY),
                stored: join(&path.stored, KEY),
            };
            let of_entry = field.described.operand.and_then(Operand::entry);
            if of_entry.is_some_and(|operand| fits(&operand)) {
                names.push(entry(&path));
            }
            if let Some(inner) = embedded(&field.kind, purpose) {
                if is_map(&field.kind) {
                    add(inner, (purpose, sees), &entry(&path), around, fits, names);
                } else {
                    add(inner, (purpose, sees), &path, around, fits, names);
                }
            }
            if !field.name.is_empty()
                && field
                    .described
                    .operand
                    .is_some_and(|operand| fits(&operand))
            {
                names.push(path);
            }
        }
        around.pop();
    }
    let mut names = Vec::new();
    let root = Named {
        public: String::new(),
        stored: String::new(),
    };
    add(
        shape,
        (purpose, sees),
        &root,
        &mut Vec::new(),
        &fits,
        &mut names,
    );
    // Variants of an enum can share a name.
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.public.clone()));
    names
}

/// An error in a request.
#[cold]
pub(super) fn wrong(what: fmt::Arguments<'_>) -> Error {
    Error::new(ErrorKind::InvalidRequest, format!("request: {what}"))
}

/// Shortens a text from a request for a message.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
