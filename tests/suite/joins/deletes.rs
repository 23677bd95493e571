//! A referenced document cannot be deleted.

use odm::{ErrorKind, bson::RawBson, prelude::*};
use tests::{on_every_store, stored};

use crate::joins::music::{Album, Artist, Biography, Song, artist, music, pupil};

on_every_store! {
    async fn a_delete_by_id_names_the_referrer(store: AnyStore) {
        let db = music(store.clone()).await;
        let before = stored(&store, "songs").await;
        let error = db.songs.delete(5).await.unwrap_err();
        assert!(error.is_restricted(), "{error:?}");
        assert_eq!(error.kind(), ErrorKind::Restricted);
        let text = error.to_string();
        for name in ["`songs`", "5", "`albums.tracks`", "1"] {
            assert!(text.contains(name), "{name} is not named: {text}");
        }
        let place = error.location().unwrap();
        assert_eq!(place.collection, "albums");
        assert_eq!(place.path.as_deref(), Some("tracks"));
        assert_eq!(place.id, Some(RawBson::Int64(1)));
        assert_eq!(stored(&store, "songs").await, before);
        assert!(db.songs.delete(4).await.unwrap(), "nothing refers to this one");
    }

    async fn a_delete_by_filter_takes_all_or_none(store: AnyStore) {
        let db = music(store.clone()).await;
        let before = stored(&store, "songs").await;
        // 2 and 4 are free, 3 is not.
        let many = Song::fields().plays.gte(20);
        let error = db.songs.delete_where(many).await.unwrap_err();
        assert!(error.is_restricted(), "{error:?}");
        assert!(error.to_string().contains('3'), "{error}");
        assert_eq!(stored(&store, "songs").await, before);
        assert_eq!(db.songs.delete_where(Song::fields().plays.gte(30)).await.unwrap(), 2);
    }

    async fn references_in_embedded_links_restrict_too(store: AnyStore) {
        let db = music(store).await;
        db.albums.update_where(Filter::all()).set(Album::fields().songs, Vec::new()).await.unwrap();
        db.songs.delete_where(Filter::all()).await.unwrap();
        db.artists.update_where(Filter::all()).unset(Artist::fields().mentor).await.unwrap();
        let error = db.artists.delete("ann").await.unwrap_err();
        assert!(error.is_restricted());
        assert!(error.to_string().contains("`albums.credits.who`"), "{error}");
        db.albums.update(1)
            .pull_where(Album::fields().credits, |credit| credit.who.eq("ann"))
            .await.unwrap();
        assert!(db.artists.delete("ann").await.unwrap());
    }

    async fn an_unchecked_reference_does_not_restrict(store: AnyStore) {
        let db = music(store).await;
        db.artists.delete("cid").await.unwrap();
        let rows = db.albums.all().join(Album::fields().rival).await.unwrap();
        assert!(rows.iter().all(|(_, rival)| rival.is_none()));
    }

    async fn a_referrer_that_goes_in_the_same_unit_does_not_restrict(store: AnyStore) {
        let db = music(store).await;
        db.artists.insert_many([pupil("x", "y"), pupil("y", "x"), pupil("z", "x")]).await.unwrap();
        let cycle = || Artist::fields().id.in_(["x", "y"]);
        let error = db.artists.delete_where(cycle()).await.unwrap_err();
        assert!(error.to_string().contains("\"z\""), "{error}");
        let end = Artist::fields().id.gte("x");
        assert_eq!(db.artists.delete_where(end).await.unwrap(), 3);
    }

    async fn a_document_may_refer_to_itself_and_go(store: AnyStore) {
        let db = music(store).await;
        db.artists.insert(pupil("me", "me")).await.unwrap();
        assert!(db.artists.delete("me").await.unwrap());
        db.artists.insert(pupil("me", "me")).await.unwrap();
        db.artists.insert(pupil("you", "me")).await.unwrap();
        assert!(db.artists.delete("me").await.unwrap_err().is_restricted());
        assert_eq!(db.artists.delete_where(Artist::fields().id.in_(["me", "you"])).await.unwrap(), 2);
    }

    async fn in_a_transaction_children_go_before_their_parent(store: AnyStore) {
        let db = music(store).await;
        db.biographies
            .insert(Biography { id: 1, artist: Ref::new("cid".into()), text: String::new() })
            .await
            .unwrap();
        assert!(db.artists.delete("cid").await.unwrap_err().is_restricted());
        db.transaction(async |db| {
            db.biographies.delete_where(Biography::fields().artist.eq("cid")).await?;
            db.artists.delete("cid").await?;
            Ok(())
        })
        .await
        .unwrap();
        assert_eq!(db.artists.all().count().await.unwrap(), 2);
        // In the opposite order, the first delete is refused.
        let result = db
            .transaction(async |db| {
                db.artists.delete("bob").await?;
                db.songs.delete_where(Song::fields().artist.eq("bob")).await?;
                Ok(())
            })
            .await;
        assert!(result.unwrap_err().is_restricted());
    }

    async fn what_is_no_longer_referred_to_can_go(store: AnyStore) {
        let db = music(store).await;
        let albums = db.albums.update_where(Filter::all());
        albums.pull(Album::fields().songs, 6).await.unwrap();
        assert!(db.songs.delete(6).await.unwrap());
        db.albums.update_where(Filter::all()).pull(Album::fields().songs, 5).await.unwrap();
        assert!(db.songs.delete(5).await.unwrap());
        db.albums.delete(1).await.unwrap();
        assert!(db.artists.delete("bob").await.unwrap_err().to_string().contains("`artists.mentor`"));
        db.artists.replace(artist("cid")).await.unwrap();
        assert!(db.artists.delete("bob").await.unwrap());
        assert_eq!(db.artists.delete_where(Artist::fields().id.eq("zed")).await.unwrap(), 0);
    }
}
