//! The numbers of `serverStatus`.

use std::sync::atomic::{AtomicI64, Ordering};

use odm::bson::{RawDocumentBuf, raw::CString, rawdoc};

/// The names of the counters of commands. All other commands count as the last one.
const OPERATIONS: [&str; 6] = ["insert", "query", "update", "delete", "getmore", "command"];

/// Numbers since the start of the server.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    connections: AtomicI64,
    total_connections: AtomicI64,
    bytes_in: AtomicI64,
    bytes_out: AtomicI64,
    requests: AtomicI64,
    operations: [AtomicI64; OPERATIONS.len()],
}

fn add(counter: &AtomicI64, number: usize) {
    counter.fetch_add(i64::try_from(number).unwrap_or(i64::MAX), Ordering::Relaxed);
}

impl Counters {
    pub(crate) fn open(&self) {
        add(&self.connections, 1);
        add(&self.total_connections, 1);
    }

    pub(crate) fn close(&self) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn received(&self, bytes: usize) {
        add(&self.requests, 1);
        add(&self.bytes_in, bytes);
    }

    pub(crate) fn sent(&self, bytes: usize) {
        add(&self.bytes_out, bytes);
    }

    /// Counts a command.
    pub(crate) fn count(&self, command: &str) {
        let name = match command {
            "find" => "query",
            "getMore" => "getmore",
            other => other,
        };
        let at = OPERATIONS.iter().position(|operation| *operation == name);
        add(&self.operations[at.unwrap_or(OPERATIONS.len() - 1)], 1);
    }

    pub(crate) fn connections(&self) -> i64 {
        self.connections.load(Ordering::Relaxed)
    }

    pub(crate) fn total_connections(&self) -> i64 {
        self.total_connections.load(Ordering::Relaxed)
    }

    pub(crate) fn network(&self) -> RawDocumentBuf {
        rawdoc! {
            "bytesIn": self.bytes_in.load(Ordering::Relaxed),
            "bytesOut": self.bytes_out.load(Ordering::Relaxed),
            "numRequests": self.requests.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn operations(&self) -> RawDocumentBuf {
        let mut operations = RawDocumentBuf::new();
        for (name, counter) in OPERATIONS.into_iter().zip(&self.operations) {
            if let Ok(name) = CString::try_from(name) {
                operations.append(name, counter.load(Ordering::Relaxed));
            }
        }
        operations
    }
}
