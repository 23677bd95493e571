//! Where the data is: a file, a server of odm, or a MongoDB server.
//!
//! All that looks at data is written once, on MongoDB's commands: a file is served in this process, at a private Unix socket, and read
//! through that. A file that a process has open is read through the socket of that process, which lies beside it, and without one as of
//! its last checkpoint.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use mongodb::{
    Client, Database,
    bson::doc,
    options::{AuthMechanism, ClientOptions, ServerAddress},
};
use odm::{
    Collections, Embedded, ErrorKind, MongoDb, OpenOptions, ReadOnlyStore, StoreSize,
    store::{Durability, contract::Store},
};
use odm_server::Server;
use tempfile::{TempDir, TempPath};
use tokio::{net::UnixStream, sync::OnceCell};

use crate::{
    arguments::Options,
    error::{Exit, Failure, Result},
    holder,
    output::complain,
    password,
};

/// The databases that every server has.
const OF_SERVERS: [&str; 3] = ["admin", "config", "local"];

/// How long a server is looked for.
const SELECTION: Duration = Duration::from_secs(5);

/// The name of a file that is not complete yet.
const STORE: &str = "store.odm";

/// The name of the database of a file, while this process serves it.
const OF_FILE: &str = "data";

/// Where the data is, as the arguments say.
pub(crate) struct Source<'a> {
    name: &'a str,
    options: &'a Options,
}

/// Opened data.
pub(crate) enum Opened {
    /// A file, in this process.
    File(Box<OpenFile>),
    /// A database of a server of odm, in another process.
    Served(Database),
    /// A database of a MongoDB server.
    MongoDb(Database),
}

/// A file that this process reads.
pub(crate) struct OpenFile {
    pub(crate) path: PathBuf,
    pub(crate) size: StoreSize,
    pub(crate) collections: Collections,
    served: OnceCell<Served>,
}

/// Collections that are written.
pub(crate) struct Target {
    pub(crate) collections: Collections,
    new: Option<NewStore>,
}

impl Target {
    /// Makes all commits durable, and gives the file free.
    pub(crate) async fn close(self) -> Result<()> {
        self.collections.close().await?;
        self.new.map_or(Ok(()), NewStore::put_in_place)
    }
}

/// A store that is not complete yet, in a folder beside its place. Nothing is left of it if it is dropped.
pub(crate) struct NewStore {
    folder: TempDir,
    place: PathBuf,
}

impl NewStore {
    /// Begins a store whose place is free.
    pub(crate) fn begin(place: &Path) -> Result<NewStore> {
        if place.exists() {
            let message = format!(
                "`{}` is there already: choose another name",
                place.display()
            );
            return Err(Failure::new(Exit::Refused, message));
        }
        let folder = place
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = tempfile::Builder::new()
            .prefix(".odm-")
            .tempdir_in(folder.unwrap_or(Path::new(".")));
        let folder = folder.map_err(|error| {
            Failure::io(format_args!("cannot make `{}`", place.display()), &error)
        })?;
        Ok(NewStore {
            folder,
            place: place.to_owned(),
        })
    }

    /// The file of the store until it is complete.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join(STORE)
    }

    /// Gives the store, which is closed, its name.
    pub(crate) fn put_in_place(self) -> Result<()> {
        let file = TempPath::try_from_path(self.file());
        let put = file.and_then(|file| Ok(file.persist_noclobber(&self.place)?));
        put.map_err(|error| {
            Failure::io(
                format_args!("cannot make `{}`", self.place.display()),
                &error,
            )
        })
    }
}

/// A file that this process serves to itself.
struct Served {
    database: Database,
    // In this order: the socket is removed before its folder.
    _server: Server,
    _folder: TempDir,
}

/// The place of the socket beside a file.
pub(crate) fn socket_of(path: &Path) -> PathBuf {
    with_ending(path, ".sock")
}

/// The name of a file with an ending behind it.
fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

impl<'a> Source<'a> {
    pub(crate) fn new(name: &'a str, options: &'a Options) -> Self {
        Source { name, options }
    }

    fn is_uri(&self) -> bool {
        self.name.starts_with("mongodb://") || self.name.starts_with("mongodb+srv://")
    }

    /// Opens the data to look at it. Nothing in it changes.
    pub(crate) async fn look(&self) -> Result<Opened> {
        if self.is_uri() {
            return self.connect().await;
        }
        let path = self.existing()?;
        match self.beside(path).await? {
            Some(database) => Ok(Opened::Served(database)),
            None => self.look_at_file(path).await,
        }
    }

    async fn look_at_file(&self, path: &Path) -> Result<Opened> {
        let (collections, size) = match Embedded::open_read_only(path).await {
            Ok(store) => {
                self.tell_age(&store)?;
                (quiet(store.clone()).await?, store.size()?)
            }
            // It was not closed, and nobody has it.
            Err(error) if error.kind() == ErrorKind::ReadOnly => {
                let text = format!(
                    "`{}` was not closed, as after a crash: it is read with its log",
                    self.name
                );
                complain("note", &text);
                let store = self.open_store().await?;
                (quiet(store.clone()).await?, store.size()?)
            }
            Err(error) => return Err(self.failure(error)),
        };
        Ok(Opened::File(Box::new(OpenFile {
            path: path.to_owned(),
            size,
            collections,
            served: OnceCell::new(),
        })))
    }

    /// Opens the file alone.
    pub(crate) async fn open_store(&self) -> Result<Embedded> {
        let opened = Embedded::open(self.file()?).await;
        opened.map_err(|error| self.failure(error))
    }

    /// Opens the data to look at it by the collections of this process: a file as of its last checkpoint, if a process has it open.
    pub(crate) async fn look_directly(&self) -> Result<Collections> {
        let opened = if self.is_uri() {
            self.connect().await?
        } else {
            self.look_at_file(self.existing()?).await?
        };
        opened
            .collections()
            .await?
            .ok_or_else(|| self.held_by_server())
    }

    /// Opens the collections of a file or of a MongoDB server, to change what only a program with the data can.
    pub(crate) async fn open_collections(&self) -> Result<Target> {
        let collections = if self.is_uri() {
            let opened = self.connect().await?;
            opened
                .collections()
                .await?
                .ok_or_else(|| self.held_by_server())?
        } else {
            quiet(self.open_store().await?).await?
        };
        Ok(Target {
            collections,
            new: None,
        })
    }

    /// Begins a store in a file that is not there. It has its name once it is complete.
    pub(crate) async fn create(&self) -> Result<Target> {
        if self.is_uri() {
            return Err(Failure::usage(format!(
                "a file is made, and `{}` is a server",
                self.name
            )));
        }
        let new = NewStore::begin(Path::new(self.name))?;
        let collections = quiet(Embedded::open(new.file()).await?).await?;
        Ok(Target {
            // It is nothing before it is closed.
            collections: collections.durability(Durability::Eventual),
            new: Some(new),
        })
    }

    /// Whether it is a file that is not there.
    pub(crate) fn is_new_file(&self) -> bool {
        !self.is_uri() && !Path::new(self.name).exists()
    }

    fn held_by_server(&self) -> Failure {
        let message = format!(
            "`{}` is served by another process, which has its file",
            self.name
        );
        Failure::new(Exit::Locked, message).with_advice(
            "Name the file instead, when no process has it open, or let that process do it.",
        )
    }

    /// The socket that is named.
    pub(crate) fn socket(&self) -> Option<PathBuf> {
        self.options.socket.clone()
    }

    /// The name under which a file is served: the one that is named, that of the only database that was opened on it, or its own.
    pub(crate) async fn database_name(&self, collections: &Collections) -> Result<String> {
        if let Some(name) = &self.options.database {
            return Ok(name.clone());
        }
        let mut names: BTreeSet<String> = BTreeSet::new();
        for collection in collections.list().await? {
            names.extend(collection.databases);
        }
        Ok(match names.pop_first() {
            Some(name) if names.is_empty() => name,
            _ => Path::new(self.name)
                .file_stem()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        })
    }

    /// The file, where no server will do.
    pub(crate) fn file(&self) -> Result<&'a Path> {
        if self.is_uri() {
            let message = format!("this is done to a file, and `{}` is a server", self.name);
            return Err(Failure::usage(message).with_advice("Name the file of the store."));
        }
        self.existing()
    }

    fn existing(&self) -> Result<&'a Path> {
        let path = Path::new(self.name);
        let metadata = std::fs::metadata(path);
        let metadata = metadata
            .map_err(|error| Failure::io(format_args!("cannot open `{}`", self.name), &error))?;
        if metadata.is_dir() {
            let message = format!("`{}` is a folder: name the file of a store", self.name);
            return Err(Failure::usage(message));
        }
        if metadata.len() == 0 {
            let message = format!("`{}` is not a store: it is empty", self.name);
            return Err(Failure::new(Exit::Damaged, message));
        }
        Ok(path)
    }

    /// Says more of why a file cannot be opened.
    pub(crate) fn failure(&self, error: odm::Error) -> Failure {
        if error.kind() != ErrorKind::Locked {
            return Failure::from(error);
        }
        Failure::new(Exit::Locked, self.held()).with_advice(
            "Stop that process, or let it do this. Commands that only look, `check` and `backup` go on meanwhile.",
        )
    }

    /// Tells how old the state is that is read beside a process which has later commits in its log.
    fn tell_age(&self, store: &ReadOnlyStore) -> Result<()> {
        let checkpoint = store.last_checkpoint()?;
        let Some(time) = checkpoint.filter(|_| with_ending(Path::new(self.name), ".log").exists())
        else {
            return Ok(());
        };
        let time = mongodb::bson::DateTime::from_system_time(time);
        let time = time.try_to_rfc3339_string().unwrap_or_default();
        let text = format!("{}: this is its last checkpoint, of {time}", self.held());
        complain("note", &text);
        Ok(())
    }

    /// Which process has the file open, in words.
    fn held(&self) -> String {
        let holder = holder::of(Path::new(self.name));
        let holder =
            holder.map_or_else(|| "another process".to_owned(), |holder| holder.to_string());
        format!("`{}` is open in {holder}", self.name)
    }

    /// The database that a process serves at the socket beside its file.
    async fn beside(&self, path: &Path) -> Result<Option<Database>> {
        let (socket, is_named) = match &self.options.socket {
            Some(socket) => (socket.clone(), true),
            None => (socket_of(path), false),
        };
        // A process that was killed has left its socket, where nobody listens.
        if let Err(error) = UnixStream::connect(&socket).await {
            if is_named {
                return Err(Failure::io(
                    format_args!("cannot connect to `{}`", socket.display()),
                    &error,
                ));
            }
            return Ok(None);
        }
        let client = client_of_socket(socket)?;
        self.database(&client, None).await.map(Some)
    }

    async fn connect(&self) -> Result<Opened> {
        let mut options = ClientOptions::parse(self.name).await?;
        options.server_selection_timeout.get_or_insert(SELECTION);
        options.app_name.get_or_insert("odm".to_owned());
        self.complete(&mut options)?;
        let default = options.default_database.clone();
        let client = Client::with_options(options)?;
        let info = client
            .database("admin")
            .run_command(doc! { "buildInfo": 1 })
            .await?;
        let database = self.database(&client, default).await?;
        Ok(if info.contains_key("odmServer") {
            Opened::Served(database)
        } else {
            Opened::MongoDb(database)
        })
    }

    /// Adds the password of a user that the URI names without one: an argument is seen by the other users of the machine.
    fn complete(&self, options: &mut ClientOptions) -> Result<()> {
        let file = self.options.password_file.as_deref();
        let Some(credential) = &mut options.credential else {
            return Ok(());
        };
        let takes_password = match &credential.mechanism {
            None => true,
            Some(mechanism) => [
                AuthMechanism::ScramSha1,
                AuthMechanism::ScramSha256,
                AuthMechanism::Plain,
            ]
            .contains(mechanism),
        };
        if let Some(user) = &credential.username
            && credential.password.is_none()
            && takes_password
            && (file.is_some() || password::is_at_terminal())
        {
            credential.password = Some(password::read(file, &format!("`{user}`"))?);
        }
        Ok(())
    }

    /// The database that is named, or the only one.
    async fn database(&self, client: &Client, default: Option<String>) -> Result<Database> {
        if let Some(name) = self.options.database.as_ref().or(default.as_ref()) {
            return Ok(client.database(name));
        }
        let mut names = client.list_database_names().await?;
        names.retain(|name| !OF_SERVERS.contains(&name.as_str()));
        match names.as_slice() {
            [name] => Ok(client.database(name)),
            [] => Err(Failure::not_found("the server has no database")),
            names => {
                let message = format!("the server has several databases: {}", names.join(", "));
                Err(Failure::usage(message).with_advice("Name one by --database, or in the URI."))
            }
        }
    }
}

fn client_of_socket(path: PathBuf) -> Result<Client> {
    let options = ClientOptions::builder()
        .hosts(vec![ServerAddress::Unix { path }])
        .direct_connection(true)
        .server_selection_timeout(SELECTION)
        .app_name("odm".to_owned())
        .build();
    Ok(Client::with_options(options)?)
}

impl OpenFile {
    /// The file as a database of MongoDB's commands.
    async fn database(&self) -> Result<&Database> {
        let served = self.served.get_or_try_init(|| self.serve()).await?;
        Ok(&served.database)
    }

    async fn serve(&self) -> Result<Served> {
        // Only this user can enter it.
        let folder = tempfile::Builder::new().prefix("odm-").tempdir();
        let folder =
            folder.map_err(|error| Failure::io("cannot make a temporary folder", &error))?;
        let socket = folder.path().join("odm.sock");
        let server = Server::builder().database(OF_FILE, self.collections.clone());
        let server = server.listen_unix(&socket).await?;
        Ok(Served {
            database: client_of_socket(socket)?.database(OF_FILE),
            _server: server,
            _folder: folder,
        })
    }
}

impl Opened {
    /// The data as a database of MongoDB's commands.
    pub(crate) async fn database(&self) -> Result<&Database> {
        match self {
            Opened::File(file) => file.database().await,
            Opened::Served(database) | Opened::MongoDb(database) => Ok(database),
        }
    }

    /// The collections, unless another process has them.
    pub(crate) async fn collections(&self) -> Result<Option<Collections>> {
        Ok(match self {
            Opened::File(file) => Some(file.collections.clone()),
            Opened::Served(_) => None,
            Opened::MongoDb(database) => {
                let store = MongoDb::new(database.client(), database.name()).await?;
                Some(quiet(store).await?)
            }
        })
    }
}

/// The collections of a store, for which nothing happens in the background: work that waits stays for the program.
async fn quiet(store: impl Store) -> Result<Collections> {
    let options = OpenOptions::default()
        .refresh_every(None)
        .delete_expired_every(None);
    Ok(Collections::open_with(store, options).await?)
}
