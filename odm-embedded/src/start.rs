//! The start of the writer's thread, with a store that it opens.

use std::{
    process,
    sync::{Arc, Mutex},
    thread,
};

use futures_core::future::BoxFuture;
use odm_mql::Collation;
use odm_store::{Error, ErrorKind, Result, Store, StoreId};
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::{
    Embedded,
    handle::Handle,
    open::{self, Place},
    salvage::LogSalvage,
    settings::Settings,
    snapshot::Published,
    verify,
    wait::{self, Writing},
    writer::SharedWriter,
};

impl Embedded {
    /// Opens a place on the writer's thread, so that waiting for the disk does not block a task. The future is boxed: of an `async fn` the
    /// compiler makes a copy in each program that awaits it, with all that it awaits.
    pub(super) fn start(
        place: Place,
        settings: Settings,
    ) -> BoxFuture<'static, Result<(Embedded, LogSalvage)>> {
        Box::pin(async move {
            let name = match &place {
                Place::File(path) => path.display().to_string(),
                Place::Memory => "memory".to_owned(),
                #[cfg(any(test, feature = "__test"))]
                Place::Disk(_) => "test".to_owned(),
            };
            let path = match &place {
                Place::File(path) => std::path::absolute(path).ok(),
                _ => None,
            };
            settings.check()?;
            // The channel cannot have more permits.
            let (queue, requests) = mpsc::channel(settings.queue.min(Semaphore::MAX_PERMITS));
            let (opened, answer) = oneshot::channel();
            let (id, check) = (StoreId::new(), settings.check);
            let thread = thread::Builder::new()
                .name("odm-writer".to_owned())
                .spawn(move || {
                    wait::mark_thread();
                    let (open, found) = match open::open(place, settings) {
                        Ok(opened) => opened,
                        Err(error) => return drop(opened.send(Err(error))),
                    };
                    let verified =
                        check.then(|| wait::block_on(verify::verify(&open.newest), None));
                    if let Some(Some(Err(error))) = verified {
                        drop(open.newest);
                        open.engine.leave();
                        return drop(opened.send(Err(error)));
                    }
                    let published = Arc::new(Published::new(open.newest.clone()));
                    let writer = match SharedWriter::new(open, requests, published.clone()) {
                        Ok(writer) => Arc::new(writer),
                        Err(error) => return drop(opened.send(Err(error))),
                    };
                    // If the caller was dropped, the queue has no sender, and the writer ends at once.
                    let _ = opened.send(Ok((published, writer.clone(), found)));
                    let _writing = Writing::begin(id);
                    writer.run();
                });
            let thread = thread.map_err(|error| {
                Error::new(ErrorKind::Io, "cannot start the writer's thread").with_source(error)
            })?;
            let (published, writer, found) = match answer.await {
                Ok(opened) => opened?,
                Err(_) => {
                    let message = format!(
                        "`{name}` could not be opened: the writer's thread panicked; the file may be damaged"
                    );
                    return Err(Error::new(ErrorKind::Corrupt, message));
                }
            };
            let handle = Handle {
                id,
                queue: Some(queue),
                published,
                writer,
                thread: Mutex::new(Some(thread)),
                process: process::id(),
                name,
                // The log lies beside the file itself, and not beside a link to it.
                path: path.map(|path| path.canonicalize().unwrap_or(path)),
            };
            let store = Embedded {
                handle: Arc::new(handle),
            };
            store.build_anew().await?;
            Ok((store, found))
        })
    }

    /// Builds the indexes anew whose keys are of another version of the rules of collations. Until all are complete, the store keeps the
    /// others, for the program that has made them.
    async fn build_anew(&self) -> Result<()> {
        let indexes = self.handle.published.get()?.schema.of_other_rules();
        if indexes.is_empty() {
            return Ok(());
        }
        let Err(error) = self.ensure(&indexes).await else {
            return Ok(());
        };
        let place = format!(
            "cannot open `{}`: its indexes with a collation were made by other rules than `{}`, and cannot be built anew; with the program \
             that has made them, change a document that is named here, or drop the index",
            self.handle.name,
            Collation::VERSION
        );
        // Its error would be a consequence of this one.
        let _ = self.close().await;
        Err(error.met_in(&place))
    }
}
