//! A value at a path that leads through documents only.

use bson::{RawBsonRef, RawDocument, RawDocumentBuf, spec::ElementType};

use crate::{
    Error, path,
    write::{Name, Writer, fields},
};

/// The document with a value at a path, or without one there.
///
/// Unlike in `$set` any value on the path that is not a document, an array too, becomes one.
pub(super) fn with_value(
    document: &RawDocument,
    path: &str,
    value: Option<RawBsonRef<'_>>,
) -> Result<RawDocumentBuf, Error> {
    let mut out = Writer::with_capacity(document.as_bytes().len());
    let open = out.begin();
    in_document(&mut out, Some(document), path, value)?;
    out.finish(open)
}

fn in_document(
    out: &mut Writer,
    document: Option<&RawDocument>,
    path: &str,
    value: Option<RawBsonRef<'_>>,
) -> Result<(), Error> {
    let (name, rest) = path::split(path);
    let mut is_written = false;
    for element in document.into_iter().flat_map(fields) {
        let element = element?;
        if is_written || element.name() != name {
            out.copy(&element);
            continue;
        }
        is_written = true;
        in_field(out, name, Some(element.value()?), rest, value)?;
    }
    match is_written {
        true => Ok(()),
        false => in_field(out, name, None, rest, value),
    }
}

fn in_field(
    out: &mut Writer,
    name: &str,
    old: Option<RawBsonRef<'_>>,
    rest: Option<&str>,
    value: Option<RawBsonRef<'_>>,
) -> Result<(), Error> {
    let (inner, rest) = match (old, rest, value) {
        (_, None, None) => return Ok(()),
        (_, None, Some(value)) => {
            out.element(Name::Field(name), value);
            return Ok(());
        }
        (Some(RawBsonRef::Document(inner)), Some(rest), _) => (Some(inner), rest),
        // There is nothing to remove.
        (Some(old), Some(_), None) => {
            out.element(Name::Field(name), old);
            return Ok(());
        }
        (None, Some(_), None) => return Ok(()),
        (_, Some(rest), Some(_)) => (None, rest),
    };
    out.head(ElementType::EmbeddedDocument, Name::Field(name));
    let open = out.begin();
    in_document(out, inner, rest, value)?;
    out.end(open)
}
