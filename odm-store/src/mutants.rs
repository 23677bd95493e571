//! Steps that are broken on purpose, one at a time, so that the tests can show that their oracle sees it: see
//! `tests/suite/promise/mutants.rs`, which lists them.
//!
//! Without the feature `__mutants`, which is for these tests alone, none of this is compiled.

/// Whether a step is broken in this process, as the environment variable `ODM_MUTANT` says.
#[cfg(feature = "__mutants")]
pub fn mutant(name: &str) -> bool {
    use std::{env, sync::LazyLock};

    static MUTANT: LazyLock<Option<String>> = LazyLock::new(|| env::var("ODM_MUTANT").ok());
    MUTANT.as_deref() == Some(name)
}

/// No step is broken.
#[cfg(not(feature = "__mutants"))]
#[inline(always)]
pub const fn mutant(_: &str) -> bool {
    false
}

/// How many documents are processed at once: `usual`, or as few as `ODM_CHUNK` says, so that short histories reach second chunks.
#[cfg(feature = "__mutants")]
pub fn chunk(usual: usize) -> usize {
    use std::{env, sync::LazyLock};

    static CHUNK: LazyLock<Option<usize>> = LazyLock::new(|| {
        env::var("ODM_CHUNK")
            .ok()
            .and_then(|text| text.parse().ok())
    });
    CHUNK.unwrap_or(usual)
}

/// The usual number.
#[cfg(not(feature = "__mutants"))]
#[inline(always)]
pub const fn chunk(usual: usize) -> usize {
    usual
}
