//! Inverse references agree, from whichever side they are written.

use odm::{ErrorKind, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

use super::{Badge, Person, Task, Team, Works, assert_right, ids, person, task};

async fn works(store: impl TestStore) -> Works {
    let db = Works::open(store).await.unwrap();
    db.people.insert_many((1..=4).map(person)).await.unwrap();
    db.tasks.insert_many((1..=4).map(|id| task(id, Some(1 + id % 2)))).await.unwrap();
    assert_right(&db).await;
    db
}

fn tasks(ids: &[i32]) -> Vec<Ref<Task>> {
    ids.iter().copied().map(Ref::new).collect()
}

on_every_store! {
    async fn a_task_moves_from_its_side(store: AnyStore) {
        let db = works(store).await;
        let owner = Task::fields().owner;
        db.tasks.update(1).set(owner, 3).await.unwrap();
        db.tasks.update(2).set(owner, None).await.unwrap();
        let all = assert_right(&db).await;
        assert_eq!(ids(&all.people[&3].tasks), [1].into());
        db.tasks.update_where(Filter::all()).set(owner, 4).await.unwrap();
        assert_eq!(assert_right(&db).await.people[&4].tasks.len(), 4);
        db.tasks.replace(task(1, Some(1))).await.unwrap();
        db.tasks.upsert(task(9, Some(1))).await.unwrap();
        db.tasks.delete(3).await.unwrap();
        assert_right(&db).await;
    }

    async fn a_task_moves_from_the_side_of_its_owner(store: AnyStore) {
        let db = works(store).await;
        let fields = Person::fields();
        db.people.update(3).push(fields.tasks, 1).await.unwrap();
        let all = assert_right(&db).await;
        assert_eq!(all.tasks[&1].owner, Some(Ref::new(3)));
        db.people.update(3).pull(fields.tasks, 1).await.unwrap();
        assert_eq!(assert_right(&db).await.tasks[&1].owner, None);
        db.people.update(4).set(fields.tasks, tasks(&[4, 3, 2])).await.unwrap();
        let all = assert_right(&db).await;
        assert_eq!(all.people[&4].tasks, tasks(&[4, 3, 2]), "in the order of adding");
        db.people.modify(4, |person| person.tasks.clear()).await.unwrap();
        let all = assert_right(&db).await;
        assert!(all.tasks.values().all(|task| task.owner.is_none()));
        let new = Person { tasks: tasks(&[1, 2]), ..person(8) };
        db.people.insert(new).await.unwrap();
        assert_right(&db).await;
    }

    async fn of_two_that_claim_one_the_later_wins(store: AnyStore) {
        let db = works(store).await;
        let new = |id| Person { tasks: tasks(&[1, 2]), ..person(id) };
        db.people.insert_many([new(8), new(9)]).await.unwrap();
        let all = assert_right(&db).await;
        assert_eq!(ids(&all.people[&9].tasks), [1, 2].into());
        assert!(all.people[&8].tasks.is_empty());
        let error = db.people.update(1).set(Person::fields().tasks, tasks(&[1, 1])).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidUpdate);
        assert_right(&db).await;
    }

    async fn spouses_are_a_pair_with_itself(store: AnyStore) {
        let db = works(store).await;
        let spouse = Person::fields().spouse;
        db.people.update(1).set(spouse, 2).await.unwrap();
        db.people.update(3).set(spouse, 4).await.unwrap();
        assert_right(&db).await;
        db.people.update(1).set(spouse, 4).await.unwrap();
        let all = assert_right(&db).await;
        assert_eq!((&all.people[&2].spouse, &all.people[&3].spouse), (&None, &None));
        let pair = |id, other| Person { spouse: Some(Ref::new(other)), ..person(id) };
        db.people.insert_many([pair(7, 8), pair(8, 7)]).await.unwrap();
        db.people.insert(pair(9, 8)).await.unwrap();
        assert_right(&db).await;
        db.people.delete(9).await.unwrap();
        db.people.update_where(Filter::all()).set(spouse, None).await.unwrap();
        let all = assert_right(&db).await;
        assert!(all.people.values().all(|person| person.spouse.is_none()));
    }

    async fn many_to_many_is_kept_from_both_sides(store: AnyStore) {
        let db = works(store).await;
        let team = |id, members: &[i32]| Team {
            id, members: members.iter().copied().map(Ref::new).collect(),
        };
        db.teams.insert_many([team(1, &[1, 2]), team(2, &[2, 3])]).await.unwrap();
        assert_right(&db).await;
        db.people.update(4).push(Person::fields().teams, 1).await.unwrap();
        db.people.update(2).pull(Person::fields().teams, 1).await.unwrap();
        let all = assert_right(&db).await;
        assert_eq!(ids(&all.teams[&1].members), [1, 4].into());
        db.teams.delete(2).await.unwrap();
        db.people.delete(4).await.unwrap();
        assert_eq!(ids(&assert_right(&db).await.teams[&1].members), [1].into());
    }

    async fn a_side_that_cannot_be_empty_is_not_emptied(store: AnyStore) {
        let db = works(store).await;
        db.badges.insert_many((1..=2).map(|id| Badge { id, holder: Ref::new(1) })).await.unwrap();
        assert_right(&db).await;
        let badges = Person::fields().badges;
        let error = db.people.update(1).pull(badges, 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidUpdate);
        assert!(error.to_string().contains("`badges.holder`"), "{error}");
        db.people.update(2).push(badges, 1).await.unwrap();
        db.badges.update(2).set(Badge::fields().holder, 3).await.unwrap();
        let all = assert_right(&db).await;
        assert!(all.people[&1].badges.is_empty());
        // In one write, a person takes a badge that another gives up.
        db.people.update_where(Person::fields().id.in_([2, 3])).set(badges, Vec::new()).await.unwrap_err();
        db.badges.delete_where(Filter::all()).await.unwrap();
        assert_right(&db).await;
    }
}

/// Both sides are lists of one document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "members")]
struct Member {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(child, inverse = "followers")]
    follows: Vec<Ref<Member>>,
    #[reference(child, inverse = "follows")]
    followers: Vec<Ref<Member>>,
}

#[derive(Database)]
#[database(name = "members", version = 1)]
struct Members {
    members: Repository<Member>,
}

on_every_store! {
    async fn a_list_that_names_one_twice_is_refused_before_another_list_of_the_document_changes_it(store: AnyStore) {
        let db = Members::open(store).await.unwrap();
        let member = |id, follows: &[i32], followers: &[i32]| {
            let refs = |ids: &[i32]| ids.iter().copied().map(Ref::new).collect();
            Member { id, follows: refs(follows), followers: refs(followers) }
        };
        db.members.insert_many([member(1, &[1], &[1]), member(2, &[], &[])]).await.unwrap();
        let before = db.members.all().await.unwrap();
        // When it stops following itself, one of the two is removed from the other list.
        for doubled in [member(1, &[], &[1, 2, 1]), member(1, &[2, 2], &[1]), member(3, &[], &[3, 3])] {
            let error = db.members.upsert(doubled).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidUpdate, "{error}");
            assert!(error.to_string().starts_with("doubled reference"), "{error}");
        }
        assert_eq!(db.members.all().await.unwrap(), before);
        db.members.upsert(member(1, &[], &[2])).await.unwrap();
        assert_eq!(db.members.all().await.unwrap(), [member(1, &[], &[2]), member(2, &[1], &[])]);
        assert_eq!(db.audit().await.unwrap(), []);
    }
}
