//! The same fields in one document after another.

use bson::{RawBsonRef, RawDocument};

use super::field::{get, get_slowly, len, read};
use crate::steps;

/// The number of fields whose names are kept for the next document.
const MAX_KNOWN: usize = 100;

/// Finds some fields in each of several documents, in one pass over the document.
///
/// The documents of a collection mostly have the same fields in the same order. So each field is compared with the one that had its place in
/// the document before: if the names are equal, the end of the name is known, and whether the field is one of those to find.
#[derive(Debug, Default)]
pub(crate) struct FieldFinder<'n> {
    names: Vec<&'n str>,
    /// The fields of the documents before, by their places.
    known: Vec<KnownField>,
    /// Where the last document has each of the fields.
    found: Vec<FieldPlace>,
}

#[derive(Debug)]
struct KnownField {
    /// With the NUL at its end.
    name: Vec<u8>,
    /// The position among the names of the fields to find.
    wanted: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
enum FieldPlace {
    Missing,
    /// The type of the value, and its bytes in the document.
    At(u8, usize, usize),
    /// The document has bytes that `bson` must read.
    Unknown,
}

impl<'n> FieldFinder<'n> {
    /// Adds a field to find, and returns its number, by which its value is read. To be called before the first document.
    pub(crate) fn add(&mut self, name: &'n str) -> usize {
        let known = self.names.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            self.names.push(name);
            self.found.push(FieldPlace::Missing);
            self.names.len() - 1
        })
    }

    /// Finds the fields in a document.
    pub(crate) fn find(&mut self, document: &RawDocument) {
        self.found.fill(FieldPlace::Missing);
        if self.find_all(document.as_bytes()).is_none() {
            self.found.fill(FieldPlace::Unknown);
        }
    }

    /// The value of a field in the document in which the fields were found last. It is that of [`get`].
    #[inline]
    pub(crate) fn value<'a>(
        &self,
        number: usize,
        document: &'a RawDocument,
    ) -> Option<RawBsonRef<'a>> {
        match self.found[number] {
            FieldPlace::Missing => None,
            FieldPlace::At(kind, from, to) => document
                .as_bytes()
                .get(from..to)
                .and_then(|value| read(kind, value))
                .or_else(|| get_slowly(document, self.names[number], &mut 0)),
            FieldPlace::Unknown => get(document, self.names[number]),
        }
    }

    /// `None` if `bson` must read the document.
    fn find_all(&mut self, document: &[u8]) -> Option<()> {
        let mut left = self.names.len();
        let mut rest = document.get(4..)?;
        let mut place = 0;
        while left > 0 {
            steps::step();
            let (&kind, after) = rest.split_first()?;
            if kind == 0 {
                return after.is_empty().then_some(());
            }
            let known = self.known.get(place);
            let (name, wanted) = match known.filter(|known| after.starts_with(&known.name)) {
                Some(known) => (known.name.len(), known.wanted),
                None => self.learn(place, after)?,
            };
            place += 1;
            let value = &after[name..];
            let (value, next) = value.split_at_checked(len(kind, value)?)?;
            // Of several fields with one name, the first counts.
            if let Some(wanted) = wanted
                && matches!(self.found[wanted], FieldPlace::Missing)
            {
                let to = document.len() - next.len();
                self.found[wanted] = FieldPlace::At(kind, to - value.len(), to);
                left -= 1;
            }
            rest = next;
        }
        Some(())
    }

    /// Keeps a field, whose name comes first in these bytes, for the documents that follow.
    fn learn(&mut self, place: usize, bytes: &[u8]) -> Option<(usize, Option<usize>)> {
        let end = bytes.iter().position(|&byte| byte == 0)?;
        let wanted = self
            .names
            .iter()
            .position(|name| *name.as_bytes() == bytes[..end]);
        // An invalid name is an error for `bson`.
        if wanted.is_none() && !bytes[..end].is_ascii() {
            return None;
        }
        let name = &bytes[..=end];
        match self.known.get_mut(place) {
            Some(known) => {
                known.name.clear();
                known.name.extend_from_slice(name);
                known.wanted = wanted;
            }
            None if place < MAX_KNOWN => self.known.push(KnownField {
                name: name.to_vec(),
                wanted,
            }),
            None => {}
        }
        Some((name.len(), wanted))
    }
}

#[cfg(test)]
mod tests {
    use bson::{Document, RawDocumentBuf};
    use proptest::prelude::*;

    use super::*;
    use crate::testing::value;

    type Damage = Option<(prop::sample::Index, u8)>;

    fn documents() -> impl Strategy<Value = Vec<(Document, Damage)>> {
        let fields = prop::collection::vec(("[abä]{0,2}", value()), 0..6);
        let document = fields.prop_map(|fields| fields.into_iter().collect());
        let damage = prop::option::weighted(0.2, (any::<prop::sample::Index>(), any::<u8>()));
        prop::collection::vec((document, damage), 1..6)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn fields_are_found_as_in_each_document_alone(
            documents in documents(),
            order in prop::collection::vec(0..6_usize, 1..12),
            names in prop::collection::vec("[abä]{0,2}", 1..4),
        ) {
            let mut finder = FieldFinder::default();
            let numbers: Vec<usize> = names.iter().map(|name| finder.add(name)).collect();
            // The same documents come again, so that the finder knows their fields.
            for at in order {
                let (document, damaged) = &documents[at % documents.len()];
                let mut bytes = RawDocumentBuf::try_from(document).expect("valid BSON").into_bytes();
                if let Some((at, byte)) = damaged {
                    let at = at.index(bytes.len());
                    bytes[at] = *byte;
                }
                // Only whole documents are read: the length and the end are right.
                if let Ok(document) = RawDocument::from_bytes(&bytes) {
                    finder.find(document);
                    for (number, name) in numbers.iter().zip(&names) {
                        let (found, alone) = (finder.value(*number, document), get(document, name));
                        prop_assert_eq!(format!("{found:?}"), format!("{alone:?}"), "{}", name);
                    }
                }
            }
        }
    }
}
