//! Public reports of counts and totals that a library or a database had wrong, as tests of the same in this library.

use odm::prelude::*;
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "groups")]
struct Group {
    #[serde(rename = "_id")]
    id: i64,
    #[count(of = "Member")]
    members: i64,
    #[count(of = "Member", filter = active)]
    active: i64,
    #[sum(of = "Member.points", filter = active)]
    points: i64,
    #[max(of = "Member.points", filter = scored)]
    best: Option<i64>,
    #[min(of = "Member.id")]
    first: Option<i64>,
    #[max(of = "Member.id")]
    last: Option<i64>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "places")]
struct Place {
    #[serde(rename = "_id")]
    id: i64,
    #[count(of = "Member")]
    members: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "members")]
struct Member {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent, on_delete = "cascade")]
    group: Ref<Group>,
    #[reference(parent, on_delete = "nullify")]
    place: Option<Ref<Place>>,
    is_active: bool,
    points: Option<i64>,
}

/// It counts documents of its own kind.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "folders")]
struct Folder {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent, on_delete = "cascade")]
    parent: Option<Ref<Folder>>,
    #[count(of = "Folder")]
    folders: i64,
}

fn active() -> Filter<Member> {
    Member::fields().is_active.eq(true)
}

fn scored() -> Filter<Member> {
    Member::fields().points.ne(None)
}

#[derive(Database)]
#[database(name = "museum", version = 1)]
struct Museum {
    groups: Repository<Group>,
    places: Repository<Place>,
    members: Repository<Member>,
    folders: Repository<Folder>,
}

fn member(id: i64, group: i64) -> Member {
    Member {
        id,
        group: Ref::new(group),
        place: Some(Ref::new(1)),
        is_active: true,
        points: Some(id),
    }
}

/// Two groups and two places, and three members of the first of both.
async fn museum(store: impl TestStore) -> Museum {
    let db = Museum::open(store).await.unwrap();
    let group =
        |id| Group { id, members: 0, active: 0, points: 0, best: None, first: None, last: None };
    db.groups.insert_many([group(1), group(2)]).await.unwrap();
    db.places.insert_many([1, 2].map(|id| Place { id, members: 0 })).await.unwrap();
    db.members.insert_many([1, 2, 3].map(|id| member(id, 1))).await.unwrap();
    db
}

/// A group, in a database without a wrong field.
async fn group(db: &Museum, id: i64) -> Group {
    assert_eq!(db.audit().await.unwrap(), []);
    db.groups.get(id).await.unwrap()
}

/// The numbers of members of the places.
async fn places(db: &Museum) -> [i64; 2] {
    [db.places.get(1).await.unwrap().members, db.places.get(2).await.unwrap().members]
}

on_every_store! {
    /// rails/rails#14735 and magnusvk/counter_culture#266: two processes delete one record, and it is subtracted twice.
    async fn two_deletes_of_one_child_at_the_same_time_count_once(store: AnyStore) {
        let db = museum(store).await;
        let deletes = (0..8).map(|_| {
            let db = db.clone();
            tokio::spawn(async move { db.members.delete(2).await.is_ok() })
        });
        for delete in deletes.collect::<Vec<_>>() {
            delete.await.unwrap();
        }
        let group = group(&db, 1).await;
        assert_eq!((group.members, group.points, group.best), (2, 4, Some(3)));
    }

    /// magnusvk/counter_culture#351: a second delete makes the count -1.
    async fn a_second_delete_of_a_child_changes_nothing(store: AnyStore) {
        let db = museum(store).await;
        for id in [1, 2, 3, 3, 2] {
            drop(db.members.delete(id).await);
        }
        let group = group(&db, 1).await;
        assert_eq!((group.members, group.active, group.points), (0, 0, 0));
    }

    /// rubysherpas/paranoia#249: a record that is hidden and then deleted is subtracted twice.
    async fn a_child_that_leaves_the_filter_and_then_goes_is_subtracted_once(store: AnyStore) {
        let db = museum(store).await;
        db.members.update(2).set(Member::fields().is_active, false).await.unwrap();
        db.members.delete(2).await.unwrap();
        let group = group(&db, 1).await;
        assert_eq!((group.members, group.active, group.points), (2, 2, 4));
    }

    /// rails/rails#32079: a record that moves to another parent also lowers the counts of a parent that stays.
    async fn a_move_changes_the_old_and_the_new_parent_and_no_other(store: AnyStore) {
        let db = museum(store).await;
        db.members.update(1).set(Member::fields().place, Ref::new(2)).await.unwrap();
        assert_eq!(places(&db).await, [2, 1]);
        assert_eq!(group(&db, 1).await.members, 3);
    }

    /// rails/rails#7706: a record that is deleted with one parent is still counted by its other parent.
    async fn a_child_that_goes_with_one_parent_leaves_the_other(store: AnyStore) {
        let db = museum(store).await;
        db.members.insert(member(4, 2)).await.unwrap();
        db.groups.delete(1).await.unwrap();
        assert_eq!(places(&db).await, [1, 0]);
        assert_eq!(group(&db, 2).await.members, 1);
    }

    /// rails/rails#11079: a record that is counted by its own kind is subtracted twice.
    async fn a_document_that_its_own_kind_counts_is_subtracted_once(store: AnyStore) {
        let db = museum(store).await;
        let folder = |id, parent: Option<i64>| Folder { id, parent: parent.map(Ref::new), folders: 0 };
        db.folders.insert_many([folder(1, None), folder(2, Some(1)), folder(3, Some(1)), folder(4, Some(2))]).await.unwrap();
        db.folders.delete(2).await.unwrap();
        assert_eq!(db.folders.get(1).await.unwrap().folders, 1);
        assert_eq!(db.audit().await.unwrap(), []);
    }

    /// tursodatabase/turso#8531: after two deletes that empty a group it never comes back.
    async fn a_group_that_was_emptied_by_single_deletes_comes_back(store: AnyStore) {
        let db = museum(store).await;
        for id in [1, 2, 3] {
            db.members.delete(id).await.unwrap();
        }
        db.members.insert(member(7, 1)).await.unwrap();
        let right = Group { id: 1, members: 1, active: 1, points: 7, best: Some(7), first: Some(7), last: Some(7) };
        assert_eq!(group(&db, 1).await, right);
    }

    /// tursodatabase/turso#3601: an insert of the key of a deleted row takes another row out of the sums.
    async fn a_child_that_comes_again_under_its_id_counts_once(store: AnyStore) {
        let db = museum(store).await;
        db.members.delete(2).await.unwrap();
        db.members.insert(Member { points: Some(20), ..member(2, 1) }).await.unwrap();
        db.bulk((db.members.delete(3), db.members.insert(Member { points: Some(30), ..member(3, 1) }))).await.unwrap();
        let group = group(&db, 1).await;
        assert_eq!((group.members, group.points, group.best), (3, 51, Some(30)));
    }

    /// surrealdb/surrealdb#7448: the greatest value is searched without the filter after a change of it.
    async fn the_next_extreme_is_searched_behind_the_filter(store: AnyStore) {
        let db = museum(store).await;
        db.members.update(1).set(Member::fields().points, 996).await.unwrap();
        db.members.update(2).set(Member::fields().points, None).await.unwrap();
        assert_eq!(group(&db, 1).await.best, Some(996));
        db.members.update(1).set(Member::fields().points, 0).await.unwrap();
        assert_eq!(group(&db, 1).await.best, Some(3));
    }

    /// pingcap/tidb#66780: the least and the greatest `id` are wrong after changes of other fields.
    async fn the_extremes_of_ids_follow_inserts_and_deletes(store: AnyStore) {
        let db = museum(store).await;
        db.members.insert(member(7, 2)).await.unwrap();
        db.members.update_where(Filter::all()).inc(Member::fields().points, 1).await.unwrap();
        db.members.delete(7).await.unwrap();
        db.members.delete(1).await.unwrap();
        let [one, other] = [group(&db, 1).await, group(&db, 2).await];
        assert_eq!((one.first, one.last, one.points), (Some(2), Some(3), 7));
        assert_eq!((other.first, other.last, other.points), (None, None, 0));
    }

    /// surrealdb/surrealdb#7291: counts drift under load.
    async fn counts_and_sums_are_right_under_load(store: AnyStore) {
        let db = museum(store).await;
        let tasks = (0..8).map(|task| {
            let db = db.clone();
            tokio::spawn(async move {
                for at in 0..20 {
                    let id = 100 + task * 20 + at;
                    db.members.insert(member(id, 1 + at % 2)).await.unwrap();
                    match at % 4 {
                        0 => drop(db.members.delete(id).await.unwrap()),
                        1 => db.members.update(id).set(Member::fields().group, Ref::new(1)).await.unwrap(),
                        _ => {}
                    }
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        let [one, other] = [group(&db, 1).await, group(&db, 2).await];
        assert_eq!((one.members, other.members), (3 + 8 * 10, 8 * 5));
        assert_eq!(one.points + other.points, 6 + (100..260).filter(|id| (id - 100) % 20 % 4 != 0).sum::<i64>());
    }
}
