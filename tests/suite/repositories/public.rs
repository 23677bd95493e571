//! Clients see a document without the marked fields, and under the given names, at any place.

use std::collections::BTreeMap;

use odm::{ETag, Embedded, Public, prelude::*};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    #[public(rename = "id")]
    id: i64,
    #[index(unique)]
    name: String,
    #[public(skip)]
    #[serde(rename = "hash")]
    password_hash: String,
    #[embed]
    profile: Profile,
    #[embed]
    devices: Vec<Device>,
    #[embed]
    settings: BTreeMap<String, Device>,
    #[embed]
    contact: Contact,
    #[embed]
    events: Vec<Event>,
    #[embed]
    #[serde(flatten)]
    origin: Origin,
    #[embed]
    #[serde(flatten)]
    #[public(skip)]
    trace: Trace,
    #[split(collection = "notes", key = "user")]
    notes: Cold<Notes>,
    #[subset(limit = 2, sort = "-id")]
    posts: Subset<PostTitle>,
    #[embed]
    #[public(skip)]
    internal: Option<Device>,
    #[public(rename = "numbers")]
    list: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Profile {
    #[public(rename = "text")]
    about: Option<String>,
    #[public(skip)]
    pin: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Device {
    #[public(rename = "label")]
    name: String,
    #[public(skip)]
    token: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
enum Contact {
    Mail {
        address: String,
        #[public(skip)]
        checked_by: i64,
    },
    Of(#[embed] Device),
    None,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(tag = "kind")]
enum Event {
    Login {
        at: i64,
        #[public(skip)]
        address: String,
    },
    Logout {
        at: i64,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Origin {
    country: String,
    #[public(skip)]
    campaign: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Trace {
    span: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Notes {
    shown: String,
    #[public(skip)]
    own: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "posts")]
struct Post {
    #[serde(rename = "_id")]
    #[public(rename = "number")]
    id: i64,
    title: String,
    draft: String,
    #[embed]
    author: Author,
    #[version]
    #[public(skip)]
    revision: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Author {
    #[reference(parent)]
    id: Ref<User>,
    #[denormalize(from = "User.profile")]
    profile: Profile,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Post")]
struct PostTitle {
    #[serde(rename = "_id")]
    #[public(rename = "nr")]
    id: i64,
    title: String,
    #[public(skip)]
    draft: String,
}

#[derive(Database)]
#[database(name = "blog", version = 1)]
struct Blog {
    users: Repository<User>,
    posts: Repository<Post>,
}

fn user(id: i64) -> User {
    let device = |name: &str| Device { name: name.into(), token: "secret".into() };
    User {
        id,
        name: format!("user {id}"),
        password_hash: "secret".into(),
        profile: Profile { about: Some("writes".into()), pin: 1234 },
        devices: vec![device("phone"), device("tablet")],
        settings: [("token".to_owned(), device("dark"))].into(),
        contact: Contact::Mail { address: "a@b.c".into(), checked_by: 9 },
        events: vec![Event::Login { at: 1, address: "secret".into() }, Event::Logout { at: 2 }],
        origin: Origin { country: "is".into(), campaign: "secret".into() },
        trace: Trace { span: 7 },
        notes: Cold::new(Notes { shown: "seen".into(), own: "secret".into() }),
        posts: Subset::default(),
        internal: Some(device("internal")),
        list: vec![1.0, 2.5, f64::NAN],
    }
}

async fn blog() -> Blog {
    let blog = Blog::open(Embedded::memory().await.unwrap()).await.unwrap();
    blog.users.insert(user(1)).await.unwrap();
    let author = Author { id: Ref::new(1), profile: Profile { about: None, pin: 0 } };
    let post = |id: i64| Post {
        id,
        title: format!("post {id}"),
        draft: "secret".into(),
        author: author.clone(),
        revision: 0,
    };
    blog.posts.insert_many([1, 2, 3].map(post)).await.unwrap();
    blog
}

#[tokio::test]
async fn a_client_sees_what_is_not_marked_in_the_order_of_the_fields() {
    let blog = blog().await;
    let user = blog.users.get(1).with(User::fields().notes).await.unwrap();
    let shown = serde_json::to_string(&Public(user)).unwrap();
    let expected = concat!(
        r#"{"id":1,"name":"user 1","profile":{"text":"writes"},"devices":[{"label":"phone"},{"label":"tablet"}],"#,
        r#""settings":{"token":{"label":"dark"}},"contact":{"Mail":{"address":"a@b.c"}},"#,
        r#""events":[{"kind":"Login","at":1},{"kind":"Logout","at":2}],"country":"is","notes":{"shown":"seen"},"#,
        r#""posts":[{"nr":3,"title":"post 3"},{"nr":2,"title":"post 2"}],"numbers":[1.0,2.5,null]}"#,
    );
    assert_eq!(shown, expected);
    let post = serde_json::to_value(Public(blog.posts.get(1).await.unwrap())).unwrap();
    let author = json!({ "id": 1, "profile": { "text": "writes" } });
    assert_eq!(
        post,
        json!({ "number": 1, "title": "post 1", "draft": "secret", "author": author })
    );
}

#[tokio::test]
async fn nothing_else_leaves_out_what_clients_do_not_see() {
    let blog = blog().await;
    let stored = blog.users.get(1).with(User::fields().notes).await.unwrap();
    assert_eq!(
        (stored.password_hash.as_str(), stored.trace.span, stored.profile.pin),
        ("secret", 7, 1234)
    );
    assert_eq!(stored.notes.into_inner().unwrap().own, "secret");
    let plain = serde_json::to_value(blog.posts.get(1).await.unwrap()).unwrap();
    assert_eq!((&plain["_id"], &plain["author"]["profile"]["pin"]), (&json!(1), &json!(1234)));
    blog.users.update(1).set(User::fields().password_hash, "new").await.unwrap();
    assert_eq!(blog.users.find(User::fields().password_hash.eq("new")).count().await.unwrap(), 1);
}

#[tokio::test]
async fn a_view_adds_what_it_has_besides() {
    #[derive(Serialize)]
    struct View {
        #[serde(flatten)]
        post: Public<Post>,
        liked: bool,
    }
    let blog = blog().await;
    let post = blog.posts.get(2).await.unwrap();
    let view = View { post: Public(post), liked: true };
    let shown = serde_json::to_value(&view).unwrap();
    assert_eq!(
        (&shown["number"], &shown["liked"], shown.get("_id")),
        (&json!(2), &json!(true), None)
    );
    let before = ETag::new::<Post>(2, 0, &view.post).unwrap();
    blog.users.update(1).set(User::fields().profile.pin, 1).await.unwrap();
    let after = ETag::new::<Post>(2, 0, &Public(blog.posts.get(2).await.unwrap())).unwrap();
    assert_eq!(before, after, "what no client sees changes no tag");
}

#[test]
fn a_request_names_what_clients_see_by_the_names_that_they_see() {
    let filter = |json: Value| User::filter_from_json(&json);
    let same = |json: Value, typed: Filter<User>| {
        assert_eq!(format!("{:?}", filter(json).unwrap()), format!("{typed:?}"))
    };
    let user = User::fields();
    same(json!({ "id": 1 }), user.id.eq(1));
    same(json!({ "profile.text": "writes" }), user.profile.about.eq("writes"));
    same(json!({ "country": "is" }), user.origin.country.eq("is"));
    assert!(filter(json!({ "devices.label": "phone", "settings.a.label": "x" })).is_ok());
    assert_eq!(
        format!("{:?}", User::sort_by("-id,profile.text").unwrap()),
        r#"Sort({ "_id": -1, "profile.about": 1 })"#
    );
    assert!(User::sort_by("id,-id").unwrap_err().to_string().contains("`id` stands twice"));
    let hidden = [
        "_id",
        "hash",
        "password_hash",
        "profile.about",
        "profile.pin",
        "devices.token",
        "devices.name",
        "settings.a.token",
        "campaign",
        "span",
        "internal.label",
        "list",
        "contact.Mail.checked_by",
        "events.address",
    ];
    for name in hidden {
        let error = filter(json!({ name: "x" })).unwrap_err();
        assert!(error.is_invalid_request(), "{name}");
        let names = error.to_string();
        assert!(
            names.contains(
                "use `id`, `name`, `profile.text`, `devices.label`, `settings.<key>.label`"
            ),
            "{names}"
        );
        assert!(
            !names.contains("secret") && !names[40..].contains(&format!("`{name}`")),
            "{names}"
        );
    }
}

#[test]
fn a_program_allows_a_request_what_clients_do_not_see() {
    let user = User::fields();
    let allowed = User::allow([user.password_hash.path(), user.id.path(), "profile"]);
    assert!(allowed.filter_from_query([("hash", "x"), ("id", "1"), ("profile.text", "a")]).is_ok());
    let error = allowed.filter_from_query([("profile.pin", "1")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "request: `users` cannot be filtered by `profile.pin`: use `id`, `hash`, `profile.text`"
    );
    assert!(User::allow(["internal"]).filter_from_query([("internal.label", "x")]).is_ok());
    assert!(User::allow(["internal.name"]).filter_from_query([("internal.label", "x")]).is_ok());
}
