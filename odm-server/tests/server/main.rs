//! A server and its clients: the official driver, and sockets for what a driver never sends.

mod change_ends;
mod change_places;
mod changes;
mod collations;
mod connections;
mod cursors;
mod documents;
mod errors;
mod manage;
mod messages;
mod operations;
mod raw;
mod rights;
mod sasl;
mod sessions;
mod snapshots;
mod sources;
mod strangers;
#[cfg(feature = "tls")]
mod tls;
mod together;
mod tools;
mod unions;
mod users;
mod users_info;
mod validators;
mod views;
mod withdrawn;

use mongodb::{
    Client,
    bson::{Bson, Document, doc},
    options::{ClientOptions, Credential},
};
use odm::{Collections, Database, derive::examples::Shop};
use odm_server::{Limits, Server, Users};

/// A server of a shop.
pub(crate) struct Served {
    pub(crate) server: Server,
    pub(crate) client: Client,
}

impl Served {
    pub(crate) async fn new(shop: &Shop) -> Served {
        Served::with_limits(shop, Limits::default()).await
    }

    pub(crate) async fn with_limits(shop: &Shop, limits: Limits) -> Served {
        let server = Server::builder()
            .database("shop", Collections::of(shop))
            .limits(limits)
            .listen("127.0.0.1:0")
            .await
            .unwrap();
        let client = client_of(&server).await;
        Served { server, client }
    }

    pub(crate) fn collection(&self, name: &str) -> mongodb::Collection<Document> {
        self.client.database("shop").collection(name)
    }

    pub(crate) async fn run(&self, command: Document) -> mongodb::error::Result<Document> {
        self.client.database("shop").run_command(command).await
    }

    /// The code and the message of the error of a command.
    pub(crate) async fn refused(&self, command: Document) -> (i32, String) {
        error_of(self.run(command).await.unwrap_err())
    }
}

/// A server of a shop that lets in its users alone.
pub(crate) struct Secured {
    pub(crate) server: Server,
    pub(crate) users: Users,
}

impl Secured {
    pub(crate) async fn new(shop: &Shop) -> Secured {
        Secured::with_limits(shop, Limits::default()).await
    }

    pub(crate) async fn with_limits(shop: &Shop, limits: Limits) -> Secured {
        let collections = Collections::of(shop);
        let users = Users::of(&collections);
        let builder = Server::builder()
            .database("shop", collections)
            .limits(limits);
        let server = builder.require_users().listen("127.0.0.1:0").await.unwrap();
        Secured { server, users }
    }

    /// A driver with a name and a password.
    pub(crate) async fn client(&self, name: &str, password: &str) -> Client {
        let address = self.server.local_addr().unwrap();
        let mut options = ClientOptions::parse(format!("mongodb://{address}/shop"))
            .await
            .unwrap();
        let credential = Credential::builder()
            .username(name.to_owned())
            .password(password.to_owned())
            .source("shop".to_owned());
        options.credential = Some(credential.build());
        Client::with_options(options).unwrap()
    }

    pub(crate) async fn anonymous(&self) -> Client {
        client_of(&self.server).await
    }

    /// A connection that has not authenticated.
    pub(crate) async fn raw(&self) -> raw::RawClient {
        raw::RawClient::new(&self.server).await
    }
}

pub(crate) async fn client_of(server: &Server) -> Client {
    let address = server.local_addr().expect("it listens at TCP");
    Client::with_uri_str(format!("mongodb://{address}"))
        .await
        .unwrap()
}

/// The code and the message of an error, of a command or of a write.
pub(crate) fn error_of(error: mongodb::error::Error) -> (i32, String) {
    use mongodb::error::{ErrorKind, WriteFailure};
    match *error.kind {
        ErrorKind::Command(error) => (error.code, error.message),
        ErrorKind::Write(WriteFailure::WriteError(error)) => (error.code, error.message),
        other => panic!("{other:?}"),
    }
}

/// Panics if derived data is wrong.
pub(crate) async fn assert_right(shop: &Shop) {
    shop.wait_for_refreshes().await.unwrap();
    assert_eq!(shop.audit().await.unwrap(), []);
}

/// A part that its model accepts.
pub(crate) fn part(id: i64, name: &str) -> Document {
    doc! { "_id": id, "name": name, "qty": 1_i64, "price": 1.5, "tags": ["new"], "note": null }
}

/// A product that its model accepts.
pub(crate) fn product(id: i64) -> Document {
    let price = doc! { "value": 1.0, "currency": "EUR" };
    doc! { "_id": id, "name": format!("product {id}"), "price": price, "names": {}, "parts": [], "version": 1_i64 }
}

/// A review that its model accepts.
pub(crate) fn review(id: i64, product: i64) -> Document {
    let published = mongodb::bson::DateTime::from_millis(1_700_000_000_000 + id);
    doc! { "_id": id, "product": product, "stars": 4, "text": format!("text {id}"), "published": published }
}

/// The fields of a reply, which must have them.
pub(crate) trait Fields {
    fn number(&self, name: &str) -> i64;
    fn text(&self, name: &str) -> &str;
    fn flag(&self, name: &str) -> bool;
    fn inner(&self, name: &str) -> &Document;
    fn list(&self, name: &str) -> &Vec<Bson>;
}

impl Fields for Document {
    fn number(&self, name: &str) -> i64 {
        match self.get(name) {
            Some(Bson::Int32(number)) => (*number).into(),
            Some(Bson::Int64(number)) => *number,
            _ => panic!("no number `{name}`: {self}"),
        }
    }

    fn text(&self, name: &str) -> &str {
        let text = self.get_str(name);
        text.unwrap_or_else(|_| panic!("no text `{name}`: {self}"))
    }

    fn flag(&self, name: &str) -> bool {
        let flag = self.get_bool(name);
        flag.unwrap_or_else(|_| panic!("no bool `{name}`: {self}"))
    }

    fn inner(&self, name: &str) -> &Document {
        let inner = self.get_document(name);
        inner.unwrap_or_else(|_| panic!("no document `{name}`: {self}"))
    }

    fn list(&self, name: &str) -> &Vec<Bson> {
        let list = self.get_array(name);
        list.unwrap_or_else(|_| panic!("no array `{name}`: {self}"))
    }
}
