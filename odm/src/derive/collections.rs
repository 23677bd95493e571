//! The check that each model of a database has a collection of its own.

use super::{
    cycle::{MessageText, ModelEntry},
    projection::same,
};

/// Checks that no model before this one is stored in its collection.
#[track_caller]
pub const fn assert_own_collection(models: &[ModelEntry], names: &[&str], position: usize) {
    let model = &models[position];
    let mut i = 0;
    while i < position {
        let other = &models[i];
        if model.hash == other.hash
            && !model.collection.is_empty()
            && same(model.collection, other.collection)
        {
            let mut text = MessageText::EMPTY;
            text.push("`");
            text.push(names[i]);
            text.push("` and `");
            text.push(names[position]);
            text.push("` are both stored in the collection `");
            text.push(model.collection);
            text.push("`: give each its own");
            panic!("{}", text.as_str());
        }
        i += 1;
    }
}
