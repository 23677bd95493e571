//! Holds that within a crate the name of a type means one thing, so that a reader who searches for it finds that.

use crate::measures::{CRATES, doubled_in};

#[test]
fn no_two_types_of_a_crate_have_one_name() {
    let mut wrong = String::new();
    for package in CRATES {
        for (name, modules) in doubled_in(package) {
            let modules = modules.join(", ");
            wrong +=
                &format!("{package}: `{name}` is a type in {modules}: give one another name\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
