//! The messages of the compiler about mistakes.

mod compile_fail;
mod errors;
