//! The subset pattern: a product that shows its newest reviews, and a host its last messages.

use odm::{Finding, bson::Decimal128, prelude::*};
use serde::{Deserialize, Serialize};

use crate::show::{Screen, change, query};

const SOURCE: &str = include_str!("reviews.rs");

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct Money {
    /// The amount.
    pub value: Decimal128,
    /// The currency.
    pub currency: String,
}

/// A product that shows its ten newest reviews.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "product")]
pub struct Product {
    /// Its number.
    #[serde(rename = "_id")]
    pub id: i32,
    /// The name.
    pub name: String,
    /// A short description.
    pub description: String,
    /// The price.
    #[embed]
    pub price: Money,
    /// The newest reviews.
    #[subset(limit = 10, sort = "-published_date")]
    pub reviews: Subset<ReviewSummary>,
}

/// A review of a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "review")]
pub struct Review {
    /// The id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// Its number.
    #[index(unique)]
    pub review_id: i32,
    /// The reviewed product.
    #[reference(parent)]
    pub product_id: Ref<Product>,
    /// Who wrote it.
    pub review_author: String,
    /// The text.
    pub review_text: String,
    /// When it was published.
    pub published_date: DateTime,
}

/// The summary of a review on the product page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Review")]
pub struct ReviewSummary {
    /// Its number.
    pub review_id: i32,
    /// Who wrote it.
    pub review_author: String,
    /// The text.
    pub review_text: String,
    /// When it was published.
    pub published_date: DateTime,
}

/// A host that shows its last thousand messages, the oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "hosts_with_logmsgs")]
pub struct Host {
    /// The id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// Its name.
    pub name: String,
    /// Its address.
    #[index(unique)]
    pub ipaddr: String,
    /// The last messages.
    #[subset(limit = -1000, sort = "time")]
    pub logmsgs: Subset<LogLine>,
}

/// A message of a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "logmsg_of_hosts")]
pub struct LogMsg {
    /// The id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// When it was sent.
    pub time: DateTime,
    /// The text.
    pub message: String,
    /// Who sent it.
    #[reference(parent)]
    pub host: Ref<Host>,
}

/// The summary of a message in its host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "LogMsg")]
pub struct LogLine {
    /// When it was sent.
    pub time: DateTime,
    /// The text.
    pub message: String,
}

/// Products with reviews, and hosts with messages.
#[derive(Database)]
#[database(name = "reviews", version = 1)]
pub struct Reviews {
    /// Products.
    pub products: Repository<Product>,
    /// Their reviews.
    pub reviews: Repository<Review>,
    /// Hosts.
    pub hosts: Repository<Host>,
    /// Their messages.
    pub logmsg: Repository<LogMsg>,
}

/// The guides' reviews: the shown ones, and some between, in the order of their numbers.
pub const REVIEWS: [(i32, &str, &str, &str); 12] = [
    (1, "Hans", "Meh, it's okay.", "2017-12-06"),
    (2, "Ida", "Does what it says.", "2017-12-07"),
    (776, "Pablo", "Amazing!", "2019-02-16"),
    (778, "Mina", "Works.", "2019-02-16"),
    (779, "Otto", "Too small.", "2019-02-16"),
    (780, "Lea", "Fine.", "2019-02-16"),
    (781, "Ben", "Good.", "2019-02-16"),
    (782, "Eva", "Very good.", "2019-02-16"),
    (783, "Jon", "As described.", "2019-02-16"),
    (784, "Ana", "Fast shipping.", "2019-02-16"),
    (785, "Trina", "Nice product. Slow shipping.", "2019-02-17"),
    (
        786,
        "Kristina",
        "This is indeed an amazing widget.",
        "2019-02-18",
    ),
];

/// Stores the guides' product and its reviews.
pub async fn load(db: &Reviews) -> odm::Result<Product> {
    let product = Product {
        id: 1,
        name: "Super Widget".into(),
        description: "This is the most useful item in your toolbox.".into(),
        price: Money {
            value: "119.99".parse().expect("a decimal number"),
            currency: "USD".into(),
        },
        reviews: Subset::new(),
    };
    let product = db.products.insert(product).await?;
    for (review_id, author, text, date) in REVIEWS {
        // If dates are equal, the ids decide, and the newer review has the lesser one.
        let mut id = [0; 12];
        id[8..].copy_from_slice(&(i32::MAX - review_id).to_be_bytes());
        let review = Review {
            id: ObjectId::from_bytes(id),
            review_id,
            product_id: Ref::from(&product),
            review_author: author.into(),
            review_text: text.into(),
            published_date: date.parse()?,
        };
        db.reviews.insert(review).await?;
    }
    db.products.get(1).await
}

/// Stores the guides' host and messages. The last message is from the guides.
pub async fn load_messages(db: &Reviews, messages: i64) -> odm::Result<Host> {
    let host = Host {
        id: super::products::short_id(0xAAAB),
        name: "goofy.example.com".into(),
        ipaddr: "127.66.66.66".into(),
        logmsgs: Subset::new(),
    };
    let host = db.hosts.insert(host).await?;
    let fire: DateTime = "2014-03-28T09:42:41.382Z".parse()?;
    let message = |before: i64| LogMsg {
        id: ObjectId::new(),
        time: DateTime::from_millis(fire.timestamp_millis() - before * 1000),
        message: match before {
            0 => "cpu is on fire!".into(),
            _ => format!("cpu is getting warm, {before} s to go"),
        },
        host: Ref::from(&host),
    };
    db.logmsg.insert_many((0..messages).map(message)).await?;
    db.hosts.get(&host).await
}

/// S3: the page of a product, and its changes by edits and deletes of reviews.
pub async fn run(screen: &mut Screen) -> odm::Result<Vec<Finding>> {
    let db = Reviews::open(screen.store()).await?;
    load(&db).await?;
    screen.model(SOURCE, &["Product", "Review", "ReviewSummary"]);
    screen.stored(["product"]).await?;
    screen.watch(["review"]);

    let product = query!(
        screen,
        "a product with its newest reviews, by one query",
        db.products.get(1)
    );
    query!(
        screen,
        "more reviews, from where the product's end",
        db.reviews
            .after_subset(&product, Product::fields().reviews)
            .await?
            .limit(20)
    );
    change!(
        screen,
        "a review is edited",
        db.reviews
            .update_where(Review::fields().review_id.eq(785))
            .set(Review::fields().review_text, "Nice product. Faster now.")
    );
    change!(
        screen,
        "a review is deleted",
        db.reviews.delete_where(Review::fields().review_id.eq(786))
    );
    db.audit().await
}

/// S12: a message comes in, and the host shows it.
pub async fn run_messages(screen: &mut Screen) -> odm::Result<Vec<Finding>> {
    let db = Reviews::open(screen.store()).await?;
    load_messages(&db, 1_500).await?;
    screen.model(SOURCE, &["Host", "LogMsg", "LogLine"]);
    screen
        .stored(["hosts_with_logmsgs", "logmsg_of_hosts"])
        .await?;

    let host = query!(
        screen,
        "a host with its last messages, by one query",
        db.hosts
            .find(Host::fields().ipaddr.eq("127.66.66.66"))
            .one()
    );
    let message = LogMsg {
        id: ObjectId::new(),
        time: "2014-03-28T09:42:42Z".parse()?,
        message: "cpu is out!".into(),
        host: Ref::from(&host),
    };
    change!(screen, "a message comes in", db.logmsg.insert(message));
    db.audit().await
}
