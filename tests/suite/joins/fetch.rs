//! The application-level join.

use odm::prelude::*;
use tests::on_every_store;

use crate::joins::music::{Artist, Song, music, song_ids};

on_every_store! {
    async fn fetch_keeps_order_and_repeats(store: AnyStore) {
        let db = music(store).await;
        let album = db.albums.get(1).await.unwrap();
        let songs: Vec<Song> = db.songs.fetch(&album.songs).await.unwrap();
        assert_eq!(song_ids(&songs), [3, 1, 5, 1]);
        assert_eq!(song_ids(&db.songs.fetch(&album.songs[1..3]).await.unwrap()), [1, 5]);
        let none = db.albums.get(3).await.unwrap();
        assert!(db.songs.fetch(&none.songs).await.unwrap().is_empty());
    }

    async fn fetch_takes_references_in_every_form(store: AnyStore) {
        let db = music(store).await;
        let album = db.albums.get(1).await.unwrap();
        let names = |artists: Vec<Artist>| -> Vec<String> {
            artists.into_iter().map(|artist| artist.id).collect()
        };
        let credited = db.artists.fetch(&album.credits).await.unwrap();
        assert_eq!(names(credited), ["bob", "ann", "bob"]);
        assert_eq!(names(db.artists.fetch(&album.credits[0]).await.unwrap()), ["bob"]);
        let song = db.songs.get(5).await.unwrap();
        assert_eq!(names(db.artists.fetch(&song.artist).await.unwrap()), ["bob"]);
        let (ann, bob) = (db.artists.get("ann").await.unwrap(), db.artists.get("bob").await.unwrap());
        assert_eq!(names(db.artists.fetch(&bob.mentor).await.unwrap()), ["ann"]);
        assert_eq!(names(db.artists.fetch(&ann.mentor).await.unwrap()), [""; 0]);
        assert_eq!(db.artists.get(&song.artist).await.unwrap(), bob);
    }

    async fn a_reference_is_compared_with_whatever_names_a_document(store: AnyStore) {
        let db = music(store).await;
        let (ann, song) = (db.artists.get("ann").await.unwrap(), db.songs.get(1).await.unwrap());
        let (fields, mentor) = (Song::fields(), Artist::fields().mentor);
        for (filter, number) in [
            (fields.artist.eq("ann"), 4),
            (fields.artist.eq(String::from("ann")), 4),
            (fields.artist.eq(&ann), 4),
            (fields.artist.eq(&song.artist), 4),
            (fields.artist.eq(song.artist.clone()), 4),
            (fields.artist.in_([song.artist.clone()]), 4),
            (fields.artist.ne(&ann), 2),
            (fields.artist.in_(["bob", "cid"]), 2),
            (fields.artist.in_([&ann]), 4),
            (fields.artist.gt("ann"), 2),
        ] {
            let text = format!("{filter:?}");
            assert_eq!(db.songs.find(filter).count().await.unwrap(), number, "{text}");
        }
        for (filter, number) in [
            (mentor.eq("ann"), 1),
            (mentor.eq(&ann), 1),
            (mentor.eq(Ref::from(&ann)), 1),
            (mentor.eq(Some(Ref::from(&ann))), 1),
            (mentor.eq(None::<Ref<Artist>>), 1),
            (mentor.is_null(), 1),
            (mentor.exists(true), 3),
        ] {
            let text = format!("{filter:?}");
            assert_eq!(db.artists.find(filter).count().await.unwrap(), number, "{text}");
        }
    }

    async fn fetch_says_which_ids_are_missing(store: AnyStore) {
        let db = music(store).await;
        let references: Vec<Ref<Song>> = [1, 101, 5, 102, 1].map(Ref::new).into();
        let error = db.songs.fetch(&references).await.unwrap_err();
        assert!(error.is_not_found());
        let text = error.to_string();
        assert!(text.contains("`songs`") && text.contains("101") && text.contains("102"), "{text}");
        assert!(!text.contains('5'), "{text}");
        let songs = db.songs.fetch(&references).optional().await.unwrap();
        let ids: Vec<_> = songs.iter().map(|song| song.as_ref().map(|song| song.id)).collect();
        assert_eq!(ids, [Some(1), None, Some(5), None, Some(1)]);
    }
}
