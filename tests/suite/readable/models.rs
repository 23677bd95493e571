//! The database of all models, and the cases of each.

use odm::prelude::*;

use crate::readable::{cases, enums::*, parts, structs::*};

macro_rules! all {
    ($($field:ident: $model:ident,)*) => {
        #[derive(Database)]
        #[database(name = "readable", version = 1)]
        pub(crate) struct All {
            $($field: Repository<$model>,)*
        }

        $(
            mod $field {
                use super::*;

                #[test]
                fn in_memory() {
                    for seeds in parts(40, 1_000) {
                        tests::in_memory(|store| cases(store, |all| &all.$field, seeds));
                    }
                }

                #[test]
                #[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
                fn on_mongodb() {
                    for seeds in parts(5, 50) {
                        tests::on_mongodb(|store| cases(store, |all| &all.$field, seeds));
                    }
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
