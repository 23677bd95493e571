//! A storage backend that survives the failure of the disk it writes to.
//!
//! redb refuses everything once a write has failed, reads included. Here, the first failed write freezes the file as a crash at that moment
//! would: no later write reaches it. Later writes go to memory instead, where reads find them, so that earlier committed states stay
//! readable. A commit must check [`Shield::failure`] afterwards, since redb itself sees no error.

use std::{
    collections::BTreeMap,
    io,
    ops::Bound,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use redb::{BackendError, StorageBackend};

/// The state of the backend, shared with the engine's owner.
#[derive(Debug, Default)]
pub(super) struct Shield {
    frozen: AtomicBool,
    /// The error of the next write, regardless of the disk.
    refusal: OnceLock<io::Error>,
    state: Mutex<Frozen>,
}

#[derive(Debug, Default)]
struct Frozen {
    /// The first error.
    cause: Option<io::Error>,
    /// Writes that did not reach the file, by offset. If two overlap, the one with the greater offset is newer.
    writes: BTreeMap<u64, Vec<u8>>,
    /// The length of the file with all these writes.
    len: u64,
}

impl Frozen {
    fn write(&mut self, offset: u64, data: &[u8]) {
        let end = offset + data.len() as u64;
        self.len = self.len.max(end);
        let covered: Vec<u64> = self
            .writes
            .range(offset..end)
            .map(|(&start, _)| start)
            .collect();
        for start in covered {
            let Some(old) = self.writes.remove(&start) else {
                continue;
            };
            if start + old.len() as u64 > end {
                self.writes
                    .insert(end, old[(end - start) as usize..].to_vec());
            }
        }
        self.writes.insert(offset, data.to_vec());
    }
}

impl Shield {
    /// Makes the next write freeze the file.
    pub(super) fn refuse(&self, cause: io::Error) {
        let _ = self.refusal.set(cause);
    }

    /// The error that froze the file, or is about to.
    pub(super) fn failure(&self) -> Option<io::Error> {
        if !self.frozen.load(Ordering::Acquire) {
            return self.refusal.get().map(copy);
        }
        self.lock().cause.as_ref().map(copy)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Frozen> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn copy(cause: &io::Error) -> io::Error {
    io::Error::new(cause.kind(), cause.to_string())
}

/// A backend under a shield.
#[derive(Debug)]
pub(super) struct Shielded<B> {
    inner: B,
    shield: Arc<Shield>,
}

impl<B: StorageBackend> Shielded<B> {
    pub(super) fn new(inner: B, shield: Arc<Shield>) -> Self {
        Shielded { inner, shield }
    }

    /// Runs a change on the file or, once a change has failed, on the memory in its place.
    fn change(
        &self,
        on_file: impl FnOnce(&B) -> io::Result<()>,
        in_memory: impl FnOnce(&mut Frozen),
    ) -> io::Result<()> {
        if !self.shield.frozen.load(Ordering::Acquire) {
            let changed = match self.shield.refusal.get() {
                None => on_file(&self.inner),
                Some(cause) => Err(copy(cause)),
            };
            let Err(error) = changed else {
                return Ok(());
            };
            let mut state = self.shield.lock();
            if state.cause.is_none() {
                state.len = self.inner.len().unwrap_or(0);
                state.cause = Some(error);
            }
            self.shield.frozen.store(true, Ordering::Release);
        }
        in_memory(&mut self.shield.lock());
        Ok(())
    }
}

impl<B: StorageBackend> StorageBackend for Shielded<B> {
    fn len(&self) -> io::Result<u64> {
        if self.shield.frozen.load(Ordering::Acquire) {
            return Ok(self.shield.lock().len);
        }
        self.inner.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if !self.shield.frozen.load(Ordering::Acquire) {
            return self.inner.read(offset, out);
        }
        let state = self.shield.lock();
        let end = offset + out.len() as u64;
        if end > state.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // The file may be shorter than its length in memory: bytes that were never written are zero.
        out.fill(0);
        let on_file = self
            .inner
            .len()?
            .saturating_sub(offset)
            .min(out.len() as u64) as usize;
        if on_file > 0 {
            self.inner.read(offset, &mut out[..on_file])?;
        }
        for (&start, bytes) in state.writes.range(..end) {
            let from = start.max(offset);
            let to = (start + bytes.len() as u64).min(end);
            if from < to {
                out[(from - offset) as usize..(to - offset) as usize]
                    .copy_from_slice(&bytes[(from - start) as usize..(to - start) as usize]);
            }
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(
            |file| file.set_len(len),
            |state| {
                state.len = len;
                state.writes.retain(|&offset, _| offset < len);
            },
        )
    }

    fn sync_data(&self) -> io::Result<()> {
        self.change(|file| file.sync_data(), |_| {})
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change(
            |file| file.write(offset, data),
            |state| state.write(offset, data),
        )
    }

    fn close(&self) -> io::Result<()> {
        self.inner.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.inner.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.query_lock_range(start, end)
    }
}
