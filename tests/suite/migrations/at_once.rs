//! Programs of two versions on one store, as in a rolling deployment, and the reports about a changed model when it is opened.

use odm::{
    Embedded, ErrorKind,
    bson::doc,
    migration::{Migrations, Step},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use tests::{TestStore, behind_the_back, on_every_store};

use crate::migrations::stored;

/// A version of a shop, by the fields of its parts other than `_id` and `name`.
macro_rules! version {
    ($module:ident $version:tt $(, migrations = $steps:expr)?; $(#[$on:meta])* { $($fields:tt)* }) => {
        mod $module {
            use super::*;

            #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Document)]
            #[document(collection = "parts")]
            $(#[$on])*
            pub(super) struct Part {
                #[serde(rename = "_id")]
                pub(super) id: i64,
                pub(super) name: String,
                $($fields)*
            }

            #[derive(Database)]
            #[database(name = "shop", version = $version, migrations = steps)]
            pub(super) struct Shop {
                pub(super) parts: Repository<Part>,
            }

            #[allow(unused_mut, reason = "most versions have no steps")]
            fn steps() -> Migrations {
                let mut steps = Migrations::new();
                $(steps = steps.to($version, $steps);)?
                steps
            }

            #[allow(dead_code, clippy::needless_update, reason = "versions differ")]
            impl Shop {
                pub(super) async fn with_part(self) -> Self {
                    let part = Part { id: 1, name: "Grommet".to_owned(), ..Part::default() };
                    self.parts.insert(part).await.unwrap();
                    self
                }
            }
        }
    };
}

version!(one 1; {});
version!(optional 2; { pub(super) weight: Option<f64>, #[serde(default)] pub(super) tags: Vec<String>, });
version!(required 2; { pub(super) weight: f64, });
version!(added 2, migrations = [Step::add("parts", "weight", 1.5)]; { pub(super) weight: f64, });
version!(wide 1; { pub(super) stock: i64, });
version!(narrow 2; { #[validate(min = 5)] pub(super) stock: i32, });
version!(unique 2; #[document(unique(fields = "name"))] {});
version!(votes 1; { pub(super) votes: Option<i32>, });
version!(ratings 2; { pub(super) ratings: Option<i32>, });
version!(renamed 2; #[document(renamed(from = "votes", to = "ratings"))] { pub(super) ratings: Option<i32>, });
version!(renamed_now 1; #[document(renamed(from = "votes", to = "ratings"))] { pub(super) ratings: Option<i32>, });
version!(renamed_later 3; #[document(renamed(from = "votes", to = "ratings"))] {
    pub(super) ratings: Option<i32>,
    pub(super) weight: Option<f64>,
});

mod counted {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "parts")]
    pub(super) struct Part {
        #[serde(rename = "_id")]
        id: i64,
        name: String,
        #[count(of = "Review")]
        pub(super) reviews: i64,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "reviews")]
    pub(super) struct Review {
        #[serde(rename = "_id")]
        pub(super) id: i64,
        #[reference(parent)]
        pub(super) part: Ref<Part>,
    }

    #[derive(Database)]
    #[database(name = "shop", version = 2)]
    pub(super) struct Shop {
        pub(super) parts: Repository<Part>,
        pub(super) reviews: Repository<Review>,
    }
}

async fn refused<D: Database>(store: &impl TestStore) -> String {
    let error = D::open(store.clone()).await.map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Schema, "{error}");
    error.to_string()
}

on_every_store! {
    async fn an_older_program_goes_on_beside_a_newer_one_that_only_adds(store: AnyStore) {
        let old = one::Shop::open(store.clone()).await.unwrap().with_part().await;
        let new = optional::Shop::open(store.clone()).await.unwrap();
        new.parts.update(1).set(optional::Part::fields().weight, 2.5).await.unwrap();
        // The open program, and one that is opened after it.
        old.parts.update(1).set(one::Part::fields().name, "Washer").await.unwrap();
        let old = one::Shop::open(store.clone()).await.unwrap();
        old.parts.insert(one::Part { id: 2, name: "Nut".to_owned() }).await.unwrap();
        // Its replacements keep unknown fields.
        old.parts.replace(one::Part { id: 1, name: "Bolt".to_owned() }).await.unwrap();
        old.parts.upsert(one::Part { id: 1, name: "Bolt M6".to_owned() }).await.unwrap();
        let bolt = new.parts.get(1).await.unwrap();
        assert_eq!((bolt.name.as_str(), bolt.weight), ("Bolt M6", Some(2.5)));
        // The newer program's own replacements remove omitted fields.
        new.parts.replace(optional::Part { weight: None, ..bolt }).await.unwrap();
        assert_eq!(new.parts.get(1).await.unwrap().weight, None);
        assert_eq!(new.parts.get(2).await.unwrap().weight, None);
        assert!(new.audit().await.unwrap().is_empty());
    }

    async fn an_older_program_is_refused_beside_one_that_requires_a_field(store: AnyStore) {
        let old = one::Shop::open(store.clone()).await.unwrap().with_part().await;
        let new = added::Shop::open(store.clone()).await.unwrap();
        assert_eq!(new.parts.get(1).await.unwrap().weight, 1.5);
        let part = one::Part { id: 2, name: "Nut".to_owned() };
        let error = old.parts.insert(part).await.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("outdated models: version 2"), "{error}");
        assert!(refused::<one::Shop>(&store).await.contains("run the newer program"));
        assert_eq!(stored(&store, "parts").await.len(), 1);
    }

    async fn an_older_program_is_refused_beside_one_with_a_new_unique_index(store: AnyStore) {
        one::Shop::open(store.clone()).await.unwrap();
        unique::Shop::open(store.clone()).await.unwrap();
        assert!(refused::<one::Shop>(&store).await.contains("outdated models"));
    }

    async fn a_model_that_could_not_read_what_is_stored_is_refused_and_nothing_changes(store: AnyStore) {
        one::Shop::open(store.clone()).await.unwrap().with_part().await;
        let text = refused::<required::Shop>(&store).await;
        for part in ["version 2 of `shop` could not read 1 of `parts`", "`_id` = 1", "`weight`", "add a step"] {
            assert!(text.contains(part), "{text}");
        }
        // The previous version is still in force.
        let old = one::Shop::open(store.clone()).await.unwrap();
        assert_eq!(old.parts.get(1).await.unwrap().name, "Grommet");
        // Documents that have the field by other means can be read.
        behind_the_back(&store, "parts", doc! {}, doc! { "$set": { "weight": 3.5 } }).await;
        let new = required::Shop::open(store.clone()).await.unwrap();
        assert_eq!(new.parts.get(1).await.unwrap().weight, 3.5);
    }

    async fn a_number_out_of_the_range_of_its_new_type_is_found_and_a_rule_is_none_of_reading(store: AnyStore) {
        let old = wide::Shop::open(store.clone()).await.unwrap();
        for (id, stock) in [(1, 3), (2, i64::MAX)] {
            old.parts.insert(wide::Part { id, stock, ..wide::Part::default() }).await.unwrap();
        }
        let text = refused::<narrow::Shop>(&store).await;
        assert!(text.contains("could not read 1 of `parts` (`_id` = 2: `stock`"), "{text}");
        old.parts.delete(2).await.unwrap();
        let new = narrow::Shop::open(store.clone()).await.unwrap();
        assert_eq!(new.parts.get(1).await.unwrap().stock, 3);
    }

    async fn a_renamed_optional_field_is_named_before_its_values_seem_lost(store: AnyStore) {
        let old = votes::Shop::open(store.clone()).await.unwrap().with_part().await;
        old.parts.update(1).set(votes::Part::fields().votes, 5).await.unwrap();
        let changes = ratings::Shop::check(&store).await.unwrap();
        let text = changes.to_string();
        let expected = "`shop`: from version 1 to 2
  no model has `parts.votes` any more: stored values stay, unread
  new optional field `parts.ratings`: if it is `votes` under a new name, say so by \
             `#[document(renamed(from = \"votes\", to = \"ratings\"))]`
";
        assert_eq!(text, expected);
        let changes = renamed::Shop::check(&store).await.unwrap();
        assert_eq!(changes.steps, ["version 2: rename `votes` of `parts` to `ratings`"]);
        let fields: Vec<String> = changes.fields.iter().map(ToString::to_string).collect();
        assert_eq!(fields, ["new optional field `parts.ratings`"]);
        // The check has changed nothing.
        old.parts.update(1).set(votes::Part::fields().votes, 6).await.unwrap();
        let new = renamed::Shop::open(store.clone()).await.unwrap();
        assert_eq!(new.parts.get(1).await.unwrap().ratings, Some(6));
        assert_eq!(stored(&store, "parts").await, [doc! { "_id": 1_i64, "name": "Grommet", "ratings": 6 }]);
        assert!(renamed::Shop::check(&store).await.unwrap().is_empty());
        // A later version may keep the attribute.
        let later = renamed_later::Shop::open(store.clone()).await.unwrap();
        assert_eq!(later.parts.get(1).await.unwrap().ratings, Some(6));
    }

    async fn a_later_version_renames_what_the_one_between_would_have(store: AnyStore) {
        let old = votes::Shop::open(store.clone()).await.unwrap().with_part().await;
        old.parts.update(1).set(votes::Part::fields().votes, 5).await.unwrap();
        let later = renamed_later::Shop::open(store.clone()).await.unwrap();
        assert_eq!(later.parts.get(1).await.unwrap().ratings, Some(5));
    }

    async fn a_renaming_needs_a_new_version(store: AnyStore) {
        votes::Shop::open(store.clone()).await.unwrap();
        let text = refused::<renamed_now::Shop>(&store).await;
        assert!(text.contains("without a new version") && text.contains("rename `votes`"), "{text}");
    }

    async fn a_check_says_what_open_would_refuse(store: AnyStore) {
        assert_eq!(one::Shop::check(&store).await.unwrap().to_string(), "`shop` is new on this store: version 1\n");
        one::Shop::open(store.clone()).await.unwrap().with_part().await;
        assert_eq!(one::Shop::check(&store).await.unwrap().to_string(), "`shop`: version 1\n  nothing changes\n");
        let changes = required::Shop::check(&store).await.unwrap();
        assert!(changes.to_string().contains("failure: `parts` with `_id` = 1: `weight`"), "{changes}");
        let changes = added::Shop::check(&store).await.unwrap();
        assert_eq!(changes.steps, ["version 2: add `weight` to `parts`"]);
        assert_eq!(changes.fields[0].to_string(), "new required field `parts.weight`");
        added::Shop::open(store.clone()).await.unwrap();
        let error = one::Shop::check(&store).await.unwrap_err();
        assert!(error.to_string().contains("outdated models"), "{error}");
    }
}

#[test]
fn what_an_older_program_writes_is_counted_by_the_newer_one() {
    tests::in_memory(async |store: Embedded| {
        let old = one::Shop::open(store.clone()).await.unwrap().with_part().await;
        let new = counted::Shop::open(store.clone()).await.unwrap();
        let review = counted::Review { id: 1, part: Ref::new(1) };
        new.reviews.insert(review).await.unwrap();
        old.parts.replace(one::Part { id: 1, name: "Bolt".to_owned() }).await.unwrap();
        assert_eq!(new.parts.get(1).await.unwrap().reviews, 1);
        // The older program must respect the reference of the newer one.
        assert_eq!(old.parts.delete(1).await.map(drop).unwrap_err().kind(), ErrorKind::Restricted);
        new.backfill().await.unwrap();
        assert!(new.audit().await.unwrap().is_empty());
    });
}
