//! Joins against the direction of references, and the children of a parent.

#![expect(clippy::type_complexity, reason = "the tests hold the types of the rows")]

use odm::{ErrorKind, prelude::*};
use tests::{on_embedded_stores, on_every_store};

use crate::joins::music::{Album, Artist, Biography, Prize, Song, album, music, song, song_ids};

on_every_store! {
    async fn each_parent_has_its_own_children_in_order_and_number(store: AnyStore) {
        let db = music(store).await;
        let artist = Song::fields().artist;
        let rows: Vec<(Artist, Vec<Song>)> =
            db.artists.all().join(artist.referrers()).await.unwrap();
        let ids: Vec<_> = rows.iter().map(|(_, songs)| song_ids(songs)).collect();
        assert_eq!(ids, [vec![1, 2, 3, 4], vec![5, 6], vec![]]);

        let most = artist.referrers().sort(Song::fields().plays.desc());
        let rows = db.artists.all().join(most).await.unwrap();
        let ids: Vec<_> = rows.iter().map(|(_, songs)| song_ids(songs)).collect();
        assert_eq!(ids, [vec![2, 4, 3, 1], vec![6, 5], vec![]], "ties go by `_id`");

        for (skip, limit) in (0..6).flat_map(|limit| [(0, limit), (1, limit), (3, limit), (u64::MAX, limit)]) {
            let most = artist.referrers().sort(Song::fields().plays.desc()).skip(skip).limit(limit);
            let rows = db.artists.all().join(most).await.unwrap();
            let ids: Vec<_> = rows.iter().map(|(_, songs)| song_ids(songs)).collect();
            let expected = [vec![2, 4, 3, 1], vec![6, 5], vec![]].map(|ids: Vec<i64>| {
                let skip = usize::try_from(skip).unwrap_or(usize::MAX);
                ids.into_iter().skip(skip).take(limit as usize).collect::<Vec<_>>()
            });
            assert_eq!(ids, expected, "at most {limit} for each parent, after {skip}");
        }

        let few = artist.referrers().filter(Song::fields().plays.lte(10)).sort(Song::fields().plays.asc());
        let rows = db.artists.all().sort(Artist::fields().id.desc()).join(few).await.unwrap();
        let ids: Vec<_> = rows.iter().map(|(_, songs)| song_ids(songs)).collect();
        assert_eq!(ids, [vec![], vec![5, 6], vec![1]]);
    }

    async fn backward_joins_nest(store: AnyStore) {
        let db = music(store).await;
        let songs = Song::fields().artist.referrers().sort(Song::fields().plays.desc()).limit(1);
        let pupils = Artist::fields().mentor.referrers().join(songs);
        let rows: Vec<(Artist, Vec<(Artist, Vec<Song>)>)> =
            db.artists.all().join(pupils).await.unwrap();
        assert_eq!(rows[0].1[0].0.id, "bob");
        assert_eq!(song_ids(&rows[0].1[0].1), [6]);
        assert!(rows[1].1[0].1.is_empty());
        assert!(rows[2].1.is_empty());
        let albums = Album::fields().songs.referrers();
        let rows = db.songs.all().join(Song::fields().artist.join(Artist::fields().mentor.referrers()))
            .join(albums.join(Album::fields().songs)).await;
        let rows: Vec<(Song, (Artist, Vec<Artist>), Vec<(Album, Vec<Song>)>)> = rows.unwrap();
        assert_eq!(rows[0].2.len(), 2);
        assert_eq!(song_ids(&rows[0].2[1].1), [1, 6]);
        assert_eq!(rows[4].1.1[0].id, "cid");
    }

    async fn a_parent_has_at_most_one_child_of_a_kind_that_says_one(store: AnyStore) {
        let db = music(store).await;
        let (ann, bob) = (db.artists.get("ann").await.unwrap(), db.artists.get("bob").await.unwrap());
        let life = |id, artist: &Artist| Biography { id, artist: artist.into(), text: "..".into() };
        assert_eq!(db.biographies.of(&ann).await.unwrap(), None);
        db.biographies.insert(life(1, &ann)).await.unwrap();
        assert_eq!(db.biographies.of(&ann).await.unwrap(), Some(life(1, &ann)));

        let error = db.biographies.insert(life(2, &ann)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DuplicateKey);
        assert!(error.to_string().contains("artist"), "{error}");
        db.biographies.insert(life(2, &bob)).await.unwrap();
        let error = db.biographies.update(2).set(Biography::fields().artist, &ann).await;
        assert!(error.unwrap_err().is_duplicate_key());
        // Free after a delete.
        db.biographies.delete(1).await.unwrap();
        db.biographies.update(2).set(Biography::fields().artist, &ann).await.unwrap();
        assert_eq!(db.biographies.of(&ann).await.unwrap().unwrap().id, 2);
        assert_eq!(db.biographies.of(&bob).await.unwrap(), None);
    }

    async fn children_without_a_parent_are_any_number(store: AnyStore) {
        let db = music(store).await;
        let prize = |id, album: Option<i64>| Prize { id, album: album.map(Ref::new) };
        db.prizes.insert_many([prize(1, None), prize(2, None), prize(3, Some(1))]).await.unwrap();
        let error = db.prizes.insert(prize(4, Some(1))).await.unwrap_err();
        assert!(error.is_duplicate_key());
        assert_eq!(db.prizes.of(&album(1, &[])).await.unwrap().unwrap().id, 3);
        assert_eq!(db.prizes.of(&album(2, &[])).await.unwrap(), None);
        let rows = db.albums.all().join(Prize::fields().album.referrers()).await.unwrap();
        let prizes: Vec<usize> = rows.iter().map(|(_, prizes)| prizes.len()).collect();
        assert_eq!(prizes, [1, 0, 0]);
    }
}

on_embedded_stores! {
    async fn of_gives_the_children_of_one_parent(store: AnyStore) {
        let db = music(store).await;
        let ann = db.artists.get("ann").await.unwrap();
        assert_eq!(song_ids(&db.songs.of(&ann).await.unwrap()), [1, 2, 3, 4]);
        let most = db.songs.of(&ann).sort(Song::fields().plays.desc()).limit(2);
        assert_eq!(song_ids(&most.await.unwrap()), [2, 4]);
        let explain = db.songs.of(&ann).sort(Song::fields().plays.desc()).explain().await.unwrap();
        assert_eq!(explain.index.as_deref(), Some("artist_1_plays_-1"));
        assert!(explain.sorted_by_index);
        let cid = db.artists.get("cid").await.unwrap();
        assert_eq!(db.songs.of(&cid).count().await.unwrap(), 0);
        let page = db.songs.of(&ann).sort(Song::fields().plays.desc()).page(3).await.unwrap();
        assert_eq!(song_ids(&page.items), [2, 4, 3]);
    }

    async fn the_reverse_of_an_array_is_the_other_side_of_n_to_n(store: AnyStore) {
        let db = music(store).await;
        let fields = Album::fields();
        let on: Vec<Album> = db.albums.find(fields.songs.contains(&song(1, "ann", 0))).await.unwrap();
        assert_eq!(on.iter().map(|album| album.id).collect::<Vec<_>>(), [1, 2]);
        let on = db.albums.find(fields.songs.contains(6)).explain().await.unwrap();
        assert_eq!(on.index.as_deref(), Some("tracks_1"), "a reference has an index");

        let newest = fields.songs.referrers().sort(fields.id.desc());
        let rows: Vec<(Song, Vec<Album>)> = db.songs.all().join(newest.limit(5)).await.unwrap();
        let albums: Vec<Vec<i64>> =
            rows.iter().map(|(_, albums)| albums.iter().map(|album| album.id).collect()).collect();
        // Song 1 is on the first album twice, which is one album.
        assert_eq!(albums, [vec![2, 1], vec![], vec![1], vec![], vec![1], vec![2]]);

        let rows: Vec<(Artist, Vec<Album>)> =
            db.artists.all().join(fields.credits.referrers()).await.unwrap();
        let albums: Vec<usize> = rows.iter().map(|(_, albums)| albums.len()).collect();
        assert_eq!(albums, [1, 1, 0]);
        let mixed = fields.credits.any(|credit| credit.who.eq("bob") & credit.role.eq("mix"));
        assert_eq!(db.albums.find(mixed).count().await.unwrap(), 1);
        let mixed = fields.credits.any(|credit| credit.who.eq("ann") & credit.role.eq("mix"));
        assert_eq!(db.albums.find(mixed).count().await.unwrap(), 0);
    }
}
