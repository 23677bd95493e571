//! An index that has a document once for each element of a list, compared with an index that has it once.

use odm::{Embedded, measure, prelude::*};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "orgs")]
struct Org {
    #[serde(rename = "_id")]
    id: i64,
    #[count(of = "Issue", via = "org")]
    issues: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(
    collection = "issues",
    index(fields = "org, words"),
    index(fields = "links.org, links.state")
)]
struct Issue {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    org: Ref<Org>,
    words: Vec<String>,
    #[embed]
    links: Vec<Link>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Link {
    #[reference(child)]
    org: Ref<Org>,
    state: i64,
}

#[derive(Database)]
#[database(name = "tracker", version = 1)]
struct Tracker {
    orgs: Repository<Org>,
    issues: Repository<Issue>,
}

async fn tracker(store: Embedded) -> Tracker {
    let db = Tracker::open(store).await.unwrap();
    db.orgs.insert_many((0..2).map(|id| Org { id, issues: 0 })).await.unwrap();
    let issue = |id: i64| Issue {
        id,
        org: Ref::new(id % 2),
        words: (0..10).map(|word| format!("w{word}")).collect(),
        links: [0, 1].map(|org| Link { org: Ref::new(org), state: id }).into(),
    };
    db.issues.insert_many((0..200).map(issue)).await.unwrap();
    db
}

#[tokio::test]
async fn an_index_with_a_list_behind_a_reference_does_not_take_the_place_of_its_own() {
    let store = Embedded::memory().await.unwrap();
    let db = tracker(store.clone()).await;
    let org = Issue::fields().org;
    let explain = db.issues.find(org.eq(0)).explain().await.unwrap();
    assert_eq!(explain.index.as_deref(), Some("org_1"));
    assert_eq!((explain.cost.keys_examined, explain.cost.documents_returned), (100, 100));
    let (_, cost) = measure(async { db.issues.find(org.eq(1)).count().await.unwrap() }).await;
    assert_eq!(cost.keys_examined, 100);
    let parent = db.orgs.get(1).await.unwrap();
    assert_eq!(parent.issues, 100);
    let (children, cost) = measure(async { db.issues.of(&parent).await.unwrap() }).await;
    assert_eq!((children.len(), cost.keys_examined), (100, 100));
    // If a word is requested as well, it has fewer keys than the other.
    let word = Issue::fields().words.contains("w3");
    let explain = db.issues.find(org.eq(0) & word).explain().await.unwrap();
    assert_eq!(explain.index.as_deref(), Some("org_1_words_1"));
    assert_eq!(explain.cost.keys_examined, 100);
}

#[tokio::test]
async fn an_index_of_fields_of_one_list_takes_the_place_of_the_index_of_a_reference_in_it() {
    let store = Embedded::memory().await.unwrap();
    let db = tracker(store.clone()).await;
    let size = store.size().unwrap();
    let issues = size.collections.iter().find(|one| one.name == "issues").unwrap();
    let names: Vec<&str> = issues.indexes.iter().map(|index| index.name.as_str()).collect();
    assert_eq!(names, ["links.org_1_links.state_1", "org_1", "org_1_words_1"]);
    // It has as many entries as the other would have.
    assert_eq!(issues.indexes[0].entries, 400);
    let linked = db.issues.find(Issue::fields().links.any(|link| link.org.eq(1)));
    assert_eq!(linked.explain().await.unwrap().cost.keys_examined, 200);
}
