//! The program of the guide's page on a service. The first argument is the address, the second one the file.

use std::{collections::BTreeMap, env};

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use examples::shop::{NewPart, NewProduct, NewReview, Part, Product, Review, Shop};
use odm::{Embedded, ErrorKind, Public, prelude::*};
use serde::Deserialize;
use serde_json::json;

fn router(shop: Shop) -> Router {
    Router::new()
        .route("/parts", post(add_part))
        .route("/products", get(search).post(add))
        .route("/products/{id}", get(product))
        .route("/products/{id}/reviews", post(review))
        .with_state(shop)
}

struct Failure(odm::Error);

impl From<odm::Error> for Failure {
    fn from(error: odm::Error) -> Self {
        Failure(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = match self.0.kind() {
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::DuplicateKey => StatusCode::CONFLICT,
            ErrorKind::Invalid | ErrorKind::DanglingReference => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorKind::InvalidRequest => StatusCode::BAD_REQUEST,
            _ if self.0.is_retryable() => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        // The text of an error names collections and values: it is for the log.
        eprintln!("{status}: {}", self.0);
        let broken = self.0.violations().iter().map(|broken| (&broken.path, &broken.rule));
        let fields: BTreeMap<_, _> = broken.collect();
        (status, Json(json!({ "error": status.to_string(), "fields": fields }))).into_response()
    }
}

// GET /products?words[matches]=garden+cha*&sort=-rating
async fn search(
    State(shop): State<Shop>,
    Query(mut asked): Query<BTreeMap<String, String>>,
) -> Result<Response, Failure> {
    let (sort, after) = (asked.remove("sort"), asked.remove("after"));
    let allowed = Product::allow(["words", "rating", "cents"]); // and nothing else
    let mut found = shop.products.find(allowed.filter_from_query(&asked)?);
    found = found.sort(allowed.sort_by(&sort.unwrap_or_default())?);
    if let Some(after) = after {
        found = found.after(&after.parse()?);
    }
    let page = found.page(20).await?;
    let items: Vec<_> = page.items.into_iter().map(Public).collect();
    Ok(Json(json!({ "items": items, "next": page.next })).into_response())
}

async fn product(
    State(shop): State<Shop>,
    Path(id): Path<i64>,
) -> Result<Json<Public<Product>>, Failure> {
    Ok(Json(Public(shop.products.get(id).await?)))
}

async fn add_part(
    State(shop): State<Shop>,
    Json(part): Json<NewPart>,
) -> Result<(StatusCode, Json<Public<Part>>), Failure> {
    Ok((StatusCode::CREATED, Json(Public(shop.parts.insert(part).await?))))
}

async fn add(
    State(shop): State<Shop>,
    Json(product): Json<NewProduct>,
) -> Result<(StatusCode, Json<Public<Product>>), Failure> {
    let product = shop.products.insert(product).await?;
    Ok((StatusCode::CREATED, Json(Public(product))))
}

#[derive(Deserialize)]
struct Opinion {
    stars: i32,
    text: String,
}

async fn review(
    State(shop): State<Shop>,
    Path(product): Path<i64>,
    Json(Opinion { stars, text }): Json<Opinion>,
) -> Result<(StatusCode, Json<Public<Review>>), Failure> {
    let product = Ref::new(product);
    let review = shop.reviews.insert(NewReview { product, stars, text }).await?;
    Ok((StatusCode::CREATED, Json(Public(review))))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    let file = arguments.next().unwrap_or_else(|| "shop.odm".to_owned());

    let shop = Shop::open(Embedded::open(file).await?).await?;
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("http://{}", listener.local_addr()?);
    let stopped = async { tokio::signal::ctrl_c().await.expect("Ctrl-C can be awaited") };
    axum::serve(listener, router(shop.clone())).with_graceful_shutdown(stopped).await?;
    shop.close().await?; // waits for the writes under way
    Ok(())
}
