//! The number of queries of a join does not depend on the number of rows.

use odm::{measure, prelude::*, store::Cost};
use tests::{TestStore, on_embedded_stores, on_every_store};

use crate::joins::music::{Album, Artist, Music, Song, album, artist, credit, song};

/// `number` artists, as many songs, and as many albums of three songs each.
async fn with(store: impl TestStore, number: i64) -> Music {
    let db = Music::open(store).await.unwrap();
    let artists = (0..number).map(|n| Artist {
        mentor: (n > 0).then(|| Ref::new(format!("a{}", n / 2))),
        ..artist(&format!("a{n}"))
    });
    db.artists.insert_many(artists).await.unwrap();
    db.songs.insert_many((0..number).map(|n| song(n, &format!("a{}", n / 3), n))).await.unwrap();
    let albums = (0..number).map(|n| {
        let songs = [n, (n + 1) % number, n / 2];
        Album { credits: vec![credit(&format!("a{n}"), "")], ..album(n, &songs) }
    });
    db.albums.insert_many(albums).await.unwrap();
    db
}

async fn cost<T>(query: impl IntoFuture<Output = odm::Result<Vec<T>>>) -> (usize, Cost) {
    let (rows, cost) = measure(async { query.await }).await;
    (rows.unwrap().len(), cost)
}

async fn assert_queries(db: &Music, number: usize) {
    let (album, song) = (Album::fields(), Song::fields());
    let mentor = Artist::fields().mentor;
    let costs = [
        (1, cost(db.albums.all()).await),
        (2, cost(db.songs.all().join(song.artist)).await),
        (2, cost(db.albums.all().join(album.songs)).await),
        (3, cost(db.albums.all().join(album.songs).join(album.credits)).await),
        (3, cost(db.albums.all().join(album.songs.join(song.artist))).await),
        (4, cost(db.albums.all().join(album.songs.join(song.artist.join(mentor)))).await),
        (
            2,
            cost(db.artists.all().join(song.artist.referrers().sort(song.plays.desc()).limit(2)))
                .await,
        ),
        (
            3,
            cost(db.artists.all().join(song.artist.referrers().join(album.songs.referrers())))
                .await,
        ),
        (
            4,
            cost(
                db.artists
                    .all()
                    .join(mentor)
                    .join(mentor.referrers())
                    .join(song.artist.referrers()),
            )
            .await,
        ),
    ];
    for (place, (queries, (rows, cost))) in costs.into_iter().enumerate() {
        assert_eq!(rows, number);
        match number {
            // Without references there is nothing to fetch.
            0 | 1 => assert!(cost.queries <= queries, "query {place}: {cost:?}"),
            _ => assert_eq!(cost.queries, queries, "query {place}: {cost:?}"),
        }
    }
}

on_every_store! {
    async fn joins_take_as_many_queries_for_no_row_as_there_are_joins(store: AnyStore) {
        assert_queries(&with(store, 0).await, 0).await;
    }

    async fn joins_take_as_many_queries_for_one_row_as_there_are_joins(store: AnyStore) {
        assert_queries(&with(store, 1).await, 1).await;
    }

    async fn a_fetch_is_one_query_however_many_references(store: AnyStore) {
        let db = with(store, 200).await;
        let references: Vec<Ref<Song>> = (0..400).map(|n| Ref::new(n % 200)).collect();
        let (rows, cost) = cost(db.songs.fetch(&references)).await;
        assert_eq!((rows, cost.queries), (400, 1));
    }
}

on_embedded_stores! {
    async fn a_limited_join_does_not_read_what_it_leaves_out(store: AnyStore) {
        let db = Music::open(store).await.unwrap();
        db.artists.insert_many((0..4).map(|n| artist(&format!("a{n}")))).await.unwrap();
        db.songs.insert_many((0..400).map(|n| song(n, &format!("a{}", n % 4), n))).await.unwrap();
        let newest = Song::fields().artist.referrers().sort(Song::fields().plays.desc()).limit(3);
        let (rows, cost) = cost(db.artists.all().join(newest)).await;
        assert_eq!(rows, 4);
        assert!(cost.documents_examined <= 4 + 4 * 4, "{cost:?}");
    }

    async fn joins_take_as_many_queries_for_200_rows_as_there_are_joins(store: AnyStore) {
        assert_queries(&with(store, 200).await, 200).await;
    }
}
