//! The models of three programs on one store: the application, in versions whose filters, limits and
//! sorts differ; reports, which derive more from a part of it; and a desk that knows two collections.

macro_rules! version {
    (
        $module:ident = $version:tt, liked: $liked:expr, good: $good:expr, dear: $dear:expr,
        best: [$($best:tt)+] by $best_sort:tt, latest: [$($latest:tt)+] by $latest_sort:tt
    ) => {
        pub(crate) mod $module {
            use std::collections::BTreeMap;

            use odm::prelude::*;
            use serde::{Deserialize, Serialize};

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = "regions")]
            pub(crate) struct Region {
                #[serde(rename = "_id")]
                id: i32,
                pub(crate) name: String,
                #[reference(parent, on_delete = "nullify")]
                above: Option<Ref<Region>>,
                #[ancestors(via = "above")]
                path: Ancestors<Region>,
                #[count(of = "Region", via = "path")]
                #[serde(default)]
                regions: i64,
                #[count(of = "Shop")]
                #[serde(default)]
                shops: i64,
                /// By a copy of the lists.
                #[exists(of = "Shop", via = "region_path")]
                #[serde(default)]
                has_below: bool,
                #[sum(of = "Shop.star_sum", via = "regions")]
                #[serde(default)]
                stars_below: i64,
                #[max(of = "Region.star_sum", via = "path")]
                most_below: Option<i64>,
                #[subset(limit = 2, sort = "-worth", via = "regions")]
                #[serde(default)]
                below: Subset<WorthLine>,
                #[subset(limit = $($best)+, sort = $best_sort)]
                #[serde(default)]
                best: Subset<ShopLine>,
                /// By an extreme of sums.
                #[min(of = "Shop.top")]
                least_top: Option<i64>,
                #[sum(of = "Shop.star_sum")]
                #[serde(default)]
                star_sum: i64,
                /// By an extreme of sums of what is computed of sums and counts.
                #[max(of = "Shop.worth")]
                most_worth: Option<i64>,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Projection)]
            #[projection(of = "Shop")]
            struct ShopLine {
                name: String,
                #[serde(default)]
                items: i64,
                region_name: Option<String>,
                top: Option<i64>,
                #[serde(default)]
                worth: i64,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Projection)]
            #[projection(of = "Shop")]
            struct WorthLine {
                name: String,
                #[serde(default)]
                worth: i64,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = "shops")]
            pub(crate) struct Shop {
                #[serde(rename = "_id")]
                id: String,
                name: String,
                #[reference(parent, on_delete = "nullify")]
                pub(crate) region: Option<Ref<Region>>,
                #[denormalize(from = "Region.name")]
                region_name: Option<String>,
                #[ancestors(via = "region")]
                regions: Ancestors<Region>,
                #[denormalize(from = "Region.path")]
                region_path: Option<Ancestors<Region>>,
                /// A copy of what follows from the lists.
                #[denormalize(from = "Region.most_below")]
                most_below: Option<i64>,
                #[reference(child, inverse = "shop")]
                owner: Option<Ref<Person>>,
                #[denormalize(from = "Person.name")]
                owner_name: Option<String>,
                #[count(of = "Item")]
                #[serde(default)]
                items: i64,
                /// By a count of the children's own children.
                #[count(of = "Item", filter = good)]
                #[serde(default)]
                good: i64,
                #[exists(of = "Item", filter = good)]
                #[serde(default)]
                has_good: bool,
                #[sum(of = "Item.star_sum", filter = good)]
                #[serde(default)]
                star_sum: i64,
                #[max(of = "Item.star_sum")]
                top: Option<i64>,
                #[sum(of = "Item.worth", filter = good)]
                #[serde(default)]
                worth: i64,
                #[computed(if items == 0 { None } else { Some(worth / items) })]
                mean_worth: Option<i64>,
                #[min(of = "Item.price", filter = good)]
                cheapest: Option<i32>,
                #[subset(limit = 2, sort = "-score", filter = dear)]
                #[serde(default)]
                dearest: Subset<ItemLine>,
                #[denormalize(from = "Item.title", via = "Item.shop")]
                #[serde(default)]
                titles: Vec<String>,
                #[count(of = "Ticket")]
                #[serde(default)]
                tickets: i64,
                /// By numbers within it.
                #[max(of = "Ticket.number")]
                last_ticket: Option<i64>,
                #[version]
                #[serde(default)]
                revision: i64,
            }

            fn good() -> Filter<Item> {
                Item::fields().score.gte($good)
            }

            fn dear() -> Filter<Item> {
                $dear
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Projection)]
            #[projection(of = "Item")]
            struct ItemLine {
                title: String,
                #[serde(default)]
                score: i64,
                region_name: Option<String>,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = "persons")]
            pub(crate) struct Person {
                #[serde(rename = "_id")]
                id: i64,
                pub(crate) name: String,
                #[reference(child, inverse = "owner")]
                shop: Option<Ref<Shop>>,
                #[denormalize(from = "Shop.items")]
                shop_items: Option<i64>,
                #[reference(child, inverse = "followers")]
                #[serde(default)]
                follows: Vec<Ref<Person>>,
                #[reference(child, inverse = "follows")]
                #[serde(default)]
                followers: Vec<Ref<Person>>,
                #[count(of = "Review")]
                #[serde(default)]
                reviews: i64,
                #[exists(of = "Review")]
                #[serde(default)]
                has_reviewed: bool,
                #[max(of = "Review.stars")]
                most_stars: Option<i32>,
                /// A reverse copy of a copy.
                #[denormalize(from = "Review.item_title", via = "Review.by")]
                #[serde(default)]
                reviewed: Vec<String>,
                #[version]
                #[serde(default)]
                revision: i64,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = "items")]
            pub(crate) struct Item {
                #[serde(rename = "_id")]
                id: i32,
                pub(crate) title: String,
                #[serde(default)]
                pub(crate) price: i32,
                #[reference(parent, on_delete = "cascade")]
                shop: Ref<Shop>,
                #[denormalize(from = "Shop.name")]
                #[serde(default)]
                shop_name: String,
                #[denormalize(from = "Shop.region_name")]
                region_name: Option<String>,
                #[denormalize(from = "Shop.items")]
                #[serde(default)]
                shop_items: i64,
                /// A copy of an existence by a count.
                #[denormalize(from = "Shop.has_good")]
                #[serde(default)]
                shop_has_good: bool,
                /// A copy of an extreme by a count.
                #[denormalize(from = "Shop.cheapest")]
                shop_cheapest: Option<i32>,
                #[count(of = "Review", filter = liked)]
                #[serde(default)]
                score: i64,
                #[sum(of = "Review.stars")]
                #[serde(default)]
                star_sum: i64,
                #[computed(star_sum * 10 - score)]
                #[serde(default)]
                worth: i64,
                /// By what is computed in a list.
                #[computed(similar.iter().map(|link| link.weight).sum::<i64>())]
                #[serde(default)]
                similar_weight: i64,
                #[subset(limit = $($latest)+, sort = $latest_sort)]
                #[serde(default)]
                latest: Subset<ReviewLine>,
                /// A count of orders, which stay when it goes, and are there before it comes back.
                #[count(of = "Order")]
                #[serde(default)]
                orders: i64,
                #[count(of = "Order", refresh = "later")]
                #[serde(default)]
                orders_later: i64,
                #[exists(of = "Order")]
                #[serde(default)]
                has_orders: bool,
                #[exists(of = "Order", refresh = "later")]
                #[serde(default)]
                has_orders_later: bool,
                #[max(of = "Order.score")]
                top_score: Option<i64>,
                #[sum(of = "Order.score")]
                #[serde(default)]
                scores: i64,
                #[sum(of = "Order.score", refresh = "later")]
                #[serde(default)]
                scores_later: i64,
                #[min(of = "Order.note", refresh = "later")]
                first_note_later: Option<String>,
                /// In an order that its elements do not show.
                #[subset(limit = 2, sort = "-score")]
                #[serde(default)]
                ordered: Subset<OrderLine>,
                #[embed]
                #[serde(default)]
                pub(crate) similar: Vec<Link>,
                #[split(collection = "item_details", key = "item", optional)]
                #[serde(default)]
                detail: Cold<Detail>,
                #[version]
                #[serde(default)]
                revision: i64,
            }

            fn liked() -> Filter<Review> {
                Review::fields().stars.gte($liked) & Review::fields().hidden.eq(false)
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
            pub(crate) struct Link {
                #[reference(child, on_delete = "pull")]
                pub(crate) id: Ref<Item>,
                #[denormalize(from = "Item.title")]
                #[serde(default)]
                title: String,
                #[denormalize(from = "Item.score")]
                #[serde(default)]
                score: i64,
                #[denormalize(from = "Item.star_sum")]
                #[serde(default)]
                star_sum: i64,
                #[denormalize(from = "Item.worth")]
                #[serde(default)]
                worth: i64,
                #[computed(worth + title.len() as i64)]
                #[serde(default)]
                weight: i64,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
            struct Detail {
                text: String,
                #[reference(child, on_delete = "nullify")]
                inspector: Option<Ref<Person>>,
                #[denormalize(from = "Person.name")]
                inspector_name: Option<String>,
                /// A copy of a count, in a cold part.
                #[denormalize(from = "Person.reviews")]
                inspector_reviews: Option<i64>,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = "reviews")]
            pub(crate) struct Review {
                #[serde(rename = "_id")]
                id: i32,
                #[reference(parent, on_delete = "cascade")]
                item: Ref<Item>,
                #[validate(max = 6)]
                pub(crate) stars: i32,
                hidden: bool,
                #[reference(parent, on_delete = "nullify")]
                by: Option<Ref<Person>>,
                #[denormalize(from = "Person.name")]
                by_name: Option<String>,
                #[sequence(within = "by")]
                by_number: Option<i32>,
                #[denormalize(from = "Item.title")]
                #[serde(default)]
                item_title: String,
                /// A copy of a copy of a copy.
                #[denormalize(from = "Item.region_name")]
                item_region: Option<String>,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Projection)]
            #[projection(of = "Review")]
            struct ReviewLine {
                #[serde(rename = "_id")]
                id: i32,
                stars: i32,
                by_name: Option<String>,
                item_region: Option<String>,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = "orders", unique(fields = "note, region", filter = first))]
            pub(crate) struct Order {
                #[serde(rename = "_id")]
                id: i32,
                pub(crate) note: String,
                #[reference(parent, on_delete = "keep")]
                item: Ref<Item>,
                #[denormalize(from = "Item.title", freeze)]
                #[serde(default)]
                title_then: String,
                #[denormalize(from = "Item.score")]
                #[serde(default)]
                score: i64,
                #[denormalize(from = "Item.title", refresh = "later")]
                #[serde(default)]
                title_later: String,
                /// A copy of a subset.
                #[denormalize(from = "Item.latest")]
                #[serde(default)]
                latest: Subset<ReviewLine>,
                #[reference(child, unchecked)]
                buyer: Option<Ref<Person>>,
                #[denormalize(from = "Person.reviews")]
                buyer_reviews: Option<i64>,
                #[denormalize(from = "Person.name", freeze)]
                buyer_then: Option<String>,
                /// It restricts.
                #[reference(child)]
                region: Option<Ref<Region>>,
                #[denormalize(from = "Region.name", refresh = "later")]
                region_later: Option<String>,
            }

            fn first() -> Filter<Order> {
                Order::fields().note.eq("name 1")
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Projection)]
            #[projection(of = "Order")]
            struct OrderLine {
                #[serde(rename = "_id")]
                id: i32,
                note: String,
            }

            /// Its `_id` is a number of a sequence, its code a unique key, and it expires.
            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(
                collection = "tickets",
                new(name = "NewTicket", derive(Debug, Deserialize)),
                expires(field = "until")
            )]
            pub(crate) struct Ticket {
                #[serde(rename = "_id")]
                #[id(sequence)]
                id: i64,
                #[index(unique)]
                pub(crate) code: String,
                #[reference(parent, on_delete = "cascade")]
                shop: Ref<Shop>,
                #[denormalize(from = "Shop.name")]
                #[serde(default)]
                shop_name: String,
                #[sequence(within = "shop")]
                #[serde(default)]
                number: i64,
                #[computed(format!("{shop_name} {number}"))]
                #[serde(default)]
                label: String,
                /// It restricts.
                #[reference(child)]
                after: Option<Ref<Ticket>>,
                #[ancestors(via = "after", refresh = "later")]
                before: Ancestors<Ticket>,
                #[embed]
                pub(crate) lines: Vec<TicketLine>,
                pub(crate) notes: BTreeMap<String, i32>,
                pub(crate) until: Option<DateTime>,
                #[created_at]
                #[serde(default)]
                made: Option<DateTime>,
                #[updated_at]
                #[serde(default)]
                changed: Option<DateTime>,
                #[version]
                #[serde(default)]
                revision: i64,
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Embed)]
            pub(crate) struct TicketLine {
                #[reference(child, on_delete = "pull")]
                item: Ref<Item>,
                #[denormalize(from = "Item.title")]
                #[serde(default)]
                title: String,
                pub(crate) quantity: i32,
            }

            #[derive(Debug, Deserialize, Patch)]
            #[patch(of = "Shop")]
            pub(crate) struct ShopPatch {
                name: Option<String>,
                #[serde(default, deserialize_with = "odm::present")]
                region: Option<Option<Ref<Region>>>,
                #[serde(default, deserialize_with = "odm::present")]
                owner: Option<Option<Ref<Person>>>,
            }

            #[derive(Debug, Deserialize, Patch)]
            #[patch(of = "Person")]
            pub(crate) struct PersonPatch {
                name: Option<String>,
                #[serde(default, deserialize_with = "odm::present")]
                shop: Option<Option<Ref<Shop>>>,
                follows: Option<Vec<Ref<Person>>>,
                followers: Option<Vec<Ref<Person>>>,
            }

            #[derive(Debug, Deserialize, Patch)]
            #[patch(of = "Item")]
            pub(crate) struct ItemPatch {
                title: Option<String>,
                price: Option<i32>,
                shop: Option<Ref<Shop>>,
            }

            #[derive(Debug, Deserialize, Patch)]
            #[patch(of = "Review")]
            pub(crate) struct ReviewPatch {
                item: Option<Ref<Item>>,
                stars: Option<i32>,
                hidden: Option<bool>,
                #[serde(default, deserialize_with = "odm::present")]
                by: Option<Option<Ref<Person>>>,
            }

            #[derive(Database)]
            #[database(name = "application", version = $version)]
            pub(crate) struct Application {
                pub(crate) regions: Repository<Region>,
                pub(crate) shops: Repository<Shop>,
                pub(crate) persons: Repository<Person>,
                pub(crate) items: Repository<Item>,
                pub(crate) reviews: Repository<Review>,
                pub(crate) orders: Repository<Order>,
                pub(crate) tickets: Repository<Ticket>,
            }
        }
    };
}

// `rules::VERSIONS` says the same without the library.
version! {
    first = 1, liked: 3, good: 1, dear: Item::fields().price.gte(2),
    best: [2] by "-items", latest: [2] by "-stars"
}
version! {
    second = 2, liked: 2, good: 2, dear: Item::fields().score.gte(1),
    best: [3] by "name", latest: [3] by "by_name, -stars"
}
version! {
    third = 3, liked: 4, good: 1, dear: Item::fields().latest.len(0),
    best: [-2] by "good", latest: [-2] by "stars"
}
version! {
    fourth = 4, liked: 3, good: 1, dear: Item::fields().region_name.ne(None::<String>),
    best: [1] by "-region_name, -items", latest: [1] by "item_region"
}

/// It takes fields that the application derives for base data, and derives from them.
pub(crate) mod reports {
    use odm::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "regions")]
    pub(crate) struct Region {
        #[serde(rename = "_id")]
        id: i32,
        pub(crate) name: String,
        #[count(of = "Shop", filter = busy)]
        #[serde(default)]
        busy: i64,
    }

    fn busy() -> Filter<Shop> {
        Shop::fields().items.gte(2)
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "shops")]
    pub(crate) struct Shop {
        #[serde(rename = "_id")]
        id: String,
        name: String,
        #[reference(parent, on_delete = "nullify")]
        pub(crate) region: Option<Ref<Region>>,
        #[serde(default)]
        items: i64,
        #[denormalize(from = "Region.busy")]
        busy_around: Option<i64>,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "items")]
    pub(crate) struct Item {
        #[serde(rename = "_id")]
        id: i32,
        pub(crate) title: String,
        #[serde(default)]
        pub(crate) price: i32,
        #[reference(parent, on_delete = "cascade")]
        shop: Ref<Shop>,
        #[denormalize(from = "Shop.busy_around")]
        busy_around: Option<i64>,
    }

    #[derive(Database)]
    #[database(name = "reports", version = 1)]
    pub(crate) struct Reports {
        pub(crate) regions: Repository<Region>,
        pub(crate) shops: Repository<Shop>,
        pub(crate) items: Repository<Item>,
    }
}

/// It has no references.
pub(crate) mod desk {
    use odm::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "persons")]
    pub(crate) struct Person {
        #[serde(rename = "_id")]
        id: i64,
        pub(crate) name: String,
    }

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "reviews")]
    pub(crate) struct Review {
        #[serde(rename = "_id")]
        id: i32,
        item: i32,
        pub(crate) stars: i32,
        hidden: bool,
        by: Option<i64>,
    }

    #[derive(Database)]
    #[database(name = "desk", version = 1)]
    pub(crate) struct Desk {
        pub(crate) persons: Repository<Person>,
        pub(crate) reviews: Repository<Review>,
    }
}
