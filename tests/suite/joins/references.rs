//! The target of a reference that a write adds must exist.

use odm::{
    Error,
    bson::{RawBson, doc},
    prelude::*,
};
use tests::{on_every_store, on_local_stores, on_serializable_stores, stored};

use crate::joins::music::{Album, Artist, Song, album, artist, credit, music, pupil, song};

fn assert_dangling(error: &Error, collection: &str, path: &str, id: RawBson) {
    assert!(error.is_dangling_reference(), "{error:?}");
    let text = error.to_string();
    assert!(text.contains(&format!("`{collection}.{path}`")), "the field is not named: {text}");
    let shown = match &id {
        RawBson::String(id) => id.clone(),
        RawBson::Int64(id) => id.to_string(),
        id => panic!("no id of these models: {id:?}"),
    };
    assert!(text.contains(&shown), "the id is not named: {text}");
    let place = error.location().unwrap();
    assert_eq!(place.collection, collection);
    assert_eq!(place.path.as_deref(), Some(path));
    assert_eq!(place.id, Some(id));
}

fn text(id: &str) -> RawBson {
    RawBson::String(id.into())
}

on_every_store! {
    async fn no_write_adds_a_dangling_reference(store: AnyStore) {
        let db = music(store.clone()).await;
        let collections = ["artists", "songs", "albums"];
        let mut before = Vec::new();
        for collection in collections {
            before.push(stored(&store, collection).await);
        }
        let (artists, songs, albums) = (Artist::fields(), Song::fields(), Album::fields());

        let error = db.songs.insert(song(7, "eve", 0)).await.unwrap_err();
        assert_dangling(&error, "songs", "artist", text("eve"));
        let many = [song(7, "ann", 0), song(8, "eve", 0), song(9, "ann", 0)];
        let error = db.songs.insert_many(many).await.unwrap_err();
        assert_dangling(&error, "songs", "artist", text("eve"));
        let error = db.albums.insert(album(9, &[1, 70, 71])).await.unwrap_err();
        assert_dangling(&error, "albums", "tracks", RawBson::Int64(70));
        let linked = Album { credits: vec![credit("ann", ""), credit("eve", "")], ..album(9, &[]) };
        let error = db.albums.insert(linked.clone()).await.unwrap_err();
        assert_dangling(&error, "albums", "credits.who", text("eve"));

        let error = db.songs.update(1).set(songs.artist, "eve").await.unwrap_err();
        assert_dangling(&error, "songs", "artist", text("eve"));
        let error = db.songs.update_where(Filter::all()).set(songs.artist, "eve").await;
        assert_dangling(&error.unwrap_err(), "songs", "artist", text("eve"));
        let error = db.artists.update("ann").set(artists.mentor, "eve").await.unwrap_err();
        assert_dangling(&error, "artists", "mentor", text("eve"));
        let error = db.albums.update(2).push(albums.songs, 70).await.unwrap_err();
        assert_dangling(&error, "albums", "tracks", RawBson::Int64(70));
        let error = db.albums.update(2).push_all(albums.songs, [2, 70]).await.unwrap_err();
        assert_dangling(&error, "albums", "tracks", RawBson::Int64(70));
        let error = db.albums.update(2).push(albums.credits, credit("eve", "")).await.unwrap_err();
        assert_dangling(&error, "albums", "credits.who", text("eve"));

        let error = db.songs.replace(song(1, "eve", 0)).await.unwrap_err();
        assert_dangling(&error, "songs", "artist", text("eve"));
        let error = db.songs.upsert(song(1, "eve", 0)).await.unwrap_err();
        assert_dangling(&error, "songs", "artist", text("eve"));
        let error = db.songs.upsert(song(7, "eve", 0)).await.unwrap_err();
        assert_dangling(&error, "songs", "artist", text("eve"));
        let error = db.albums.upsert(linked).await.unwrap_err();
        assert_dangling(&error, "albums", "credits.who", text("eve"));
        let error = db.songs.modify(1, |song| song.artist = Ref::new("eve".into())).await.unwrap_err();
        assert_dangling(&error, "songs", "artist", text("eve"));
        let upsert = db.songs.update_where(songs.id.eq(7)).set(songs.artist, "eve");
        let error = upsert.set(songs.plays, 0).upsert().await.unwrap_err();
        assert_dangling(&error, "songs", "artist", text("eve"));

        for (collection, before) in collections.iter().zip(&before) {
            assert_eq!(&stored(&store, collection).await, before, "`{collection}` was changed");
        }
    }

    async fn no_raw_update_adds_a_dangling_reference(store: AnyStore) {
        let db = music(store.clone()).await;
        let before = stored(&store, "albums").await;
        let second = || db.albums.update(2);
        for (update, path, id) in [
            (doc! { "$set": { "tracks": [1_i64, 70_i64] } }, "tracks", RawBson::Int64(70)),
            (doc! { "$set": { "tracks.1": 70_i64 } }, "tracks", RawBson::Int64(70)),
            (doc! { "$push": { "tracks": 70_i64 } }, "tracks", RawBson::Int64(70)),
            (doc! { "$addToSet": { "tracks": { "$each": [1_i64, 70_i64] } } }, "tracks", RawBson::Int64(70)),
            (doc! { "$inc": { "tracks.0": 69_i64 } }, "tracks", RawBson::Int64(70)),
            (doc! { "$set": { "credits": [{ "who": "eve", "role": "" }] } }, "credits.who", text("eve")),
            (doc! { "$push": { "credits": { "who": "eve", "role": "" } } }, "credits.who", text("eve")),
        ] {
            let error = second().raw(update.clone()).await.unwrap_err();
            assert_dangling(&error, "albums", path, id);
            assert_eq!(stored(&store, "albums").await, before, "{update}");
        }
        let update = doc! { "$set": { "credits.$[c].who": "eve" } };
        let filters = vec![doc! { "c.role": "voice" }];
        let error = db.albums.update_where(Filter::all()).raw_with(update, filters).await;
        assert_dangling(&error.unwrap_err(), "albums", "credits.who", text("eve"));
    }

    async fn references_of_one_call_may_lead_to_each_other(store: AnyStore) {
        let db = music(store).await;
        let cycle = [pupil("x", "y"), pupil("y", "z"), pupil("z", "x"), pupil("self", "self")];
        db.artists.insert_many(cycle.clone()).await.unwrap();
        let rows = db.artists.find(Artist::fields().id.gte("self"));
        let rows = rows.join(Artist::fields().mentor).await.unwrap();
        let mentors: Vec<String> = rows.into_iter().map(|(_, mentor)| mentor.unwrap().id).collect();
        assert_eq!(mentors, ["self", "y", "z", "x"]);
        let error = db.artists.insert_many([pupil("p", "q"), pupil("q", "r")]).await.unwrap_err();
        assert_dangling(&error, "artists", "mentor", text("r"));
        assert!(db.artists.get("p").optional().await.unwrap().is_none());
    }

    async fn within_a_transaction_what_was_inserted_before_is_there(store: AnyStore) {
        let db = music(store).await;
        db.transaction(async |db| {
            db.artists.insert(artist("eve")).await?;
            db.songs.insert(song(7, "eve", 0)).await?;
            Ok(())
        })
        .await
        .unwrap();
        let result = db
            .transaction(async |db| {
                db.artists.insert(artist("dan")).await?;
                db.artists.delete("dan").await?;
                db.songs.insert(song(8, "dan", 0)).await?;
                Ok(())
            })
            .await;
        assert_dangling(&result.unwrap_err(), "songs", "artist", text("dan"));
    }
}

on_local_stores! {
    async fn only_added_references_are_asked_for(store: AnyStore) {
        let db = music(store).await;
        // The unchecked references may dangle, and do.
        let second = db.albums.get(2).await.unwrap();
        db.albums.replace(second.clone()).await.unwrap();
        db.albums.update(2).set(Album::fields().cover, 1234).await.unwrap();
        db.albums.update(2).push(Album::fields().bonus, 4321).await.unwrap();
        db.albums.update(2).push(Album::fields().songs, 1).await.unwrap();

        let (_, unrelated) = odm::measure(async {
            db.songs.update(1).inc(Song::fields().plays, 1).await.unwrap();
        })
        .await;
        let (_, kept) = odm::measure(async {
            db.songs.update(1).set(Song::fields().artist, "ann").await.unwrap();
        })
        .await;
        let (_, added) = odm::measure(async {
            db.songs.update(1).set(Song::fields().artist, "bob").await.unwrap();
        })
        .await;
        assert_eq!(unrelated.queries, kept.queries);
        // The batch, and one for the references.
        assert!(added.queries <= kept.queries + 2, "{added:?}");
    }
}

on_serializable_stores! {
    async fn a_concurrent_delete_never_leaves_a_reference_behind(store: AnyStore) {
        let db = music(store).await;
        for round in 0..40 {
            let name = format!("n{round}");
            db.artists.insert(artist(&name)).await.unwrap();
            let (songs, artists) = (db.songs.clone(), db.artists.clone());
            let insert = {
                let song = song(1000 + round, &name, 0);
                tokio::spawn(async move { songs.insert(song).await })
            };
            let delete = tokio::spawn(async move { artists.delete(name).await });
            let (insert, delete) = (insert.await.unwrap(), delete.await.unwrap());
            match (insert, delete) {
                (Ok(_), Err(error)) => assert!(error.is_restricted(), "{error:?}"),
                (Err(error), Ok(true)) => assert!(error.is_dangling_reference(), "{error:?}"),
                other => panic!("both or none: {other:?}"),
            }
        }
        db.songs.all().join(Song::fields().artist).await.unwrap();
    }
}
