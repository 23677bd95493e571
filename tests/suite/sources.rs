//! Compares the sources with the map of the code and the rules of the documentation.

mod documented;
mod measures;
mod names;
mod tidy;
