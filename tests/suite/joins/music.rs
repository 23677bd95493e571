//! Models with references of every kind.

use odm::prelude::*;
use serde::{Deserialize, Serialize};
use tests::TestStore;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "artists")]
pub(crate) struct Artist {
    #[serde(rename = "_id")]
    pub(crate) id: String,
    /// Leads into the same collection.
    #[reference(child)]
    pub(crate) mentor: Option<Ref<Artist>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "songs", index(fields = "artist, -plays"))]
pub(crate) struct Song {
    #[serde(rename = "_id")]
    pub(crate) id: i64,
    #[reference(parent)]
    pub(crate) artist: Ref<Artist>,
    pub(crate) plays: i64,
}

/// A reference with another field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub(crate) struct Credit {
    #[reference(child)]
    pub(crate) who: Ref<Artist>,
    pub(crate) role: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "albums")]
pub(crate) struct Album {
    #[serde(rename = "_id")]
    pub(crate) id: i64,
    #[serde(rename = "tracks")]
    #[reference(child)]
    pub(crate) songs: Vec<Ref<Song>>,
    #[embed]
    pub(crate) credits: Vec<Credit>,
    #[reference(child, unchecked)]
    pub(crate) cover: Option<Ref<Song>>,
    #[reference(child, unchecked)]
    pub(crate) bonus: Vec<Ref<Song>>,
    #[reference(child, unchecked)]
    pub(crate) rival: Ref<Artist>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "biographies")]
pub(crate) struct Biography {
    #[serde(rename = "_id")]
    pub(crate) id: i64,
    #[reference(parent, one)]
    pub(crate) artist: Ref<Artist>,
    pub(crate) text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "prizes")]
pub(crate) struct Prize {
    #[serde(rename = "_id")]
    pub(crate) id: i64,
    #[reference(parent, one)]
    pub(crate) album: Option<Ref<Album>>,
}

#[derive(Database)]
#[database(name = "music", version = 1)]
pub(crate) struct Music {
    pub(crate) artists: Repository<Artist>,
    pub(crate) songs: Repository<Song>,
    pub(crate) albums: Repository<Album>,
    pub(crate) biographies: Repository<Biography>,
    pub(crate) prizes: Repository<Prize>,
}

pub(crate) fn artist(id: &str) -> Artist {
    Artist { id: id.into(), mentor: None }
}

pub(crate) fn pupil(id: &str, mentor: &str) -> Artist {
    Artist { id: id.into(), mentor: Some(Ref::new(mentor.into())) }
}

pub(crate) fn song(id: i64, artist: &str, plays: i64) -> Song {
    Song { id, artist: Ref::new(artist.into()), plays }
}

pub(crate) fn credit(who: &str, role: &str) -> Credit {
    Credit { who: Ref::new(who.into()), role: role.into() }
}

pub(crate) fn album(id: i64, songs: &[i64]) -> Album {
    Album {
        id,
        songs: songs.iter().map(|&id| Ref::new(id)).collect(),
        credits: Vec::new(),
        cover: None,
        bonus: Vec::new(),
        rival: Ref::new("nobody".into()),
    }
}

/// Ann taught Bob, who taught Cid. Ann and Bob have songs, and there are three albums.
pub(crate) async fn music(store: impl TestStore) -> Music {
    let db = Music::open(store).await.unwrap();
    db.artists
        .insert_many([artist("ann"), pupil("bob", "ann"), pupil("cid", "bob")])
        .await
        .unwrap();
    let songs = [
        song(1, "ann", 10),
        song(2, "ann", 30),
        song(3, "ann", 20),
        song(4, "ann", 30),
        song(5, "bob", 5),
        song(6, "bob", 7),
    ];
    db.songs.insert_many(songs).await.unwrap();
    let first = Album {
        credits: vec![credit("bob", "mix"), credit("ann", "voice"), credit("bob", "drums")],
        cover: Some(Ref::new(3)),
        bonus: vec![Ref::new(6), Ref::new(99), Ref::new(6)],
        rival: Ref::new("cid".into()),
        ..album(1, &[3, 1, 5, 1])
    };
    let second = Album { cover: Some(Ref::new(77)), ..album(2, &[1, 6]) };
    db.albums.insert_many([first, second, album(3, &[])]).await.unwrap();
    db
}

pub(crate) fn song_ids(songs: &[Song]) -> Vec<i64> {
    songs.iter().map(|song| song.id).collect()
}
