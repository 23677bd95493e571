//! A small web service over the product catalog: JSON in and out, errors as status codes.
//!
//! | request | answer |
//! |---|---|
//! | `POST /parts` | the part, stored |
//! | `GET /parts?name=..&after=..&size=..` | a page of the parts whose names begin so, in any case |
//! | `GET /parts/{id}` | the part, with its `ETag`, unless that is in `If-None-Match` |
//! | `PATCH /parts/{id}` with `If-Match` | the part, changed, unless somebody else has changed it |
//! | `POST /parts/{id}/take` with `{"qty": n}` | the part, with as many fewer on hand |
//! | `DELETE /parts/{id}` | an empty answer; refused while a product has it |
//! | `POST /products` | the product, stored |
//! | `GET /products?name=..&after=..&size=..` | a page of products, with the names of their parts |
//! | `GET /products/{catalog_number}` | the product with its parts, joined, and the `ETag` of both, unless that is in `If-None-Match` |

mod failure;
mod models;

use std::{future::Future, num::NonZeroU32};

use axum::{
    Json, Router,
    extract::{
        self, DefaultBodyLimit, FromRequestParts, Path, State,
        rejection::{JsonRejection, PathRejection, QueryRejection},
    },
    http::{HeaderMap, HeaderValue, StatusCode, header, request},
    response::{IntoResponse, Response},
    routing::{get, post},
};
pub use failure::{Answer, Failure};
pub use models::{Catalog, NewPart, NewProduct, Part, PartLink, PartPatch, Product};
use odm::{
    ETag,
    prelude::*,
    repository::{Cursor, Page, Query},
    store::embedded::Embedded,
};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tower_http::trace::TraceLayer;

/// The largest body of a request, in bytes.
const LARGEST_BODY: usize = 64 * 1024;
/// The largest page.
const LARGEST_PAGE: u64 = 200;

/// Serves requests on the listener until `shutdown` is ready and the open requests are answered. No acknowledged write is lost.
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
        .route("/parts", post(add_part).get(parts))
        .route(
            "/parts/{id}",
            get(part).patch(change_part).delete(remove_part),
        )
        .route("/parts/{id}/take", post(take_part))
        .route("/products", post(add_product).get(products))
        .route("/products/{catalog_number}", get(product))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(TraceLayer::new_for_http())
        .with_state(db)
}

type Body<T> = Result<Json<T>, JsonRejection>;
type Segment<T> = Result<Path<T>, PathRejection>;
type Parameters<T> = Result<extract::Query<T>, QueryRejection>;

/// A part with its `ETag`.
fn tagged(part: Part) -> Answer<Response> {
    let tag = ETag::of(&part)?.to_string();
    Ok(([(header::ETAG, tag)], Json(part)).into_response())
}

/// The answer, with its tag, or the tag alone if the client has it.
fn unless_seen(headers: &HeaderMap, tag: ETag, shown: impl Serialize) -> Response {
    let seen = headers.get(header::IF_NONE_MATCH);
    let is_seen = seen.is_some_and(|seen| tag.is_in(seen));
    let tag = [(header::ETAG, tag.to_string())];
    if is_seen {
        return (StatusCode::NOT_MODIFIED, tag).into_response();
    }
    (tag, Json(shown)).into_response()
}

async fn add_part(State(db): State<Catalog>, body: Body<NewPart>) -> Answer<impl IntoResponse> {
    let Json(part) = body?;
    let part = db.parts.insert(part).await?;
    Ok((StatusCode::CREATED, tagged(part)?))
}

async fn part(
    State(db): State<Catalog>,
    id: Segment<ObjectId>,
    headers: HeaderMap,
) -> Answer<Response> {
    let Path(id) = id?;
    let part = db.parts.get(id).await?;
    Ok(unless_seen(&headers, ETag::of(&part)?, part))
}

/// The tag of the version that a client has read.
struct IfMatch(HeaderValue);

impl<S: Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut request::Parts, _: &S) -> Answer<Self> {
        let seen = parts.headers.get(header::IF_MATCH).cloned();
        seen.map(IfMatch).ok_or_else(|| {
            let message = "`If-Match` is missing: send the `ETag` of what you have read";
            Failure::new(StatusCode::PRECONDITION_REQUIRED, message)
        })
    }
}

async fn change_part(
    State(db): State<Catalog>,
    id: Segment<ObjectId>,
    IfMatch(seen): IfMatch,
    body: Body<PartPatch>,
) -> Answer<Response> {
    let (Path(id), Json(patch)) = (id?, body?);
    let update = db.parts.update(id).if_match(seen).set_all(patch);
    tagged(update.returning().await?)
}

async fn remove_part(State(db): State<Catalog>, id: Segment<ObjectId>) -> Answer<StatusCode> {
    let Path(id) = id?;
    match db.parts.delete(id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Failure::new(StatusCode::NOT_FOUND, "there is no such part")),
    }
}

/// How many of a part a client takes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Take {
    /// The number, which is at least one.
    pub qty: NonZeroU32,
}

async fn take_part(
    State(db): State<Catalog>,
    id: Segment<ObjectId>,
    body: Body<Take>,
) -> Answer<Response> {
    let (Path(id), Json(Take { qty })) = (id?, body?);
    let part = db.parts.try_modify(id, |part| {
        part.qty = part.qty.checked_sub(qty.get()).ok_or_else(|| {
            let message = format!("only {} are on hand", part.qty);
            Failure::new(StatusCode::CONFLICT, message)
        })?;
        Ok::<_, Failure>(())
    });
    tagged(part.await?)
}

/// A product as a client sends it.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProductBody {
    /// The name.
    pub name: String,
    /// Who makes it.
    pub manufacturer: String,
    /// Its number in the catalog.
    pub catalog_number: i32,
    /// The ids of its parts.
    pub parts: Vec<Ref<Part>>,
}

async fn add_product(
    State(db): State<Catalog>,
    body: Body<ProductBody>,
) -> Answer<(StatusCode, Json<Product>)> {
    let Json(body) = body?;
    let product = NewProduct {
        name: body.name,
        manufacturer: body.manufacturer,
        catalog_number: body.catalog_number,
        parts: body.parts.into_iter().map(PartLink::from).collect(),
    };
    let product = db.products.insert(product).await?;
    Ok((StatusCode::CREATED, Json(product)))
}

/// A client's request for a list.
#[derive(Debug, Deserialize)]
struct Listing {
    /// How the names begin.
    #[serde(default)]
    name: String,
    after: Option<Cursor>,
    size: Option<u64>,
}

impl Listing {
    fn folded_name(&self) -> String {
        odm::fold_case(&self.name)
    }

    async fn page<T: Document>(&self, mut found: Query<T>) -> Answer<Json<Items<T>>> {
        let size = self.size.unwrap_or(50);
        if !(1..=LARGEST_PAGE).contains(&size) {
            let message = format!("`size` is from 1 to {LARGEST_PAGE}");
            return Err(Failure::new(StatusCode::BAD_REQUEST, message));
        }
        if let Some(after) = &self.after {
            found = found.after(after);
        }
        let Page { items, next, .. } = found.page(size).await?;
        Ok(Json(Items { items, next }))
    }
}

/// A page of a list, and where the next one starts.
#[derive(Debug, Serialize, Deserialize)]
pub struct Items<T> {
    /// The elements of the page.
    pub items: Vec<T>,
    /// For `?after=`; absent at the end.
    pub next: Option<Cursor>,
}

async fn parts(
    State(db): State<Catalog>,
    listing: Parameters<Listing>,
) -> Answer<Json<Items<Part>>> {
    let extract::Query(listing) = listing?;
    let name = Part::fields().name_folded;
    let found = db.parts.find(name.starts_with(&listing.folded_name()));
    listing.page(found.sort(name.asc())).await
}

async fn products(
    State(db): State<Catalog>,
    listing: Parameters<Listing>,
) -> Answer<Json<Items<Product>>> {
    let extract::Query(listing) = listing?;
    let name = Product::fields().name_folded;
    let found = db.products.find(name.starts_with(&listing.folded_name()));
    listing.page(found.sort(name.asc())).await
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
    headers: HeaderMap,
) -> Answer<Response> {
    let Path(catalog_number) = catalog_number?;
    let (product, parts) = db
        .products
        .find(Product::fields().catalog_number.eq(catalog_number))
        .join(Product::fields().parts)
        .one()
        .await?;
    let (id, revision) = (product.id, product.revision);
    let full = FullProduct { product, parts };
    let tag = ETag::new::<Product>(id, revision, &full)?;
    Ok(unless_seen(&headers, tag, full))
}
