//! The message of a cycle, put together at compile time.

use super::{ModelEntry, Trail, definitions_in};
use crate::model::Outline;

/// `cyclic derived fields: products.label <- parts.name <- products.label; remove one of them`
///
/// A field may also read itself, in another document.
pub(super) const fn message<const N: usize>(
    models: &[ModelEntry],
    trail: &Trail<N>,
    start: usize,
) -> MessageText {
    let mut text = MessageText::EMPTY;
    text.push("cyclic derived fields: ");
    let mut i = start;
    while i <= trail.len {
        let at = if i == trail.len { start } else { i };
        text.push_node(models, trail.steps[at].node);
        if i < trail.len {
            text.push(" <- ");
        }
        i += 1;
    }
    text.push(if trail.len - start > 1 {
        "; remove one of them"
    } else {
        "; a cycle is one of fields, even where no document references itself: remove the field, or \
         derive it from a plain one; in a tree, `#[ancestors(..)]` has the documents above each one"
    });
    text
}

/// The longest message, in bytes.
const MAX: usize = 2048;

/// A text that is put together at compile time. A longer text is cut off.
pub(in crate::derive) struct MessageText {
    bytes: [u8; MAX],
    len: usize,
}

impl MessageText {
    pub(in crate::derive) const EMPTY: Self = MessageText {
        bytes: [0; MAX],
        len: 0,
    };

    pub(in crate::derive) const fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() && self.len < MAX {
            self.bytes[self.len] = bytes[i];
            self.len += 1;
            i += 1;
        }
    }

    /// Adds the name of a node. The graph has only hashes.
    const fn push_node(&mut self, models: &[ModelEntry], mut node: usize) {
        let mut i = 0;
        while i < models.len() {
            let count = definitions_in(models[i].outline);
            if node < count {
                self.push(models[i].collection);
                self.push_path(models[i].outline, node);
                return;
            }
            node -= count;
            i += 1;
        }
    }

    /// Adds the path of a definition by its number in an outline.
    const fn push_path(&mut self, outline: &Outline, mut number: usize) {
        if number < outline.derived.len() {
            self.push(".");
            self.push(outline.derived[number].0);
            return;
        }
        number -= outline.derived.len();
        let mut i = 0;
        while i < outline.embedded.len() {
            let (name, _, inner) = outline.embedded[i];
            let count = definitions_in(inner);
            if number < count {
                if !name.is_empty() {
                    self.push(".");
                    self.push(name);
                }
                self.push_path(inner, number);
                return;
            }
            number -= count;
            i += 1;
        }
    }

    /// The text so far.
    pub(in crate::derive) const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            // A name may be cut off within a character.
            Err(_) => "the names are too long to be shown",
        }
    }
}
