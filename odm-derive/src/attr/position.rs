//! The positions of attributes: on items, variants and fields.

use syn::Attribute;

use super::unraw;
use crate::{ATTRIBUTES, ctxt::Ctxt, derive::Derive, derived::DerivedKind};

/// The position of an attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// On the struct or enum.
    Container,
    /// On a variant of an enum.
    Variant,
    /// On a field.
    Field,
}

/// The attributes of this library that belong here. Its other attributes are reported.
pub(crate) fn own<'a>(
    cx: &Ctxt,
    derive: Derive,
    position: Position,
    attrs: &'a [Attribute],
) -> Vec<&'a Attribute> {
    let mut own = Vec::new();
    for attr in attrs {
        let name = unraw(attr.path());
        if !ATTRIBUTES.contains(&name.as_str()) {
            continue;
        }
        match misplaced(derive, position, &name) {
            None => own.push(attr),
            Some(message) => cx.error(attr.path(), message),
        }
    }
    own
}

/// Reports the attributes of this library on a variant, where none belongs.
pub(crate) fn variant(cx: &Ctxt, derive: Derive, attrs: &[Attribute]) {
    own(cx, derive, Position::Variant, attrs);
}

fn fits(derive: Derive, position: Position, name: &str) -> bool {
    match position {
        Position::Container => name == derive.attribute(),
        Position::Variant => false,
        Position::Field => match derive {
            Derive::Document => position_of(name) == Position::Field,
            Derive::Embed => {
                matches!(
                    name,
                    "embed" | "opaque" | "reference" | "validate" | "public"
                ) || DerivedKind::of(name).is_some_and(|kind| kind.is_embedded)
            }
            Derive::Projection => matches!(name, "embed" | "public"),
            Derive::Patch => name == "patch",
            Derive::Database => false,
        },
    }
}

fn misplaced(derive: Derive, position: Position, name: &str) -> Option<String> {
    if fits(derive, position, name) {
        return None;
    }
    let derived = DerivedKind::of(name);
    let message = match (position, derive, name) {
        (.., "expires") => "an expiry is an attribute of the document: \
             `#[document(expires(field = \"..\", after = \"30d\"))]`"
            .into(),
        (.., "renamed") => "a rename is an attribute of the document: `#[document(renamed(from = \"..\", to = \"..\"))]`"
            .into(),
        (Position::Variant, _, "embed" | "opaque" | "reference") => format!(
            "`#[{name}]` belongs on the field in the variant: `Variant(#[{name}{}] Type)`",
            if name == "reference" { "(..)" } else { "" }
        ),
        (Position::Variant, ..) if derived.is_some_and(|kind| kind.is_embedded) => {
            format!("`#[{name}]` belongs on a field in the variant, beside a reference")
        }
        (Position::Container, ..) if name != "index" && position_of(name) == Position::Field => {
            format!("`#[{name}]` belongs on a field")
        }
        (Position::Container, Derive::Document, "index") => {
            "`#[index]` belongs on a field; here, write `#[document(index(fields = \"..\"))]`"
                .into()
        }
        (Position::Field | Position::Variant, Derive::Embed, "index") => {
            "an index belongs to a collection: declare it on the document that embeds this, by \
             `#[document(index(fields = \"field.field\"))]`"
                .into()
        }
        (Position::Field, Derive::Embed, "version") => {
            "a version counts the changes of a whole document: put it on a field of the document"
                .into()
        }
        (Position::Field, Derive::Embed, "created_at" | "updated_at") => {
            "the times are those of a whole document: put them on fields of the document".into()
        }
        (Position::Field, Derive::Embed, "split") => {
            "a document is split as a whole: put `#[split]` on a field of the document".into()
        }
        (Position::Field, Derive::Embed, _) if derived.is_some() => format!(
            "{} belongs to a whole document: put it on a field of the document",
            derived.map_or(name, |kind| kind.noun)
        ),
        (Position::Field, Derive::Projection, "split") => {
            "a projection shows fields of the document itself, not of its cold part".into()
        }
        (Position::Field, Derive::Projection, _) if position_of(name) == Position::Field => {
            format!(
                "a projection shows what its document has; `#[{name}]` on the document's field is enough"
            )
        }
        (Position::Field, Derive::Patch, _) if position_of(name) == Position::Field => {
            format!(
                "a patch sets what its document has; `#[{name}]` on the document's field is enough"
            )
        }
        (Position::Field, Derive::Database, _) if position_of(name) == Position::Field => {
            format!("`#[{name}]` belongs on a field of a document")
        }
        _ => format!(
            "`#[{name}]` belongs on a struct that derives `{}`, not on {}",
            Derive::of_attribute(name).map_or("Document", Derive::name),
            match position {
                Position::Container => format!("one that derives `{}`", derive.name()),
                Position::Variant => "a variant".into(),
                Position::Field => "a field".into(),
            }
        ),
    };
    Some(message)
}

fn position_of(name: &str) -> Position {
    match name {
        "embed" | "opaque" | "reference" | "index" | "version" | "created_at" | "updated_at"
        | "split" | "validate" | "public" => Position::Field,
        _ if DerivedKind::of(name).is_some() => Position::Field,
        _ => Position::Container,
    }
}
