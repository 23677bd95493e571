//! Scalar types of fields: each is stored in its order, at any place of a field.

mod enums;
mod limits;
mod native;
mod newtypes;
mod uses;
mod written;
