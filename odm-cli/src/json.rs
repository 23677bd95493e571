//! Documents as relaxed extended JSON, with the fields in their order.

use std::fmt::Write as _;

use mongodb::bson::{Bson, Document};

/// How deep a value in a document can lie; a deeper one is shown as `".."`.
const DEPTH: usize = 200;

/// A document on one line.
pub(crate) fn line(document: &Document) -> String {
    let mut json = String::new();
    write_document(document, None, DEPTH, &mut json);
    json
}

/// A value on one line.
pub(crate) fn value(value: &Bson) -> String {
    let mut json = String::new();
    write(value, None, DEPTH, &mut json);
    json
}

/// A document on many lines, indented.
pub(crate) fn pretty(document: &Document) -> String {
    let mut json = String::new();
    write_document(document, Some(0), DEPTH, &mut json);
    json
}

/// Writes a value, indented by a number of levels.
fn write(value: &Bson, indent: Option<usize>, depth: usize, to: &mut String) {
    match value {
        Bson::Document(_) | Bson::Array(_) if depth == 0 => to.push_str("\"..\""),
        Bson::Document(document) => write_document(document, indent, depth, to),
        Bson::Array(list) => {
            // A list of scalars stays on its line.
            let is_flat = list
                .iter()
                .all(|element| !matches!(element, Bson::Document(_) | Bson::Array(_)));
            let inner = indent.filter(|_| !is_flat);
            write_all(['[', ']'], list, inner, to, |element, indent, to| {
                write(element, indent, depth - 1, to)
            });
        }
        scalar => {
            // Writing to a text cannot fail.
            let _ = write!(to, "{}", scalar.clone().into_relaxed_extjson());
        }
    }
}

fn write_document(document: &Document, indent: Option<usize>, depth: usize, to: &mut String) {
    write_all(
        ['{', '}'],
        document,
        indent,
        to,
        |(name, value), indent, to| {
            let colon = if indent.is_some() { ": " } else { ":" };
            let _ = write!(to, "{}{colon}", serde_json::Value::from(name.as_str()));
            write(value, indent, depth - 1, to);
        },
    );
}

fn write_all<I: IntoIterator>(
    [open, close]: [char; 2],
    all: I,
    indent: Option<usize>,
    to: &mut String,
    each: impl Fn(I::Item, Option<usize>, &mut String),
) {
    to.push(open);
    let inner = indent.map(|level| level + 1);
    let mut is_empty = true;
    for one in all {
        if !is_empty {
            to.push(',');
        }
        is_empty = false;
        new_line(inner, to);
        each(one, inner, to);
    }
    if !is_empty {
        new_line(indent, to);
    }
    to.push(close);
}

fn new_line(indent: Option<usize>, to: &mut String) {
    if let Some(level) = indent {
        to.push('\n');
        to.push_str(&"  ".repeat(level));
    }
}

#[cfg(test)]
mod tests;
