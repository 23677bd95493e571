//! The stored documents of the guides' systems, byte for byte: the same fields, in the same order,
//! with the same types. An `_id` that the guides leave to the server stands first.

use examples::guides::{
    blogs::{self, Blogs},
    contacts,
    favourites::{self, Favourites},
    hosts::{self, Logs},
    messages::{self, Messages},
    movies::{self, Movies},
    part_names::{self, PartNames},
    patrons::{self, Patrons},
    people::{self, People},
    product_names::{self, ProductNames},
    products::{self, Catalog},
    publishers::{self, Publishers},
    reviews::{self, Reviews},
    tasks::{self, Tasks},
};
use odm::{
    bson::{Bson, DateTime, Document, RawDocumentBuf, doc, oid::ObjectId},
    measure,
    prelude::*,
};
use tests::{TestStore, on_every_store, stored};

/// Compares the content of a collection with the expected one, in the order of `_id`.
async fn assert_stored(store: &impl TestStore, collection: &str, expected: &[Document]) {
    let stored = stored(store, collection).await;
    let documents: Vec<Document> =
        stored.iter().map(|raw| raw.try_into().expect("a stored document is BSON")).collect();
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
    async fn s1_and_s2_patrons_are_stored_as_in_the_guides(store: AnyStore) {
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

    async fn s2_a_person_is_stored_as_in_the_guides(store: AnyStore) {
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

    async fn s5_publishers_and_books_are_stored_as_in_the_guides(store: AnyStore) {
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

    async fn s6_products_and_parts_are_stored_as_in_the_guides(store: AnyStore) {
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

    async fn s7_hosts_and_messages_are_stored_as_in_the_guides(store: AnyStore) {
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

    async fn s3_products_show_their_ten_newest_reviews_as_in_the_guides(store: AnyStore) {
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

    async fn s4_a_movie_and_its_details_are_stored_as_in_the_guides(store: AnyStore) {
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
        let part = doc! {
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
        assert_stored(&store, "movie_details", &[part]).await;
    }

    async fn s8_people_and_tasks_are_stored_as_in_the_guides(store: AnyStore) {
        let db = Tasks::open(store.clone()).await.unwrap();
        let [kate, rod] = tasks::load(&db).await.unwrap();
        let lesson = |owner: Bson| doc! {
            "_id": id(0xADF9),
            "description": "Write lesson plan",
            "due_date": date("2014-04-01T00:00:00Z"),
            "owner": owner,
        };
        let essays = doc! {
            "_id": id(0xAE02),
            "description": "Grade essays",
            "due_date": date("2014-04-02T00:00:00Z"),
            "owner": id(0xAAF1),
        };
        let chalk = doc! {
            "_id": id(0xAE73),
            "description": "Order chalk",
            "due_date": date("2014-04-15T00:00:00Z"),
            "owner": id(0xAAF1),
        };
        let people = |of_kate: &[u16], of_rod: &[u16]| {
            let ids = |of: &[u16]| of.iter().copied().map(id).collect::<Vec<_>>();
            [
                doc! { "_id": id(0xAAF1), "name": "Kate Monster", "tasks": ids(of_kate) },
                doc! { "_id": id(0xAAF2), "name": "Rod", "tasks": ids(of_rod) },
            ]
        };
        let of_kate = lesson(id(0xAAF1).into());
        assert_stored(&store, "people", &people(&[0xADF9, 0xAE02, 0xAE73], &[])).await;
        assert_stored(&store, "tasks", &[of_kate.clone(), essays.clone(), chalk.clone()]).await;

        let task = &kate.tasks[0];
        db.tasks.update(task).set(tasks::Task::fields().owner, &rod).await.unwrap();
        let of_rod = lesson(id(0xAAF2).into());
        assert_stored(&store, "people", &people(&[0xAE02, 0xAE73], &[0xADF9])).await;
        assert_stored(&store, "tasks", &[of_rod, essays.clone(), chalk.clone()]).await;

        let of_person = tasks::Person::fields().tasks;
        db.people.update(&kate).push(of_person, task).await.unwrap();
        assert_stored(&store, "people", &people(&[0xAE02, 0xAE73, 0xADF9], &[])).await;
        assert_stored(&store, "tasks", &[of_kate, essays.clone(), chalk.clone()]).await;

        db.people.update(&kate).pull(of_person, task).await.unwrap();
        assert_stored(&store, "people", &people(&[0xAE02, 0xAE73], &[])).await;
        assert_stored(&store, "tasks", &[lesson(Bson::Null), essays, chalk]).await;
    }

    async fn s9_products_have_the_names_of_their_parts_as_in_the_guides(store: AnyStore) {
        let db = PartNames::open(store.clone()).await.unwrap();
        part_names::load(&db).await.unwrap();
        let ids = made_ids(&store, "products_with_part_names").await;
        let of_products = |grommet: &str| {
            let grommet = doc! { "id": id(0xAAAA), "name": grommet };
            let left = doc! {
                "_id": ids[0],
                "name": "left-handed smoke shifter",
                "manufacturer": "Acme Corp",
                "catalog_number": 1234,
                "parts": [
                    grommet.clone(),
                    { "id": id(0xF17C), "name": "fan blade assembly" },
                    { "id": id(0xD2AA), "name": "power switch" },
                ],
            };
            let right = doc! {
                "_id": ids[1],
                "name": "right-handed smoke shifter",
                "manufacturer": "Acme Corp",
                "catalog_number": 1235,
                "parts": [grommet],
            };
            [left, right]
        };
        let expected = of_products("#4 grommet");
        assert_stored(&store, "products_with_part_names", &expected).await;

        let fields = part_names::Part::fields();
        let grommet = products::short_id(0xAAAA);
        let update = db.parts.update(grommet);
        let (result, cost) = measure(async { update.set(fields.name, "#5 grommet").await }).await;
        result.unwrap();
        assert_eq!(cost.documents_written, 1 + 2);
        let expected = of_products("#5 grommet");
        assert_stored(&store, "products_with_part_names", &expected).await;
        let update = db.parts.update(grommet);
        let (result, cost) = measure(async { update.inc(fields.qty, -1).await }).await;
        result.unwrap();
        assert_eq!(cost.documents_written, 1);
        assert_stored(&store, "products_with_part_names", &expected).await;
        let grommet = doc! {
            "_id": id(0xAAAA),
            "partno": "123-aff-456",
            "name": "#5 grommet",
            "qty": 93,
            "cost": 0.94,
            "price": 3.99,
        };
        let parts = stored(&store, "parts_of_products").await;
        assert_eq!(parts[0], RawDocumentBuf::try_from(&grommet).unwrap());
    }

    async fn s10_parts_have_the_name_of_their_product_as_in_the_guides(store: AnyStore) {
        let db = ProductNames::open(store.clone()).await.unwrap();
        let [left, right] = product_names::load(&db).await.unwrap();
        let part = |last, partno, name, (product, product_name), (qty, cost, price)| {
            let product: &product_names::Product = product;
            doc! {
                "_id": id(last),
                "partno": partno,
                "name": name,
                "product": ObjectId::from(product.id),
                "product_name": product_name,
                "product_catalog_number": product.catalog_number,
                "qty": qty,
                "cost": cost,
                "price": price,
            }
        };
        let parts = |of_grommet, of_others| [
            part(0xAAAA, "123-aff-456", "#4 grommet", of_grommet, (94, 0.94, 3.99)),
            part(0xD2AA, "123-aff-458", "power switch", of_others, (40, 1.2, 4.99)),
            part(0xF17C, "123-aff-457", "fan blade assembly", of_others, (12, 7.5, 19.99)),
        ];
        let shifter = (&left, "left-handed smoke shifter");
        assert_stored(&store, "parts_with_product", &parts(shifter, shifter)).await;
        let name = product_names::Product::fields().name;
        db.products.update(&left).set(name, "left-handed smoke bender").await.unwrap();
        let bender = (&left, "left-handed smoke bender");
        assert_stored(&store, "parts_with_product", &parts(bender, bender)).await;
        let product = product_names::Part::fields().product;
        db.parts.update(products::short_id(0xAAAA)).set(product, &right).await.unwrap();
        let of_right = (&right, "right-handed smoke shifter");
        assert_stored(&store, "parts_with_product", &parts(of_right, bender)).await;

        let shared = |left: &str| [
            doc! {
                "_id": id(0xAAAA),
                "name": "#4 grommet",
                "product_names": [left, "right-handed smoke shifter"],
            },
            doc! { "_id": id(0xD2AA), "name": "power switch", "product_names": [left] },
            doc! { "_id": id(0xF17C), "name": "fan blade assembly", "product_names": [left] },
        ];
        assert_stored(&store, "shared_parts", &shared("left-handed smoke shifter")).await;
        let name = product_names::SharingProduct::fields().name;
        let update = db.sharing_products.update(left.id);
        update.set(name, "left-handed smoke bender").await.unwrap();
        assert_stored(&store, "shared_parts", &shared("left-handed smoke bender")).await;
    }

    async fn s11_messages_have_the_address_of_their_host_as_in_the_guides(store: AnyStore) {
        let db = Messages::open(store.clone()).await.unwrap();
        let host = messages::load(&db, 0).await.unwrap();
        let ids = made_ids(&store, "logmsg_with_ipaddr").await;
        let message = |ipaddr: &str| doc! {
            "_id": ids[0],
            "time": date("2014-03-28T09:42:41.382Z"),
            "message": "cpu is on fire!",
            "ipaddr": ipaddr,
            "host": id(0xAAAB),
        };
        assert_stored(&store, "logmsg_with_ipaddr", &[message("127.66.66.66")]).await;
        let without_host = doc! {
            "_id": ids[0],
            "time": date("2014-03-28T09:42:41.382Z"),
            "message": "cpu is on fire!",
            "ipaddr": "127.66.66.66",
            "hostname": "goofy.example.com",
        };
        assert_stored(&store, "logmsg_without_host", std::slice::from_ref(&without_host)).await;

        let ipaddr = messages::Host::fields().ipaddr;
        db.hosts.update(&host).set(ipaddr, "127.66.66.67").await.unwrap();
        assert_stored(&store, "logmsg_with_ipaddr", &[message("127.66.66.67")]).await;
        assert_stored(&store, "logmsg_without_host", &[without_host]).await;
    }

    async fn s12_hosts_show_their_last_thousand_messages_the_oldest_first(store: AnyStore) {
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

    async fn s13_posts_and_movies_show_what_is_best_of_them(store: AnyStore) {
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

    async fn s13_a_blog_shows_its_ten_most_commented_posts(store: AnyStore) {
        let db = Blogs::open(store.clone()).await.unwrap();
        blogs::load(&db).await.unwrap();
        let shown = |id: i32, comments: i64| {
            doc! { "_id": id, "title": format!("Rule of thumb {id}"), "comment_count": comments }
        };
        let blog = |posts: Vec<Document>| {
            doc! { "_id": 1, "title": "Schema design", "most_commented": posts }
        };
        let top = (3..=12).rev().map(|id| shown(id, i64::from(id) - 1));
        assert_stored(&store, "blogs", &[blog(top.collect())]).await;

        let first = db.posts.get(1).await.unwrap();
        let more = (101..=112).map(|id| blogs::comment(id, &first));
        db.comments.insert_many(more).await.unwrap();
        let rest = (4..=12).rev().map(|id| shown(id, i64::from(id) - 1));
        let top = std::iter::once(shown(1, 12)).chain(rest);
        assert_stored(&store, "blogs", &[blog(top.collect())]).await;

        db.posts.delete(1).await.unwrap();
        let comments = blogs::Comment::fields();
        db.comments.delete_where(comments.post.eq(12)).await.unwrap();
        let top = (2..=11).rev().map(|id| shown(id, i64::from(id) - 1));
        assert_stored(&store, "blogs", &[blog(top.collect())]).await;
    }

    async fn s14_a_tightened_schema_has_the_effect_of_its_level_and_action(store: AnyStore) {
        let outcomes = [
            ("contacts_strict_error", contacts::strict_error::tighten(&store).await),
            ("contacts_strict_warn", contacts::strict_warn::tighten(&store).await),
            ("contacts_moderate_error", contacts::moderate_error::tighten(&store).await),
            ("contacts_moderate_warn", contacts::moderate_warn::tighten(&store).await),
        ];
        // Whether each write is stored: of a contact that was invalid, of a contact that was valid, and of a new contact.
        let expected = [[false, false, false], [true; 3], [true, false, false], [true; 3]];
        for ((collection, outcome), expected) in outcomes.into_iter().zip(expected) {
            let outcome = outcome.unwrap();
            let results = [outcome.moved, outcome.phone_given_up, outcome.added];
            for (result, stored) in results.iter().zip(expected) {
                match result {
                    Ok(()) => assert!(stored, "{collection}: {results:?}"),
                    Err(error) => {
                        assert!(error.is_invalid() && !stored, "{collection}: {results:?}");
                        let [violation] = error.violations() else { panic!("{error}") };
                        assert_eq!((&*violation.path, &*violation.rule), ("phone", "required"));
                    }
                }
            }
            let mut anne = doc! { "_id": 1, "name": "Anne", "city": "London" };
            let mut ivan = doc! { "_id": 2, "name": "Ivan", "city": "Vancouver" };
            let ida = doc! { "_id": 3, "name": "Ida", "city": "Oslo" };
            if expected[0] {
                ivan.insert("city", "Toronto");
            }
            if !expected[1] {
                anne.insert("phone", "+1 555 123 456");
            }
            let mut contacts = vec![anne, ivan, ida];
            contacts.truncate(if expected[2] { 3 } else { 2 });
            assert_stored(&store, collection, &contacts).await;
            let invalid: Vec<_> = outcome.invalid.iter().map(|finding| finding.id.as_i32().unwrap()).collect();
            assert_eq!(invalid, if expected[1] { vec![1, 2, 3] } else { vec![2] }, "{collection}");
        }
    }
}
