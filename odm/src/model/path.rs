//! Stored paths as types, so that the text of a path is a constant.

use std::marker::PhantomData;

use super::Structure;

/// The longest path, in bytes.
const MAX: usize = 256;

/// A stored path from the top of a document or an array element, such as `price.currency`.
///
/// The text is a constant of the type: following a field costs nothing at run time.
pub trait Path: 'static {
    /// The type at whose top the path starts.
    type Root: 'static;
    #[doc(hidden)]
    const LEN: usize;
    #[doc(hidden)]
    const BYTES: [u8; MAX];
    /// Whether a stored value can lack the path, since a part of it is an `Option`, a list or a
    /// variant.
    #[doc(hidden)]
    const OPTIONAL: bool;
    /// Whether a stored value can lack the parent of the last part of the path.
    #[doc(hidden)]
    const WITHIN_OPTIONAL: bool;
    /// The path, to be compared with others at compile time.
    #[doc(hidden)]
    const HASH: PathHash;
    /// Whether it is in the cold part of the document.
    #[doc(hidden)]
    const COLD: bool = false;
    /// The path in dotted form.
    const TEXT: &'static str;
}

/// The empty path: `M` itself.
pub struct Root<M>(PhantomData<fn() -> M>);

impl<M: 'static> Path for Root<M> {
    type Root = M;
    const LEN: usize = 0;
    const BYTES: [u8; MAX] = [0; MAX];
    const HASH: PathHash = PathHash::EMPTY;
    const OPTIONAL: bool = false;
    const WITHIN_OPTIONAL: bool = false;
    const TEXT: &'static str = "";
}

/// The path `P` followed by the `I`th stored name of `O`.
///
/// An index into one array of names for each type keeps the number of types small, and with it the
/// time that a program takes to compile.
pub struct FieldPath<P, O, const I: usize>(PhantomData<fn() -> (P, O)>);

impl<P: Path, O: Structure, const I: usize> Path for FieldPath<P, O, I> {
    type Root = P::Root;
    const LEN: usize = P::LEN + (P::LEN > 0) as usize + O::NAMES[I].text.len();
    const BYTES: [u8; MAX] = join(P::BYTES, P::LEN, O::NAMES[I].text);
    const HASH: PathHash = P::HASH.then(O::NAMES[I].hash);
    const OPTIONAL: bool = P::OPTIONAL || O::NAMES[I].optional;
    const WITHIN_OPTIONAL: bool = P::OPTIONAL;
    const COLD: bool = P::COLD;
    const TEXT: &'static str = if P::LEN == 0 {
        O::NAMES[I].text
    } else {
        joined::<Self>()
    };
}

/// The text of the bytes. It is a function, since a constant is computed also where the branch with it is not taken.
const fn joined<P: Path>() -> &'static str {
    match std::str::from_utf8(P::BYTES.split_at(P::LEN).0) {
        Ok(text) => text,
        Err(_) => panic!("a stored name is not UTF-8"),
    }
}

/// The path `P` of a flattened value. If `OPTIONAL`, a stored value can lack all of its fields: they belong to one variant of an enum, or
/// to an `Option`.
pub struct FlatPath<P, const OPTIONAL: bool>(PhantomData<fn() -> P>);

impl<P: Path, const OPTIONAL: bool> Path for FlatPath<P, OPTIONAL> {
    type Root = P::Root;
    const LEN: usize = P::LEN;
    const BYTES: [u8; MAX] = P::BYTES;
    const HASH: PathHash = P::HASH;
    const OPTIONAL: bool = P::OPTIONAL || OPTIONAL;
    const WITHIN_OPTIONAL: bool = P::OPTIONAL || OPTIONAL;
    const COLD: bool = P::COLD;
    const TEXT: &'static str = P::TEXT;
}

/// The path `P` of the cold part of a document: a [`Cold`](super::Cold).
pub struct ColdPath<P>(PhantomData<fn() -> P>);

impl<P: Path> Path for ColdPath<P> {
    type Root = P::Root;
    const LEN: usize = P::LEN;
    const BYTES: [u8; MAX] = P::BYTES;
    const HASH: PathHash = P::HASH;
    // A present cold part has it.
    const OPTIONAL: bool = P::OPTIONAL;
    const WITHIN_OPTIONAL: bool = P::OPTIONAL;
    const COLD: bool = true;
    const TEXT: &'static str = P::TEXT;
}

/// A path in the document itself, not in its cold part.
#[diagnostic::on_unimplemented(
    message = "a reference in the cold part of a document cannot be joined",
    label = "in a `Cold`",
    note = "load the cold part by `.with(..)`, and `fetch` the referenced documents"
)]
pub trait HotPath: Path {
    /// `T`. It is unknown for a path in a cold part, so that the compiler does not check the rest of a query
    /// with it.
    #[doc(hidden)]
    type With<T>;
    #[doc(hidden)]
    fn with<T>(value: T) -> Self::With<T>;
}

impl<M: 'static> HotPath for Root<M> {
    type With<T> = T;

    fn with<T>(value: T) -> T {
        value
    }
}

impl<P: HotPath, O: Structure, const I: usize> HotPath for FieldPath<P, O, I> {
    type With<T> = P::With<T>;

    fn with<T>(value: T) -> Self::With<T> {
        P::with(value)
    }
}

impl<P: HotPath, const OPTIONAL: bool> HotPath for FlatPath<P, OPTIONAL> {
    type With<T> = P::With<T>;

    fn with<T>(value: T) -> Self::With<T> {
        P::with(value)
    }
}

const fn join(mut bytes: [u8; MAX], mut len: usize, name: &str) -> [u8; MAX] {
    if len > 0 {
        bytes[len] = b'.';
        len += 1;
    }
    let name = name.as_bytes();
    let mut i = 0;
    while i < name.len() {
        assert!(len < MAX, "a path is longer than 256 bytes");
        bytes[len] = name[i];
        len += 1;
        i += 1;
    }
    bytes
}

/// The number of compared parts of a path. The rest of a longer path is ignored, so that two paths may count as overlapping that do not
/// overlap, but never the reverse.
const PARTS: usize = 16;

/// A path as hashes, one for each prefix. Comparing bytes costs the compiler seconds in a program of some hundred models.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct PathHash {
    prefixes: [u64; PARTS],
    len: usize,
}

impl PathHash {
    /// The empty path, which holds all others.
    pub const EMPTY: PathHash = PathHash {
        prefixes: [0; PARTS],
        len: 0,
    };

    /// This path and one more name.
    pub const fn then(mut self, name: u64) -> Self {
        if self.len < PARTS {
            let before = match self.len {
                0 => 0,
                len => self.prefixes[len - 1],
            };
            self.prefixes[self.len] = (before.rotate_left(5) ^ name).wrapping_mul(PRIME);
            self.len += 1;
        }
        self
    }

    /// Whether one of two paths is the other or holds it.
    pub const fn overlaps(&self, other: &PathHash) -> bool {
        let len = if self.len < other.len {
            self.len
        } else {
            other.len
        };
        len == 0 || self.prefixes[len - 1] == other.prefixes[len - 1]
    }
}

/// The prime of FNV-1a with 64 bits.
const PRIME: u64 = 0x0100_0000_01b3;

/// The hash of bytes by FNV-1a, as the derives compute it for names.
pub(crate) fn fnv1a(bytes: impl AsRef<[u8]>) -> u64 {
    let bytes = bytes.as_ref().iter();
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> PathHash {
        let names = text.split('.').map(fnv1a);
        names.fold(PathHash::EMPTY, PathHash::then)
    }

    #[test]
    fn paths_overlap_that_hold_each_other() {
        assert!(path("a.b").overlaps(&path("a.b")));
        assert!(path("a.b").overlaps(&path("a")));
        assert!(path("a").overlaps(&path("a.b.c")));
        assert!(PathHash::EMPTY.overlaps(&path("a.b")));
        assert!(!path("a.b").overlaps(&path("a.c")));
        assert!(!path("a.b").overlaps(&path("b")));
        assert!(!path("a.b").overlaps(&path("b.a")));
        assert!(!path("ab").overlaps(&path("a.b")));
    }
}
