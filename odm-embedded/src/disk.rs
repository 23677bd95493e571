//! A disk in memory with the files of one store: it fails, and loses power, on command.

use std::{
    io,
    ops::Bound,
    path::PathBuf,
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use odm_store::Store;

use crate::{
    Embedded,
    engine::{Backend, BackendError},
    log::LogFile,
    place::{Replacement, StoreFile},
};

/// A disk, as the file of a store and as the place of its log. Writes since the last sync of a file may be lost, in any part.
#[derive(Debug, Clone, Default)]
pub struct Disk(Arc<DiskState>);

#[derive(Debug, Default)]
struct DiskState {
    store: Mutex<Named>,
    log: Mutex<Named>,
    /// The copy of a damaged log.
    kept: Mutex<Option<Vec<u8>>>,
    syncs: AtomicUsize,
    /// How many changes it still takes; `None` for any number.
    left: Mutex<Option<usize>>,
    operations: AtomicUsize,
    /// How long a sync takes.
    sync_time: Mutex<Duration>,
    syncs_gate: GateState,
    copies_gate: GateState,
    /// How long a change of a copy takes.
    copy_time: Mutex<Duration>,
}

#[derive(Debug, Default)]
struct GateState {
    held: Mutex<bool>,
    released: Condvar,
    waiting: AtomicBool,
}

impl GateState {
    fn pass(&self) {
        let mut held = self.held.lock().expect("no panic");
        while *held {
            self.waiting.store(true, Ordering::SeqCst);
            held = self.released.wait(held).expect("no panic");
        }
    }

    fn wait(&self) {
        while !self.waiting.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    }
}

/// The file that a name has now, and since the last sync of the folder.
#[derive(Debug, Default)]
struct Named {
    now: Option<File>,
    synced: Option<File>,
}

impl Named {
    /// The file, which is created if it is missing.
    fn file(&mut self) -> File {
        if self.now.is_none() {
            self.now = Some(File::default());
            self.synced = self.now.clone();
        }
        self.now.clone().unwrap_or_default()
    }

    fn holding(data: Option<Vec<u8>>) -> Mutex<Named> {
        let file = data.map(File::holding);
        Mutex::new(Named {
            now: file.clone(),
            synced: file,
        })
    }

    /// The bytes if some of the operations since the last syncs have reached the disk.
    fn after_partial_loss(&self, random: &mut u64, sector: usize) -> Option<Vec<u8>> {
        let file = match next(random).is_multiple_of(2) {
            true => &self.now,
            false => &self.synced,
        };
        file.as_ref()
            .map(|file| file.after_partial_loss(random, sector))
    }
}

#[derive(Debug, Clone, Default)]
struct File(Arc<Mutex<Data>>);

#[derive(Debug, Clone, Default)]
struct Data {
    now: Vec<u8>,
    synced: Vec<u8>,
    /// The operations since the last sync, in order.
    unsynced: Vec<Operation>,
    /// Whether it has no name yet.
    is_copy: bool,
}

#[derive(Debug, Clone)]
enum Operation {
    Write(u64, Vec<u8>),
    SetLen(u64),
}

/// The bytes that a disk writes whole or not at all, as the engine needs it.
const SECTOR: usize = 512;

/// The same for a log, which needs less.
const LOG_SECTOR: usize = 16;

impl Data {
    fn holding(data: Vec<u8>) -> Data {
        Data {
            now: data.clone(),
            synced: data,
            unsynced: Vec::new(),
            is_copy: false,
        }
    }
}

impl File {
    fn holding(data: Vec<u8>) -> File {
        File(Arc::new(Mutex::new(Data::holding(data))))
    }

    fn data(&self) -> MutexGuard<'_, Data> {
        self.0.lock().expect("no panic")
    }

    /// The bytes if some of the operations since the last sync have reached the disk.
    fn after_partial_loss(&self, random: &mut u64, sector: usize) -> Vec<u8> {
        let data = self.data();
        let mut left = data.synced.clone();
        for operation in &data.unsynced {
            match (next(random) % 4, operation) {
                (0, _) => {}
                (1, Operation::Write(offset, bytes)) => {
                    // Some of its sectors.
                    let mut at = 0;
                    while at < bytes.len() {
                        let room = sector - (*offset as usize + at) % sector;
                        let end = (at + room).min(bytes.len());
                        if next(random).is_multiple_of(2) {
                            let written = bytes[at..end].to_vec();
                            apply(&mut left, &Operation::Write(offset + at as u64, written));
                        }
                        at = end;
                    }
                }
                _ => apply(&mut left, operation),
            }
        }
        left
    }
}

fn next(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random >> 8
}

fn apply(data: &mut Vec<u8>, operation: &Operation) {
    match operation {
        Operation::Write(offset, bytes) => {
            let end = *offset as usize + bytes.len();
            if data.len() < end {
                data.resize(end, 0);
            }
            data[*offset as usize..end].copy_from_slice(bytes);
        }
        Operation::SetLen(len) => data.resize(*len as usize, 0),
    }
}

/// Holds up syncs, or copies, until it is dropped.
#[derive(Debug)]
pub struct Gate(Disk, fn(&DiskState) -> &GateState);

impl Drop for Gate {
    fn drop(&mut self) {
        let Gate(disk, gate) = self;
        let gate = gate(&disk.0);
        *gate.held.lock().expect("no panic") = false;
        gate.released.notify_all();
    }
}

impl Disk {
    pub fn holding(store: Vec<u8>, log: Option<Vec<u8>>) -> Disk {
        Disk(Arc::new(DiskState {
            store: Named::holding(Some(store)),
            log: Named::holding(log),
            ..DiskState::default()
        }))
    }

    fn store(&self) -> MutexGuard<'_, Named> {
        self.0.store.lock().expect("no panic")
    }

    /// The file of the store. An empty one is there before the first use.
    pub(crate) fn file(&self) -> Arc<dyn Backend> {
        let file = self.store().file();
        Arc::new(OpenFile(self.clone(), file))
    }

    fn log(&self) -> MutexGuard<'_, Named> {
        self.0.log.lock().expect("no panic")
    }

    /// A disk with a complete, empty store.
    pub async fn formatted() -> Disk {
        let disk = Disk::default();
        let store = Embedded::builder().backend(disk.clone()).await;
        store.expect("a store").close().await.expect("a close");
        disk.after_exit()
    }

    pub fn syncs(&self) -> usize {
        self.0.syncs.load(Ordering::SeqCst)
    }

    /// The content of the store's file.
    pub fn bytes(&self) -> Vec<u8> {
        self.store().file().data().now.clone()
    }

    /// The content of the log's file, if there is one.
    pub fn log_bytes(&self) -> Option<Vec<u8>> {
        self.log().now.as_ref().map(|file| file.data().now.clone())
    }

    /// The copy of a log that was damaged, if one was made.
    pub fn kept(&self) -> Option<Vec<u8>> {
        self.0.kept.lock().expect("no panic").clone()
    }

    /// The same disk with another log.
    pub fn with_log(&self, log: Option<Vec<u8>>) -> Disk {
        Disk::holding(self.bytes(), log)
    }

    /// Flips a bit in the file of the store.
    pub fn flip(&self, at: usize) {
        self.store().file().data().now[at] ^= 4;
    }

    /// Flips a bit in the file of the log.
    pub fn flip_log(&self, at: usize) {
        let log = self.log().now.clone().expect("a log");
        log.data().now[at] ^= 4;
    }

    pub fn operations(&self) -> usize {
        self.0.operations.load(Ordering::SeqCst)
    }

    pub fn fail_after(&self, operations: usize) {
        *self.0.left.lock().expect("no panic") = Some(operations);
    }

    /// Ends the failure of the disk.
    pub fn heal(&self) {
        *self.0.left.lock().expect("no panic") = None;
    }

    /// Has each sync take this long.
    pub fn slow_syncs(&self, time: Duration) {
        *self.0.sync_time.lock().expect("no panic") = time;
    }

    /// Has each change of the new file of a compaction take this long.
    pub fn slow_copies(&self, time: Duration) {
        *self.0.copy_time.lock().expect("no panic") = time;
    }

    pub fn hold_syncs(&self) -> Gate {
        self.hold(|disk| &disk.syncs_gate)
    }

    pub fn until_sync_waits(&self) {
        self.0.syncs_gate.wait();
    }

    /// Holds up the changes of the new files of compactions.
    pub fn hold_copies(&self) -> Gate {
        self.hold(|disk| &disk.copies_gate)
    }

    pub fn until_copy_waits(&self) {
        self.0.copies_gate.wait();
    }

    fn hold(&self, gate: fn(&DiskState) -> &GateState) -> Gate {
        *gate(&self.0).held.lock().expect("no panic") = true;
        Gate(self.clone(), gate)
    }

    /// The disk after the loss of all writes since the last sync.
    pub fn after_power_loss(&self) -> Disk {
        self.file();
        let synced = |file: &File| file.data().synced.clone();
        let store = self.store().synced.as_ref().map(synced);
        let log = self.log().synced.as_ref().map(synced);
        Disk::holding(store.unwrap_or_default(), log)
    }

    /// The disk if only some of the writes since the last sync have reached it, and some of these only in part.
    pub fn after_partial_loss(&self, seed: u64) -> Disk {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let store = self.store().after_partial_loss(&mut random, SECTOR);
        let log = self.log().after_partial_loss(&mut random, LOG_SECTOR);
        Disk::holding(store.unwrap_or_default(), log)
    }

    /// The disk if the process ends, and the machine goes on.
    pub fn after_exit(&self) -> Disk {
        Disk::holding(self.bytes(), self.log_bytes())
    }

    fn change(&self, file: &File, operation: Operation) -> io::Result<()> {
        self.copy(file);
        self.spend()?;
        let mut data = file.data();
        apply(&mut data.now, &operation);
        data.unsynced.push(operation);
        Ok(())
    }

    /// Waits, if the file is the new one of a compaction.
    fn copy(&self, file: &File) {
        if file.data().is_copy {
            self.0.copies_gate.pass();
            let time = *self.0.copy_time.lock().expect("no panic");
            if !time.is_zero() {
                std::thread::sleep(time);
            }
        }
    }

    fn spend(&self) -> io::Result<()> {
        self.0.operations.fetch_add(1, Ordering::SeqCst);
        let mut left = self.0.left.lock().expect("no panic");
        match &mut *left {
            Some(0) => Err(io::Error::other("the disk is broken")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.copy(file);
        self.0.syncs_gate.pass();
        let time = *self.0.sync_time.lock().expect("no panic");
        if !time.is_zero() {
            std::thread::sleep(time);
        }
        self.spend()?;
        self.0.syncs.fetch_add(1, Ordering::SeqCst);
        let data = &mut *file.data();
        for operation in data.unsynced.drain(..) {
            apply(&mut data.synced, &operation);
        }
        Ok(())
    }
}

fn read(file: &File, offset: u64, out: &mut [u8]) -> io::Result<()> {
    let data = file.data();
    let range = offset as usize..offset as usize + out.len();
    out.copy_from_slice(data.now.get(range).ok_or(io::ErrorKind::UnexpectedEof)?);
    Ok(())
}

/// An open file.
#[derive(Debug)]
struct OpenFile(Disk, File);

impl Backend for OpenFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.1.data().now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        read(&self.1, offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.change(&self.1, Operation::SetLen(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync(&self.1)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0
            .change(&self.1, Operation::Write(offset, bytes.to_vec()))
    }

    // No other process has the file: with locks, the engine writes it as it writes a file that others read.

    fn try_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn try_lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn unlock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn query_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(false)
    }
}

impl LogFile for Disk {
    fn name(&self) -> String {
        "test.log".to_owned()
    }

    fn open(&self) -> io::Result<Option<Arc<dyn Backend>>> {
        let file = self.log().now.clone();
        Ok(file.map(|file| Arc::new(OpenFile(self.clone(), file)) as Arc<dyn Backend>))
    }

    fn create(&self, content: &[u8]) -> io::Result<Arc<dyn Backend>> {
        // A file under another name, whose content is synced.
        self.spend()?;
        let file = File::holding(content.to_vec());
        self.spend()?;
        let mut log = self.log();
        if log.now.is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        log.now = Some(file.clone());
        // The sync of the folder.
        self.spend()?;
        log.synced = log.now.clone();
        Ok(Arc::new(OpenFile(self.clone(), file)))
    }

    fn keep(&self, content: &[u8]) -> io::Result<PathBuf> {
        self.spend()?;
        *self.0.kept.lock().expect("no panic") = Some(content.to_vec());
        Ok(PathBuf::from("test.log.damaged"))
    }

    fn remove(&self) -> io::Result<()> {
        self.spend()?;
        self.log().now = None;
        // The sync of the folder.
        self.spend()?;
        self.log().synced = None;
        Ok(())
    }
}

impl StoreFile for Disk {
    fn create(&self) -> io::Result<Replacement> {
        self.spend()?;
        let (disk, file) = (self.clone(), File::default());
        file.data().is_copy = true;
        Ok(Replacement {
            backend: Arc::new(OpenFile(self.clone(), file.clone())),
            make_durable: Box::new(move || {
                disk.sync(&file)?;
                Ok(Box::new(move || {
                    disk.spend()?;
                    file.data().is_copy = false;
                    disk.store().now = Some(file.clone());
                    // The sync of the folder.
                    disk.spend()?;
                    disk.store().synced = Some(file);
                    Ok(Box::new(disk))
                }))
            }),
        })
    }
}
