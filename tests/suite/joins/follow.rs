//! Joins along references.

#![expect(clippy::type_complexity, reason = "the tests hold the types of the rows")]

use odm::prelude::*;
use tests::on_every_store;

use crate::joins::music::{Album, Artist, Prize, Song, music, song, song_ids};

on_every_store! {
    async fn a_join_to_one_gives_the_document(store: AnyStore) {
        let db = music(store).await;
        let rows: Vec<(Song, Artist)> = db.songs.all().join(Song::fields().artist).await.unwrap();
        let rows: Vec<(i64, &str)> =
            rows.iter().map(|(song, artist)| (song.id, artist.id.as_str())).collect();
        assert_eq!(
            rows,
            [(1, "ann"), (2, "ann"), (3, "ann"), (4, "ann"), (5, "bob"), (6, "bob")]
        );
        let by_plays = db.songs.find(Song::fields().plays.lt(20)).sort(Song::fields().plays.desc());
        let rows = by_plays.skip(1).limit(2).join(Song::fields().artist).await.unwrap();
        let rows: Vec<(i64, &str)> =
            rows.iter().map(|(song, artist)| (song.id, artist.id.as_str())).collect();
        assert_eq!(rows, [(6, "bob"), (5, "bob")]);
    }

    async fn each_of_seven_joins_gives_what_it_gives_alone(store: AnyStore) {
        let db = music(store).await;
        let of = Album::fields();
        let prizes = || Prize::fields().album.referrers();
        let albums = || db.albums.all();
        let joined = albums()
            .join(of.songs)
            .join(of.credits)
            .join(of.cover)
            .join(of.bonus)
            .join(of.rival)
            .join(prizes())
            .join(of.songs.join(Song::fields().artist));
        let (rows, cost) = odm::measure(async { joined.await.unwrap() }).await;
        assert_eq!(rows.len(), 3);
        assert!(cost.queries <= 9, "{cost:?}: one for the albums, and one for each join");
        let songs = albums().join(of.songs).await.unwrap();
        let credits = albums().join(of.credits).await.unwrap();
        let covers = albums().join(of.cover).await.unwrap();
        let bonuses = albums().join(of.bonus).await.unwrap();
        let rivals = albums().join(of.rival).await.unwrap();
        let won = albums().join(prizes()).await.unwrap();
        let sung = albums().join(of.songs.join(Song::fields().artist)).await.unwrap();
        for (at, row) in rows.into_iter().enumerate() {
            assert_eq!((&row.0, &row.1), (&songs[at].0, &songs[at].1));
            assert_eq!((row.2, row.3), (credits[at].1.clone(), covers[at].1.clone()));
            assert_eq!((row.4, row.5), (bonuses[at].1.clone(), rivals[at].1.clone()));
            assert_eq!((row.6, row.7), (won[at].1.clone(), sung[at].1.clone()));
        }
    }

    async fn a_join_to_an_option_gives_an_option(store: AnyStore) {
        let db = music(store).await;
        let rows: Vec<(Artist, Option<Artist>)> =
            db.artists.all().join(Artist::fields().mentor).await.unwrap();
        let rows: Vec<_> = rows
            .iter()
            .map(|(artist, mentor)| (artist.id.as_str(), mentor.as_ref().map(|mentor| mentor.id.as_str())))
            .collect();
        assert_eq!(rows, [("ann", None), ("bob", Some("ann")), ("cid", Some("bob"))]);
    }

    async fn a_join_to_many_keeps_order_and_repeats(store: AnyStore) {
        let db = music(store).await;
        let rows: Vec<(Album, Vec<Song>)> =
            db.albums.all().join(Album::fields().songs).await.unwrap();
        let ids: Vec<_> = rows.iter().map(|(album, songs)| (album.id, song_ids(songs))).collect();
        assert_eq!(ids, [(1, vec![3, 1, 5, 1]), (2, vec![1, 6]), (3, vec![])]);
        assert_eq!(rows[0].1[1], song(1, "ann", 10));
    }

    async fn a_join_follows_the_reference_in_an_embedded_link(store: AnyStore) {
        let db = music(store).await;
        let rows: Vec<(Album, Vec<Artist>)> =
            db.albums.all().join(Album::fields().credits).await.unwrap();
        let names: Vec<Vec<&str>> = rows
            .iter()
            .map(|(_, artists)| artists.iter().map(|artist| artist.id.as_str()).collect())
            .collect();
        assert_eq!(names, [vec!["bob", "ann", "bob"], vec![], vec![]]);
        let roles: Vec<&str> = rows[0].0.credits.iter().map(|credit| credit.role.as_str()).collect();
        assert_eq!(roles, ["mix", "voice", "drums"], "links and documents go together");
    }

    async fn joins_nest(store: AnyStore) {
        let db = music(store).await;
        let mentor = Artist::fields().mentor;
        let rows: Vec<(Song, (Artist, Option<Artist>))> =
            db.songs.all().join(Song::fields().artist.join(mentor)).await.unwrap();
        let mentors: Vec<_> =
            rows.iter().map(|(_, (_, mentor))| mentor.as_ref().map(|mentor| mentor.id.as_str())).collect();
        assert_eq!(mentors, [None, None, None, None, Some("ann"), Some("ann")]);

        let rows = db.albums.all().join(Album::fields().songs.join(Song::fields().artist)).await;
        let rows: Vec<(Album, Vec<(Song, Artist)>)> = rows.unwrap();
        let rows: Vec<Vec<(i64, &str)>> = rows
            .iter()
            .map(|(_, songs)| songs.iter().map(|(song, artist)| (song.id, artist.id.as_str())).collect())
            .collect();
        let first = vec![(3, "ann"), (1, "ann"), (5, "bob"), (1, "ann")];
        assert_eq!(rows, [first, vec![(1, "ann"), (6, "bob")], vec![]]);

        // Three deep, through an option.
        let deep = mentor.join(mentor.join(mentor));
        let rows: Vec<(Artist, Option<(Artist, Option<(Artist, Option<Artist>)>)>)> =
            db.artists.find(Artist::fields().id.eq("cid")).join(deep).await.unwrap();
        let (cid, Some((bob, Some((ann, None))))) = &rows[0] else {
            panic!("another depth: {rows:?}");
        };
        assert_eq!([&cid.id, &bob.id, &ann.id], ["cid", "bob", "ann"]);
    }

    async fn several_joins_stand_side_by_side(store: AnyStore) {
        let db = music(store).await;
        let fields = Album::fields();
        let rows: Vec<(Album, Vec<Song>, Vec<Artist>)> =
            db.albums.all().join(fields.songs).join(fields.credits).await.unwrap();
        assert_eq!(rows.len(), 3);
        assert_eq!((rows[0].1.len(), rows[0].2.len()), (4, 3));
        assert_eq!((rows[1].1.len(), rows[1].2.len()), (2, 0));
        let newest = Song::fields().artist.referrers().sort(Song::fields().plays.desc()).limit(1);
        let mentor = Artist::fields().mentor;
        let rows: Vec<(Artist, Option<Artist>, Vec<Song>, Vec<Artist>)> =
            db.artists.all().join(mentor).join(newest).join(mentor.referrers()).await.unwrap();
        assert_eq!(song_ids(&rows[0].2), [2]);
        assert_eq!(rows[0].3[0].id, "bob");
        assert_eq!(rows[1].1.as_ref().unwrap().id, "ann");
        // Two of them below one reference.
        let both = fields.songs.join(Song::fields().artist).join(Album::fields().songs.referrers());
        let rows: Vec<(Album, Vec<(Song, Artist, Vec<Album>)>)> =
            db.albums.all().join(both).await.unwrap();
        let albums: Vec<i64> = rows[0].1[1].2.iter().map(|album| album.id).collect();
        assert_eq!((rows[0].1[1].0.id, albums), (1, vec![1, 2]));
    }

    async fn an_unchecked_reference_joins_to_an_option(store: AnyStore) {
        let db = music(store).await;
        let fields = Album::fields();
        let rows: Vec<(Album, Option<Option<Song>>, Vec<Option<Song>>, Option<Artist>)> =
            db.albums.all().join(fields.cover).join(fields.bonus).join(fields.rival).await.unwrap();
        let covers: Vec<_> =
            rows.iter().map(|row| row.1.as_ref().map(|song| song.as_ref().map(|song| song.id))).collect();
        assert_eq!(covers, [Some(Some(3)), Some(None), None]);
        let bonus: Vec<_> = rows[0].2.iter().map(|song| song.as_ref().map(|song| song.id)).collect();
        assert_eq!(bonus, [Some(6), None, Some(6)]);
        let rivals: Vec<_> = rows.iter().map(|row| row.3.as_ref().map(|artist| artist.id.as_str())).collect();
        assert_eq!(rivals, [Some("cid"), None, None]);
        // The join continues only from existing documents.
        let rows: Vec<(Album, Vec<Option<(Song, Artist)>>)> =
            db.albums.all().join(fields.bonus.join(Song::fields().artist)).await.unwrap();
        let artists: Vec<_> =
            rows[0].1.iter().map(|row| row.as_ref().map(|(_, artist)| artist.id.as_str())).collect();
        assert_eq!(artists, [Some("bob"), None, Some("bob")]);
    }

    async fn joined_rows_are_had_by_first_one_and_page(store: AnyStore) {
        let db = music(store).await;
        let with_songs = || db.albums.all().join(Album::fields().songs);
        let (first, songs) = with_songs().first().await.unwrap().unwrap();
        assert_eq!((first.id, songs.len()), (1, 4));
        let second = db.albums.find(Album::fields().id.eq(2)).join(Album::fields().songs);
        assert_eq!(song_ids(&second.one().await.unwrap().1), [1, 6]);
        let page = with_songs().page(2).await.unwrap();
        assert_eq!(page.items.len(), 2);
        assert_eq!(song_ids(&page.items[1].1), [1, 6]);
        let rest = with_songs().after(&page.next.unwrap()).page(2).await.unwrap();
        assert_eq!((rest.items[0].0.id, rest.items[0].1.len()), (3, 0));
        assert_eq!(with_songs().count().await.unwrap(), 3);
    }

    async fn joins_read_one_state_inside_a_transaction_too(store: AnyStore) {
        let db = music(store).await;
        let rows = db
            .transaction(async |db| {
                db.songs.insert(song(7, "cid", 0)).await?;
                db.albums.update(3).push(Album::fields().songs, 7).await?;
                db.prizes.insert(Prize { id: 1, album: Some(Ref::new(3)) }).await?;
                db.prizes
                    .all()
                    .join(Prize::fields().album.join(Album::fields().songs.join(Song::fields().artist)))
                    .await
            })
            .await
            .unwrap();
        let (_, album) = &rows[0];
        let (album, songs) = album.as_ref().unwrap();
        assert_eq!(album.id, 3);
        assert_eq!((songs[0].0.id, songs[0].1.id.as_str()), (7, "cid"));
    }
}
