//! Copies that go in a circle: what no order of writing could settle.

use super::same;
use crate::model::Outline;

/// The longest path, and the longest message, in bytes.
const MAX: usize = 256;
const MAX_MESSAGE: usize = 1024;

/// A model: its collection, and what is in its documents.
pub(super) type Entry = (&'static str, &'static Outline);

/// Checks that no copy is one of itself, by way of others.
#[track_caller]
pub const fn no_circle(models: &[Entry]) {
    let mut count = 0;
    let mut i = 0;
    while i < models.len() {
        count += copies_in(models[i].1);
        i += 1;
    }
    // The smallest array that holds them: at compile time, its length cannot follow from a value.
    match count {
        0 => {}
        1..=16 => search::<16>(models),
        17..=128 => search::<128>(models),
        129..=1024 => search::<1024>(models),
        _ => search::<8192>(models),
    }
}

const fn copies_in(outline: &Outline) -> usize {
    let mut count = outline.copies.len();
    let mut i = 0;
    while i < outline.embedded.len() {
        count += copies_in(outline.embedded[i].1);
        i += 1;
    }
    count
}

#[track_caller]
const fn search<const N: usize>(models: &[Entry]) {
    let mut copies = Copies {
        all: [Copy::NONE; N],
        len: 0,
    };
    let mut i = 0;
    while i < models.len() {
        copies.add(models, i, models[i].1, Text::EMPTY);
        i += 1;
    }
    let mut search = Search {
        seen: [Seen::Never; N],
        trail: [0; N],
    };
    let mut i = 0;
    while i < copies.len {
        search.trail[0] = i;
        if let Some((start, end)) = search.visit(&copies, 1) {
            panic!(
                "{}",
                message(models, &copies, &search.trail, start, end).as_str()
            );
        }
        i += 1;
    }
}

/// One copy, as an edge from its source.
#[derive(Clone, Copy)]
struct Copy {
    /// Whose documents hold it, by the place among the models.
    model: usize,
    /// Where.
    path: Text<MAX>,
    /// Whose documents are the source.
    source: usize,
    /// Where in those.
    source_path: &'static str,
}

impl Copy {
    const NONE: Copy = Copy {
        model: 0,
        path: Text::EMPTY,
        source: 0,
        source_path: "",
    };

    /// Whether the source of this one, which is in the documents of the other, is that one, or a
    /// part of it, or holds it.
    const fn is_of(&self, other: &Copy) -> bool {
        let (a, b) = (self.source_path.as_bytes(), &other.path);
        let mut i = 0;
        while i < a.len() && i < b.len {
            if a[i] != b.bytes[i] {
                return false;
            }
            i += 1;
        }
        (i == a.len() || a[i] == b'.') && (i == b.len || b.bytes[i] == b'.')
    }
}

/// All copies, in the order of their models.
struct Copies<const N: usize> {
    all: [Copy; N],
    len: usize,
}

impl<const N: usize> Copies<N> {
    const fn add(&mut self, models: &[Entry], model: usize, outline: &Outline, prefix: Text<MAX>) {
        // What stands together is mostly of one source.
        let mut source = 0;
        let mut i = 0;
        while i < outline.copies.len() {
            let (name, copied) = &outline.copies[i];
            if source == models.len() || !same(models[source].0, copied.shape.source) {
                source = position(models, copied.shape.source);
            }
            self.all[self.len] = Copy {
                model,
                path: prefix.then(name),
                source,
                source_path: copied.shape.path,
            };
            self.len += 1;
            i += 1;
        }
        let mut i = 0;
        while i < outline.embedded.len() {
            let (name, inner) = outline.embedded[i];
            self.add(models, model, inner, prefix.then(name));
            i += 1;
        }
    }

    /// Where the copies of a model begin.
    const fn first(&self, model: usize) -> usize {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.all[middle].model < model {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// The model of a collection. One that the database lacks is reported elsewhere.
const fn position(models: &[Entry], collection: &str) -> usize {
    let mut i = 0;
    while i < models.len() && !same(models[i].0, collection) {
        i += 1;
    }
    i
}

/// How far the search has come with a copy.
#[derive(Clone, Copy)]
enum Seen {
    Never,
    /// It is on the trail.
    Now,
    /// It leads into no circle.
    Done,
}

struct Search<const N: usize> {
    seen: [Seen; N],
    /// The copies from the start of the search, each followed by its source.
    trail: [usize; N],
}

impl<const N: usize> Search<N> {
    /// Goes on from the end of the trail, and gives the part of it that is a circle.
    const fn visit(&mut self, copies: &Copies<N>, len: usize) -> Option<(usize, usize)> {
        let at = self.trail[len - 1];
        if let Seen::Done = self.seen[at] {
            return None;
        }
        self.seen[at] = Seen::Now;
        let source = copies.all[at].source;
        let mut next = copies.first(source);
        while next < copies.len && copies.all[next].model == source {
            if copies.all[at].is_of(&copies.all[next]) {
                if let Seen::Now = self.seen[next] {
                    let mut start = 0;
                    while self.trail[start] != next {
                        start += 1;
                    }
                    return Some((start, len));
                }
                self.trail[len] = next;
                if let Some(found) = self.visit(copies, len + 1) {
                    return Some(found);
                }
            }
            next += 1;
        }
        self.seen[at] = Seen::Done;
        None
    }
}

/// `copies go in a circle: products.label <- parts.name <- products.label`
const fn message<const N: usize>(
    models: &[Entry],
    copies: &Copies<N>,
    trail: &[usize; N],
    start: usize,
    end: usize,
) -> Text<MAX_MESSAGE> {
    let mut text = Text::EMPTY;
    text.push(b"copies go in a circle: ", usize::MAX);
    let mut i = start;
    while i <= end {
        let copy = &copies.all[trail[if i == end { start } else { i }]];
        text.push(models[copy.model].0.as_bytes(), usize::MAX);
        text.push(b".", usize::MAX);
        text.push(&copy.path.bytes, copy.path.len);
        if i < end {
            text.push(b" <- ", usize::MAX);
        }
        i += 1;
    }
    text
}

/// A text that is put together at compile time. What is too long for it is cut off.
#[derive(Clone, Copy)]
struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    const EMPTY: Self = Text {
        bytes: [0; N],
        len: 0,
    };

    /// Adds the first `len` bytes.
    const fn push(&mut self, bytes: &[u8], len: usize) {
        let mut i = 0;
        while i < bytes.len() && i < len && self.len < N {
            self.bytes[self.len] = bytes[i];
            self.len += 1;
            i += 1;
        }
    }

    /// A path and one more name. A flattened field has none.
    const fn then(mut self, name: &str) -> Self {
        if self.len > 0 && !name.is_empty() {
            self.push(b".", 1);
        }
        self.push(name.as_bytes(), name.len());
        self
    }

    const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            // A name was cut off within a character.
            Err(_) => "copies go in a circle",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Copied, CopyShape, Via};

    const fn of(source: &'static str, path: &'static str) -> Copied {
        let shape = CopyShape {
            source,
            path,
            via: Via::Beside("of"),
            frozen: false,
            optional: false,
        };
        Copied {
            shape,
            problem: None,
        }
    }

    const fn outline(
        copies: &'static [(&'static str, Copied)],
        embedded: &'static [(&'static str, &'static Outline)],
    ) -> Outline {
        Outline {
            references: true,
            copies,
            embedded,
        }
    }

    static LINK: Outline = outline(&[("name", of("parts", "name"))], &[]);
    static CHAIN: Outline = outline(&[("label", of("makers", "name"))], &[("parts", &LINK)]);
    static BACK: Outline = outline(&[("name", of("products", "parts.name"))], &[]);
    static WHOLE: Outline = outline(&[("name", of("products", "parts"))], &[]);
    static SIBLING: Outline = outline(&[("name", of("products", "parts.name2"))], &[]);

    fn circle(parts: &'static Outline) -> Option<String> {
        let models: &[Entry] = &[
            ("products", &CHAIN),
            ("makers", Outline::EMPTY),
            ("parts", parts),
        ];
        let found = std::panic::catch_unwind(|| no_circle(models));
        found
            .err()
            .map(|panic| *panic.downcast::<String>().unwrap())
    }

    #[test]
    fn chains_end() {
        assert_eq!(circle(Outline::EMPTY), None);
        assert_eq!(circle(&SIBLING), None);
    }

    #[test]
    fn circles_are_shown_whole() {
        let text =
            "copies go in a circle: products.parts.name <- parts.name <- products.parts.name";
        assert_eq!(circle(&BACK).unwrap(), text);
        // A value holds its parts.
        assert_eq!(circle(&WHOLE).unwrap(), text);
    }
}
