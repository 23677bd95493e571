//! One-to-many with references on both sides: a person's tasks, and the owner of each.

use odm::{Finding, prelude::*};
use serde::{Deserialize, Serialize};

use super::products::short_id;
use crate::show::{Screen, change, query};

/// A person with tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "people")]
pub struct Person {
    /// The id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// The full name.
    pub name: String,
    /// The person's tasks.
    #[reference(child, inverse = "owner")]
    pub tasks: Vec<Ref<Task>>,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
pub struct Task {
    /// The id.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// The description.
    pub description: String,
    /// The due date.
    #[index]
    pub due_date: DateTime,
    /// Who does it.
    #[reference(parent, inverse = "tasks")]
    pub owner: Option<Ref<Person>>,
}

/// People and tasks.
#[derive(Database)]
#[database(name = "tasks", version = 1)]
pub struct Tasks {
    /// People.
    pub people: Repository<Person>,
    /// Their tasks.
    pub tasks: Repository<Task>,
}

/// Stores the guides' person with three tasks, and a person without tasks.
pub async fn load(db: &Tasks) -> odm::Result<[Person; 2]> {
    let person = |id, name: &str| Person {
        id: short_id(id),
        name: name.into(),
        tasks: Vec::new(),
    };
    let kate = db.people.insert(person(0xAAF1, "Kate Monster")).await?;
    let rod = db.people.insert(person(0xAAF2, "Rod")).await?;
    let tasks = [
        (0xADF9, "Write lesson plan", "2014-04-01"),
        (0xAE02, "Grade essays", "2014-04-02"),
        (0xAE73, "Order chalk", "2014-04-15"),
    ];
    for (id, description, due_date) in tasks {
        let task = Task {
            id: short_id(id),
            description: description.into(),
            due_date: due_date.parse()?,
            owner: Some(Ref::from(&kate)),
        };
        db.tasks.insert(task).await?;
    }
    Ok([db.people.get(&kate).await?, rod])
}

/// S8: a task moves to another person, by a write of the task and by one of the person.
pub async fn run(screen: &mut Screen) -> odm::Result<Vec<Finding>> {
    let db = Tasks::open(screen.store()).await?;
    let [kate, rod] = load(&db).await?;
    screen.model(include_str!("tasks.rs"), &["Person", "Task"]);
    screen.stored(["people", "tasks"]).await?;

    query!(
        screen,
        "a person, joined with the tasks",
        db.people
            .find(Person::fields().id.eq(kate.id))
            .join(Person::fields().tasks)
    );
    let tomorrow: DateTime = "2014-04-01".parse()?;
    query!(
        screen,
        "the tasks due tomorrow, joined with their owners",
        db.tasks
            .find(Task::fields().due_date.eq(tomorrow))
            .join(Task::fields().owner)
    );
    let lesson = &kate.tasks[0];
    change!(
        screen,
        "a task gets another owner",
        db.tasks.update(lesson).set(Task::fields().owner, &rod)
    );
    change!(
        screen,
        "a person gets the task back",
        db.people.update(&kate).push(Person::fields().tasks, lesson)
    );
    db.audit().await
}
