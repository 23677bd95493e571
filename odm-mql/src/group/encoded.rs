//! The encoded keys of groups.

use std::{
    borrow::Borrow,
    hash::{Hash, Hasher},
};

/// The greatest length of a key that is in its place.
const SHORT: usize = 22;

/// The encoded key of a group. That of a number, a date or a short text is in its place, so that comparing it reads no memory elsewhere.
#[derive(Debug)]
pub(super) enum EncodedKey {
    /// The length, and the bytes.
    Short(u8, [u8; SHORT]),
    Long(Box<[u8]>),
}

impl EncodedKey {
    pub(super) fn new(key: &[u8]) -> EncodedKey {
        let mut short = [0; SHORT];
        match short.get_mut(..key.len()) {
            Some(bytes) => {
                bytes.copy_from_slice(key);
                EncodedKey::Short(key.len() as u8, short)
            }
            None => EncodedKey::Long(key.into()),
        }
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            EncodedKey::Short(len, bytes) => &bytes[..usize::from(*len)],
            EncodedKey::Long(bytes) => bytes,
        }
    }
}

impl Borrow<[u8]> for EncodedKey {
    #[inline]
    fn borrow(&self) -> &[u8] {
        self.bytes()
    }
}

impl Hash for EncodedKey {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes().hash(state);
    }
}

impl PartialEq for EncodedKey {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for EncodedKey {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_any_length_has_the_bytes_of_which_it_was_made() {
        let bytes: Vec<u8> = (1..=2 * SHORT as u8).collect();
        for len in 0..=bytes.len() {
            let key = EncodedKey::new(&bytes[..len]);
            assert_eq!(key.bytes(), &bytes[..len]);
            assert_eq!(matches!(key, EncodedKey::Short(..)), len <= SHORT);
        }
    }
}
