//! The fields that a request may name.

use std::fmt;

use crate::{
    error::{Error, ErrorKind, Result},
    model::{Container, FieldKind, Operand, Shape},
    mql::path,
};

/// How much of a name from a request a message shows.
const SHOWN: usize = 80;

/// The key of a map, in the names that a message lists.
const KEY: &str = "<key>";

/// The fields of a model that a request may name.
#[derive(Debug, Clone)]
pub(super) struct RequestFields {
    collection: &'static str,
    shape: &'static Shape,
    /// The paths that are allowed, each with what is embedded there. `None` for all.
    allowed: Option<Vec<String>>,
}

/// What a request does with a field.
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

    /// Those at these paths. An error tells of a path at which there is none, a mistake of the program's.
    pub(super) fn only(
        collection: &'static str,
        shape: &'static Shape,
        paths: Vec<String>,
    ) -> Result<Self> {
        let names = named(shape, Purpose::Filter, |_| true);
        for path in &paths {
            if !names.iter().any(|name| within(name, path).is_some()) {
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

    /// The field with a name from a request.
    pub(super) fn find(&self, name: &str, purpose: Purpose) -> Result<Operand> {
        // A type within itself has paths of any length, and no document has what is at a longer one.
        let can_be = path::check(name).is_ok() && self.allows(name);
        let found = can_be.then(|| field(self.shape, name, purpose)).flatten();
        found
            .filter(|found| purpose.fits(found))
            .ok_or_else(|| self.unknown(name, purpose))
    }

    fn allows(&self, name: &str) -> bool {
        let allowed = self.allowed.as_ref();
        allowed.is_none_or(|paths| paths.iter().any(|path| is_within(name, path)))
    }

    #[cold]
    fn unknown(&self, name: &str, purpose: Purpose) -> Error {
        let mut names = named(self.shape, purpose, |operand| purpose.fits(operand));
        if let Some(paths) = &self.allowed {
            let allowed = |name: &String| -> Vec<String> {
                paths.iter().filter_map(|path| within(name, path)).collect()
            };
            names = names.iter().flat_map(allowed).collect();
        }
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

/// A path that is listed, with keys of maps as another path has them, if it is that or leads into it.
fn within(listed: &str, outer: &str) -> Option<String> {
    let mut names = listed.split('.');
    let mut path = Vec::new();
    for name in outer.split('.') {
        let listed = names.next()?;
        if listed != name && listed != KEY {
            return None;
        }
        path.push(name);
    }
    path.extend(names);
    Some(path.join("."))
}

/// Whether a path is another, or leads into it.
fn is_within(path: &str, outer: &str) -> bool {
    let rest = path.strip_prefix(outer);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The field at a path that leads through embedded values, of a filter also through lists and maps of them, or to an entry of a
/// map of scalars.
fn field(shape: &Shape, path: &str, purpose: Purpose) -> Option<Operand> {
    let (first, rest) = match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    shape
        .fields
        .iter()
        .find_map(|of| match (embedded(&of.kind, purpose), rest) {
            (Some(inner), _) if of.name.is_empty() => field(inner, path, purpose),
            _ if of.name != first || of.name.is_empty() => None,
            (Some(inner), Some(rest)) if is_map(&of.kind) => {
                let (_, rest) = rest.split_once('.')?;
                field(inner, rest, purpose)
            }
            (Some(inner), Some(rest)) => field(inner, rest, purpose),
            (None, Some(key)) => of.operand?.entry().filter(|_| !key.contains('.')),
            (_, None) => of.operand,
        })
}

/// The fields of the embedded values in a field. A document has no place in an order of one of several values.
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

/// The paths of the fields that a request can name for a purpose. A type within itself is listed once.
fn named(shape: &'static Shape, purpose: Purpose, fits: impl Fn(&Operand) -> bool) -> Vec<String> {
    fn add(
        shape: &'static Shape,
        purpose: Purpose,
        outer: &str,
        around: &mut Vec<*const Shape>,
        fits: &dyn Fn(&Operand) -> bool,
        names: &mut Vec<String>,
    ) {
        if around.contains(&std::ptr::from_ref(shape)) {
            return;
        }
        around.push(shape);
        for field in shape.fields {
            let path = match (outer, field.name) {
                (outer, "") => outer.to_owned(),
                ("", name) => name.to_owned(),
                (outer, name) => format!("{outer}.{name}"),
            };
            if !field.name.is_empty() {
                if field.operand.is_some_and(|operand| fits(&operand)) {
                    names.push(path.clone());
                }
                let entry = field.operand.and_then(Operand::entry);
                if entry.is_some_and(|entry| fits(&entry)) {
                    names.push(format!("{path}.{KEY}"));
                }
            }
            if let Some(inner) = embedded(&field.kind, purpose) {
                let path = match is_map(&field.kind) {
                    true => format!("{path}.{KEY}"),
                    false => path,
                };
                add(inner, purpose, &path, around, fits, names);
            }
        }
        around.pop();
    }
    let mut names = Vec::new();
    add(shape, purpose, "", &mut Vec::new(), &fits, &mut names);
    // Variants of an enum can share a name.
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// The error of what a request says.
#[cold]
pub(super) fn wrong(what: fmt::Arguments<'_>) -> Error {
    Error::new(ErrorKind::InvalidRequest, format!("request: {what}"))
}

/// As much of a text from a request as a message shows.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
