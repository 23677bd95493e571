//! Upserts by a unique key, and of many documents.

use std::sync::Arc;

use odm::{ErrorKind, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store, on_local_stores};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(
    collection = "members",
    new(name = "NewMember", derive(Debug, Clone)),
    unique(fields = "team, -number")
)]
struct Member {
    #[serde(rename = "_id")]
    #[id(auto)]
    id: ObjectId,
    #[index(unique)]
    #[serde(rename = "mail")]
    email: Option<String>,
    #[index(unique)]
    nicknames: Vec<String>,
    #[reference(parent, on_delete = "cascade")]
    team: Ref<Team>,
    number: i32,
    logins: i64,
    #[denormalize(from = "Team.name")]
    #[serde(default)]
    team_name: String,
    #[split(collection = "profiles", key = "member", optional)]
    profile: Cold<Profile>,
    #[created_at]
    created_at: DateTime,
    #[version]
    revision: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Profile {
    text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "teams")]
struct Team {
    #[serde(rename = "_id")]
    id: i32,
    #[index(unique)]
    name: String,
    #[count(of = "Member")]
    members: i64,
}

/// Its writes have no consequences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "settings")]
struct Setting {
    #[serde(rename = "_id")]
    id: String,
    value: i64,
}

/// It has no validation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "rooms", validation(level = "off"))]
struct Room {
    #[serde(rename = "_id")]
    id: i32,
    #[index(unique, case_insensitive)]
    name: String,
    #[embed]
    #[serde(default)]
    sizes: std::collections::BTreeMap<String, Size>,
    made: odm::bson::Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Size {
    height: i32,
    width: i32,
}

#[derive(Database)]
#[database(name = "club", version = 1)]
struct Club {
    members: Repository<Member>,
    teams: Repository<Team>,
    settings: Repository<Setting>,
}

/// Rooms alone, since not every store has their index.
#[derive(Database)]
#[database(name = "house", version = 1)]
struct House {
    rooms: Repository<Room>,
}

async fn club(store: impl TestStore) -> Club {
    let club = Club::open(store).await.unwrap();
    club.teams.insert_many([team(1), team(2)]).await.unwrap();
    club
}

fn team(id: i32) -> Team {
    Team { id, name: format!("team {id}"), members: 0 }
}

fn member(email: &str, number: i32) -> NewMember {
    NewMember {
        email: Some(email.into()),
        nicknames: vec![format!("{email} of {number}")],
        team: Ref::new(1),
        number,
        logins: 1,
        profile: Cold::new(Profile { text: format!("I am {number}") }),
    }
}

on_every_store! {
    async fn an_upsert_by_a_unique_key_inserts_or_replaces_and_keeps_the_id(store: AnyStore) {
        let club = club(store).await;
        let email = Member::fields().email;
        let first = club.members.upsert_by(email, member("a@x", 7)).await.unwrap();
        assert_eq!((first.number, first.revision, first.team_name.as_str()), (7, 1, "team 1"));
        let moved = NewMember { team: Ref::new(2), ..member("a@x", 8) };
        let second = club.members.upsert_by(email, moved).await.unwrap();
        assert_eq!((second.id, second.created_at), (first.id, first.created_at));
        assert_eq!((second.number, second.revision, second.team_name.as_str()), (8, 2, "team 2"));
        let whole = club.members.get(first.id).with(Member::fields().profile).await.unwrap();
        assert_eq!(whole.profile.get().unwrap().text, "I am 8");
        let numbers = club.teams.all().await.unwrap().into_iter().map(|team| team.members);
        assert_eq!(numbers.collect::<Vec<_>>(), [0, 1]);
        assert_eq!(club.audit().await.unwrap(), []);
    }

    async fn an_upsert_by_a_unique_key_changes_what_it_finds_or_leaves_it(store: AnyStore) {
        let club = club(store).await;
        let fields = Member::fields();
        let login = || club.members.upsert_by(fields.email, member("a@x", 7)).update(Update::new().inc(fields.logins, 1));
        assert_eq!(login().await.unwrap().logins, 1);
        assert_eq!(login().await.unwrap().logins, 2);
        let kept = club.members.upsert_by(fields.email, member("a@x", 9)).keep().await.unwrap();
        assert_eq!((kept.number, kept.logins, kept.revision), (7, 2, 2));
        let new = club.members.upsert_by(fields.email, member("b@x", 9)).keep().await.unwrap();
        assert_eq!((new.number, new.revision), (9, 1));
        assert_eq!(club.members.all().count().await.unwrap(), 2);
        // By an index of several fields.
        let key = (fields.team, fields.number);
        let same = club.members.upsert_by(key, member("c@x", 9)).await.unwrap();
        assert_eq!((same.id, same.email.as_deref()), (new.id, Some("c@x")));
        let plan = club.members.upsert_by(fields.email, member("d@x", 1)).plan().await.unwrap();
        assert_eq!(plan.collections.iter().map(|of| of.inserted).sum::<u64>(), 2);
        let plan = club.members.upsert_by(fields.email, member("c@x", 1)).plan().await.unwrap();
        assert_eq!((plan.matched, plan.collections.iter().map(|of| of.inserted).sum::<u64>()), (1, 0));
        assert_eq!(club.audit().await.unwrap(), []);
    }

    async fn an_upsert_by_a_unique_key_fails_as_a_whole(store: AnyStore) {
        let club = club(store).await;
        let fields = Member::fields();
        let first = club.members.upsert_by(fields.email, member("a@x", 7)).await.unwrap();
        club.members.upsert_by(fields.email, member("b@x", 8)).await.unwrap();
        let taken = club.members.upsert_by(fields.email, member("b@x", 7)).await.unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::DuplicateKey, "{taken}");
        let unnamed = NewMember { email: None, ..member("", 1) };
        let missing = club.members.upsert_by(fields.email, unnamed).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::InvalidQuery);
        assert!(missing.to_string().contains("`mail`"), "{missing}");
        let list = club.members.upsert_by(fields.nicknames, member("c@x", 3)).await.unwrap_err();
        assert_eq!(list.kind(), ErrorKind::InvalidQuery, "{list}");
        let dangling = NewMember { team: Ref::new(9), ..member("c@x", 3) };
        let dangling = club.members.upsert_by(fields.email, dangling).await.unwrap_err();
        assert_eq!(dangling.kind(), ErrorKind::DanglingReference);
        let derived = Update::new().raw(doc! { "$set": { "team_name": "x" } });
        let derived = club.members.upsert_by(fields.email, member("a@x", 7)).update(derived).await.unwrap_err();
        assert_eq!(derived.kind(), ErrorKind::InvalidQuery, "{derived}");
        let broken = Update::new().raw(doc! { "$set": { "number": "x" } });
        let broken = club.members.upsert_by(fields.email, member("a@x", 7)).update(broken).await.unwrap_err();
        assert_eq!(broken.kind(), ErrorKind::Invalid, "{broken}");

        // The version of a document that was read is compared.
        let mut read = club.members.get(first.id).await.unwrap();
        assert_eq!(club.members.upsert_by(fields.email, read.clone()).await.unwrap().revision, 1);
        club.members.update(first.id).inc(fields.logins, 1).await.unwrap();
        read.logins = 100;
        assert!(club.members.upsert_by(fields.email, read).await.unwrap_err().is_stale());
        assert_eq!(club.members.all().count().await.unwrap(), 2);
        assert_eq!(club.audit().await.unwrap(), []);
    }

    async fn upserts_by_one_key_at_once_insert_one_document(store: AnyStore) {
        let club = Arc::new(club(store).await);
        let tasks = (0..24).map(|task| {
            let club = club.clone();
            tokio::spawn(async move {
                let fields = Member::fields();
                let more = Update::new().inc(fields.logins, 1);
                let member = member(&format!("{}@x", task % 3), task % 3);
                club.members.upsert_by(fields.email, member).update(more).await.unwrap()
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        let logins = club.members.all().await.unwrap().into_iter().map(|member| member.logins);
        assert_eq!(logins.collect::<Vec<_>>(), [8, 8, 8]);
        assert_eq!(club.teams.get(1).await.unwrap().members, 3);
        assert_eq!(club.audit().await.unwrap(), []);
    }

    async fn many_documents_are_upserted_as_one_unit(store: AnyStore) {
        let club = club(store).await;
        assert_eq!(club.teams.upsert_many([]).await.unwrap(), []);
        let renamed = Team { name: "first".into(), ..team(1) };
        club.members.upsert_by(Member::fields().email, member("a@x", 7)).await.unwrap();
        let stored = club.teams.upsert_many([team(3), renamed, team(2)]).await.unwrap();
        let seen = stored.iter().map(|team| (team.id, team.name.as_str(), team.members));
        assert_eq!(seen.collect::<Vec<_>>(), [(3, "team 3", 0), (1, "first", 1), (2, "team 2", 0)]);
        assert_eq!(club.members.all().one().await.unwrap().team_name, "first");

        let again = club.teams.upsert_many([team(4), team(5), team(4)]).await.unwrap_err();
        assert_eq!(again.kind(), ErrorKind::InvalidQuery, "{again}");
        let taken = Team { name: "first".into(), ..team(5) };
        let taken = club.teams.upsert_many([team(4), taken]).await.unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::DuplicateKey);
        assert_eq!(club.teams.all().count().await.unwrap(), 3);

        let setting = |id: i64| Setting { id: format!("{id:05}"), value: id };
        club.settings.upsert_many((0..300).map(setting)).await.unwrap();
        let stored = club.settings.upsert_many((200..500).map(setting)).await.unwrap();
        assert_eq!(stored, (200..500).map(setting).collect::<Vec<_>>());
        assert_eq!(club.settings.all().await.unwrap(), (0..500).map(setting).collect::<Vec<_>>());
        let again = club.settings.upsert_many([setting(1), setting(1)]).await.unwrap_err();
        assert_eq!(again.kind(), ErrorKind::InvalidQuery);
        assert_eq!(club.audit().await.unwrap(), []);
    }
}

on_local_stores! {
    async fn an_upsert_finds_a_text_in_any_case_and_leaves_what_can_be_read(store: AnyStore) {
        let house = House::open(store).await.unwrap();
        let fields = Room::fields();
        let made = odm::bson::Timestamp { time: 0, increment: 0 };
        let room = |id: i32, name: &str| Room { id, name: name.into(), sizes: [].into(), made };
        let first = house.rooms.upsert_by(fields.name, room(1, "Hall")).await.unwrap();
        assert!(first.made.time > 0, "an empty timestamp becomes the current one");
        let second = house.rooms.upsert_by(fields.name, room(2, "hALL")).await.unwrap();
        assert_eq!((second.id, second.name.as_str()), (1, "hALL"));
        let narrow = Update::new().update_entry(fields.sizes, "m", |size, changes| changes.set(size.width, 1));
        let error = house.rooms.upsert_by(fields.name, room(3, "hall")).update(narrow).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidUpdate, "{error}");
        assert_eq!(house.rooms.all().await.unwrap(), [second]);
    }
}
