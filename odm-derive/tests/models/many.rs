//! A program of 60 models with ten derived fields each, which must compile without a warning: the
//! search for cycles runs in the compiler, and it warns of a long one.
//!
//! The fields are copies of copies of the parent's, in chains from the last model to the first, a
//! subset that is sorted by a copy and shows one, and a count. Each model has a module of its own, in
//! which its neighbours have other names.

use super::*;

macro_rules! chain {
    ($parent:ident, $model:ident $collection:literal, $child:ident $next:literal $(, $($rest:tt)*)?) => {
        mod $model {
            use super::{$child::{Brief as ChildBrief, Model as Child}, $parent::Model as Parent, *};

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = $collection)]
            pub(super) struct Model {
                #[serde(rename = "_id")]
                id: i64,
                #[reference(parent)]
                parent: Ref<Parent>,
                base: String,
                #[denormalize(from = "Parent.copied_1")]
                copied_0: String,
                #[denormalize(from = "Parent.copied_2")]
                copied_1: String,
                #[denormalize(from = "Parent.copied_3")]
                copied_2: String,
                #[denormalize(from = "Parent.copied_4")]
                copied_3: String,
                #[denormalize(from = "Parent.copied_5")]
                copied_4: String,
                #[denormalize(from = "Parent.copied_6")]
                copied_5: String,
                #[denormalize(from = "Parent.copied_7")]
                copied_6: String,
                #[denormalize(from = "Parent.base")]
                copied_7: String,
                #[subset(limit = 10, sort = "-copied_0, base")]
                newest: Subset<ChildBrief>,
                #[count(of = "Child")]
                children: i64,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Projection)]
            #[projection(of = "Model")]
            pub(super) struct Brief {
                base: String,
                copied_1: String,
            }
        }

        chain!($model, $child $next $(, $($rest)*)?);
    };
    ($parent:ident, $last:ident $collection:literal) => {
        mod $last {
            use super::{$parent::Model as Parent, *};

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = $collection)]
            pub(super) struct Model {
                #[serde(rename = "_id")]
                id: i64,
                #[reference(parent)]
                parent: Ref<Parent>,
                base: String,
                #[denormalize(from = "Parent.copied_0")]
                copied_0: String,
                copied_1: String,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Projection)]
            #[projection(of = "Model")]
            pub(super) struct Brief {
                base: String,
                copied_1: String,
            }
        }
    };
}

mod m0 {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "many_0")]
    pub(super) struct Model {
        #[serde(rename = "_id")]
        id: i64,
        base: String,
        copied_1: String,
        copied_2: String,
        copied_3: String,
        copied_4: String,
        copied_5: String,
        copied_6: String,
        copied_7: String,
    }
}

macro_rules! many {
    ($($model:ident $collection:literal),*) => {
        chain!(m0, $($model $collection),*);

        #[derive(Database)]
        #[database(name = "many", version = 1)]
        struct Many {
            m0: Repository<m0::Model>,
            $($model: Repository<$model::Model>,)*
        }
    };
}

many!(
    m1 "many_1", m2 "many_2", m3 "many_3", m4 "many_4", m5 "many_5",
    m6 "many_6", m7 "many_7", m8 "many_8", m9 "many_9", m10 "many_10",
    m11 "many_11", m12 "many_12", m13 "many_13", m14 "many_14", m15 "many_15",
    m16 "many_16", m17 "many_17", m18 "many_18", m19 "many_19", m20 "many_20",
    m21 "many_21", m22 "many_22", m23 "many_23", m24 "many_24", m25 "many_25",
    m26 "many_26", m27 "many_27", m28 "many_28", m29 "many_29", m30 "many_30",
    m31 "many_31", m32 "many_32", m33 "many_33", m34 "many_34", m35 "many_35",
    m36 "many_36", m37 "many_37", m38 "many_38", m39 "many_39", m40 "many_40",
    m41 "many_41", m42 "many_42", m43 "many_43", m44 "many_44", m45 "many_45",
    m46 "many_46", m47 "many_47", m48 "many_48", m49 "many_49", m50 "many_50",
    m51 "many_51", m52 "many_52", m53 "many_53", m54 "many_54", m55 "many_55",
    m56 "many_56", m57 "many_57", m58 "many_58", m59 "many_59"
);

#[test]
fn many_derived_fields_are_searched_without_a_warning() {
    assert_eq!(<Many as odm::derive::Database>::models().len(), 60);
}
