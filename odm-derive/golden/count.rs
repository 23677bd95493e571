//! Counts of all children, and of the children that a filter finds.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "projects")]
pub struct Project {
    #[serde(rename = "_id")]
    pub id: i64,
    #[count(of = "Task")]
    pub tasks: u32,
    #[count(of = "Task", via = "project", filter = open)]
    pub open_tasks: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
pub struct Task {
    #[serde(rename = "_id")]
    pub id: ObjectId,
    #[reference(parent)]
    pub project: Ref<Project>,
    pub done: bool,
}

fn open() -> Filter<Task> {
    Task::fields().done.eq(false)
}
