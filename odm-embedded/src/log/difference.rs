//! A value as its difference from the value before.
//!
//! | bytes | content; all numbers are big-endian |
//! |---|---|
//! | 4 | CRC-32 of the new value |
//! | | the places that differ, in order |
//!
//! A place is the number of equal bytes before it, the number of bytes that it had, the number of bytes that it has (4 bytes each), and the
//! latter. All bytes behind the last place are equal.
//!
//! A changed field of a BSON document changes its own bytes and the lengths of the documents around it, and moves all bytes behind it together.
//! So the bytes of both values are compared at the same distance from the begin, and at the same distance from the end.

use super::record::number;

/// The length of the shortest value that is compared with the one before, in bytes.
pub(super) const MIN: usize = if cfg!(test) { 32 } else { 256 };

/// How many equal bytes end a place.
const EQUAL: usize = 16;

/// Appends the difference, if it is at most half as long as the new value. Returns whether it is.
pub(super) fn encode(buffer: &mut Vec<u8>, old: &[u8], new: &[u8]) -> bool {
    let start = buffer.len();
    let longest = start + new.len() / 2;
    buffer.extend_from_slice(&crc32fast::hash(new).to_be_bytes());
    let behind = equal(old.iter().rev(), new.iter().rev());
    let old = &old[..old.len() - behind];
    let new = &new[..new.len() - behind];
    let mut at = (0, 0);
    while at != (old.len(), new.len()) {
        let equal = equal(old[at.0..].iter(), new[at.1..].iter());
        let from = (at.0 + equal, at.1 + equal);
        let to = end_of_place(old, new, from);
        let added = &new[from.1..to.1];
        if buffer.len() + 12 + added.len() > longest {
            buffer.truncate(start);
            return false;
        }
        for number in [equal, to.0 - from.0, added.len()] {
            // Values are shorter than a record, whose length has four bytes.
            buffer.extend_from_slice(&(number as u32).to_be_bytes());
        }
        buffer.extend_from_slice(added);
        at = to;
    }
    true
}

/// The number of equal items at the begin.
fn equal<'a>(old: impl Iterator<Item = &'a u8>, new: impl Iterator<Item = &'a u8>) -> usize {
    old.zip(new).take_while(|(old, new)| old == new).count()
}

/// The end of a place that begins here, in both values.
fn end_of_place(old: &[u8], new: &[u8], from: (usize, usize)) -> (usize, usize) {
    // Where the other value has the byte that is as far from the end.
    let moved = match (from.0 + new.len()).checked_sub(old.len()) {
        Some(as_far) if as_far >= from.1 => (from.0, as_far),
        _ => (from.1 + old.len() - new.len(), from.1),
    };
    let is_equal = |(in_old, in_new): (usize, usize)| {
        let old = old.get(in_old..in_old + EQUAL);
        old.is_some() && old == new.get(in_new..in_new + EQUAL)
    };
    let longest = old.len().max(new.len());
    for by in 0..longest {
        for (in_old, in_new) in [from, moved] {
            let at = (in_old + by, in_new + by);
            if is_equal(at) {
                return at;
            }
        }
    }
    (old.len(), new.len())
}

/// The new value. `None` if this is not its difference from the old one.
pub(super) fn apply(old: &[u8], difference: &[u8]) -> Option<Vec<u8>> {
    let (mut old, mut places) = (old, difference);
    let checksum = number(&mut places)?;
    let mut new = Vec::with_capacity(old.len() + places.len());
    while !places.is_empty() {
        let equal = number(&mut places)?;
        let removed = number(&mut places)?;
        let added = number(&mut places)?;
        new.extend_from_slice(old.split_off(..equal as usize)?);
        old.split_off(..removed as usize)?;
        new.extend_from_slice(places.split_off(..added as usize)?);
    }
    new.extend_from_slice(old);
    (crc32fast::hash(&new) == checksum).then_some(new)
}

#[cfg(test)]
mod tests {
    use bson::{Document, doc};
    use fastrand::Rng;

    use super::*;

    fn difference(old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
        let mut buffer = b"before".to_vec();
        let is_short = encode(&mut buffer, old, new);
        let difference = buffer.strip_prefix(b"before").expect("the bytes before");
        assert_eq!(is_short, !difference.is_empty());
        is_short.then(|| difference.to_vec())
    }

    fn document(names: &[&str], count: i32) -> Vec<u8> {
        let parts = names.iter().enumerate().map(|(id, name)| {
            let text = "text of a part that is always different ".repeat(id + 1);
            doc! { "_id": id as i32, "name": name, "text": text }
        });
        let parts: Vec<Document> = parts.collect();
        let document = doc! { "_id": 1, "parts": parts, "count": count, "end": "the end" };
        bson::serialize_to_vec(&document).expect("a document")
    }

    #[test]
    fn a_changed_field_is_short_however_long_the_document() {
        let old = document(&["bolt", "nut", "gear", "screw"], 1);
        for (new, longest) in [
            (document(&["bolt", "nut", "gear", "screw"], 2), 20),
            (document(&["bolt", "nat", "gear", "screw"], 1), 20),
            // With the lengths of three documents and of the string.
            (
                document(&["bolt", "nuts and bolts", "gear", "screw"], 1),
                90,
            ),
            (document(&["bolt", "", "gear", "screw"], 2), 90),
        ] {
            let difference = difference(&old, &new).expect("a short difference");
            assert!(difference.len() <= longest, "{} bytes", difference.len());
            assert_eq!(apply(&old, &difference), Some(new));
        }
    }

    #[test]
    fn a_value_is_had_again_from_its_difference_whatever_changed() {
        let seed = fastrand::u64(..);
        println!("SEED={seed}");
        let random = &mut Rng::with_seed(seed);
        let mut short = 0;
        for _ in 0..20_000 {
            // Few letters, so that bytes are often equal by chance.
            let bytes =
                |random: &mut Rng, len| -> Vec<u8> { (0..len).map(|_| random.u8(0..3)).collect() };
            let len = random.usize(40..200);
            let old = bytes(random, len);
            let mut new = old.clone();
            for _ in 0..random.usize(0..4) {
                let from = random.usize(0..=new.len());
                let to = random.usize(from..=new.len().min(from + 20));
                let len = random.usize(0..20);
                new.splice(from..to, bytes(random, len));
            }
            if let Some(difference) = difference(&old, &new) {
                short += 1;
                assert!(difference.len() <= new.len() / 2);
                assert_eq!(apply(&old, &difference).as_ref(), Some(&new), "{old:?}");
            }
        }
        assert!(short > 5_000, "{short} are short");
    }

    #[test]
    fn a_difference_from_another_value_or_a_damaged_one_is_none() {
        let (old, new) = (
            document(&["bolt", "nut"], 1),
            document(&["bolt", "nuts"], 1),
        );
        let difference = difference(&old, &new).expect("a short difference");
        assert_eq!(apply(&new, &difference), None);
        assert_eq!(apply(b"", &difference), None);
        for at in 0..difference.len() {
            let mut damaged = difference.clone();
            damaged[at] ^= 1;
            assert_ne!(apply(&old, &damaged).as_ref(), Some(&new), "byte {at}");
            assert_eq!(apply(&old, &damaged), None, "byte {at}");
            assert_eq!(apply(&old, &difference[..at]), None, "{at} bytes");
        }
    }
}
