//! Semi-joins: queries by the other side of a reference.

use std::collections::BTreeSet;

use odm::{ErrorKind, measure, prelude::*, query::count};
use proptest::{prelude::*, test_runner::TestRunner};
use serde::{Deserialize, Serialize};
use tests::{on_embedded_stores, on_every_store};

use crate::joins::music::{Album, Artist, Music, Song, artist, music, song, song_ids};

async fn artist_ids(query: impl IntoFuture<Output = odm::Result<Vec<Artist>>>) -> Vec<String> {
    let artists = query.await.unwrap();
    artists.into_iter().map(|artist| artist.id).collect()
}

async fn album_ids(query: impl IntoFuture<Output = odm::Result<Vec<Album>>>) -> Vec<i64> {
    let albums = query.await.unwrap();
    albums.into_iter().map(|album| album.id).collect()
}

on_every_store! {
    async fn parents_are_found_by_their_children(store: AnyStore) {
        let db = music(store).await;
        let song = Song::fields();
        let with = |filter| db.artists.all().any_referrer(song.artist, filter);
        assert_eq!(artist_ids(with(song.plays.gte(20))).await, ["ann"]);
        assert_eq!(artist_ids(with(song.plays.lt(20))).await, ["ann", "bob"]);
        assert_eq!(artist_ids(with(song.plays.gt(30))).await, [""; 0]);
        assert_eq!(artist_ids(with(Filter::all())).await, ["ann", "bob"]);
        // Each condition needs some child, and all conditions must hold.
        assert_eq!(artist_ids(with(song.plays.eq(10)).any_referrer(song.artist, song.plays.eq(20))).await, ["ann"]);
        assert_eq!(artist_ids(with(song.plays.eq(10) & song.plays.eq(20))).await, [""; 0]);
        let other = db.artists.find(Artist::fields().id.ne("ann")).any_referrer(song.artist, Filter::all());
        assert_eq!(artist_ids(other).await, ["bob"]);
        let pupils = db.artists.all().any_referrer(Artist::fields().mentor, Artist::fields().id.eq("cid"));
        assert_eq!(artist_ids(pupils).await, ["bob"]);
    }

    async fn documents_are_found_by_what_they_reference(store: AnyStore) {
        let db = music(store).await;
        let (song, album) = (Song::fields(), Album::fields());
        let of_bob = db.songs.all().whose(song.artist, Artist::fields().mentor.eq(Ref::new("ann".into())));
        assert_eq!(song_ids(&of_bob.await.unwrap()), [5, 6]);
        // In a list, in a list of links, and where the reference may dangle or is absent.
        assert_eq!(album_ids(db.albums.all().whose(album.songs, song.plays.eq(7))).await, [2]);
        assert_eq!(album_ids(db.albums.all().whose(album.songs, song.plays.eq(10))).await, [1, 2]);
        assert_eq!(album_ids(db.albums.all().whose(album.credits, Artist::fields().id.eq("bob"))).await, [1]);
        assert_eq!(album_ids(db.albums.all().whose(album.cover, Filter::all())).await, [1]);
        assert_eq!(album_ids(db.albums.all().whose(album.rival, Filter::all())).await, [1]);
        // And the other way.
        let covers = db.songs.all().any_referrer(album.cover, Filter::all());
        assert_eq!(song_ids(&covers.await.unwrap()), [3]);
        let credited = db.artists.all().any_referrer(album.credits, album.id.eq(1));
        assert_eq!(artist_ids(credited).await, ["ann", "bob"]);
        let tracks = db.songs.all().any_referrer(album.songs, album.id.in_([1, 2]));
        assert_eq!(song_ids(&tracks.await.unwrap()), [1, 3, 5, 6]);
        // Both directions in one query.
        let both = db.songs.all().any_referrer(album.songs, album.id.eq(1)).whose(song.artist, Artist::fields().id.eq("ann"));
        assert_eq!(song_ids(&both.await.unwrap()), [1, 3]);
    }

    async fn a_query_with_a_semi_join_does_all_that_others_do(store: AnyStore) {
        let db = music(store).await;
        let song = Song::fields();
        let query = || db.songs.all().whose(song.artist, Artist::fields().id.eq("ann"));
        assert_eq!(song_ids(&query().sort(song.plays.desc()).skip(1).limit(2).await.unwrap()), [4, 3]);
        assert_eq!(query().count().await.unwrap(), 4);
        assert_eq!(query().filter(song.plays.eq(30)).count().await.unwrap(), 2);
        assert!(query().exists().await.unwrap());
        assert_eq!(query().first().await.unwrap().unwrap().id, 1);
        assert_eq!(query().filter(song.plays.eq(20)).one().await.unwrap().id, 3);
        let none = query().filter(song.plays.eq(5)).one().await.unwrap_err();
        assert!(none.is_not_found(), "{none}");
        assert_eq!(query().distinct(song.plays).await.unwrap(), [10, 20, 30]);
        assert_eq!(query().sum(song.plays).await.unwrap(), 90);
        let groups = query().group_by(song.plays).select(count()).await.unwrap();
        assert_eq!(groups, [(10, 1), (20, 1), (30, 2)]);
        assert_eq!(query().raw().await.unwrap().len(), 4);
        assert_eq!(query().explain().await.unwrap().cost.documents_returned, 4);
        let rows = query().join(song.artist).await.unwrap();
        assert!(rows.len() == 4 && rows.iter().all(|(_, artist)| artist.id == "ann"));
        let mut stream = query().stream();
        let mut streamed = Vec::new();
        while let Some(song) = stream.try_next().await.unwrap() {
            streamed.push(song.id);
        }
        assert_eq!(streamed, [1, 2, 3, 4]);
    }

    async fn pages_lead_through_a_semi_join_while_the_other_side_changes(store: AnyStore) {
        let db = music(store).await;
        let (song_of, album) = (Song::fields(), Album::fields());
        let query = |plays| db.artists.all().any_referrer(song_of.artist, song_of.plays.gte(plays)).with_total();
        let first = query(5).page(1).await.unwrap();
        assert_eq!((first.items[0].id.as_str(), first.total), ("ann", Some(2)));
        let next = first.next.unwrap();
        // Another semi-join makes another query.
        for other in [query(6), query(5).any_referrer(album.credits, Filter::all()), db.artists.all()] {
            let error = other.after(&next).page(1).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
        }
        db.songs.insert(song(9, "cid", 50)).await.unwrap();
        db.songs.update_where(song_of.plays.lt(10)).set(song_of.plays, 0).await.unwrap();
        let second = query(5).after(&next).page(1).await.unwrap();
        assert_eq!((second.items[0].id.as_str(), second.total), ("cid", Some(2)));
        let back = query(5).before(&second.previous.unwrap()).page(1).await.unwrap();
        assert_eq!(back.items[0].id, "ann");
    }

    async fn a_semi_join_sees_the_state_of_its_transaction_or_snapshot(store: AnyStore) {
        let db = music(store).await;
        let song_of = Song::fields();
        db.transaction(async |inner| {
            inner.songs.insert(song(9, "cid", 50)).await?;
            let with = inner.artists.all().any_referrer(song_of.artist, song_of.plays.eq(50));
            assert_eq!(with.await?[0].id, "cid");
            let mut stream = inner.artists.all().any_referrer(song_of.artist, song_of.plays.eq(50)).stream();
            assert_eq!(stream.try_next().await?.unwrap().id, "cid");
            Ok(())
        })
        .await
        .unwrap();
        db.snapshot(async |inner| {
            db.songs.delete(9).await?;
            let with = || inner.artists.all().any_referrer(song_of.artist, song_of.plays.eq(50));
            assert_eq!(with().await?[0].id, "cid");
            assert_eq!(with().count().await?, 1);
            Ok(())
        })
        .await
        .unwrap();
        let with = db.artists.all().any_referrer(song_of.artist, song_of.plays.eq(50));
        assert_eq!(with.count().await.unwrap(), 0);
    }

    async fn both_sides_are_read_from_one_state_while_others_write(store: AnyStore) {
        let db = music(store).await;
        let (song_of, artist_of) = (Song::fields(), Artist::fields());
        db.songs.insert(song(9, "ann", 99)).await.unwrap();
        // In each state, the owner of the song has no mentor.
        let writer = {
            let db = db.clone();
            tokio::spawn(async move {
                for round in 0..60 {
                    let (owner, other) = if round % 2 == 0 { ("bob", "ann") } else { ("ann", "bob") };
                    db.transaction(async |db| {
                        db.songs.update(9).set(song_of.artist, Ref::new(owner.into())).await?;
                        db.artists.update(owner).set(artist_of.mentor, None::<Ref<Artist>>).await?;
                        db.artists.update(other).set(artist_of.mentor, Ref::new("cid".into())).await
                    })
                    .await
                    .unwrap();
                }
            })
        };
        let mut wrong = Vec::new();
        while !writer.is_finished() {
            let alone = db.artists.find(artist_of.mentor.is_null());
            let found = alone.any_referrer(song_of.artist, song_of.plays.eq(99)).await.unwrap();
            wrong.extend((found.len() != 1).then_some(found));
        }
        writer.await.unwrap();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    async fn a_semi_join_asks_for_each_side_once(store: AnyStore) {
        let db = music(store).await;
        let song_of = Song::fields();
        let query = db.artists.all().any_referrer(song_of.artist, song_of.plays.gte(5));
        let (found, cost) = measure(async { query.await }).await;
        assert_eq!((found.unwrap().len(), cost.queries), (2, 2));
    }

    async fn the_filter_of_the_other_side_may_be_of_its_cold_part(store: AnyStore) {
        let db = Films::open(store).await.unwrap();
        for id in 1..=3 {
            let plot = if id == 2 { "a heist" } else { "a love story" };
            let film = Film { id, year: 2000, details: Cold::new(Details { plot: plot.into() }) };
            db.films.insert(film).await.unwrap();
            db.seats.insert(Seat { id: id * 10, film: Ref::new(id), price: id }).await.unwrap();
        }
        let (film, seat) = (Film::fields(), Seat::fields());
        let seats = db.seats.all().whose(seat.film, film.details.plot.contains("heist"));
        assert_eq!(seats.await.unwrap()[0].id, 20);
        // The key of a cold part is the `_id`, so that a filter on it can be combined with a semi-join by the `_id`.
        let films = || db.films.find(film.details.plot.contains("love")).any_referrer(seat.film, seat.price.gte(2));
        assert_eq!(films().await.unwrap()[0].id, 3);
        assert_eq!(films().count().await.unwrap(), 1);
    }

    async fn a_wrong_filter_of_the_other_side_is_the_error_of_the_query(store: AnyStore) {
        let db = music(store).await;
        let wrong = Filter::raw(odm::bson::doc! { "plays": { "$near": 1 } });
        let query = db.artists.all().any_referrer(Song::fields().artist, wrong);
        assert_eq!(query.count().await.unwrap_err().kind(), ErrorKind::InvalidQuery);
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Details {
    plot: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "films")]
struct Film {
    #[serde(rename = "_id")]
    id: i64,
    year: i32,
    #[split(collection = "film_details", key = "_id")]
    details: Cold<Details>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "seats")]
struct Seat {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    film: Ref<Film>,
    price: i64,
}

#[derive(Database)]
#[database(name = "films", version = 1)]
struct Films {
    films: Repository<Film>,
    seats: Repository<Seat>,
}

on_embedded_stores! {
    async fn each_side_is_found_by_its_index(store: AnyStore) {
        let db = Music::open(store).await.unwrap();
        db.artists.insert_many((0..300).map(|n| artist(&format!("a{n}")))).await.unwrap();
        let songs = (0..3000).map(|n| song(n, &format!("a{}", n % 300), n));
        db.songs.insert_many(songs).await.unwrap();
        let song = Song::fields();
        let query = db.songs.all().whose(song.artist, Artist::fields().id.in_(["a1", "a2"]));
        let (found, cost) = measure(async { query.await }).await;
        assert_eq!(found.unwrap().len(), 20);
        assert!(cost.documents_scanned == 0 && cost.documents_examined <= 22, "{cost:?}");
        let query = db.artists.all().any_referrer(song.artist, song.id.lt(5));
        let (found, cost) = measure(async { query.await }).await;
        assert_eq!(found.unwrap().len(), 5);
        assert!(cost.documents_scanned == 0 && cost.documents_examined <= 10, "{cost:?}");
    }
}

#[test]
fn over_a_hundred_thousand_matches_are_an_error_that_says_so() {
    tests::in_memory(async |store| {
        let db = Music::open(store).await.unwrap();
        for part in 0..11 {
            let artists = (0..9_091).map(|n| artist(&format!("{}", part * 9_091 + n)));
            db.artists.insert_many(artists).await.unwrap();
        }
        db.songs.insert(song(1, "7", 1)).await.unwrap();
        let song = Song::fields();
        let all = db.songs.all().whose(song.artist, Filter::all());
        let error = all.count().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert_eq!(
            error.to_string(),
            "semi-join: the documents of `artists` that match have over 100000 different `_id`: give it a filter that \
             matches fewer"
        );
        db.artists.delete("0").await.unwrap();
        let all = db.songs.all().whose(song.artist, Filter::all());
        assert_eq!(song_ids(&all.await.unwrap()), [1]);
    });
}

/// Random histories: a semi-join finds the same as a loop over all documents.
#[test]
fn a_semi_join_finds_what_a_loop_over_both_sides_finds() {
    let songs = prop::collection::vec((0..6_usize, 0..5_i64), 0..20);
    let case = (songs, 0..6_i64, 0..6_usize);
    let mut runner = TestRunner::new(ProptestConfig::with_cases(40));
    runner
        .run(&case, |(songs, plays, name)| {
            tests::in_memory(async |store| {
                let db = Music::open(store).await.unwrap();
                db.artists.insert_many((0..6).map(|n| artist(&format!("{n}")))).await.unwrap();
                let all: Vec<Song> = songs
                    .iter()
                    .enumerate()
                    .map(|(id, (owner, plays))| song(id as i64, &format!("{owner}"), *plays))
                    .collect();
                db.songs.insert_many(all.clone()).await.unwrap();
                let field = Song::fields();
                let found =
                    artist_ids(db.artists.all().any_referrer(field.artist, field.plays.gte(plays)))
                        .await;
                let expected: BTreeSet<String> = all
                    .iter()
                    .filter(|song| song.plays >= plays)
                    .map(|song| song.artist.id().clone())
                    .collect();
                assert_eq!(found, Vec::from_iter(expected));
                let at_least = Artist::fields().id.gte(format!("{name}"));
                let found = db
                    .songs
                    .find(field.plays.lt(plays))
                    .whose(field.artist, at_least)
                    .await
                    .unwrap();
                let expected: Vec<i64> = all
                    .iter()
                    .filter(|song| song.plays < plays && *song.artist.id() >= format!("{name}"))
                    .map(|song| song.id)
                    .collect();
                assert_eq!(song_ids(&found), expected);
            });
            Ok(())
        })
        .unwrap();
}
