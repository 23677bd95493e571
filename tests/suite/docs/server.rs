use odm::{Embedded, prelude::*};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Debug, Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    parts: Repository<Part>,
}

async fn serve(shop: Shop, address: &str) -> odm::Result<()> {
    use odm::Collections;
    use odm_server::Server;

    // An address such as "127.0.0.1:27017".
    let server = Server::builder().database("shop", Collections::of(&shop)).listen(address).await?;
    println!("mongosh mongodb://{}/shop", server.local_addr().expect("it listens at TCP"));

    let uri = format!("mongodb://{}", server.local_addr().expect("it listens at TCP"));
    let client = mongodb::Client::with_uri_str(uri).await.expect("it is a URI");
    let bolt = odm::bson::doc! { "_id": 1_i64, "name": "bolt" };
    let parts = client.database("shop").collection("parts");
    parts.insert_one(bolt).await.expect("it is stored");
    assert_eq!(shop.parts.get(1).await?.name, "bolt");
    server.shutdown().await;
    Ok(())
}

async fn serve_users(shop: Shop, address: &str) -> odm::Result<()> {
    use odm::Collections;
    use odm_server::{Right, Server, Users};

    let collections = Collections::of(&shop);
    let users = Users::of(&collections);
    let rights = [Right::read("parts"), Right::read_write("notes")];
    users.create("ann", "correct horse", rights).await?;
    let server = Server::builder().database("shop", collections).require_users();
    let server = server.listen(address).await?;

    let of = |name: &str| {
        let address = server.local_addr().expect("it listens at TCP");
        mongodb::Client::with_uri_str(format!("mongodb://{name}{address}/shop"))
    };
    let parts = async |name: &str| {
        let client = of(name).await.expect("it is a URI");
        client.database("shop").collection::<odm::bson::Document>("parts")
    };
    let ann = parts("ann:correct horse@").await;
    assert!(ann.find_one(odm::bson::doc! {}).await.is_ok());
    assert!(ann.delete_many(odm::bson::doc! {}).await.is_err());
    assert!(parts("").await.find_one(odm::bson::doc! {}).await.is_err());
    server.shutdown().await;
    Ok(())
}

async fn serve_page(
    shop: Shop,
    listener: tokio::net::TcpListener,
) -> Result<(), Box<dyn std::error::Error>> {
    use std::net::SocketAddr;

    use axum::Router;
    use odm::Collections;
    use odm_server::Server;

    let page = Server::builder().database("shop", Collections::of(&shop)).page().await?;
    let app = Router::new().nest("/data", page.router());
    // http://127.0.0.1:8080/data, if the listener is there.
    axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?;
    Ok(())
}

#[test]
fn a_page_is_served() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    tests::run(async {
        let store = Embedded::memory().await.expect("it opens");
        let shop = Shop::open(store).await.expect("it opens");
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("it listens");
        let address = listener.local_addr().expect("it listens at TCP");
        let browse = async {
            let mut stream = tokio::net::TcpStream::connect(address).await.expect("it accepts");
            let request = b"GET /data HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
            stream.write_all(request).await.expect("it reads");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.expect("it answers");
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        };
        tokio::select! {
            ended = serve_page(shop, listener) => panic!("{ended:?}"),
            () = browse => {}
        }
    });
}

#[test]
fn a_database_is_served_to_its_users() {
    tests::run(async {
        let store = Embedded::memory().await.expect("it opens");
        let shop = Shop::open(store).await.expect("it opens");
        serve_users(shop, "127.0.0.1:0").await.expect("it is served");
    });
}

#[test]
fn a_database_is_served() {
    tests::run(async {
        let store = Embedded::memory().await.expect("it opens");
        let shop = Shop::open(store).await.expect("it opens");
        serve(shop, "127.0.0.1:0").await.expect("it is served");
    });
}
