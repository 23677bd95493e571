//! Requests of HTTP as they are sent, so that a test decides about each header.

use std::{net::SocketAddr, time::Duration};

use axum::Router;
use odm::bson::{Document, doc};
use odm_server::http::Page;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// A router that is served until the test ends.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
}

/// An answer of HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// MongoDB's code of the error, which there must be.
    pub(crate) fn code(&self) -> i64 {
        let json = self.json();
        assert_eq!(json["ok"]["$numberDouble"], "0.0", "{json}");
        json["code"]["$numberInt"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap()
    }
}

impl Served {
    pub(crate) async fn page(page: Page) -> Served {
        Served::router(page.router()).await
    }

    pub(crate) async fn router(router: Router) -> Served {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, service).await });
        Served { address }
    }

    /// Sends a request with these headers, and reads the answer.
    pub(crate) async fn send(&self, line: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut stream = self.begin(line, headers, body).await;
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer);
        // A server that refuses a body may close the connection before it has come.
        let _ = tokio::time::timeout(Duration::from_secs(20), read)
            .await
            .expect("it answers");
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        Answer {
            status: head
                .split(' ')
                .nth(1)
                .and_then(|status| status.parse().ok())
                .unwrap_or(0),
            head: head.to_lowercase(),
            body: body.to_owned(),
        }
    }

    /// Sends a request, and does not wait for its answer.
    pub(crate) async fn begin(
        &self,
        line: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> TcpStream {
        let mut request = format!(
            "{line} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n",
            body.len()
        );
        if !headers.iter().any(|(name, _)| *name == "host") {
            request.push_str(&format!("host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let _ = stream.write_all(body).await;
        stream
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path}"), &[], b"").await
    }

    /// Sends a command with these headers besides the type.
    pub(crate) async fn command_with(&self, headers: &[(&str, &str)], command: Document) -> Answer {
        let mut all = vec![("content-type", "application/json")];
        all.extend(headers);
        let body = serde_json::to_vec(&command).unwrap();
        self.send("POST /api/command", &all, &body).await
    }

    pub(crate) async fn command(&self, command: Document) -> Answer {
        self.command_with(&[], command).await
    }
}

pub(crate) fn find(collection: &str) -> Document {
    doc! { "find": collection, "$db": "shop" }
}
