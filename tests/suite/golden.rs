//! The stored documents of the guides' systems, byte for byte: the same fields, in the same order,
//! with the same types. An `_id` that the guides leave to the server stands first.

use examples::guides::{
    favourites::{self, Favourites},
    hosts::{self, Logs},
    movies::{self, Movies},
    patrons::{self, Patrons},
    people::{self, People},
    products::{self, Catalog},
    publishers::{self, Publishers},
    reviews::{self, Reviews},
};
use odm::{
    bson::{DateTime, Document, RawDocumentBuf, doc, oid::ObjectId},
    prelude::*,
};
use tests::{TestStore, on_every_store, stored};

/// Compares what a collection holds with what it should hold, in the order of `_id`.
async fn assert_stored(store: &impl TestStore, collection: &str, expected: &[Document]) {
    let stored = stored(store, collection).await;
    let documents: Vec<Document> = stored
        .iter()
        .map(|raw| raw.try_into().expect("a stored document is BSON"))
        .collect();
    assert_eq!(documents, expected, "`{collection}` has other fields");
    for (raw, expected) in stored.iter().zip(expected) {
        let bytes = RawDocumentBuf::try_from(expected).expect("an expected document is BSON");
        assert_eq!(
            raw.as_bytes(),
            bytes.as_bytes(),
            "`{collection}` has another order or other types: {raw:?}, not {bytes:?}"
        );
    }
}

/// The ids that a program made, in the order of the stored documents.
async fn made_ids(store: &impl TestStore, collection: &str) -> Vec<ObjectId> {
    let stored = stored(store, collection).await;
    let id = |raw: &RawDocumentBuf| raw.get_object_id("_id").expect("the id is an `ObjectId`");
    stored.iter().map(id).collect()
}

fn date(text: &str) -> DateTime {
    DateTime::parse_rfc3339_str(text).expect("the guides' dates are dates")
}

fn id(last: u16) -> ObjectId {
    products::short_id(last).into()
}

on_every_store! {
    async fn s1_and_s2_patrons_are_stored_as_in_the_guides(store: impl TestStore) {
        let db = Patrons::open(store.clone()).await.unwrap();
        patrons::load(&db).await.unwrap();
        let fake = doc! {
            "street": "123 Fake Street", "city": "Faketon", "state": "MA", "zip": "12345",
        };
        let other = doc! {
            "street": "1 Some Other Street", "city": "Boston", "state": "MA", "zip": "12345",
        };
        let joe = doc! { "_id": "joe", "name": "Joe Bookreader", "address": fake.clone() };
        assert_stored(&store, "patrons_with_address", &[joe]).await;
        let joe = doc! {
            "_id": "joe", "name": "Joe Bookreader", "addresses": [fake.clone(), other.clone()],
        };
        assert_stored(&store, "patrons_with_addresses", &[joe]).await;

        let joe = doc! { "_id": "joe", "name": "Joe Bookreader" };
        assert_stored(&store, "patrons", &[joe]).await;
        let ids = made_ids(&store, "addresses").await;
        let expected: Vec<_> = ids
            .into_iter()
            .zip([fake, other])
            .map(|(id, address)| {
                let mut document = doc! { "_id": id, "patron_id": "joe" };
                document.extend(address);
                document
            })
            .collect();
        assert_eq!(expected.len(), 2);
        assert_stored(&store, "addresses", &expected).await;
    }

    async fn s2_a_person_is_stored_as_in_the_guides(store: impl TestStore) {
        let db = People::open(store.clone()).await.unwrap();
        db.person.insert(people::kate()).await.unwrap();
        let ids = made_ids(&store, "person").await;
        let kate = doc! {
            "_id": ids[0],
            "name": "Kate Monster",
            "ssn": "123-456-7890",
            "addresses": [
                { "street": "123 Sesame St", "city": "Anytown", "cc": "USA" },
                { "street": "123 Avenue Q", "city": "New York", "cc": "USA" },
            ],
        };
        assert_stored(&store, "person", &[kate]).await;
    }

    async fn s5_publishers_and_books_are_stored_as_in_the_guides(store: impl TestStore) {
        let db = Publishers::open(store.clone()).await.unwrap();
        publishers::load(&db).await.unwrap();
        let guide = doc! {
            "_id": 123456789,
            "title": "MongoDB: The Definitive Guide",
            "author": ["Kristina Chodorow", "Mike Dirolf"],
            "published_date": date("2010-09-24T00:00:00Z"),
            "pages": 216,
            "language": "English",
        };
        let tips = doc! {
            "_id": 234567890,
            "title": "50 Tips and Tricks for MongoDB Developer",
            "author": "Kristina Chodorow",
            "published_date": date("2011-05-06T00:00:00Z"),
            "pages": 68,
            "language": "English",
        };
        let oreilly = doc! {
            "_id": "oreilly", "name": "O'Reilly Media", "founded": 1980, "location": "CA",
        };
        assert_stored(&store, "books", &[guide.clone(), tips.clone()]).await;
        let mut with_books = oreilly.clone();
        with_books.insert("books", [123456789, 234567890].as_slice());
        assert_stored(&store, "publishers_with_books", &[with_books]).await;

        assert_stored(&store, "publishers", &[oreilly]).await;
        let published = [guide, tips].map(|mut book| {
            book.insert("publisher_id", "oreilly");
            book
        });
        assert_stored(&store, "books_with_publisher", &published).await;
    }

    async fn s6_products_and_parts_are_stored_as_in_the_guides(store: impl TestStore) {
        let db = Catalog::open(store.clone()).await.unwrap();
        products::load(&db).await.unwrap();
        let grommet = doc! {
            "_id": id(0xAAAA),
            "partno": "123-aff-456",
            "name": "#4 grommet",
            "qty": 94,
            "cost": 0.94,
            "price": 3.99,
        };
        let switch = doc! {
            "_id": id(0xD2AA),
            "partno": "123-aff-458",
            "name": "power switch",
            "qty": 40,
            "cost": 1.2,
            "price": 4.99,
        };
        let fan = doc! {
            "_id": id(0xF17C),
            "partno": "123-aff-457",
            "name": "fan blade assembly",
            "qty": 12,
            "cost": 7.5,
            "price": 19.99,
        };
        assert_stored(&store, "parts", &[grommet, switch, fan]).await;
        let ids = made_ids(&store, "products").await;
        let left = doc! {
            "_id": ids[0],
            "name": "left-handed smoke shifter",
            "manufacturer": "Acme Corp",
            "catalog_number": 1234,
            "parts": [id(0xAAAA), id(0xF17C), id(0xD2AA)],
        };
        let right = doc! {
            "_id": ids[1],
            "name": "right-handed smoke shifter",
            "manufacturer": "Acme Corp",
            "catalog_number": 1235,
            "parts": [id(0xAAAA)],
        };
        assert_stored(&store, "products", &[left, right]).await;
    }

    async fn s7_hosts_and_messages_are_stored_as_in_the_guides(store: impl TestStore) {
        let db = Logs::open(store.clone()).await.unwrap();
        hosts::load(&db, 0).await.unwrap();
        let host = doc! {
            "_id": id(0xAAAB), "name": "goofy.example.com", "ipaddr": "127.66.66.66",
        };
        assert_stored(&store, "hosts", &[host]).await;
        let ids = made_ids(&store, "logmsg").await;
        let message = doc! {
            "_id": ids[0],
            "time": date("2014-03-28T09:42:41.382Z"),
            "message": "cpu is on fire!",
            "host": id(0xAAAB),
        };
        assert_stored(&store, "logmsg", &[message]).await;
    }

    async fn s3_products_show_their_ten_newest_reviews_as_in_the_guides(store: impl TestStore) {
        let db = Reviews::open(store.clone()).await.unwrap();
        reviews::load(&db).await.unwrap();
        let shown = reviews::REVIEWS.iter().rev().take(10);
        let shown: Vec<Document> = shown
            .map(|(review_id, author, text, day)| {
                doc! {
                    "review_id": review_id,
                    "review_author": author,
                    "review_text": text,
                    "published_date": date(&format!("{day}T00:00:00Z")),
                }
            })
            .collect();
        let price: odm::bson::Decimal128 = "119.99".parse().unwrap();
        let product = doc! {
            "_id": 1,
            "name": "Super Widget",
            "description": "This is the most useful item in your toolbox.",
            "price": { "value": price, "currency": "USD" },
            "reviews": shown,
        };
        assert_stored(&store, "product", &[product]).await;
        let of_hans = doc! {
            "_id": made_ids(&store, "review").await[11],
            "review_id": 1,
            "product_id": 1,
            "review_author": "Hans",
            "review_text": "Meh, it's okay.",
            "published_date": date("2017-12-06T00:00:00Z"),
        };
        let all = stored(&store, "review").await;
        assert_eq!(all[11], RawDocumentBuf::try_from(&of_hans).unwrap());
    }

    async fn s4_a_movie_and_its_details_are_stored_as_in_the_guides(store: impl TestStore) {
        let db = Movies::open(store.clone()).await.unwrap();
        let loaded = movies::load(&db).await.unwrap();
        let details = loaded.details.get().unwrap();
        let movie = doc! {
            "_id": 1,
            "title": "The Arrival of a Train",
            "year": 1896,
            "runtime": 1,
            "released": date("1896-01-25T00:00:00Z"),
            "type": "movie",
            "directors": ["Auguste Lumière", "Louis Lumière"],
            "countries": ["France"],
            "genres": ["Documentary", "Short"],
        };
        assert_stored(&store, "movies", &[movie]).await;
        let half = doc! {
            "_id": made_ids(&store, "movie_details").await[0],
            "movie_id": 1,
            "poster": &details.poster,
            "plot": &details.plot,
            "fullplot": &details.fullplot,
            "lastupdated": date("2015-08-15T10:06:53Z"),
            "imdb": { "rating": 7.3, "votes": 5043, "id": 12 },
            "tomatoes": {
                "viewer": { "rating": 3.7, "numReviews": 59 },
                "lastUpdated": date("2020-01-29T00:02:53Z"),
            },
        };
        assert_stored(&store, "movie_details", &[half]).await;
    }

    async fn s12_hosts_show_their_last_thousand_messages_the_oldest_first(store: impl TestStore) {
        let db = Reviews::open(store.clone()).await.unwrap();
        let host = reviews::load_messages(&db, 1_003).await.unwrap();
        assert_eq!(host.logmsgs.len(), 1000);
        let stored = stored(&store, "hosts_with_logmsgs").await;
        let lines = stored[0].get_array("logmsgs").unwrap();
        let lines: Vec<_> = lines.into_iter().map(|line| line.unwrap()).collect();
        let line = |at: usize| Document::try_from(lines[at].as_document().unwrap()).unwrap();
        let fire = date("2014-03-28T09:42:41.382Z");
        let newest = doc! { "time": fire, "message": "cpu is on fire!" };
        assert_eq!(line(999), newest);
        let oldest = DateTime::from_millis(fire.timestamp_millis() - 999_000);
        let message = "cpu is getting warm, 999 s to go";
        assert_eq!(line(0), doc! { "time": oldest, "message": message });
    }

    async fn s13_posts_and_movies_show_what_is_best_of_them(store: impl TestStore) {
        let db = Favourites::open(store.clone()).await.unwrap();
        favourites::load(&db).await.unwrap();
        let comment = |author: &str, rating: i32| {
            let text = format!("{author} finds it worth {rating}.");
            doc! { "author": author, "text": text, "rating": rating }
        };
        let post = doc! {
            "_id": 1,
            "title": "Rules of thumb",
            "best_comments": [comment("Ida", 7), comment("Eva", 5), comment("Kate", 4)],
        };
        assert_stored(&store, "posts", &[post]).await;
        let movie = doc! {
            "_id": 2,
            "title": "The Sprinkler Sprinkled",
            "cast": [
                { "actor": "François Clerc", "character": "The gardener" },
                { "actor": "Benoît Duval", "character": "The boy" },
            ],
        };
        assert_stored(&store, "movies_with_cast", &[movie]).await;
    }
}
