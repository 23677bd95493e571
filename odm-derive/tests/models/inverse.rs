//! References with delete rules, and inverse references.

use odm::model::OnDelete;

use super::*;

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "people")]
struct Person {
    #[serde(rename = "_id")]
    id: ObjectId,
    name: String,
    #[reference(child, inverse = "owner")]
    tasks: Vec<Ref<Task>>,
    #[reference(child, inverse = "spouse")]
    spouse: Option<Ref<Self>>,
    #[serde(rename = "memberOf")]
    #[reference(child, inverse = "r#type")]
    clubs: Vec<Ref<Club>>,
    #[reference(parent, one, inverse = "badge_of")]
    badge: Option<Ref<Badge>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: ObjectId,
    #[serde(rename = "belongs to")]
    #[reference(parent, inverse = "tasks", on_delete = "nullify")]
    owner: Option<Ref<Person>>,
    #[reference(parent, on_delete = "cascade")]
    project: Ref<Club>,
    #[reference(child, unchecked, on_delete = "pull")]
    seen_by: Vec<Ref<Person>>,
    #[reference(child, on_delete = "keep")]
    author: Ref<Person>,
    #[embed]
    watchers: Vec<Watcher>,
    #[embed]
    event: Option<Event>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Watcher {
    #[reference(child, on_delete = "pull")]
    person: Ref<Person>,
    #[reference(child, on_delete = "restrict")]
    deputy: Option<Ref<Person>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
enum Event {
    Done {
        #[reference(child, on_delete = "nullify")]
        by: Option<Ref<Person>>,
    },
    Seen(#[reference(child, on_delete = "keep")] Ref<Person>),
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "clubs")]
struct Club {
    #[serde(rename = "_id")]
    id: ObjectId,
    #[reference(child, inverse = "clubs")]
    r#type: Vec<Ref<Person>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "badges")]
struct Badge {
    #[serde(rename = "_id")]
    id: ObjectId,
    #[reference(child, inverse = "badge")]
    badge_of: Ref<Person>,
}

#[derive(Database)]
#[database(name = "people", version = 1)]
struct People {
    people: Repository<Person>,
    tasks: Repository<Task>,
    clubs: Repository<Club>,
    badges: Repository<Badge>,
}

fn reference(fields: &[FieldShape], name: &str) -> ReferenceShape {
    match fields.iter().find(|field| field.name == name).unwrap().kind {
        FieldKind::Reference(reference) => reference,
        _ => panic!("{name} is no reference"),
    }
}

#[test]
fn inverse_references_are_stored_paths() {
    let inverse = |fields: &[FieldShape], name| reference(fields, name).inverse;
    let person = Person::shape().fields;
    assert_eq!(inverse(person, "tasks"), Some("belongs to"));
    assert_eq!(inverse(person, "spouse"), Some("spouse"));
    assert_eq!(inverse(person, "memberOf"), Some("type"));
    assert_eq!(inverse(person, "badge"), Some("badge_of"));
    let task = Task::shape().fields;
    assert_eq!(inverse(task, "belongs to"), Some("tasks"));
    assert_eq!(inverse(task, "project"), None);
    assert_eq!(inverse(Club::shape().fields, "type"), Some("memberOf"));
    assert_eq!(inverse(Badge::shape().fields, "badge_of"), Some("badge"));
    assert_eq!(People::models().len(), 4);
}

#[test]
fn delete_rules_are_those_declared() {
    let rule = |fields: &[FieldShape], name| reference(fields, name).on_delete;
    let task = Task::shape().fields;
    assert_eq!(rule(task, "belongs to"), Some(OnDelete::Nullify));
    assert_eq!(rule(task, "project"), Some(OnDelete::Cascade));
    assert_eq!(rule(task, "seen_by"), Some(OnDelete::Pull));
    assert!(reference(task, "seen_by").unchecked);
    assert_eq!(rule(task, "author"), Some(OnDelete::Keep));
    assert!(!reference(task, "author").unchecked);
    let watcher = Watcher::shape().fields;
    assert_eq!(rule(watcher, "person"), Some(OnDelete::Pull));
    assert_eq!(rule(watcher, "deputy"), Some(OnDelete::Restrict));
    let event = Event::shape().fields;
    assert_eq!(rule(event, "Seen"), Some(OnDelete::Keep));
    let FieldKind::Embed { shape: done, .. } = event[0].kind else {
        panic!("a variant is embedded");
    };
    assert_eq!(rule(done().fields, "by"), Some(OnDelete::Nullify));
    assert_eq!(rule(Person::shape().fields, "tasks"), None);
}

#[test]
fn a_reference_that_is_kept_may_dangle() {
    use odm::model::{Field, Unchecked};

    fn unchecked<V, P>(_: Field<V, P, Unchecked>) {}
    unchecked(Task::fields().author);
    unchecked(Task::fields().seen_by);
    unchecked(Task::fields().event.seen);
}
