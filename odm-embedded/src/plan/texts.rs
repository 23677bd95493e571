//! Texts in the keys of indexes, and how tests compare them.

use bson::{RawBson, RawBsonRef};
use odm_mql::{Collation, Direction, Test, key};

/// The form of texts in the keys of an index, and in an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Texts<'c> {
    AsTheyAre,
    /// The index ignores case.
    Folded,
    /// They are in the order of a collation.
    Collated(&'c Collation),
}

impl Texts<'_> {
    /// Appends the key of a value.
    pub(super) fn encode(self, value: RawBsonRef<'_>, direction: Direction, key: &mut Vec<u8>) {
        match self {
            Texts::AsTheyAre => key::encode_directed(value, direction, key),
            Texts::Folded => key::encode_folded(value, direction, key),
            Texts::Collated(collation) => {
                key::encode_directed_by(Some(collation), value, direction, key);
            }
        }
    }
}

/// The keys of an index for a test.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyForm<'c> {
    texts: Texts<'c>,
    /// Whether the keys tell which texts the test compares as it does. If not, they are used for other values alone.
    has_texts: bool,
}

impl<'c> KeyForm<'c> {
    pub(super) fn new(texts: Texts<'c>, collation: Option<&Collation>) -> Self {
        KeyForm {
            texts,
            has_texts: match texts {
                Texts::AsTheyAre | Texts::Folded => collation.is_none(),
                Texts::Collated(own) => collation == Some(own),
            },
        }
    }

    pub(super) fn texts(self) -> Texts<'c> {
        self.texts
    }

    pub(super) fn encode(self, value: RawBsonRef<'_>) -> Vec<u8> {
        let mut key = Vec::with_capacity(16);
        self.texts.encode(value, Direction::Ascending, &mut key);
        key
    }

    /// Whether the keys do not tell how a value compares.
    pub(super) fn lacks(self, value: RawBsonRef<'_>) -> bool {
        !self.has_texts && has_text(value)
    }
}

pub(super) fn is_text(value: RawBsonRef<'_>) -> bool {
    matches!(value, RawBsonRef::String(_) | RawBsonRef::Symbol(_))
}

/// Whether a value is a text, or has one in it. The values of a filter are as deep as its parser allows.
fn has_text(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::String(_) | RawBsonRef::Symbol(_) => true,
        RawBsonRef::Document(document) => {
            let mut fields = document.iter().flatten();
            fields.any(|(_, value)| has_text(value))
        }
        RawBsonRef::Array(array) => array.into_iter().flatten().any(has_text),
        RawBsonRef::JavaScriptCodeWithScope(code) => {
            let mut fields = code.scope.iter().flatten();
            fields.any(|(_, value)| has_text(value))
        }
        _ => false,
    }
}

/// Whether a test compares texts, which a collation changes.
pub(super) fn compares_texts(test: &Test) -> bool {
    let has = |value: &RawBson| has_text(value.as_raw_bson_ref());
    match test {
        Test::Eq(value)
        | Test::Ne(value)
        | Test::Gt(value)
        | Test::Gte(value)
        | Test::Lt(value)
        | Test::Lte(value) => has(value),
        Test::In(values) | Test::Nin(values) => values.iter().any(has),
        Test::Any(tests) | Test::All(tests) | Test::ElemTest(tests) | Test::Not(tests) => {
            tests.iter().any(compares_texts)
        }
        Test::ElemMatch(_) => true,
        Test::Exists(_)
        | Test::Type(_)
        | Test::Size(_)
        | Test::Mod { .. }
        | Test::Bits(..)
        | Test::Regex(_) => false,
    }
}
