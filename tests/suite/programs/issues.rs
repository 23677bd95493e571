//! The data of an issue tracker, in which no writer keeps a number, a label, a total or the words of a search.

use odm::{Result, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_local_stores};

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "projects", new = "NewProject")]
struct Project {
    #[serde(rename = "_id")]
    #[id(auto)]
    id: ObjectId,
    #[index(unique)]
    key: String,
    #[count(of = "Issue", filter = open)]
    open: i64,
    #[sum(of = "Issue.bytes")]
    bytes: i64,
    #[max(of = "Issue.changed_at")]
    last_change: Option<DateTime>,
}

fn open() -> Filter<Issue> {
    Issue::fields().closed.eq(false)
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "users", new = "NewUser")]
struct User {
    #[serde(rename = "_id")]
    #[id(auto)]
    id: ObjectId,
    name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "issues", new(name = "NewIssue", derive(Clone)))]
struct Issue {
    #[serde(rename = "_id")]
    #[id(auto)]
    id: ObjectId,
    #[reference(parent, on_delete = "cascade")]
    project: Ref<Project>,
    #[denormalize(from = "Project.key")]
    key: String,
    #[sequence(within = "project")]
    number: u32,
    #[computed(format!("{key}-{number}"))]
    #[index]
    label: String,
    title: String,
    #[reference(child, on_delete = "nullify")]
    assignee: Option<Ref<User>>,
    #[denormalize(from = "User.name", via = "assignee")]
    assignee_name: Option<String>,
    #[computed(words(&format!("{label} {title} {}", assignee_name.unwrap_or("".to_owned()))))]
    #[index]
    words: Vec<String>,
    #[embed]
    attachments: Vec<Attachment>,
    #[computed(attachments.iter().map(|attachment| attachment.bytes).sum::<i64>())]
    bytes: i64,
    closed: bool,
    #[updated_at]
    changed_at: DateTime,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Attachment {
    name: String,
    bytes: i64,
}

#[derive(Database)]
#[database(name = "issues", version = 1)]
struct Tracker {
    projects: Repository<Project>,
    users: Repository<User>,
    issues: Repository<Issue>,
}

impl Tracker {
    /// `GET /issues/{label}`
    async fn issue(&self, label: &str) -> Result<Issue> {
        self.issues.find(Issue::fields().label.eq(label)).one().await
    }

    /// `GET /issues?q=..`
    async fn search(&self, text: &str) -> Result<Vec<String>> {
        let issue = Issue::fields();
        let found = self.issues.find(issue.words.matches(text)).sort(issue.number.asc()).await?;
        Ok(found.into_iter().map(|issue| issue.label).collect())
    }
}

fn new_issue(project: &Project, title: &str) -> NewIssue {
    NewIssue {
        project: project.into(),
        title: title.into(),
        assignee: None,
        attachments: vec![Attachment { name: "log".into(), bytes: 10 }],
        closed: false,
    }
}

async fn tracker(store: impl TestStore) -> Result<(Tracker, Project, Project)> {
    let tracker = Tracker::open(store).await?;
    let web = tracker.projects.insert(NewProject { key: "WEB".into() }).await?;
    let app = tracker.projects.insert(NewProject { key: "APP".into() }).await?;
    Ok((tracker, web, app))
}

on_local_stores! {
    async fn concurrent_reports_are_numbered_within_their_project(store: AnyStore) {
        let (tracker, web, app) = tracker(store).await.unwrap();
        let reports = (0..40).map(|n| tracker.issues.insert(new_issue([&web, &app][n % 2], "Broken")).into_future());
        let reported = futures_util::future::try_join_all(reports).await.unwrap();
        for key in ["WEB", "APP"] {
            let mut numbers: Vec<u32> = reported.iter().filter(|issue| issue.key == key).map(|issue| issue.number).collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (1..=20).collect::<Vec<u32>>());
        }
        let web = tracker.projects.get(&web).await.unwrap();
        assert_eq!((web.open, web.bytes), (20, 200));
        assert_eq!(web.last_change, reported.iter().filter(|issue| issue.key == "WEB").map(|issue| issue.changed_at).max());
        assert_eq!(tracker.audit().await.unwrap(), []);
    }

    async fn labels_and_words_follow_each_write(store: AnyStore) {
        let (tracker, web, app) = tracker(store).await.unwrap();
        let ann = tracker.users.insert(NewUser { name: "Ann Reader".into() }).await.unwrap();
        let issues = ["Red screen", "Blue screen", "Red button"].map(|title| new_issue(&web, title));
        tracker.issues.insert_many(issues).await.unwrap();
        let two = tracker.issue("WEB-2").await.unwrap();
        assert_eq!(two.title, "Blue screen");
        assert_eq!(tracker.search("red scr*").await.unwrap(), ["WEB-1"]);

        let issue = Issue::fields();
        tracker.issues.update(&two).set(issue.assignee, Some(Ref::from(&ann))).await.unwrap();
        assert_eq!(tracker.search("screen reader").await.unwrap(), ["WEB-2"], "by the name of another document");
        tracker.users.update(&ann).set(User::fields().name, "Ann Writer").await.unwrap();
        assert_eq!(tracker.search("ann writer").await.unwrap(), ["WEB-2"]);
        tracker.projects.update(&web).set(Project::fields().key, "SITE").await.unwrap();
        assert_eq!(tracker.search("site screen").await.unwrap(), ["SITE-1", "SITE-2"]);

        tracker.issues.update(&two).set(issue.project, Ref::from(&app)).await.unwrap();
        assert_eq!(tracker.issue("APP-1").await.unwrap().id, two.id);
        tracker.issues.update(&two).push(issue.attachments, Attachment { name: "video".into(), bytes: 500 }).await.unwrap();
        assert_eq!(tracker.projects.get(&app).await.unwrap().bytes, 510);
        tracker.issues.update(&two).set(issue.closed, true).await.unwrap();
        assert_eq!(tracker.projects.get(&app).await.unwrap().open, 0);
        assert_eq!(tracker.audit().await.unwrap(), []);
    }
}
