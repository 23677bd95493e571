//! Drives the web service over real HTTP. `service_requests.rs` has the rest of its requests.

use std::net::SocketAddr;

use examples::service::{FullProduct, Items, Product, serve};
use odm::Embedded;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

struct Server {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    running: JoinHandle<Result<(), Box<dyn std::error::Error + Send + Sync>>>,
}

impl Server {
    async fn start(store: Embedded) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(serve(listener, store, async move {
            stopped.await.unwrap();
        }));
        Server {
            address,
            stop,
            running,
        }
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.running.await.unwrap().unwrap();
    }

    async fn request(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let url = format!("http://{}{path}", self.address);
        let method = method.to_owned();
        tokio::task::spawn_blocking(move || {
            let config = ureq::Agent::config_builder()
                .http_status_as_error(false)
                .build();
            let request = ureq::http::Request::builder()
                .method(method.as_str())
                .uri(url)
                .header("content-type", "application/json")
                .body(body.map(|body| body.to_string()).unwrap_or_default())
                .unwrap();
            let mut response = ureq::Agent::new_with_config(config).run(request).unwrap();
            let text = response.body_mut().read_to_string().unwrap();
            let body = if text.is_empty() {
                Value::Null
            } else {
                serde_json::from_str(&text).unwrap()
            };
            (response.status().as_u16(), body)
        })
        .await
        .unwrap()
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.request("GET", path, None).await
    }

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.request("POST", path, Some(body)).await
    }
}

fn grommet() -> Value {
    json!({ "partno": "123-aff-456", "name": "#4 grommet", "qty": 94, "cost": 0.94, "price": 3.99 })
}

#[tokio::test]
async fn documents_come_back_joined_with_plain_ids() {
    let server = Server::start(Embedded::memory().await.unwrap()).await;
    let (status, part) = server.post("/parts", grommet()).await;
    assert_eq!(status, 201);
    let id = part["_id"].as_str().expect("an id is plain text");
    assert_eq!(id.len(), 24);

    let product = json!({
        "name": "left-handed smoke shifter", "manufacturer": "Acme Corp", "catalog_number": 1234,
        "parts": [id, id],
    });
    assert_eq!(server.post("/products", product).await.0, 201);
    let (status, body) = server.get("/products/1234").await;
    assert_eq!(status, 200);
    let joined: FullProduct = serde_json::from_value(body).unwrap();
    assert_eq!(
        joined
            .parts
            .iter()
            .map(|part| part.name.as_str())
            .collect::<Vec<_>>(),
        ["#4 grommet"; 2]
    );
    server.stop().await;
}

#[tokio::test]
async fn pages_follow_each_other_and_end() {
    let server = Server::start(Embedded::memory().await.unwrap()).await;
    for number in 1..=7 {
        let product = json!({ "name": format!("p{number}"), "manufacturer": "m", "catalog_number": number, "parts": [] });
        assert_eq!(server.post("/products", product).await.0, 201);
    }
    let mut numbers = Vec::new();
    let mut path = "/products?size=3".to_owned();
    loop {
        let (status, body) = server.get(&path).await;
        assert_eq!(status, 200);
        let page: Items<Product> = serde_json::from_value(body).unwrap();
        numbers.extend(page.items.iter().map(|product| product.catalog_number));
        match page.next {
            Some(next) => path = format!("/products?size=3&after={next}"),
            None => break,
        }
    }
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7]);
    server.stop().await;
}

#[tokio::test]
async fn a_graceful_stop_keeps_what_was_stored() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("catalog.odm");
    let server = Server::start(Embedded::open(&file).await.unwrap()).await;
    let (_, part) = server.post("/parts", grommet()).await;
    server.stop().await;

    let server = Server::start(Embedded::open(&file).await.unwrap()).await;
    let (status, again) = server
        .get(&format!("/parts/{}", part["_id"].as_str().unwrap()))
        .await;
    assert_eq!((status, again), (200, part));
    server.stop().await;
}
