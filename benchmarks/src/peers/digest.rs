//! Digests of answers, by which the answers of all systems are compared.

use super::data::{
    Account, Message, Part, PartCopy, Product, ProductPage, ProductWithCopies, ProductWithParts,
    Review, ShownReview,
};

/// A number that depends on everything in an answer, except the middle of long texts.
pub(super) fn digest(answer: &impl Answer) -> u64 {
    let mut digest = Digest(0);
    answer.add_to(&mut digest);
    digest.0
}

pub(super) struct Digest(u64);

impl Digest {
    fn add(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// A value that can be digested.
pub(super) trait Answer {
    fn add_to(&self, digest: &mut Digest);
}

impl Answer for i64 {
    fn add_to(&self, digest: &mut Digest) {
        digest.add(*self as u64);
    }
}

impl Answer for String {
    fn add_to(&self, digest: &mut Digest) {
        let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let bytes = self.as_bytes();
        digest.add(bytes.len() as u64);
        match (bytes.first_chunk(), bytes.last_chunk()) {
            (Some(first), Some(last)) => {
                digest.add(number(first));
                digest.add(number(last));
            }
            _ => bytes.iter().for_each(|&byte| digest.add(byte.into())),
        }
    }
}

impl<T: Answer> Answer for &T {
    fn add_to(&self, digest: &mut Digest) {
        T::add_to(self, digest);
    }
}

impl<T: Answer> Answer for [T] {
    fn add_to(&self, digest: &mut Digest) {
        digest.add(self.len() as u64);
        self.iter().for_each(|one| one.add_to(digest));
    }
}

impl<T: Answer> Answer for Vec<T> {
    fn add_to(&self, digest: &mut Digest) {
        self.as_slice().add_to(digest);
    }
}

impl<A: Answer, B: Answer> Answer for (A, B) {
    fn add_to(&self, digest: &mut Digest) {
        self.0.add_to(digest);
        self.1.add_to(digest);
    }
}

/// Implements `Answer` for a struct by some of its fields.
macro_rules! answer {
    ($struct:ty: $($field:ident),+) => {
        impl $crate::peers::digest::Answer for $struct {
            fn add_to(&self, digest: &mut $crate::peers::digest::Digest) {
                $(self.$field.add_to(digest);)+
            }
        }
    };
}
pub(super) use answer;

answer!(Product: id, catalog_number, name, description, price_cents, created_at);
// Without its parts, which some systems have in a table of their own.
answer!(ProductWithParts: id, catalog_number, name, description, price_cents, created_at);
answer!(ProductWithCopies: id, name, parts);
answer!(PartCopy: id, name);
answer!(ProductPage: id, catalog_number, name, description, price_cents, created_at, newest_reviews);
answer!(ShownReview: id, author, text, published, rating);
answer!(Part: id, name, number, price_cents, weight);
// Without its product, so that a page by a join equals a page from a subset.
answer!(Review: id, author, text, published, rating);
answer!(Message: id, host, time, level, text);
answer!(Account: id, owner, balance, visits);
