//! The types of fields that are scalars: each is stored in its order, wherever a field can stand.

mod enums;
mod limits;
mod native;
mod newtypes;
mod uses;
mod written;
