//! A small web service over the product catalog: JSON in and out, errors as status codes.
//!
//! | request | answer |
//! |---|---|
//! | `POST /parts` | the part, stored |
//! | `GET /parts/{id}` | the part |
//! | `POST /parts/{id}/take` with `{"qty": n}` | the part, with as many fewer on hand |
//! | `DELETE /parts/{id}` | nothing; refused while a product has it |
//! | `POST /products` | the product, stored |
//! | `GET /products?after=..&size=..` | a page of products, and where the next one starts |
//! | `GET /products/{catalog_number}` | the product with its parts, joined |

use std::future::Future;

use axum::{
    Json, Router,
    extract::{
        Path, Query, State,
        rejection::{JsonRejection, PathRejection, QueryRejection},
    },
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use odm::{ErrorKind, prelude::*, repository::Cursor, store::embedded::Embedded};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use crate::guides::products::{Catalog, Part, Product};

/// Serves requests on the listener until `shutdown` is ready and those under way are answered.
/// Nothing that was acknowledged is lost.
pub async fn serve(
    listener: TcpListener,
    store: Embedded,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let db = Catalog::open(store).await?;
    axum::serve(listener, router(db.clone()))
        .with_graceful_shutdown(shutdown)
        .await?;
    db.close().await?;
    Ok(())
}

/// The routes over a database.
pub fn router(db: Catalog) -> Router {
    Router::new()
        .route("/parts", post(add_part))
        .route("/parts/{id}", get(part).delete(remove_part))
        .route("/parts/{id}/take", post(take_part))
        .route("/products", post(add_product).get(products))
        .route("/products/{catalog_number}", get(product))
        .with_state(db)
}

/// An error of the database or of the request, as a status code with a message in JSON.
#[derive(Debug)]
pub struct Failure(StatusCode, String);

impl From<odm::Error> for Failure {
    fn from(error: odm::Error) -> Self {
        let status = match error.kind() {
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::DuplicateKey | ErrorKind::Restricted | ErrorKind::Stale => {
                StatusCode::CONFLICT
            }
            ErrorKind::DanglingReference => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorKind::InvalidQuery | ErrorKind::InvalidUpdate => StatusCode::BAD_REQUEST,
            ErrorKind::Limit => StatusCode::PAYLOAD_TOO_LARGE,
            _ if error.is_retryable() => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Failure(status, error.to_string())
    }
}

macro_rules! failures {
    ($($rejection:ident)*) => {$(
        impl From<$rejection> for Failure {
            fn from(rejection: $rejection) -> Self {
                Failure(rejection.status(), rejection.body_text())
            }
        }
    )*};
}
failures!(JsonRejection PathRejection QueryRejection);

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.0, Json(serde_json::json!({ "error": self.1 }))).into_response()
    }
}

type Answer<T> = Result<T, Failure>;
type Body<T> = Result<Json<T>, JsonRejection>;
type Segment<T> = Result<Path<T>, PathRejection>;
type Parameters<T> = Result<Query<T>, QueryRejection>;

/// A part as a client sends it: without an id.
#[derive(Debug, Serialize, Deserialize)]
pub struct NewPart {
    /// The manufacturer's number.
    pub partno: String,
    /// What it is called.
    pub name: String,
    /// How many are on hand.
    pub qty: i32,
    /// What it costs to buy.
    pub cost: f64,
    /// What it is sold for.
    pub price: f64,
}

async fn add_part(
    State(db): State<Catalog>,
    body: Body<NewPart>,
) -> Answer<(StatusCode, Json<Part>)> {
    let Json(NewPart {
        partno,
        name,
        qty,
        cost,
        price,
    }) = body?;
    let part = Part {
        id: ObjectId::new(),
        partno,
        name,
        qty,
        cost,
        price,
    };
    Ok((StatusCode::CREATED, Json(db.parts.insert(part).await?)))
}

async fn part(State(db): State<Catalog>, id: Segment<ObjectId>) -> Answer<Json<Part>> {
    let Path(id) = id?;
    Ok(Json(db.parts.get(id).await?))
}

async fn remove_part(State(db): State<Catalog>, id: Segment<ObjectId>) -> Answer<StatusCode> {
    let Path(id) = id?;
    match db.parts.delete(id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Failure(
            StatusCode::NOT_FOUND,
            format!("there is no part `{id}`"),
        )),
    }
}

/// How many of a part a client takes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Take {
    /// The number.
    pub qty: i32,
}

async fn take_part(
    State(db): State<Catalog>,
    id: Segment<ObjectId>,
    body: Body<Take>,
) -> Answer<Json<Part>> {
    let Path(id) = id?;
    let Json(Take { qty }) = body?;
    let part = db
        .try_transaction(async |db| {
            let part = db.parts.get(id).await?;
            if part.qty < qty {
                let message = format!("only {} of `{}` are on hand", part.qty, part.name);
                return Err(Failure(StatusCode::CONFLICT, message));
            }
            db.parts.update(id).inc(Part::fields().qty, -qty).await?;
            Ok(db.parts.get(id).await?)
        })
        .await?;
    Ok(Json(part))
}

/// A product as a client sends it: without an id.
#[derive(Debug, Serialize, Deserialize)]
pub struct NewProduct {
    /// What it is called.
    pub name: String,
    /// Who makes it.
    pub manufacturer: String,
    /// Its number in the catalog.
    pub catalog_number: i32,
    /// The ids of its parts.
    pub parts: Vec<ObjectId>,
}

async fn add_product(
    State(db): State<Catalog>,
    body: Body<NewProduct>,
) -> Answer<(StatusCode, Json<Product>)> {
    let Json(NewProduct {
        name,
        manufacturer,
        catalog_number,
        parts,
    }) = body?;
    let parts = parts.into_iter().map(Ref::new).collect();
    let product = Product {
        id: ObjectId::new(),
        name,
        manufacturer,
        catalog_number,
        parts,
    };
    Ok((
        StatusCode::CREATED,
        Json(db.products.insert(product).await?),
    ))
}

#[derive(Deserialize)]
struct PageOf {
    after: Option<Cursor>,
    #[serde(default = "PageOf::default_size")]
    size: u64,
}

impl PageOf {
    fn default_size() -> u64 {
        50
    }
}

/// Some products, and where the next page starts.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProductPage {
    /// The products.
    pub items: Vec<Product>,
    /// For `?after=`; none at the end.
    pub next: Option<Cursor>,
}

async fn products(
    State(db): State<Catalog>,
    page: Parameters<PageOf>,
) -> Answer<Json<ProductPage>> {
    let Query(page) = page?;
    let mut products = db
        .products
        .all()
        .sort(Product::fields().catalog_number.asc());
    if let Some(after) = &page.after {
        products = products.after(after);
    }
    let page = products.page(page.size.clamp(1, 1_000)).await?;
    Ok(Json(ProductPage {
        items: page.items,
        next: page.next,
    }))
}

/// A product with its parts.
#[derive(Debug, Serialize, Deserialize)]
pub struct FullProduct {
    /// The product.
    pub product: Product,
    /// Its parts, in order.
    pub parts: Vec<Part>,
}

async fn product(
    State(db): State<Catalog>,
    catalog_number: Segment<i32>,
) -> Answer<Json<FullProduct>> {
    let Path(catalog_number) = catalog_number?;
    let (product, parts) = db
        .products
        .find(Product::fields().catalog_number.eq(catalog_number))
        .join(Product::fields().parts)
        .one()
        .await?;
    Ok(Json(FullProduct { product, parts }))
}
