//! What the compiler says of mistakes.

mod compile_fail;
mod errors;
