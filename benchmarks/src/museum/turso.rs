//! Scripts in Turso, in a file with materialized views, which its builder calls experimental.

use std::path::PathBuf;

use anyhow::Context;
use turso::{Builder, Connection, Value};

use super::{Script, TASKS, float};

pub(super) async fn ask(path: PathBuf, script: &'static Script) -> anyhow::Result<String> {
    let path = path.to_str().context("the path is no text")?;
    let open = || {
        let builder = Builder::new_local(path).experimental_materialized_views(true);
        builder.build()
    };
    let mut database = open().await?;
    let mut connection = database.connect()?;
    connection.execute_batch(script.before).await?;
    if let Some(at_once) = script.at_once {
        let mut tasks = tokio::task::JoinSet::new();
        for task in 0..TASKS {
            let connection = database.connect()?;
            connection.busy_timeout(std::time::Duration::from_secs(60))?;
            tasks.spawn(async move { connection.execute_batch(at_once(task)).await });
        }
        while let Some(ended) = tasks.join_next().await {
            ended??;
        }
    }
    if script.reopens {
        drop((connection, database));
        database = open().await?;
        connection = database.connect()?;
    }
    answer(&connection, script.query).await
}

/// The values of all rows.
async fn answer(connection: &Connection, query: &str) -> anyhow::Result<String> {
    let mut rows = connection.query(query, ()).await?;
    let mut answer = Vec::new();
    while let Some(row) = rows.next().await? {
        for column in 0..row.column_count() {
            answer.push(match row.get_value(column)? {
                Value::Null => "null".to_owned(),
                Value::Integer(value) => value.to_string(),
                Value::Real(value) => float(value),
                Value::Text(value) => value,
                Value::Blob(value) => format!("{value:?}"),
            });
        }
    }
    Ok(answer.join(", "))
}
