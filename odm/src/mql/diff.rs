//! The difference between two documents, as an update.

use bson::{RawBsonRef, RawDocument};

use super::{Operation, Update};

/// Adds to an update what makes one document of the other, field by field, also in embedded
/// documents. A field that neither holds, such as one that only a newer version of the model knows,
/// stays as it is; `ignored` is a path that is left out.
///
/// # Errors
///
/// An error of `bson` if a document is not well-formed.
pub(crate) fn difference(
    update: &mut Update,
    from: &RawDocument,
    to: &RawDocument,
    ignored: Option<&str>,
) -> Result<(), bson::error::Error> {
    difference_at(update, "", from, to, ignored)
}

fn difference_at(
    update: &mut Update,
    prefix: &str,
    from: &RawDocument,
    to: &RawDocument,
    ignored: Option<&str>,
) -> Result<(), bson::error::Error> {
    for element in to {
        let (name, value) = element?;
        let path = format!("{prefix}{}", name.as_str());
        let before = from.get(name.as_str())?;
        if ignored == Some(&path) || before == Some(value) {
            continue;
        }
        match (before, value) {
            (Some(RawBsonRef::Document(from)), RawBsonRef::Document(to))
                if has_paths(from) && has_paths(to) =>
            {
                difference_at(update, &format!("{path}."), from, to, ignored)?;
            }
            _ => update.push(path, Operation::Set(value.into())),
        }
    }
    for element in from {
        let (name, _) = element?;
        let path = format!("{prefix}{}", name.as_str());
        if ignored != Some(&path) && to.get(name.as_str())?.is_none() {
            update.push(path, Operation::Unset);
        }
    }
    Ok(())
}

/// Whether a path names each field of a document. The keys of a map can be anything.
fn has_paths(document: &RawDocument) -> bool {
    !document.is_empty()
        && document.iter_elements().flatten().all(|element| {
            let name = element.key().as_str();
            !name.is_empty() && !name.contains('.') && !name.starts_with('$')
        })
}
