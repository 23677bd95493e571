//! The declarations of the models, stated once more as data for the oracle.

use odm::bson::{Bson, Document};

use super::world::{Key, get, number, places};

/// The parts of the application's models in which its versions differ.
pub(crate) struct Version {
    liked: i64,
    good: i64,
    dear: fn(&Document) -> bool,
    best: (i32, &'static [Sort]),
    latest: (i32, &'static [Sort]),
}

/// A path, and whether it is descending.
pub(crate) type Sort = (&'static str, bool);

pub(crate) const VERSIONS: [Version; 4] = [
    Version {
        liked: 3,
        good: 1,
        dear: |item| number(item, "price") >= 2,
        best: (2, &[("items", true)]),
        latest: (2, &[("stars", true)]),
    },
    Version {
        liked: 2,
        good: 2,
        dear: |item| number(item, "score") >= 1,
        best: (3, &[("name", false)]),
        latest: (3, &[("by_name", false), ("stars", true)]),
    },
    Version {
        liked: 4,
        good: 1,
        dear: |item| {
            let latest = item.get_array("latest");
            latest.is_ok_and(|latest| latest.is_empty())
        },
        best: (-2, &[("good", false)]),
        latest: (-2, &[("stars", false)]),
    },
    Version {
        liked: 3,
        good: 1,
        dear: |item| get(item, "region_name") != Key::Null,
        best: (1, &[("region_name", true), ("items", true)]),
        latest: (1, &[("item_region", false)]),
    },
];

/// The fate of a holder whose reference names a deleted document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum OnDelete {
    Restrict,
    Cascade,
    Clear,
    Dangle,
}

/// A reference: its holder, its list, its field, and its target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reference {
    pub(crate) holder: &'static str,
    pub(crate) list: &'static str,
    pub(crate) field: &'static str,
    pub(crate) target: &'static str,
    pub(crate) on_delete: OnDelete,
}

const fn reference(
    holder: &'static str,
    list: &'static str,
    field: &'static str,
    target: &'static str,
    on_delete: OnDelete,
) -> Reference {
    Reference { holder, list, field, target, on_delete }
}

pub(crate) const REFERENCES: [Reference; 17] = [
    reference("regions", "", "above", "regions", OnDelete::Clear),
    reference("shops", "", "region", "regions", OnDelete::Clear),
    reference("shops", "", "owner", "persons", OnDelete::Clear),
    reference("persons", "", "shop", "shops", OnDelete::Clear),
    reference("persons", "", "follows", "persons", OnDelete::Clear),
    reference("persons", "", "followers", "persons", OnDelete::Clear),
    reference("items", "", "shop", "shops", OnDelete::Cascade),
    reference("items", "similar", "id", "items", OnDelete::Clear),
    reference("item_details", "", "inspector", "persons", OnDelete::Clear),
    reference("reviews", "", "item", "items", OnDelete::Cascade),
    reference("reviews", "", "by", "persons", OnDelete::Clear),
    reference("orders", "", "item", "items", OnDelete::Dangle),
    reference("orders", "", "buyer", "persons", OnDelete::Dangle),
    reference("orders", "", "region", "regions", OnDelete::Restrict),
    reference("tickets", "", "shop", "shops", OnDelete::Cascade),
    reference("tickets", "", "after", "tickets", OnDelete::Restrict),
    reference("tickets", "lines", "item", "items", OnDelete::Clear),
];

/// The pairs of inverse references.
pub(crate) const INVERSES: [[(&str, &str); 2]; 2] =
    [[("shops", "owner"), ("persons", "shop")], [("persons", "follows"), ("persons", "followers")]];

/// The lists among them, which exist also if they are empty.
pub(crate) const INVERSE_LISTS: [(&str, &str); 2] =
    [("persons", "follows"), ("persons", "followers")];

/// The derived fields that a worker refreshes.
pub(crate) const DEFERRED: [&str; 7] = [
    "tickets.before",
    "items.orders_later",
    "items.has_orders_later",
    "items.scores_later",
    "items.first_note_later",
    "orders.title_later",
    "orders.region_later",
];

/// The fields in which writes of tickets are recorded.
pub(crate) const RECORDED: [&str; 3] = ["revision", "made", "changed"];

/// The most stars that a review passes validation with.
pub(crate) const MOST_STARS: i64 = 6;

/// A derived field: its holder, its list, its name, and its definition.
pub(crate) struct Rule {
    pub(crate) holder: &'static str,
    pub(crate) list: &'static str,
    pub(crate) field: &'static str,
    pub(crate) is: Is,
}

impl Rule {
    /// The path of the field, without positions in its list.
    pub(crate) fn path(&self) -> String {
        match self.list {
            "" => self.field.to_owned(),
            list => format!("{list}.{}", self.field),
        }
    }
}

pub(crate) enum Is {
    /// The field of the document that the reference names. If it is an `Option`, the document may be missing.
    Copy(&'static str, &'static str, &'static str, Type),
    /// The same, at the time when the reference was added.
    Frozen(&'static str, &'static str, &'static str, Type),
    /// The different values of a field of the documents of a collection whose reference names the holder.
    Values(&'static str, &'static str, &'static str),
    /// The number of such documents that pass the test.
    Count(&'static str, &'static str, Test),
    /// Whether there is one.
    Exists(&'static str, &'static str, Test),
    /// The sum of a field of theirs.
    Sum(&'static str, &'static str, &'static str, Test),
    /// The least value of a field of theirs, or the greatest.
    Min(&'static str, &'static str, &'static str, Test),
    Max(&'static str, &'static str, &'static str, Test),
    /// The next number within the document that the reference names, at the time when the reference was added.
    Number(&'static str),
    /// The `_id`s above the document, along the reference and then along that of the documents that it names: by their references, or by
    /// their own lists.
    Path(&'static str, &'static str, Above),
    /// This function of the document, or of the document in the list; `None` if the fields have not their types.
    Computed(fn(&Document) -> Option<Bson>),
    /// The first of the documents of a collection in an order, or the last, with these fields.
    Subset {
        child: &'static str,
        reference: &'static str,
        test: Test,
        sort: &'static [Sort],
        limit: i32,
        shows: &'static [&'static str],
    },
}

/// How the documents above a document are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Above {
    Reference(&'static str),
    List(&'static str),
}

/// The type of a copy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Type {
    Value,
    Option,
}

pub(crate) type Test = Box<dyn Fn(&Document) -> bool + Send + Sync>;

fn rule(holder: &'static str, field: &'static str, is: Is) -> Rule {
    in_list(holder, "", field, is)
}

fn in_list(holder: &'static str, list: &'static str, field: &'static str, is: Is) -> Rule {
    Rule { holder, list, field, is }
}

/// A number that a document may lack; `None` if the value is no number.
fn or_zero(document: &Document, field: &str) -> Option<i64> {
    match (document.get(field), get(document, field)) {
        (None, _) => Some(0),
        (_, Key::Number(number)) => Some(number),
        _ => None,
    }
}

fn all() -> Test {
    Box::new(|_| true)
}

/// Every derived field of all three programs, with the application in a version that counts from 0.
pub(crate) fn rules(version: usize) -> Vec<Rule> {
    let Version { liked, good, dear, best, latest } = &VERSIONS[version];
    let (liked, good, dear) = (*liked, *good, *dear);
    vec![
        rule("regions", "path", Is::Path("above", "regions", Above::Reference("above"))),
        rule("regions", "regions", Is::Count("regions", "path", all())),
        rule("regions", "shops", Is::Count("shops", "region", all())),
        rule("regions", "has_below", Is::Exists("shops", "region_path", all())),
        rule("regions", "stars_below", Is::Sum("shops", "regions", "star_sum", all())),
        rule("regions", "most_below", Is::Max("regions", "path", "star_sum", all())),
        rule(
            "regions",
            "below",
            Is::Subset {
                child: "shops",
                reference: "regions",
                test: all(),
                sort: &[("worth", true)],
                limit: 2,
                shows: &["name", "worth"],
            },
        ),
        rule("shops", "regions", Is::Path("region", "regions", Above::List("path"))),
        rule("shops", "region_path", Is::Copy("region", "regions", "path", Type::Option)),
        rule("shops", "most_below", Is::Copy("region", "regions", "most_below", Type::Option)),
        rule("tickets", "before", Is::Path("after", "tickets", Above::List("before"))),
        rule(
            "regions",
            "best",
            Is::Subset {
                child: "shops",
                reference: "region",
                test: all(),
                sort: best.1,
                limit: best.0,
                shows: &["name", "items", "region_name", "top", "worth"],
            },
        ),
        rule("regions", "least_top", Is::Min("shops", "region", "top", all())),
        rule("regions", "most_worth", Is::Max("shops", "region", "worth", all())),
        rule("regions", "star_sum", Is::Sum("shops", "region", "star_sum", all())),
        rule(
            "regions",
            "busy",
            Is::Count("shops", "region", Box::new(|shop| number(shop, "items") >= 2)),
        ),
        rule("shops", "region_name", Is::Copy("region", "regions", "name", Type::Option)),
        rule("shops", "busy_around", Is::Copy("region", "regions", "busy", Type::Option)),
        rule("shops", "owner_name", Is::Copy("owner", "persons", "name", Type::Option)),
        rule("shops", "items", Is::Count("items", "shop", all())),
        rule(
            "shops",
            "good",
            Is::Count("items", "shop", Box::new(move |item| number(item, "score") >= good)),
        ),
        rule(
            "shops",
            "has_good",
            Is::Exists("items", "shop", Box::new(move |item| number(item, "score") >= good)),
        ),
        rule(
            "shops",
            "star_sum",
            Is::Sum(
                "items",
                "shop",
                "star_sum",
                Box::new(move |item| number(item, "score") >= good),
            ),
        ),
        rule(
            "shops",
            "worth",
            Is::Sum("items", "shop", "worth", Box::new(move |item| number(item, "score") >= good)),
        ),
        rule(
            "shops",
            "mean_worth",
            Is::Computed(|shop| match (or_zero(shop, "items")?, shop) {
                (0, _) => Some(Bson::Null),
                (items, shop) => Some(Bson::Int64(or_zero(shop, "worth")? / items)),
            }),
        ),
        rule("shops", "top", Is::Max("items", "shop", "star_sum", all())),
        rule(
            "shops",
            "cheapest",
            Is::Min("items", "shop", "price", Box::new(move |item| number(item, "score") >= good)),
        ),
        rule(
            "shops",
            "dearest",
            Is::Subset {
                child: "items",
                reference: "shop",
                test: Box::new(dear),
                sort: &[("score", true)],
                limit: 2,
                shows: &["title", "score", "region_name"],
            },
        ),
        rule("shops", "titles", Is::Values("items", "shop", "title")),
        rule("shops", "tickets", Is::Count("tickets", "shop", all())),
        rule("shops", "last_ticket", Is::Max("tickets", "shop", "number", all())),
        rule("tickets", "number", Is::Number("shop")),
        rule(
            "tickets",
            "label",
            Is::Computed(|ticket| {
                let shop = ticket.get("shop_name").map_or(Some(""), Bson::as_str)?;
                Some(format!("{shop} {}", or_zero(ticket, "number")?).into())
            }),
        ),
        rule("reviews", "by_number", Is::Number("by")),
        rule("persons", "shop_items", Is::Copy("shop", "shops", "items", Type::Option)),
        rule("persons", "reviews", Is::Count("reviews", "by", all())),
        rule("persons", "has_reviewed", Is::Exists("reviews", "by", all())),
        rule("persons", "most_stars", Is::Max("reviews", "by", "stars", all())),
        rule("persons", "reviewed", Is::Values("reviews", "by", "item_title")),
        rule("items", "shop_name", Is::Copy("shop", "shops", "name", Type::Value)),
        rule("items", "region_name", Is::Copy("shop", "shops", "region_name", Type::Option)),
        rule("items", "shop_items", Is::Copy("shop", "shops", "items", Type::Value)),
        rule("items", "shop_has_good", Is::Copy("shop", "shops", "has_good", Type::Value)),
        rule("items", "shop_cheapest", Is::Copy("shop", "shops", "cheapest", Type::Option)),
        rule("items", "star_sum", Is::Sum("reviews", "item", "stars", all())),
        rule(
            "items",
            "worth",
            Is::Computed(|item| {
                Some(Bson::Int64(or_zero(item, "star_sum")? * 10 - or_zero(item, "score")?))
            }),
        ),
        rule(
            "items",
            "similar_weight",
            Is::Computed(|item| {
                // The formula of the document does not know the defaults of the links.
                let links = places(item, "similar").into_iter();
                let weights: Option<i64> = links
                    .map(|link| match get(link, "weight") {
                        Key::Number(weight) => Some(weight),
                        _ => None,
                    })
                    .sum();
                weights.map(Bson::Int64)
            }),
        ),
        in_list("items", "similar", "worth", Is::Copy("id", "items", "worth", Type::Value)),
        in_list(
            "items",
            "similar",
            "weight",
            Is::Computed(|link| {
                let title = link.get("title").map_or(Some(""), Bson::as_str)?;
                Some(Bson::Int64(or_zero(link, "worth")? + title.len() as i64))
            }),
        ),
        rule("items", "top_score", Is::Max("orders", "item", "score", all())),
        rule("items", "scores", Is::Sum("orders", "item", "score", all())),
        rule("items", "scores_later", Is::Sum("orders", "item", "score", all())),
        rule("items", "first_note_later", Is::Min("orders", "item", "note", all())),
        rule("items", "busy_around", Is::Copy("shop", "shops", "busy_around", Type::Option)),
        rule(
            "items",
            "score",
            Is::Count(
                "reviews",
                "item",
                Box::new(move |review| {
                    number(review, "stars") >= liked
                        && review.get_bool("hidden").is_ok_and(|hidden| !hidden)
                }),
            ),
        ),
        rule(
            "items",
            "latest",
            Is::Subset {
                child: "reviews",
                reference: "item",
                test: all(),
                sort: latest.1,
                limit: latest.0,
                shows: &["_id", "stars", "by_name", "item_region"],
            },
        ),
        rule("items", "orders", Is::Count("orders", "item", all())),
        rule("items", "orders_later", Is::Count("orders", "item", all())),
        rule("items", "has_orders", Is::Exists("orders", "item", all())),
        rule("items", "has_orders_later", Is::Exists("orders", "item", all())),
        rule(
            "items",
            "ordered",
            Is::Subset {
                child: "orders",
                reference: "item",
                test: all(),
                sort: &[("score", true)],
                limit: 2,
                shows: &["_id", "note"],
            },
        ),
        in_list("items", "similar", "title", Is::Copy("id", "items", "title", Type::Value)),
        in_list("items", "similar", "score", Is::Copy("id", "items", "score", Type::Value)),
        in_list("items", "similar", "star_sum", Is::Copy("id", "items", "star_sum", Type::Value)),
        rule(
            "item_details",
            "inspector_name",
            Is::Copy("inspector", "persons", "name", Type::Option),
        ),
        rule(
            "item_details",
            "inspector_reviews",
            Is::Copy("inspector", "persons", "reviews", Type::Option),
        ),
        rule("reviews", "by_name", Is::Copy("by", "persons", "name", Type::Option)),
        rule("reviews", "item_title", Is::Copy("item", "items", "title", Type::Value)),
        rule("reviews", "item_region", Is::Copy("item", "items", "region_name", Type::Option)),
        rule("orders", "title_then", Is::Frozen("item", "items", "title", Type::Value)),
        rule("orders", "score", Is::Copy("item", "items", "score", Type::Value)),
        rule("orders", "title_later", Is::Copy("item", "items", "title", Type::Value)),
        rule("orders", "region_later", Is::Copy("region", "regions", "name", Type::Option)),
        rule("orders", "buyer_then", Is::Frozen("buyer", "persons", "name", Type::Option)),
        rule("orders", "latest", Is::Copy("item", "items", "latest", Type::Value)),
        rule("orders", "buyer_reviews", Is::Copy("buyer", "persons", "reviews", Type::Option)),
        rule("tickets", "shop_name", Is::Copy("shop", "shops", "name", Type::Value)),
        in_list("tickets", "lines", "title", Is::Copy("item", "items", "title", Type::Value)),
    ]
}
