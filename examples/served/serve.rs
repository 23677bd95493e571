//! Serves all databases from files.

use std::path::Path;

use odm::{
    Embedded,
    bson::{Bson, Document, doc},
};
use odm_server::{Limits, Server};

use crate::{
    Failure,
    history::{Described, Generator},
    systems::{Opened, SYSTEMS},
};

/// The writes of a new database.
const FIRST_WRITES: usize = 100;

/// Serves all databases, each from a file of its name in a folder, until the input ends. First it audits them, and then prints a line with
/// its address and the collections, with their derived fields. After each line of the input, and after the last one, it audits again.
pub(crate) async fn serve(folder: &Path, connections: Option<usize>) -> Result<(), Failure> {
    let (mut databases, mut described) = (Vec::new(), Document::new());
    let mut builder = Server::builder();
    if let Some(number) = connections {
        builder = builder.limits(Limits::default().connections(number));
    }
    std::fs::create_dir_all(folder)?;
    for (system, seed) in SYSTEMS.iter().zip(0..) {
        let store = Embedded::open(folder.join(format!("{}.odm", system.name))).await?;
        let opened = system.open(store).await?;
        let models: Vec<_> = opened
            .writers
            .iter()
            .map(|of| Described::new(of.model()))
            .collect();
        if opened.is_new {
            fill(&opened, Generator::new(&models, seed)).await?;
        }
        let collections = opened.writers.iter().zip(&models).map(|(writer, model)| {
            let derived: Vec<Bson> = model
                .derived
                .iter()
                .map(|path| path.as_str().into())
                .collect();
            (writer.model().collection.to_owned(), derived.into())
        });
        described.insert(system.name, collections.collect::<Document>());
        builder = builder.database(system.name, opened.collections.clone());
        databases.push(opened);
    }
    audit(&databases).await?;
    let server = builder.listen("127.0.0.1:0").await?;
    let address = server.local_addr().ok_or("it listens at TCP")?;
    let begun = doc! { "port": i32::from(address.port()), "databases": described };
    println!("{}", Bson::from(begun).into_relaxed_extjson());
    let mut lines = std::io::stdin().lines();
    while tokio::task::block_in_place(|| lines.next().transpose())?.is_some() {
        audit(&databases).await?;
    }
    server.shutdown().await;
    audit(&databases).await
}

/// Stores some documents. Writes that the models refuse are left out.
async fn fill(opened: &Opened, mut generator: Generator<'_>) -> Result<(), Failure> {
    for _ in 0..FIRST_WRITES {
        let write = generator.write();
        for writer in &opened.writers {
            if writer.model().collection == write.collection {
                writer.write(&write.change).await.ok();
            }
        }
    }
    Ok(())
}

async fn audit(databases: &[Opened]) -> Result<(), Failure> {
    for opened in databases {
        if let Some(finding) = opened.audit().await?.first() {
            return Err(format!("audit: {finding}").into());
        }
    }
    println!("audit: 0 findings in {} databases", databases.len());
    Ok(())
}
