//! Lists that follow after the unit that moves documents.

use super::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "topics")]
struct Topic {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent, on_delete = "nullify")]
    parent: Option<Ref<Topic>>,
    #[ancestors(via = "parent", refresh = "later")]
    path: Ancestors<Topic>,
    #[count(of = "Topic", via = "path")]
    below: i64,
}

#[derive(Database)]
#[database(name = "help", version = 1)]
struct Help {
    topics: Repository<Topic>,
}

fn topic(id: i64, parent: Option<i64>) -> Topic {
    Topic { id, parent: parent.map(Ref::new), path: Ancestors::new(), below: 0 }
}

async fn move_to(help: &Help, id: i64, parent: i64) -> odm::Result<()> {
    let parent = Some(Ref::new(parent));
    help.topics.update(id).set(Topic::fields().parent, parent).await.map(drop)
}

async fn paths(help: &Help) -> BTreeMap<i64, (Vec<i64>, i64)> {
    let all = help.topics.all().await.unwrap().into_iter();
    let ids = |topic: &Topic| topic.path.iter().map(|above| *above.id()).collect();
    all.map(|topic| (topic.id, (ids(&topic), topic.below))).collect()
}

on_every_store! {
    async fn a_deferred_list_follows_depth_by_depth(store: AnyStore) {
        let help = Help::open(store).await.unwrap();
        let tree = [(1, None), (2, Some(1)), (3, Some(2)), (4, Some(3)), (5, None), (6, Some(5))];
        help.topics.insert_many(tree.map(|(id, parent)| topic(id, parent))).await.unwrap();
        help.wait_for_refreshes().await.unwrap();
        assert_eq!(paths(&help).await[&4], (vec![1, 2, 3], 0));
        move_to(&help, 2, 6).await.unwrap();
        assert_eq!(paths(&help).await[&2].0, [5, 6], "the moved document itself is right at once");
        // Below a list that waits.
        help.topics.insert(topic(7, Some(4))).await.unwrap();
        help.wait_for_refreshes().await.unwrap();
        let all = paths(&help).await;
        assert_eq!(all[&7], (vec![5, 6, 2, 3, 4], 0));
        assert_eq!((all[&1].1, all[&6].1), (0, 4), "what follows from the lists follows later, too");
        assert_eq!(help.audit().await.unwrap(), []);
    }

    async fn a_repair_while_lists_wait_loses_none_of_them(store: AnyStore) {
        let options = OpenOptions::default().refresh_every(None);
        let help = Help::open_with(store.clone(), options).await.unwrap();
        let tree = [(1, None), (2, Some(1)), (3, Some(2)), (4, Some(3)), (5, Some(4)), (6, None)];
        help.topics.insert_many(tree.map(|(id, parent)| topic(id, parent))).await.unwrap();
        move_to(&help, 2, 6).await.unwrap();
        help.repair().await.unwrap();
        help.wait_for_refreshes().await.unwrap();
        assert_eq!(paths(&help).await[&5].0, [6, 2, 3, 4]);
        // A list that is tampered with, and agrees with no other.
        let set = doc! { "$set": { "path": [9_i64] } };
        behind_the_back(&store, "topics", doc! { "_id": 3_i64 }, set).await;
        let findings = help.repair().await.unwrap();
        assert!(findings.iter().all(|finding| finding.repaired), "{findings:?}");
        help.wait_for_refreshes().await.unwrap();
        assert_eq!(paths(&help).await[&5].0, [6, 2, 3, 4]);
        assert_eq!(help.audit().await.unwrap(), []);
    }

    async fn a_ring_of_other_programs_is_a_finding_although_the_lists_wait(store: AnyStore) {
        let help = Help::open(store.clone()).await.unwrap();
        let tree = [(1, None), (2, Some(1)), (3, Some(2))].map(|(id, parent)| topic(id, parent));
        help.topics.insert_many(tree).await.unwrap();
        behind_the_back(&store, "topics", doc! { "_id": 1_i64 }, doc! { "$set": { "parent": 3_i64 } }).await;
        let found = help.repair().await.unwrap();
        let rings = found.iter().filter(|found| matches!(&found.problem, Problem::CheckFailed(why) if why.contains("in a ring")));
        let rings: Vec<_> = rings.map(|found| (found.id.as_i64(), found.repaired)).collect();
        assert_eq!(rings, [1, 2, 3].map(|id| (Some(id), false)));
        move_to(&help, 1, 1).await.unwrap_err();
        help.topics.update(1).set(Topic::fields().parent, None).await.unwrap();
        help.repair().await.unwrap();
        help.wait_for_refreshes().await.unwrap();
        assert_eq!(help.audit().await.unwrap(), []);
    }

    async fn rings_are_refused_although_the_lists_wait(store: AnyStore) {
        let help = Help::open(store).await.unwrap();
        let tree = [(1, None), (2, Some(1)), (3, Some(2)), (4, Some(3)), (5, None), (6, Some(5))];
        help.topics.insert_many(tree.map(|(id, parent)| topic(id, parent))).await.unwrap();
        move_to(&help, 2, 6).await.unwrap();
        // By the list of 4, which may wait, 5 is not above it.
        let ring = move_to(&help, 5, 4).await.unwrap_err();
        assert!(ring.to_string().contains("in a ring: 4 -> 3 -> 2 -> 6 -> 5 -> 4"), "{ring}");
        help.wait_for_refreshes().await.unwrap();
        assert_eq!(help.audit().await.unwrap(), []);
    }
}
