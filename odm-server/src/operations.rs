//! The commands that are running.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI32, Ordering},
    },
    time::Instant,
};

use odm::bson::{
    DateTime, RawBsonRef, RawDocument, RawDocumentBuf,
    raw::{CString, cstr},
    rawdoc,
};
use tokio::sync::Notify;

use crate::{auth::UserDigest, connection::Client};

/// The running commands of a server, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    running: Mutex<BTreeMap<i32, Operation>>,
    last: AtomicI32,
}

#[derive(Debug, Clone)]
struct Operation {
    /// The user, where a server requires users: nobody else sees it or ends it.
    user: Option<UserDigest>,
    connection: i32,
    client: Arc<String>,
    database: String,
    command: &'static str,
    /// The collection that the command names, if it names one.
    collection: Option<String>,
    begun: Instant,
    killed: Arc<Notify>,
}

/// A running command, until it is dropped.
pub(crate) struct RunningOperation<'s> {
    operations: &'s Operations,
    id: i32,
    killed: Arc<Notify>,
}

impl Operations {
    fn with<T>(&self, run: impl FnOnce(&mut BTreeMap<i32, Operation>) -> T) -> T {
        run(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lists a command of a client.
    pub(crate) fn begin(
        &self,
        client: &Client,
        user: Option<UserDigest>,
        (database, command): (&str, &'static str),
        body: &RawDocument,
    ) -> RunningOperation<'_> {
        let first = body.iter().next().and_then(Result::ok);
        let named = match first.map(|(_, value)| value) {
            Some(RawBsonRef::String(name)) => Some(name.to_owned()),
            // The cursor of a `getMore` names no collection.
            _ => match body.get("collection") {
                Ok(Some(RawBsonRef::String(name))) => Some(name.to_owned()),
                _ => None,
            },
        };
        let killed = Arc::<Notify>::default();
        let operation = Operation {
            user,
            connection: client.id,
            client: client.address.clone(),
            database: database.to_owned(),
            command,
            collection: named,
            begun: Instant::now(),
            killed: killed.clone(),
        };
        let id = self.last.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        self.with(|running| running.insert(id, operation));
        RunningOperation {
            operations: self,
            id,
            killed,
        }
    }

    /// Ends a command of a user, if it runs.
    pub(crate) fn kill(&self, id: i32, user: Option<UserDigest>) {
        let killed = self.with(|running| {
            let one = running.get(&id).filter(|one| one.user == user);
            one.map(|one| one.killed.clone())
        });
        if let Some(killed) = killed {
            killed.notify_one();
        }
    }

    /// The numbers of running commands that read, and of commands that write documents.
    pub(crate) fn active(&self) -> (i32, i32) {
        let writes = |one: &&Operation| {
            let writing = [
                "insert",
                "update",
                "delete",
                "findAndModify",
                "findandmodify",
            ];
            writing.contains(&one.command)
        };
        let number = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
        self.with(|running| {
            let writers = running.values().filter(writes).count();
            (number(running.len() - writers), number(writers))
        })
    }

    /// The running commands of a user, as `currentOp` shows them.
    pub(crate) fn list(&self, user: Option<UserDigest>) -> Vec<RawDocumentBuf> {
        let running: Vec<(i32, Operation)> = self.with(|running| {
            let of_user = running.iter().filter(|(_, one)| one.user == user);
            of_user.map(|(id, one)| (*id, one.clone())).collect()
        });
        running.iter().map(|(id, one)| one.describe(*id)).collect()
    }
}

impl Operation {
    fn describe(&self, id: i32) -> RawDocumentBuf {
        let operation = match self.command {
            "find" => "query",
            "getMore" => "getmore",
            name @ ("insert" | "update") => name,
            "delete" => "remove",
            _ => "command",
        };
        let running = self.begun.elapsed();
        let microseconds = i64::try_from(running.as_micros()).unwrap_or(i64::MAX);
        let collection = self.collection.as_deref().unwrap_or("$cmd");
        let mut command = RawDocumentBuf::new();
        if let Ok(name) = CString::try_from(self.command) {
            match &self.collection {
                Some(collection) if self.command != "getMore" => {
                    command.append(name, collection.as_str());
                }
                _ => command.append(name, 1),
            }
        }
        command.append(cstr!("$db"), self.database.as_str());
        let mut described = rawdoc! { "type": "op", "desc": format!("conn{}", self.connection) };
        described.append(cstr!("connectionId"), self.connection);
        described.append(cstr!("client"), self.client.as_str());
        described.append(cstr!("active"), true);
        described.append(cstr!("currentOpTime"), DateTime::now());
        described.append(cstr!("opid"), id);
        let seconds = i64::try_from(running.as_secs()).unwrap_or(i64::MAX);
        described.append(cstr!("secs_running"), seconds);
        described.append(cstr!("microsecs_running"), microseconds);
        described.append(cstr!("op"), operation);
        described.append(cstr!("ns"), format!("{}.{collection}", self.database));
        described.append(cstr!("command"), command);
        described
    }
}

impl RunningOperation<'_> {
    /// Waits until somebody ends the command.
    pub(crate) async fn killed(&self) {
        self.killed.notified().await;
    }
}

impl Drop for RunningOperation<'_> {
    fn drop(&mut self) {
        self.operations.with(|running| running.remove(&self.id));
    }
}
