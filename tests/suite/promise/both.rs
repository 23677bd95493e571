//! The same history on the embedded store and on a MongoDB server leaves the same documents, byte for byte.

use std::time::Duration;

use odm::{
    Embedded, ErrorKind, MongoDb,
    bson::{Bson, doc, oid::ObjectId},
};
use tests::{TestStore, on_mongodb_database};

use super::{
    history::{LENGTH, number, steps},
    programs::Program,
    rules::VERSIONS,
    run::{Checked, able, applications, programs},
    steps::Step,
    world::World,
};

/// A store, and the open programs on it.
struct Side<S> {
    store: S,
    version: usize,
    programs: Vec<Box<dyn Program>>,
}

impl<S: TestStore> Side<S> {
    async fn new(store: S) -> odm::Result<Self> {
        let programs = programs(&store, 0).await?;
        Ok(Side { store, version: 0, programs })
    }

    fn newest(&self) -> &dyn Program {
        let newest = self.programs.last();
        newest.expect("the application is open").as_ref()
    }

    /// Takes a step that has only one possible outcome.
    async fn take(&mut self, step: &Step) -> odm::Result<()> {
        match step {
            Step::One(number, act) => able(&self.programs, *number, &[act]).act(act).await,
            Step::Transaction(number, acts, rolls_back) => {
                let program = able(&self.programs, *number, &acts.iter().collect::<Vec<_>>());
                program.transaction(acts, *rolls_back).await
            }
            Step::Upgrade if self.version + 1 < VERSIONS.len() => {
                self.version += 1;
                let newer = applications(&self.store, self.version).await?;
                self.programs.truncate(self.programs.len() - newer.len());
                self.programs.extend(newer);
                Ok(())
            }
            Step::Backfill(_) => self.newest().backfill().await.map(drop),
            Step::Repair(..) => self.newest().repair().await.map(drop),
            Step::Reopen => {
                self.programs = programs(&self.store, self.version).await?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The stored documents, with one `_id` in the place of all that are made of a time and of chance.
    async fn world(&self) -> World {
        let mut world = World::read(&self.store).await;
        for ticket in world.all_mut("tickets") {
            ticket.extend(doc! { "made": null, "changed": null });
        }
        for part in world.all_mut("item_details") {
            let id = part.get_mut("_id").expect("it has an `_id`");
            if let Bson::ObjectId(id) = id {
                *id = ObjectId::from_bytes([0; 12]);
            }
        }
        world
    }

    async fn right(&self) -> Checked<()> {
        let found = self.newest().audit().await;
        let found = found.map_err(|error| format!("audit: {error}"))?;
        match found.is_empty() || !self.newest().pending().is_empty() {
            true => Ok(()),
            false => Err(format!("{found:#?}")),
        }
    }
}

fn outcome(result: odm::Result<()>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

/// Takes the steps on both stores. Returns how many were taken, and how many of them were refused.
async fn compare(here: Embedded, there: MongoDb, steps: &[Step]) -> Checked<(usize, usize)> {
    let opened = |error: odm::Error| format!("open: {error}");
    let mut here = Side::new(here).await.map_err(opened)?;
    let mut there = Side::new(there).await.map_err(opened)?;
    let mut refused = 0;
    for (taken, step) in steps.iter().enumerate() {
        let failed = |what: String| format!("step {taken}, {step:?}: {what}");
        let theirs = outcome(there.take(step).await);
        let ours = outcome(here.take(step).await);
        if ours != theirs {
            return Err(failed(format!("{ours:?} here, and {theirs:?} there")));
        }
        refused += usize::from(ours.is_some());
        let (ours, theirs) = (here.world().await, there.world().await);
        if ours != theirs {
            return Err(failed(format!("here {ours:#?}, there {theirs:#?}")));
        }
    }
    here.right().await?;
    there.right().await?;
    Ok((steps.len(), refused))
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_history_leaves_the_same_documents_as_on_the_embedded_store_on_mongodb() {
    let total = number("STEPS").unwrap_or(500) as usize;
    let (mut taken, mut refused) = (0, 0);
    for seed in number("SEED").unwrap_or(1).. {
        if taken >= total {
            break;
        }
        on_mongodb_database(Duration::from_secs(600), async |server| {
            let embedded = Embedded::memory().await.expect("it opens");
            let mongodb = server.store().await;
            match compare(embedded, mongodb, &steps(seed, LENGTH)).await {
                Ok(of) => (taken, refused) = (taken + of.0, refused + of.1),
                Err(failure) => panic!("seed {seed}, {failure}"),
            }
        });
    }
    eprintln!("{taken} steps, of which both refused {refused}");
    assert!(refused * 4 < taken * 3, "{refused} of {taken} steps were refused");
}
