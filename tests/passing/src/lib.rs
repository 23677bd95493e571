//! The right form of each mistake in `tests/compile-fail`: the test is that it compiles. A mistake without a right form is an error of the
//! build script.

// As an example that is not run, it is checked without code being generated, which would take twice as long.
#![cfg_attr(doctest, doc = include_str!(concat!(env!("OUT_DIR"), "/passing.md")))]
