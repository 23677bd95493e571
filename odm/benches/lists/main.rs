//! What a write of a member costs where its owner lists all members, by their number:
//! `cargo bench -p odm --bench lists`.
//!
//! On disk, with [`Durability::Eventual`], tasks are inserted, renamed and deleted in three models: a
//! person who lists the tasks as inverse references, one who lists their titles as a reverse copy, and
//! one who lists nothing, since a query by the reference finds the tasks. The table shows medians.
//!
//! `ROUNDS` in the environment changes the number of rounds, `MEMBERS` the largest number of members.

use std::time::{Duration, Instant};

use odm::{Embedded, prelude::*, store::Durability};
use serde::{Deserialize, Serialize};

/// A person with tasks, and the database of both.
macro_rules! model {
    ($module:ident, $people:literal, $tasks:literal, {$($list:tt)*}, [$($inverse:tt)*], $new:expr) => {
        mod $module {
            use super::*;

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = $people)]
            struct Person {
                #[serde(rename = "_id")]
                id: i64,
                $($list)*
            }

            #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            #[document(collection = $tasks)]
            struct Task {
                #[serde(rename = "_id")]
                id: i64,
                title: String,
                #[reference(parent $($inverse)*)]
                person: Ref<Person>,
            }

            #[derive(Database)]
            #[database(name = $people, version = 1)]
            struct Tasks {
                people: Repository<Person>,
                tasks: Repository<Task>,
            }

            fn task(id: usize) -> Task {
                Task { id: id as i64, title: format!("task {id:07}"), person: Ref::new(1) }
            }

            /// Times `rounds` inserts, renames and deletes of a task of a person with so many others.
            pub(super) async fn run(store: &Embedded, members: usize, rounds: usize) -> odm::Result<[Duration; 3]> {
                let tasks = Tasks::open(store.clone()).await?;
                tasks.people.delete_where(Filter::all()).await?;
                tasks.people.insert($new(1)).await?;
                for chunk in (0..members).collect::<Vec<_>>().chunks(10_000) {
                    tasks.tasks.insert_many(chunk.iter().map(|&id| task(id))).await?;
                }
                let mut times = [const { Vec::new() }; 3];
                for round in 0..rounds {
                    let start = Instant::now();
                    tasks.tasks.insert(task(members)).await?;
                    times[0].push(start.elapsed());
                    let start = Instant::now();
                    let title = format!("name {round:07}");
                    tasks.tasks.update((round % members) as i64).set(Task::fields().title, title).await?;
                    times[1].push(start.elapsed());
                    let start = Instant::now();
                    tasks.tasks.delete(members as i64).await?;
                    times[2].push(start.elapsed());
                }
                Ok(times.map(|mut times| {
                    times.sort();
                    times[times.len() / 2]
                }))
            }
        }
    };
}

model!(
    inverse, "inverse_people", "inverse_tasks",
    { #[reference(child, inverse = "person")] tasks: Vec<Ref<Task>>, },
    [, inverse = "tasks", on_delete = "cascade"],
    |id| Person { id, tasks: Vec::new() }
);
model!(
    reverse, "reverse_people", "reverse_tasks",
    { #[denormalize(from = "Task.title", via = "Task.person")] titles: Vec<String>, },
    [, on_delete = "cascade"],
    |id| Person { id, titles: Vec::new() }
);
model!(
    plain, "plain_people", "plain_tasks",
    {},
    [, on_delete = "cascade"],
    |id| Person { id }
);

fn number(name: &str, default: usize) -> usize {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[tokio::main]
async fn main() -> odm::Result<()> {
    let rounds = number("ROUNDS", 100).max(1);
    let largest = number("MEMBERS", 50_000).max(10);
    let folder = tempfile::tempdir().expect("a temporary folder");
    println!("µs: insert / rename / delete of a task, medians of {rounds} rounds\n");
    println!("| tasks of the person | inverse list | reverse copy | no list |\n|--:|--:|--:|--:|");
    for members in [10, 100, 1_000, 10_000, 50_000]
        .into_iter()
        .filter(|&n| n <= largest)
    {
        let path = folder.path().join(format!("{members}.odm"));
        let store = Embedded::builder()
            .durability(Durability::Eventual)
            .open(path)
            .await?;
        let rows = [
            inverse::run(&store, members, rounds).await?,
            reverse::run(&store, members, rounds).await?,
            plain::run(&store, members, rounds).await?,
        ];
        let cells = rows.map(|times| times.map(|time| time.as_micros().to_string()).join(" / "));
        println!("| {members} | {} |", cells.join(" | "));
    }
    Ok(())
}
