//! Which attribute belongs on what.

use syn::Attribute;

use super::unraw;
use crate::{ast::Derive, ctxt::Ctxt};

/// Where an attribute stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// On the struct or enum.
    Container,
    /// On a variant of an enum.
    Variant,
    /// On a field.
    Field,
}

const OWN: [&str; 11] = [
    "document",
    "embed",
    "reference",
    "index",
    "version",
    "subset",
    "split",
    "denormalize",
    "count",
    "projection",
    "database",
];

/// Our attributes among all, as far as they belong here. The others are reported.
pub(super) fn own<'a>(
    cx: &Ctxt,
    derive: Derive,
    place: Place,
    attrs: &'a [Attribute],
) -> Vec<&'a Attribute> {
    let mut own = Vec::new();
    for attr in attrs {
        let name = unraw(attr.path());
        if !OWN.contains(&name.as_str()) {
            continue;
        }
        match misplaced(derive, place, &name) {
            None => own.push(attr),
            Some(message) => cx.error(attr.path(), message),
        }
    }
    own
}

/// On a variant, nothing of ours belongs.
pub(crate) fn variant(cx: &Ctxt, derive: Derive, attrs: &[Attribute]) {
    own(cx, derive, Place::Variant, attrs);
}

fn misplaced(derive: Derive, place: Place, name: &str) -> Option<String> {
    let fits = match place {
        Place::Container => name == derive.attribute(),
        Place::Variant => false,
        Place::Field => match derive {
            Derive::Document => place_of(name) == Place::Field,
            Derive::Embed => matches!(name, "embed" | "reference" | "denormalize"),
            Derive::Projection => name == "embed",
            Derive::Database => false,
        },
    };
    if fits {
        return None;
    }
    let message = match (place, derive, name) {
        (Place::Variant, _, "embed" | "reference") => format!(
            "`#[{name}]` belongs on the field in the variant: `Variant(#[{name}{}] Type)`",
            if name == "reference" { "(..)" } else { "" }
        ),
        (Place::Variant, _, "denormalize") => {
            "`#[denormalize]` belongs on a field in the variant, beside a reference".into()
        }
        (
            Place::Container,
            _,
            "embed" | "reference" | "version" | "subset" | "split" | "denormalize" | "count",
        ) => {
            format!("`#[{name}]` belongs on a field")
        }
        (Place::Container, Derive::Document, "index") => {
            "`#[index]` belongs on a field; here, write `#[document(index(fields = \"..\"))]`"
                .into()
        }
        (Place::Field | Place::Variant, Derive::Embed, "index") => {
            "an index belongs to a collection: declare it on the document that embeds this, by \
             `#[document(index(fields = \"field.field\"))]`"
                .into()
        }
        (Place::Field, Derive::Embed, "version") => {
            "a version counts the changes of a whole document, and so belongs on a field of one"
                .into()
        }
        (Place::Field, Derive::Embed, "subset") => {
            "a subset belongs to a whole document, and so on a field of one".into()
        }
        (Place::Field, Derive::Embed, "count") => {
            "a count belongs to a whole document, and so on a field of one".into()
        }
        (Place::Field, Derive::Embed, "split") => {
            "a half that is stored apart belongs to a whole document, and so on a field of one"
                .into()
        }
        (Place::Field, Derive::Projection, "split") => {
            "a projection shows what is in the document itself, not what is stored apart".into()
        }
        (Place::Field, Derive::Projection, _) if place_of(name) == Place::Field => format!(
            "a projection shows what its document has; `#[{name}]` on the document's field is enough"
        ),
        (Place::Field, Derive::Database, _) if place_of(name) == Place::Field => {
            format!("`#[{name}]` belongs on a field of a document")
        }
        _ => format!(
            "`#[{name}]` belongs on a struct that derives `{}`, not on {}",
            Derive::of_attribute(name).map_or("Document", Derive::name),
            match place {
                Place::Container => format!("one that derives `{}`", derive.name()),
                Place::Variant => "a variant".into(),
                Place::Field => "a field".into(),
            }
        ),
    };
    Some(message)
}

fn place_of(name: &str) -> Place {
    match name {
        "embed" | "reference" | "index" | "version" | "subset" | "split" | "denormalize"
        | "count" => Place::Field,
        _ => Place::Container,
    }
}
