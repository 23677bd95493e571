//! A server for a test, and clients of it.

use std::{net::SocketAddr, thread};

use conduit::{Settings, auth::Auth, models::Conduit, serve};
use odm::{Embedded, ErrorKind, prelude::*};
use serde_json::{Value, json};
use tokio::{net::TcpListener, runtime::Runtime, sync::oneshot, task::JoinHandle};

pub(crate) const SECRET: &[u8] = b"a secret for tests, of enough characters";

/// A server on a port of its own.
pub(crate) struct Server {
    pub(crate) db: Conduit,
    pub(crate) address: SocketAddr,
    pub(crate) runtime: Runtime,
    stop: oneshot::Sender<()>,
    running: JoinHandle<Result<(), Box<dyn std::error::Error + Send + Sync>>>,
}

impl Server {
    /// Starts a server on a store in memory.
    pub(crate) fn start() -> Server {
        Server::start_as(Settings::default())
    }

    pub(crate) fn start_as(settings: Settings) -> Server {
        let runtime = Runtime::new().unwrap();
        let store = runtime
            .block_on(async { Embedded::memory().await })
            .unwrap();
        Server::start_on(runtime, store, settings)
    }

    pub(crate) fn start_on(runtime: Runtime, store: Embedded, settings: Settings) -> Server {
        let (stop, stopped) = oneshot::channel();
        let (db, address, running) = runtime.block_on(async {
            let db = Conduit::open(store).await.unwrap();
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let shutdown = async { stopped.await.unwrap() };
            let auth = Auth::new(SECRET).unwrap();
            let running = tokio::spawn(serve(listener, db.clone(), auth, settings, shutdown));
            (db, address, running)
        });
        Server {
            db,
            address,
            runtime,
            stop,
            running,
        }
    }

    /// A client without a token.
    pub(crate) fn anyone(&self) -> Client {
        Client {
            address: self.address,
            token: None,
        }
    }

    /// Registers a user.
    pub(crate) fn user(&self, name: &str) -> Client {
        let user = json!({ "user": { "username": name, "email": format!("{name}@x.org"), "password": "password" } });
        let answer = self.anyone().post("/users", user).of(201);
        self.anyone()
            .with(answer["user"]["token"].as_str().unwrap())
    }

    /// Ann has written two articles, Ben one; the newest is Ann's, about herself.
    pub(crate) fn blog(&self) -> (Client, Client) {
        let (ann, ben) = (self.user("Ann"), self.user("Ben"));
        ann.publish("How to train a dragon", &["dragons", "training"]);
        ben.publish("Dragons? No!", &["dragons"]);
        ann.publish("About me", &[]);
        (ann, ben)
    }

    /// Audits all that is stored, and stops the server.
    pub(crate) fn end(self) {
        let audit = async { self.db.audit().with_validation().await };
        assert_eq!(self.runtime.block_on(audit).unwrap(), []);
        self.stop();
    }

    /// Stops the server, which closes its database.
    pub(crate) fn stop(self) {
        self.stop.send(()).unwrap();
        self.runtime.block_on(self.running).unwrap().unwrap();
        let read = async { self.db.users.all().count().await };
        let closed = self.runtime.block_on(read).unwrap_err();
        assert_eq!(closed.kind(), ErrorKind::Closed);
    }
}

/// A client of the API.
#[derive(Clone)]
pub(crate) struct Client {
    address: SocketAddr,
    pub(crate) token: Option<String>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) etag: Option<String>,
    /// The seconds of `Retry-After`.
    pub(crate) retry_after: Option<u64>,
    pub(crate) text: String,
}

impl Answer {
    /// The body of an answer that has this status.
    pub(crate) fn of(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.body
    }

    /// The messages of a refusal with this status, in the form of the specification.
    pub(crate) fn refused(self, status: u16) -> String {
        let text = self.text.clone();
        let body = self.of(status);
        let sentences = body["errors"]["body"].as_array().expect(&text);
        assert!(!sentences.is_empty(), "{text}");
        let sentences = sentences.iter().map(|sentence| sentence.as_str().unwrap());
        sentences.collect::<Vec<_>>().join("; ")
    }
}

impl Client {
    /// The same client with a token.
    pub(crate) fn with(&self, token: impl Into<String>) -> Client {
        Client {
            address: self.address,
            token: Some(token.into()),
        }
    }

    /// Sends a request with these headers, unchanged.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let agent = ureq::Agent::new_with_config(config.build());
        let url = format!("http://{}/api{path}", self.address);
        let mut request = ureq::http::Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Token {token}"));
        }
        let mut response = agent.run(request.body(body.to_owned()).unwrap()).unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        let header = |name| {
            let value = response.headers().get(name);
            value.map(|value| value.to_str().unwrap().to_owned())
        };
        let (etag, retry_after) = (header("etag"), header("retry-after"));
        Answer {
            status: response.status().as_u16(),
            body: serde_json::from_str(&text).unwrap_or(Value::Null),
            etag,
            retry_after: retry_after.map(|seconds| seconds.parse().unwrap()),
            text,
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "")
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[], "")
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> Answer {
        let json = [("content-type", "application/json")];
        self.send("POST", path, &json, &body.to_string())
    }

    pub(crate) fn put(&self, path: &str, body: Value) -> Answer {
        let json = [("content-type", "application/json")];
        self.send("PUT", path, &json, &body.to_string())
    }

    /// Changes an article, with an `If-Match`.
    pub(crate) fn put_if(&self, path: &str, if_match: &str, body: Value) -> Answer {
        let headers = [("content-type", "application/json"), ("if-match", if_match)];
        self.send("PUT", path, &headers, &body.to_string())
    }

    /// Publishes an article, after a pause that gives it a time of its own, and returns it.
    pub(crate) fn publish(&self, title: &str, tags: &[&str]) -> Value {
        thread::sleep(std::time::Duration::from_millis(2));
        let article = json!({
            "title": title, "description": "What it is about", "body": format!("{title}, at length"), "tagList": tags,
        });
        let answer = self.post("/articles", json!({ "article": article }));
        answer.of(201)["article"].clone()
    }

    /// Writes a comment, and returns it.
    pub(crate) fn comment(&self, slug: &str, text: &str) -> Value {
        let comment = json!({ "comment": { "body": text } });
        let answer = self.post(&format!("/articles/{slug}/comments"), comment);
        answer.of(200)["comment"].clone()
    }

    /// The article with a slug.
    pub(crate) fn article(&self, slug: &str) -> Value {
        self.get(&format!("/articles/{slug}")).of(200)["article"].clone()
    }

    /// The titles of a part of a list, and the number of all articles in the list.
    pub(crate) fn titles(&self, path: &str) -> (Vec<String>, u64) {
        let list = self.get(path).of(200);
        let articles = list["articles"].as_array().unwrap().iter();
        let titles = articles.map(|article| article["title"].as_str().unwrap().to_owned());
        (titles.collect(), list["articlesCount"].as_u64().unwrap())
    }
}
