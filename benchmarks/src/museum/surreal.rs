//! Scripts in SurrealDB, in a folder of SurrealKV.

use std::{path::PathBuf, time::Duration};

use surrealdb::{
    Surreal,
    engine::local::{Db, SurrealKv},
    types::{Number, ToSql, Value},
};

use super::{Script, TASKS, float};

pub(super) async fn ask(path: PathBuf, script: &'static Script) -> anyhow::Result<String> {
    let mut database = open(path.clone()).await?;
    database.query(script.before).await?.check()?;
    if let Some(at_once) = script.at_once {
        let mut tasks = tokio::task::JoinSet::new();
        for task in 0..TASKS {
            let database = database.clone();
            tasks.spawn(async move {
                for statement in at_once(task).split_inclusive(';') {
                    retry(&database, statement).await?;
                }
                anyhow::Ok(())
            });
        }
        while let Some(ended) = tasks.join_next().await {
            ended??;
        }
    }
    if script.reopens {
        drop(database);
        // The folder is closed a while after the last handle is dropped.
        tokio::time::sleep(Duration::from_secs(2)).await;
        database = open(path).await?;
    }
    let mut answers = database.query(script.query).await?.check()?;
    Ok(values(answers.take(0)?).join(", "))
}

async fn open(path: PathBuf) -> anyhow::Result<Surreal<Db>> {
    let database = Surreal::new::<SurrealKv>(path).await?;
    database.use_ns("museum").use_db("museum").await?;
    Ok(database)
}

/// A statement, again after each lost conflict.
async fn retry(database: &Surreal<Db>, statement: &str) -> anyhow::Result<()> {
    loop {
        match database.query(statement).await?.check() {
            Err(error) if error.to_string().contains("conflict") => tokio::task::yield_now().await,
            ended => return Ok(drop(ended?)),
        }
    }
}

/// The values in an array of arrays.
fn values(value: Value) -> Vec<String> {
    match value {
        Value::Array(array) => array.into_iter().flat_map(values).collect(),
        Value::Number(Number::Float(number)) => vec![float(number)],
        value => vec![value.to_sql()],
    }
}
