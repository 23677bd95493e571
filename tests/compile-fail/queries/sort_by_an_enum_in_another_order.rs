use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
enum Priority {
    Low,
    High,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    priority: Priority,
}

async fn run(tasks: Repository<Task>) -> odm::Result<()> {
    let found = tasks.all().sort(Task::fields().priority.desc()).await?;
    drop(found);
    let urgent = tasks.find(Task::fields().priority.gt(Priority::Low)).await?;
    drop(urgent);
    Ok(())
}

fn main() {}

// - Low,
// + #[serde(rename = "1-low")]
// + Low,
//
// - High,
// + #[serde(rename = "2-high")]
// + High,
