//! The versions of a shop: an earlier one, and later ones, most of which cannot be opened on its documents.

use odm::{
    bson::{Bson, Document as Bsons, doc},
    migration::{Migrations, Step},
    prelude::*,
};
use serde::{Deserialize, Serialize};

/// The previous version.
pub(crate) mod old {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "groups")]
    pub(crate) struct Group {
        #[serde(rename = "_id")]
        pub(crate) id: i64,
        pub(crate) name: String,
        #[count(of = "User")]
        pub(crate) users: i64,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "users")]
    pub(crate) struct User {
        #[serde(rename = "_id")]
        pub(crate) id: i64,
        pub(crate) mail: String,
        #[index(unique)]
        pub(crate) nick: String,
        pub(crate) age: i64,
        #[reference(parent)]
        pub(crate) group: Ref<Group>,
        #[denormalize(from = "Group.name", via = "group")]
        pub(crate) group_name: String,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
    pub(crate) struct Text {
        pub(crate) body: String,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "pages")]
    pub(crate) struct Page {
        #[serde(rename = "_id")]
        pub(crate) id: i64,
        pub(crate) title: String,
        #[split(collection = "texts", key = "_id")]
        pub(crate) text: Cold<Text>,
    }

    #[derive(Database)]
    #[database(name = "shop", version = 1)]
    pub(crate) struct Shop {
        pub(crate) groups: Repository<Group>,
        pub(crate) users: Repository<User>,
        pub(crate) pages: Repository<Page>,
    }
}

/// Another program, which declares a field of `groups` of its own, and writes it.
pub(crate) mod other {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "groups")]
    pub(crate) struct Seen {
        #[serde(rename = "_id")]
        pub(crate) id: i64,
        pub(crate) seen: Option<i64>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "archive")]
    pub(crate) struct Archived {
        #[serde(rename = "_id")]
        pub(crate) id: i64,
    }

    #[derive(Database)]
    #[database(name = "other", version = 1)]
    pub(crate) struct Other {
        pub(crate) groups: Repository<Seen>,
        pub(crate) archive: Repository<Archived>,
    }
}

/// A version of the shop with another model of users, and its steps.
macro_rules! users {
    ($module:ident, $steps:expr; $(#[$on:meta])* { $($fields:tt)* } $($item:item)*) => {
        pub(crate) mod $module {
            use super::*;

            pub(crate) use super::old::{Group as OldGroup, Page};

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = "groups")]
            pub(crate) struct Group {
                #[serde(rename = "_id")]
                id: i64,
                name: String,
                #[count(of = "User", via = "group")]
                users: i64,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = "users")]
            $(#[$on])*
            pub(crate) struct User {
                #[serde(rename = "_id")]
                id: i64,
                #[reference(parent)]
                group: Ref<Group>,
                $($fields)*
            }

            #[derive(Database)]
            #[database(name = "shop", version = 2, migrations = steps)]
            pub(crate) struct Shop {
                groups: Repository<Group>,
                users: Repository<User>,
                pages: Repository<Page>,
            }

            fn steps() -> Migrations {
                let _ = std::marker::PhantomData::<OldGroup>;
                Migrations::new().to(2, $steps)
            }

            $($item)*
        }
    };
}

const NONE: [Step; 0] = [];

/// A step that fails on the second user of three.
fn failing() -> Step {
    Step::try_map("users", |old: Bsons| match old["_id"] == Bson::Int64(2) {
        true => Err("the second one"),
        false => Ok(old),
    })
}

/// A step that sets a field of the three users to these values, in the order of their `_id`s.
fn given<V: Into<Bson>>(path: &'static str, values: [V; 3]) -> Step {
    let values: [Bson; 3] = values.map(Into::into);
    Step::map("users", move |mut old: Bsons| {
        let at = old.get_i64("_id").unwrap() as usize - 1;
        old.insert(path, values[at].clone());
        old
    })
}

users!(renamed_unique, NONE; #[document(renamed(from = "nick", to = "handle"))] {
    #[index(unique)] mail: String, handle: String, age: i64,
});
users!(unique_by_new_name, [Step::map("users", |mut old: Bsons| { old.insert("nick", "same"); old }),
    Step::rename("users", "nick", "handle")]; { mail: String, #[index(unique)] handle: String, age: i64, });
users!(unique_as_before, [Step::change("users", "nick", |old: String| old[..1].to_owned())];
    { mail: String, #[index(unique)] nick: String, age: i64, });
users!(unique_without_steps, NONE; { #[index(unique)] mail: String, nick: String, age: i64, });
users!(folded, [given("nick", ["Ann", "bob", "ANN"])];
    { mail: String, #[index(unique, case_insensitive)] nick: String, age: i64, });
users!(folded_apart, [given("nick", ["Ann", "bob", "Anne"])];
    { mail: String, #[index(unique, case_insensitive)] nick: String, age: i64, });
users!(partial, NONE; { #[index(unique, filter = some)] mail: String, nick: String, age: i64, }
    fn some() -> Filter<User> { User::fields().age.gte(19) });
users!(partial_apart, NONE; { #[index(unique, filter = some)] mail: String, nick: String, age: i64, }
    fn some() -> Filter<User> { User::fields().age.gte(20) });
users!(present, [given("mail", [None, Some("same"), Some("same")])];
    { #[index(unique)] mail: Option<String>, nick: String, age: i64, });
users!(present_apart, [given("mail", [None, None, Some("same")])];
    { #[index(unique)] mail: Option<String>, nick: String, age: i64, });
users!(listed, [given("tags", [vec!["a", "b"], vec!["c"], vec!["d", "b"]])];
    { mail: String, nick: String, age: i64, #[index(unique)] tags: Vec<String>, });
users!(listed_apart, [given("tags", [vec!["a", "a"], vec![], vec!["b"]])];
    { mail: String, nick: String, age: i64, #[index(unique)] tags: Vec<String>, });
users!(compound, NONE; #[document(unique(fields = "group, mail"))] { mail: String, nick: String, age: i64, });
users!(compound_apart, [given("mail", ["same", "same", "other"])]; #[document(unique(fields = "group, mail"))]
    { mail: String, nick: String, age: i64, });
users!(retyped, [Step::try_change("users", "nick", |old: String| old.parse::<i64>())];
    { mail: String, nick: i64, age: i64, });
users!(panicking, [Step::rename("users", "age", "years"), Step::change("users", "years", |old: i64| 100 / (old - 20))];
    { mail: String, nick: String, years: i64, });
users!(required, NONE; { mail: String, nick: String, age: i64, country: String, });
users!(forgotten, [Step::rename("users", "nick", "handle")];
    { mail: String, handle: String, age: i64, country: String, });
users!(spoiled, [Step::change("users", "age", |old: i64| old.to_string())];
    { mail: String, nick: String, age: i64, });
users!(removed, [Step::remove("users", "nick"), failing()]; { mail: String, age: i64, });
users!(narrowed, NONE; { mail: String, nick: String, age: i8, });
users!(validated, [Step::remove("users", "age")]; { mail: String, nick: String, #[validate(min = 3)] age: i64, });
users!(referring, NONE; { mail: String, nick: String, age: i64, #[reference(parent, on_delete = "restrict")] second: Ref<Group>, });
users!(deriving, [failing()]; { mail: String, nick: String, age: i64,
    #[denormalize(from = "Group.name", via = "group")] named: String, });
users!(moving, [Step::move_documents("users", "archive", doc! { "age": { "$gte": 20 } })];
    { mail: String, nick: String, age: i64, });
users!(moving_two, [Step::rename("users", "nick", "was"), Step::move_documents("users", "pages", doc! {})];
    { mail: String, age: i64, });
users!(owned, [Step::rename("groups", "seen", "met")]; { mail: String, nick: String, age: i64, met: Option<i64>, });
users!(dropping, [Step::drop_collection("pages"), failing()]; { mail: String, nick: String, age: i64, });
users!(too_large, [Step::add("users", "blob", "x".repeat((16 << 20) - 40))]; { mail: String, nick: String, age: i64, });

/// A version that can be opened: its steps change sources of derived fields, and its copies have no empty value.
pub(crate) mod right {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "groups", renamed(from = "name", to = "title"))]
    pub(crate) struct Group {
        #[serde(rename = "_id")]
        id: i64,
        title: String,
        #[count(of = "User")]
        users: i64,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "users")]
    pub(crate) struct User {
        #[serde(rename = "_id")]
        pub(crate) id: i64,
        mail: String,
        #[index(unique)]
        pub(crate) handle: String,
        age: String,
        #[reference(parent)]
        group: Ref<Group>,
        #[denormalize(from = "Group.title", via = "group")]
        pub(crate) group_title: String,
        #[denormalize(from = "Group.users", via = "group")]
        pub(crate) siblings: i64,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "pages", unique(fields = "title"))]
    pub(crate) struct Page {
        #[serde(rename = "_id")]
        id: i64,
        title: String,
        #[embed]
        pub(crate) text: super::old::Text,
    }

    #[derive(Database)]
    #[database(name = "shop", version = 2, migrations = steps)]
    pub(crate) struct Shop {
        pub(crate) groups: Repository<Group>,
        pub(crate) users: Repository<User>,
        pub(crate) pages: Repository<Page>,
    }

    fn steps() -> Migrations {
        Migrations::new().to(
            2,
            [
                // Between two documents the keys of the index are equal.
                Step::change("users", "nick", |old: String| {
                    let number: i64 = old[1..].parse().unwrap();
                    format!("n{}", 4 - number)
                }),
                Step::rename("users", "nick", "handle"),
                Step::change("users", "age", |old: i64| old.to_string()),
                Step::remove("users", "group_name"),
                Step::inline("pages", "text"),
            ],
        )
    }
}

/// A version that needs no step, and whose new copy is computed before it is opened.
pub(crate) mod copying {
    use super::*;

    pub(crate) use super::old::Page;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "users")]
    pub(crate) struct User {
        #[serde(rename = "_id")]
        id: i64,
        mail: String,
        #[index(unique)]
        nick: String,
        age: i64,
        #[reference(parent)]
        group: Ref<OtherGroup>,
        #[denormalize(from = "OtherGroup.name", via = "group")]
        group_name: String,
        #[denormalize(from = "OtherGroup.name", via = "group")]
        another_name: String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "groups")]
    pub(crate) struct OtherGroup {
        #[serde(rename = "_id")]
        id: i64,
        name: String,
        #[count(of = "User")]
        users: i64,
    }

    #[derive(Database)]
    #[database(name = "shop", version = 2)]
    pub(crate) struct Shop {
        groups: Repository<OtherGroup>,
        users: Repository<User>,
        pages: Repository<Page>,
    }
}

pub(crate) mod inlined {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "pages")]
    pub(crate) struct Page {
        #[serde(rename = "_id")]
        id: i64,
        title: String,
        #[embed]
        text: super::old::Text,
    }

    #[derive(Database)]
    #[database(name = "shop", version = 2, migrations = steps)]
    pub(crate) struct Shop {
        pages: Repository<Page>,
    }

    /// The part of the second page is removed with the page.
    fn steps() -> Migrations {
        Migrations::new().to(
            2,
            [
                Step::move_documents("pages", "kept", doc! { "_id": 2 }),
                Step::inline("pages", "text"),
            ],
        )
    }
}

pub(crate) mod split {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
    pub(crate) struct Line {
        amount: i64,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "pages")]
    pub(crate) struct Page {
        #[serde(rename = "_id")]
        id: i64,
        title: String,
        #[split(collection = "lines", key = "_id")]
        line: Cold<Line>,
    }

    #[derive(Database)]
    #[database(name = "shop", version = 2, migrations = steps)]
    pub(crate) struct Shop {
        pages: Repository<Page>,
    }

    fn steps() -> Migrations {
        let divided = |old: Bsons| {
            let amount = old.get_str("title")?.len() as i64;
            let mut new = old;
            new.insert(
                "line",
                doc! { "amount": if amount == 0 { Bson::Null } else { amount.into() } },
            );
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(new)
        };
        let fails = |old: Bsons| match old.get_str("title")? {
            "" => Err("a page without a title".into()),
            _ => Ok::<_, Box<dyn std::error::Error + Send + Sync>>(old),
        };
        Migrations::new().to(2, [Step::try_map("pages", divided), Step::try_map("pages", fails)])
    }
}
