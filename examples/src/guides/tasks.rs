//! One-to-many with references on both sides: a person's tasks, and the owner of each.

use odm::{Embedded, measure, prelude::*};
use serde::{Deserialize, Serialize};

use super::{found, products::short_id, stored, title, written};

/// A person with tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "people")]
pub struct Person {
    /// Made by chance.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// The full name.
    pub name: String,
    /// What the person has to do.
    #[reference(child, inverse = "owner")]
    pub tasks: Vec<Ref<Task>>,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
pub struct Task {
    /// Made by chance.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// What is to be done.
    pub description: String,
    /// Until when.
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
    /// What they have to do.
    pub tasks: Repository<Task>,
}

/// Stores the guides' person with three tasks, and one who has nothing to do.
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

/// Runs the guides' queries and updates.
pub async fn run(store: &Embedded) -> odm::Result<()> {
    let db = Tasks::open(store.clone()).await?;
    let [kate, rod] = load(&db).await?;

    title("S8: two-way references, a person's tasks and their owner");
    stored(store, "people").await?;
    stored(store, "tasks").await?;
    let (rows, cost) = measure(async {
        db.people
            .find(Person::fields().id.eq(kate.id))
            .join(Person::fields().tasks)
            .await
    })
    .await;
    found("Kate, joined with her tasks:", &rows?, cost);
    let (rows, cost) = measure(async {
        let tomorrow: DateTime = "2014-04-01".parse()?;
        let due = Task::fields().due_date.eq(tomorrow);
        db.tasks.find(due).join(Task::fields().owner).await
    })
    .await;
    found(
        "the tasks due tomorrow, joined with their owners:",
        &rows?,
        cost,
    );

    let lesson = &kate.tasks[0];
    let update = || db.tasks.update(lesson).set(Task::fields().owner, &rod);
    let plan = update().plan().await?;
    print!("\nmoving a task from Kate to Rod would be:\n{plan}");
    let (result, cost) = measure(async { update().await }).await;
    result?;
    written("it moves, written as its new owner:", cost);
    stored(store, "people").await?;
    let (result, cost) = measure(async {
        db.people
            .update(&kate)
            .push(Person::fields().tasks, lesson)
            .await
    })
    .await;
    result?;
    written("it moves back, written as one more task of Kate's:", cost);
    stored(store, "people").await?;
    Ok(())
}
