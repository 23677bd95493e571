//! The commands and their arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Looks at, checks, copies and serves the data of odm.
///
/// SOURCE is the file of a store, or the URI of a server: mongodb://HOST:PORT/DATABASE. A file that a process has open is read through
/// the socket of that process, FILE.sock, and without one as of its last checkpoint.
#[derive(Debug, Parser)]
#[command(name = "odm", version, max_term_width = 100, after_help = CODES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const CODES: &str = "Exit codes: 0 done, 1 findings, 2 wrong arguments, 3 not found, 4 open elsewhere, 5 damaged or no store, \
6 refused, 7 the system fails (a full disk, a missing permission), 8 the server does not answer, 130 interrupted.";

#[derive(Debug, Args)]
#[command(next_help_heading = "Options of all commands")]
pub(crate) struct Options {
    /// Answer by lines of JSON, as whenever the answer goes to no terminal
    #[arg(long, global = true, conflicts_with = "table")]
    pub(crate) json: bool,
    /// Answer by tables, as on a terminal
    #[arg(long, global = true)]
    pub(crate) table: bool,
    /// Do not show long answers by $PAGER
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// The socket of the process that has the file open, if it is not FILE.sock
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// The database, if a server has several
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) database: Option<String>,
    /// A file whose first line is the password of the user that a URI or a command names; - is the standard input
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what a store is: its size, its databases, and what waits in it
    Info(Place),
    /// List the collections, with their documents and indexes
    Collections(Place),
    /// Show one document
    Show(Show),
    /// Find documents
    Find(Find),
    /// Show how documents would be found: by which index, and how many are read for it
    Explain(Query),
    /// Show who takes the space: sizes, indexes and their uses, large documents, long lists, copies
    Stats(PlaceAndCollection),
    /// Draw the relations as a diagram of Mermaid, or as a picture
    Diagram(Diagram),
    /// Compare all derived data with its sources
    Audit(PlaceAndCollection),
    /// Check all documents by the rules of their models
    Validate(PlaceAndCollection),
    /// Correct what an audit finds
    Repair(Place),
    /// Compute the fields that were declared over existing documents
    Backfill(Place),
    /// Verify the checksums of a file, its documents and its indexes
    Check(Place),
    /// Give the free space of a file back to the disk
    Compact(Place),
    /// Copy a store into a new file, also while a process has it open
    Backup(Backup),
    /// Open a store whose log is damaged, without the damaged rest
    Salvage(Place),
    /// Write all documents as lines of JSON
    Export(Export),
    /// Store the documents of an export, of mongoexport or of mongodump
    Import(Import),
    /// Copy all documents into another store: from a file to a MongoDB server, and back
    Copy(Copy),
    /// Serve a file to shells, tools and drivers, at FILE.sock and at an address
    Serve(Serve),
    /// Add, change, list and remove the users of a file, for servers that require users
    #[command(subcommand)]
    Users(UsersCommand),
    /// Show the changes of a running service, as lines of JSON
    Watch(Watch),
    /// Write the completions of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual
    Man {
        /// The folder for the pages of all commands
        folder: Option<PathBuf>,
    },
    /// Make an example: the shop of the guides
    Demo(Demo),
}

#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The file of a store, or a URI mongodb://..
    pub(crate) source: String,
}

#[derive(Debug, Args)]
pub(crate) struct Diagram {
    /// The file of a store, or a URI mongodb://..
    pub(crate) source: String,
    /// The language of the diagram
    #[arg(long, value_enum, default_value_t = DiagramFormat::Mermaid)]
    pub(crate) format: DiagramFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiagramFormat {
    /// For pages of Markdown
    Mermaid,
    /// A picture
    Svg,
}

#[derive(Debug, Args)]
pub(crate) struct PlaceAndCollection {
    /// The file of a store, or a URI mongodb://..
    pub(crate) source: String,
    /// One collection instead of all
    pub(crate) collection: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The file of a store, or a URI mongodb://..
    pub(crate) source: String,
    /// The collection of the document
    pub(crate) collection: String,
    /// Its _id: a number, a text, the digits of an ObjectId, or extended JSON
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct Query {
    /// The file of a store, or a URI mongodb://..
    pub(crate) source: String,
    /// The collection
    pub(crate) collection: String,
    /// Conditions that all hold: field=value (or != < <= > >=), or a filter such as '{"qty": {"$gt": 5}}'
    pub(crate) conditions: Vec<String>,
    /// Fields to sort by, with - for descending: -placed,_id
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) sort: Option<String>,
    /// The number of documents at most
    #[arg(long)]
    pub(crate) limit: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Find {
    #[command(flatten)]
    pub(crate) query: Query,
    /// The fields to show: name,price
    #[arg(long, value_name = "FIELDS")]
    pub(crate) project: Option<String>,
    /// Count the documents alone
    #[arg(long, conflicts_with_all = ["project", "sort"])]
    pub(crate) count: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The file of a store
    pub(crate) source: String,
    /// The new file
    pub(crate) target: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The file of a store, or the URI of a MongoDB server
    pub(crate) source: String,
    /// The new file, instead of the standard output
    pub(crate) target: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file of a store, or the URI of a MongoDB server
    pub(crate) source: String,
    /// An export of odm; files of mongoexport or mongodump; or the folder of a database of mongodump
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The collection, if it is not the name of the file
    #[arg(long, value_name = "COLLECTION")]
    pub(crate) into: Option<String>,
    /// Make the store, which must not be there yet
    #[arg(long)]
    pub(crate) create: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Copy {
    /// The file of a store, or the URI of a MongoDB server
    pub(crate) source: String,
    /// A file, which is made if it is not there, or the URI of a MongoDB server
    pub(crate) target: String,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The file of a store
    pub(crate) file: String,
    /// An address of TCP besides the socket: 127.0.0.1:27017
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Let in users alone at that address
    #[arg(long, requires = "listen")]
    pub(crate) users: bool,
    /// The certificate of the server in PEM, with those up to its authority: speak TLS at that address
    #[arg(long, value_name = "FILE", requires_all = ["listen", "tls_key"])]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
    /// The name and the port by which clients reach that address
    #[arg(long, requires = "listen")]
    pub(crate) host: Option<String>,
    /// An address of this machine for a page in the browser: 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<String>,
    /// Let the page change documents
    #[arg(long, requires = "http")]
    pub(crate) writable: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UsersCommand {
    /// List the users with their rights
    List(Place),
    /// Add a user
    Add {
        #[command(flatten)]
        of: OfUser,
        #[command(flatten)]
        rights: GrantedRights,
    },
    /// Change the password of a user
    Password(OfUser),
    /// Replace the rights of a user
    Rights {
        #[command(flatten)]
        of: OfUser,
        #[command(flatten)]
        rights: GrantedRights,
    },
    /// Remove a user
    Remove(OfUser),
}

impl UsersCommand {
    /// The user that it is about.
    pub(crate) fn of(&self) -> Option<&OfUser> {
        match self {
            UsersCommand::List(_) => None,
            UsersCommand::Add { of, .. }
            | UsersCommand::Rights { of, .. }
            | UsersCommand::Password(of)
            | UsersCommand::Remove(of) => Some(of),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct OfUser {
    /// The file of a store
    pub(crate) source: String,
    /// The name of the user
    pub(crate) user: String,
}

#[derive(Debug, Args)]
pub(crate) struct GrantedRights {
    /// Collections to read
    #[arg(long, value_delimiter = ',', value_name = "COLLECTIONS")]
    pub(crate) read: Vec<String>,
    /// Collections to read and write
    #[arg(long, value_delimiter = ',', value_name = "COLLECTIONS")]
    pub(crate) write: Vec<String>,
    /// Read all collections
    #[arg(long)]
    pub(crate) read_all: bool,
    /// Read and write all collections
    #[arg(long)]
    pub(crate) write_all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// The file of a store that a process serves, or a URI mongodb://..
    pub(crate) source: String,
    /// One collection instead of all
    pub(crate) collection: Option<String>,
    /// Conditions that the document meets after the change, as those of find: stars=5
    pub(crate) conditions: Vec<String>,
    /// End after this number of changes
    #[arg(long)]
    pub(crate) limit: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// The new file
    pub(crate) file: PathBuf,
    /// Make one count wrong, past the library, for an audit to find
    #[arg(long)]
    pub(crate) wrong: bool,
    /// Add about this number of documents, to see how long commands take
    #[arg(long, value_name = "NUMBER")]
    pub(crate) documents: Option<u32>,
}
