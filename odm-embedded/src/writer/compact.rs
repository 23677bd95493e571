//! A compaction: another file takes the place of the store's, without its free space.
//!
//! The new file names the same generation of the log as the old one: after a crash either of them is whole with it. This rests on the
//! order:
//!
//! 1. A checkpoint leaves no records in the log, and in the old file all commits.
//! 2. The state is copied into a new file, which is synced and locked, and takes the name of the old one.
//! 3. The folder is synced. Only then are there further writes: a write in the log before that would be cut at the next checkpoint, and a
//!    crash could give the name back to the old file, which does not have it.
//!
//! Earlier published states go on reading the old file, which has no name any more.

use odm_store::{Error, ErrorKind, Result};

use super::{
    super::{
        compact::Compacted,
        copy::{LogReference, copy},
        engine::Engine,
        place::Replacement,
        queue::Reply,
    },
    Writer, stop,
};

impl Writer {
    pub(super) fn compact(&mut self, reply: Reply<Compacted>) {
        if reply.is_closed() {
            // The caller was dropped before it began.
            return;
        }
        let compacted = self.try_compact(|| !reply.is_closed());
        let _ = reply.send(compacted);
    }

    /// Compacts the store, unless the caller is dropped meanwhile.
    fn try_compact(&mut self, is_awaited: impl Fn() -> bool) -> Result<Compacted> {
        self.checkpoint()?;
        let state = self.newest.clone();
        let engine = self.checkpoints.engine()?;
        let (before, name) = (engine.len()?, engine.name());
        let Replacement {
            backend,
            make_durable,
        } = self.file.create().map_err(cannot)?;
        copy(
            &state,
            backend.clone(),
            format!("new file of {name}").into(),
            LogReference::Copied,
            &mut |_| is_awaited(),
        )?;
        let new = Engine::open(backend, name, self.settings.cache_size)?;
        let put_in_place = make_durable().map_err(cannot)?;
        self.file = put_in_place().map_err(|error| self.stop_between_files(error))?;
        self.checkpoints.replace_by(new)?;
        drop(state);
        let newest = self.checkpoints.engine()?.newest();
        let newest = newest.map_err(|error| self.fail(error))?;
        let commit = self.newest.memtables.commit;
        // Later reads release the old file.
        self.publish_base(newest, commit);
        let after = self.checkpoints.engine()?.len()?;
        Ok(Compacted { before, after })
    }

    /// Stops all writes, since it is unknown which of the two files a crash would leave.
    #[cold]
    fn stop_between_files(&mut self, error: std::io::Error) -> Error {
        let cause = cannot(error);
        let stopped = stop(self.checkpoints.write_stop(), cause.clone());
        let message = format!(
            "{cause}; either file has all documents, and the store refuses writes until it is opened again"
        );
        self.failure = Some(stopped);
        Error::new(cause.kind(), message).with_source(cause)
    }
}

#[cold]
fn cannot(error: std::io::Error) -> Error {
    let message = format!("cannot compact the store: {error}");
    Error::new(ErrorKind::Io, message).with_source(error)
}
