//! Pseudorandom numbers and texts, the same in every run.

/// A sequence of pseudorandom numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below the limit.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// The pseudorandom number of a seed.
pub(crate) fn hash(seed: u64) -> u64 {
    Random(seed).next()
}

const WORDS: [&str; 32] = [
    "bolt", "fits", "well", "quality", "arrived", "late", "sturdy", "cheap", "washer", "grade",
    "nice", "poor", "value", "again", "would", "order", "thread", "steel", "brass", "packed",
    "good", "finish", "seller", "return", "size", "wrong", "perfect", "machine", "tight", "loose",
    "fast", "slow",
];

/// A text of `bytes` bytes, made of words.
pub(crate) fn text(seed: u64, bytes: usize) -> String {
    const LONGEST: usize = 8;
    let mut random = Random(seed);
    let mut text = String::with_capacity(bytes + LONGEST);
    while text.len() < bytes {
        text.push_str(WORDS[random.below(WORDS.len() as u64) as usize]);
        text.push(' ');
    }
    text.truncate(bytes);
    text
}
