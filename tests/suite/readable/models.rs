//! The database of all models, and the cases of each.

use odm::prelude::*;

use crate::{cases, enums::*, parts, structs::*};

macro_rules! all {
    ($($field:ident: $model:ident,)*) => {
        #[derive(Database)]
        #[database(name = "readable", version = 1)]
        pub(crate) struct All {
            $($field: Repository<$model>,)*
        }

        $(
            #[test]
            fn $field() {
                for seeds in parts() {
                    tests::run(cases(|all| &all.$field, seeds));
                }
            }
        )*
    };
}
all! {
    scalars: Scalars,
    others: Others,
    containers: Containers,
    named: Named,
    defaults: Defaults,
    converted: Converted,
    flat: Flat,
    embedding: Embedding,
    external: Externals,
    internal: Internals,
    adjacent: Adjacents,
    untagged: Untaggeds,
    mixed: Mixture,
}
