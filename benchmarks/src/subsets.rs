//! The cost of a write of a child while its parent holds the newest ten, by the number of children.
//!
//! There is a store on disk for each number of children, in which one product has them twice: once with `#[subset]`, and once in plain
//! models, for which the same is written by hand, and which lack the reference with its check and its index. Each write is undone before
//! the next, so that the number stays the same. A round does every write once in each store in turn; the table shows the medians of all
//! rounds, first with [`Durability::Eventual`], since the disk hides the rest, then durably. An assertion bounds the data that a write
//! touches, for any number of children; the table has the greatest value.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use odm::{
    bson::doc,
    prelude::*,
    store::{Durability, contract::Store, embedded::Embedded},
};
use serde::{Deserialize, Serialize};

use crate::shared::{
    measure::{Touched, median, micros, timed},
    random::{Random, text},
    table::{Table, figure, thousands},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How often each write is done.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// The largest number of children.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(100..))]
    children: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[subset(limit = 10, sort = "-published_date")]
    reviews: Subset<ReviewSummary>,
}

/// A review, stored in about 300 bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: ObjectId,
    #[reference(parent)]
    product_id: Ref<Product>,
    review_author: String,
    review_text: String,
    published_date: DateTime,
    helpful: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Review")]
struct ReviewSummary {
    review_author: String,
    review_text: String,
    published_date: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "plain_products")]
struct PlainProduct {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[opaque]
    reviews: Vec<PlainSummary>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(
    collection = "plain_reviews",
    index(fields = "product_id, -published_date")
)]
struct PlainReview {
    #[serde(rename = "_id")]
    id: ObjectId,
    product_id: i64,
    review_author: String,
    review_text: String,
    published_date: DateTime,
    helpful: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "PlainReview")]
struct PlainSummary {
    review_author: String,
    review_text: String,
    published_date: DateTime,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    products: Repository<Product>,
    reviews: Repository<Review>,
    plain_products: Repository<PlainProduct>,
    plain_reviews: Repository<PlainReview>,
}

const PRODUCT: i64 = 1;
const SHOWN: u64 = 10;
const CHUNK: u64 = 10_000;
const WARM_UP: u64 = 10;

fn id(n: u64) -> ObjectId {
    let mut id = [0; 12];
    id[4..].copy_from_slice(&n.to_be_bytes());
    ObjectId::from_bytes(id)
}

/// The larger the number, the newer the review.
fn review(n: u64) -> Review {
    Review {
        id: id(n),
        product_id: Ref::new(PRODUCT),
        review_author: text(n, 20),
        review_text: text(n, 130),
        published_date: DateTime::from_millis(1_400_000_000_000 + n as i64 * 60_000),
        helpful: n as i64 % 100,
    }
}

fn plain(review: Review) -> PlainReview {
    PlainReview {
        id: review.id,
        product_id: *review.product_id.id(),
        review_author: review.review_author,
        review_text: review.review_text,
        published_date: review.published_date,
        helpful: review.helpful,
    }
}

#[derive(Debug, Clone, Copy)]
enum Write {
    InsertNewest,
    InsertOld,
    UpdateMember,
    UpdateOther,
    DeleteMember,
    Alone,
    PushByHand,
    InsertByHand,
}

const WRITES: [(Write, &str); 8] = [
    (Write::InsertNewest, "insert of a review that enters"),
    (Write::InsertOld, "insert of an old review"),
    (Write::UpdateMember, "update of a review that is shown"),
    (Write::UpdateOther, "update of a review that is not shown"),
    (
        Write::DeleteMember,
        "delete of a review that is shown, the next moves up",
    ),
    (Write::Alone, "plain: insert of a review, no array"),
    (
        Write::PushByHand,
        "plain: insert, `$push` with `$sort` and `$slice`",
    ),
    (
        Write::InsertByHand,
        "plain: insert, read the newest ten, set the array",
    ),
];

/// A store with one product and its reviews.
struct Place {
    path: PathBuf,
    children: u64,
    random: Random,
}

impl Place {
    async fn open(&self, durability: Durability) -> odm::Result<(Embedded, Shop)> {
        let store = Embedded::builder().durability(durability);
        let store = store.open(&self.path).await?;
        Ok((store.clone(), Shop::open(store).await?))
    }

    async fn load(&self, shop: &Shop) -> odm::Result<()> {
        let name = "Super Widget";
        let product = Product {
            id: PRODUCT,
            name: name.into(),
            reviews: Subset::new(),
        };
        shop.products.insert(product).await?;
        let product = PlainProduct {
            id: PRODUCT,
            name: name.into(),
            reviews: Vec::new(),
        };
        shop.plain_products.insert(product).await?;
        for from in (0..self.children).step_by(CHUNK as usize) {
            let chunk = from..self.children.min(from + CHUNK);
            let reviews = chunk.clone().map(review);
            shop.reviews.insert_many(reviews).await?;
            let reviews = chunk.map(review).map(plain);
            shop.plain_reviews.insert_many(reviews).await?;
        }
        set_newest(shop).await
    }

    /// Does a write, undoes it, and returns the time of the write and the touched data.
    async fn write(&mut self, shop: &Shop, write: Write) -> odm::Result<(Duration, Touched)> {
        let newest = review(self.children);
        let other = self.random.below(self.children - SHOWN);
        let member = self.children - SHOWN + self.random.below(SHOWN);
        let text = Review::fields().review_text;
        let edit = async |n: u64, from: u64| {
            let text = shop
                .reviews
                .update(id(n))
                .set(text, review(from).review_text);
            text.await
        };
        match write {
            Write::InsertNewest => {
                let done = timed(shop.reviews.insert(newest.clone())).await?;
                shop.reviews.delete(newest.id).await?;
                Ok(done)
            }
            Write::InsertOld => {
                let old = Review {
                    id: newest.id,
                    ..review(other)
                };
                let done = timed(shop.reviews.insert(old)).await?;
                shop.reviews.delete(newest.id).await?;
                Ok(done)
            }
            Write::UpdateMember | Write::UpdateOther => {
                let n = match write {
                    Write::UpdateMember => member,
                    _ => other,
                };
                let done = timed(edit(n, n + 1)).await?;
                edit(n, n).await?;
                Ok(done)
            }
            Write::DeleteMember => {
                let done = timed(shop.reviews.delete(id(member))).await?;
                shop.reviews.insert(review(member)).await?;
                Ok(done)
            }
            Write::Alone => {
                let done = timed(shop.plain_reviews.insert(plain(newest.clone()))).await?;
                shop.plain_reviews.delete(newest.id).await?;
                Ok(done)
            }
            Write::PushByHand => {
                let newest = plain(newest);
                let done = timed(push_by_hand(shop, &newest)).await?;
                shop.plain_reviews.delete(newest.id).await?;
                set_newest(shop).await?;
                Ok(done)
            }
            Write::InsertByHand => {
                let newest = plain(newest);
                let done = timed(insert_by_hand(shop, &newest)).await?;
                shop.plain_reviews.delete(newest.id).await?;
                set_newest(shop).await?;
                Ok(done)
            }
        }
    }

    /// After all rounds, both products show the same reviews as before the first.
    async fn assert_right(&self, shop: &Shop) -> odm::Result<()> {
        let shown = (self.children - SHOWN..self.children).rev().map(review);
        let summary = |review: Review| ReviewSummary {
            review_author: review.review_author,
            review_text: review.review_text,
            published_date: review.published_date,
        };
        let shown: Vec<_> = shown.map(summary).collect();
        let product = shop.products.get(PRODUCT).await?;
        assert_eq!(product.reviews.into_vec(), shown);
        let summary = |review: PlainSummary| ReviewSummary {
            review_author: review.review_author,
            review_text: review.review_text,
            published_date: review.published_date,
        };
        let product = shop.plain_products.get(PRODUCT).await?;
        let by_hand: Vec<_> = product.reviews.into_iter().map(summary).collect();
        assert_eq!(by_hand, shown);
        Ok(())
    }
}

async fn set_newest(shop: &Shop) -> odm::Result<()> {
    let fields = PlainReview::fields();
    let newest = shop
        .plain_reviews
        .find(fields.product_id.eq(PRODUCT))
        .sort(fields.published_date.desc())
        .limit(SHOWN)
        .select::<PlainSummary>()
        .await?;
    let reviews = PlainProduct::fields().reviews;
    shop.plain_products
        .update(PRODUCT)
        .set(reviews, newest)
        .await
}

async fn insert_by_hand(shop: &Shop, review: &PlainReview) -> odm::Result<()> {
    shop.transaction(async |shop| {
        shop.plain_reviews.insert(review.clone()).await?;
        set_newest(&shop).await
    })
    .await
}

/// As in MongoDB's guides: right for inserts, but after a delete no older review moves up.
async fn push_by_hand(shop: &Shop, review: &PlainReview) -> odm::Result<()> {
    let newest = doc! {
        "review_author": &review.review_author,
        "review_text": &review.review_text,
        "published_date": odm::bson::DateTime::from_millis(review.published_date.timestamp_millis()),
    };
    let push = doc! {
        "$each": [newest],
        "$sort": { "published_date": -1 },
        "$slice": SHOWN as i32,
    };
    let push = doc! { "$push": { "reviews": push } };
    shop.transaction(async |shop| {
        shop.plain_reviews.insert(review.clone()).await?;
        let product = shop.plain_products.update(PRODUCT);
        product.raw(push.clone()).await
    })
    .await
}

pub(crate) async fn run(options: Options) -> odm::Result<()> {
    let Options { rounds, children } = options;
    let mut sizes = vec![100, 10_000.min(children), children];
    sizes.sort();
    sizes.dedup();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = |&children: &u64| Place {
        path: folder.path().join(format!("{children}.odm")),
        children,
        random: Random(children),
    };
    let mut places: Vec<_> = sizes.iter().map(place).collect();
    for place in &places {
        let start = Instant::now();
        let (store, shop) = place.open(Durability::Eventual).await?;
        place.load(&shop).await?;
        store.close().await?;
        let children = thousands(place.children);
        let took = start.elapsed();
        eprintln!("{children} reviews, twice, loaded in {took:.1?}");
    }
    let columns = sizes
        .iter()
        .map(|&n| format!("{} children, µs", thousands(n)));
    let columns = ["write".to_owned(), "commit".to_owned()]
        .into_iter()
        .chain(columns);
    let touched = ["keys examined", "documents examined", "documents written"];
    let mut table = Table::new(2, columns.chain(touched.map(str::to_owned)));
    for durability in [Durability::Eventual, Durability::Immediate] {
        for row in rows(&mut places, durability, rounds).await? {
            let touched = row.touched.expect("every write was done");
            let touched = [
                touched.keys_examined,
                touched.documents_examined,
                touched.documents_written,
            ];
            let times = row
                .times
                .into_iter()
                .map(|times| figure(micros(median(times))));
            let cells = [row.name.to_owned(), format!("{durability:?}")].into_iter();
            table.row(cells.chain(times).chain(touched.map(thousands)));
        }
    }
    let bytes = odm::bson::serialize_to_vec(&review(0))
        .expect("a review is BSON")
        .len();
    println!("reviews of {bytes} bytes, {rounds} rounds\n");
    print!("{table}");
    Ok(())
}

/// Does all writes in all stores.
async fn rows(places: &mut [Place], durability: Durability, rounds: u64) -> odm::Result<Vec<Row>> {
    let mut open = Vec::new();
    let mut rows = WRITES.map(|(_, name)| Row {
        name,
        times: vec![Vec::new(); places.len()],
        touched: None,
    });
    for place in places {
        let (store, shop) = place.open(durability).await?;
        open.push((place, store, shop));
    }
    for round in 0..WARM_UP + rounds {
        for (at, (place, _, shop)) in open.iter_mut().enumerate() {
            // The first write of a turn also wakes the store's writer.
            place.write(shop, Write::Alone).await?;
            for step in 0..WRITES.len() {
                // The first write of a turn is slowest, so each write is first equally often.
                let nth = (round as usize + step) % WRITES.len();
                let (write, row) = (WRITES[nth].0, &mut rows[nth]);
                let (took, touched) = place.write(shop, write).await?;
                let children = place.children;
                let is_bounded = touched.keys_examined <= SHOWN + 1
                    && touched.documents_examined <= SHOWN + 3
                    && touched.documents_written <= 2;
                assert!(
                    is_bounded,
                    "{write:?} with {children} children touches {touched:?}"
                );
                row.touched = Some(row.touched.map_or(touched, |most| most.max(touched)));
                if round >= WARM_UP {
                    row.times[at].push(took);
                }
            }
        }
    }
    for (place, store, shop) in open {
        place.assert_right(&shop).await?;
        store.close().await?;
    }
    Ok(rows.into())
}

struct Row {
    name: &'static str,
    /// The times of all rounds, for each number of children.
    times: Vec<Vec<Duration>>,
    /// The largest figures of a write.
    touched: Option<Touched>,
}
