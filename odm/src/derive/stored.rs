//! The checks that serde reads all values that it writes.

use super::{cycle::MessageText, projection::same};
use crate::model::{ShownNames, Structure};

/// Whether serde has a default for the field that is stored under this name.
pub const fn is_defaulted<T: Structure>(stored: &str) -> bool {
    let mut i = 0;
    while i < T::NAMES.len() {
        let name = T::NAMES[i];
        if name.defaulted && same(name.text, stored) {
            return true;
        }
        i += 1;
    }
    false
}

/// Checks that no field of a flattened value is stored under a name of its holder, or of another flattened
/// value.
#[track_caller]
pub const fn assert_own_names<T: Structure>(
    field: &str,
    flat: &ShownNames,
    others: &[&ShownNames],
) {
    let mut text = MessageText::EMPTY;
    text.push("`");
    text.push(field);
    text.push("` is flattened, and stores ");
    let mut i = 0;
    while i < T::NAMES.len() {
        if contains(flat, T::NAMES[i].hash) {
            text.push("`");
            text.push(T::NAMES[i].text);
            text.push("` beside another field of this name: rename one of them");
            panic!("{}", text.as_str());
        }
        i += 1;
    }
    let mut i = 0;
    while i < others.len() {
        if overlap(others[i], flat) {
            text.push("a name that another flattened value stores too: rename one of them");
            panic!("{}", text.as_str());
        }
        i += 1;
    }
}

/// Whether the two have a name in common.
const fn overlap(one: &ShownNames, other: &ShownNames) -> bool {
    let mut i = 0;
    while i < one.own.len() {
        if contains(other, one.own[i].hash) {
            return true;
        }
        i += 1;
    }
    let mut i = 0;
    while i < one.flattened.len() {
        if overlap(one.flattened[i], other) {
            return true;
        }
        i += 1;
    }
    false
}

const fn contains(names: &ShownNames, hash: u64) -> bool {
    let mut i = 0;
    while i < names.own.len() {
        if names.own[i].hash == hash {
            return true;
        }
        i += 1;
    }
    let mut i = 0;
    while i < names.flattened.len() {
        if contains(names.flattened[i], hash) {
            return true;
        }
        i += 1;
    }
    false
}
