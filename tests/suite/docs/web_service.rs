//! The code of `docs/web-service.md`, driven without a socket.

use axum::{
    Router,
    body::Body,
    http::{Request, StatusCode, header},
};
use odm::{Embedded, prelude::*};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use self::tracker::{NewTask, Tracker, router};

/// The whole service.
#[expect(unreachable_pub, reason = "the page shows it as a module of a program")]
mod tracker {
    use std::{collections::BTreeMap, time::Duration};

    use axum::{
        Json, Router,
        extract::{Path, Query, State},
        http::{HeaderMap, StatusCode, header},
        response::{IntoResponse, Response},
        routing::get,
    };
    use odm::{ETag, Embedded, ErrorKind, Public, prelude::*};
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "tasks", new(name = "NewTask", derive(Debug, Deserialize)))]
    pub struct Task {
        #[serde(rename = "_id")]
        #[id(sequence)]
        #[public(rename = "id")]
        pub id: i64,
        #[validate(min_length = 1, max_length = 200)]
        pub title: String,
        #[index]
        pub due: Option<DateTime>,
        #[version]
        pub revision: i64,
    }

    #[derive(Debug, Deserialize, Patch)]
    #[patch(of = "Task")]
    #[serde(deny_unknown_fields)]
    struct TaskPatch {
        title: Option<String>,
        #[serde(default, deserialize_with = "odm::present")]
        due: Option<Option<DateTime>>, // null removes the date; a missing field leaves it
    }

    #[derive(Debug, Database)]
    #[database(name = "tracker", version = 1)]
    pub struct Tracker {
        pub tasks: Repository<Task>,
    }

    pub fn router(db: Tracker) -> Router {
        Router::new()
            .route("/tasks", get(list).post(create))
            .route("/tasks/{id}", get(show).patch(change))
            .with_state(db)
    }

    struct Failure(odm::Error);

    impl From<odm::Error> for Failure {
        fn from(error: odm::Error) -> Self {
            Failure(error)
        }
    }

    impl IntoResponse for Failure {
        fn into_response(self) -> Response {
            let error = self.0;
            let (status, message) = match error.kind() {
                ErrorKind::NotFound => (StatusCode::NOT_FOUND, "there is no such document"),
                ErrorKind::DuplicateKey => (StatusCode::CONFLICT, "this name is taken"),
                ErrorKind::Restricted => (StatusCode::CONFLICT, "it is still used"),
                ErrorKind::Stale => {
                    (StatusCode::PRECONDITION_FAILED, "it has changed since it was read")
                }
                ErrorKind::Invalid => (StatusCode::UNPROCESSABLE_ENTITY, "it is not valid"),
                ErrorKind::DanglingReference => {
                    (StatusCode::UNPROCESSABLE_ENTITY, "it refers to nothing")
                }
                ErrorKind::InvalidRequest => {
                    (StatusCode::BAD_REQUEST, "this filter or sort is not known")
                }
                _ if error.is_retryable() => (StatusCode::SERVICE_UNAVAILABLE, "try again later"),
                _ => (StatusCode::INTERNAL_SERVER_ERROR, "something went wrong"),
            };
            // The text of the error names collections, indexes and values: it is for the log.
            tracing::warn!(%error, %status, "a request failed");
            // Which rule is broken where. The `message` of a violation also has the value.
            let broken = error.violations().iter().map(|broken| (&broken.path, &broken.rule));
            let fields: BTreeMap<_, _> = broken.collect();
            let body = serde_json::json!({ "error": message, "fields": fields });
            (status, Json(body)).into_response()
        }
    }

    async fn create(
        State(db): State<Tracker>,
        Json(task): Json<NewTask>,
    ) -> Result<Response, Failure> {
        let task = db.tasks.insert(task).await?;
        Ok((StatusCode::CREATED, with_etag(task)?).into_response())
    }

    async fn show(
        State(db): State<Tracker>,
        Path(id): Path<i64>,
        headers: HeaderMap,
    ) -> Result<Response, Failure> {
        let task = db.tasks.get(id).await?;
        let etag = ETag::of(&task)?;
        match headers.get(header::IF_NONE_MATCH) {
            Some(seen) if etag.is_in(seen) => {
                Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag.to_string())]).into_response())
            }
            _ => with_etag(task),
        }
    }

    fn with_etag(task: Task) -> Result<Response, Failure> {
        let etag = ETag::of(&task)?.to_string();
        Ok(([(header::ETAG, etag)], Json(Public(task))).into_response())
    }

    async fn change(
        State(db): State<Tracker>,
        Path(id): Path<i64>,
        headers: HeaderMap,
        Json(patch): Json<TaskPatch>,
    ) -> Result<Response, Failure> {
        let Some(seen) = headers.get(header::IF_MATCH) else {
            return Ok(StatusCode::PRECONDITION_REQUIRED.into_response());
        };
        let update = db.tasks.update(id).if_match(seen).set_all(patch);
        with_etag(update.returning().await?)
    }

    // GET /tasks?sort=-due,title&due[lt]=2030-01-01T00:00:00Z&after=..
    async fn list(
        State(db): State<Tracker>,
        Query(mut asked): Query<BTreeMap<String, String>>,
    ) -> Result<Response, Failure> {
        let (sort, after) = (asked.remove("sort"), asked.remove("after"));
        let allowed = Task::allow(["title", "due"]); // another field is an `InvalidRequest`
        let mut tasks = db.tasks.find(allowed.filter_from_query(&asked)?);
        tasks = tasks.sort(allowed.sort_by(&sort.unwrap_or_default())?);
        if let Some(after) = after {
            tasks = tasks.after(&after.parse()?);
        }
        let page = tasks.page(20).await?;
        let items: Vec<_> = page.items.into_iter().map(Public).collect();
        let body = serde_json::json!({ "items": items, "next": page.next });
        Ok(Json(body).into_response())
    }

    #[expect(dead_code, reason = "it runs until a signal comes")]
    pub async fn serve(address: &str, file: &str) -> Result<(), Box<dyn std::error::Error>> {
        // The program that this one replaces has the file until it ends.
        let store = Embedded::builder().wait_for_lock(Duration::from_secs(30)).open(file).await?;
        let db = Tracker::open(store).await?;
        let listener = tokio::net::TcpListener::bind(address).await?;
        axum::serve(listener, router(db.clone())).with_graceful_shutdown(stopped()).await?;
        db.close().await?; // waits for the writes under way
        Ok(())
    }

    /// Waits for Ctrl-C, or for the `SIGTERM` of a service manager.
    async fn stopped() {
        #[cfg(unix)]
        let terminated = async {
            use tokio::signal::unix::{SignalKind, signal};
            let mut signal = signal(SignalKind::terminate()).expect("signals can be awaited");
            signal.recv().await;
        };
        #[cfg(not(unix))]
        let terminated = std::future::pending::<()>();
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted.expect("signals can be awaited"),
            () = terminated => {}
        }
    }
}

/// Sends a request to the routes, and returns the status, the entity tag and the body of the answer.
async fn ask(
    router: &Router,
    method: &str,
    path: &str,
    etag: Option<&str>,
    body: Value,
) -> (StatusCode, Option<String>, Value) {
    let mut request = Request::builder().method(method).uri(path);
    request = request.header(header::CONTENT_TYPE, "application/json");
    if let Some(etag) = etag {
        let header = if method == "GET" { header::IF_NONE_MATCH } else { header::IF_MATCH };
        request = request.header(header, etag);
    }
    let request = request.body(Body::from(body.to_string())).expect("a request");
    let Ok(response) = router.clone().oneshot(request).await;
    let status = response.status();
    let etag = response.headers().get(header::ETAG);
    let etag = etag.map(|etag| etag.to_str().expect("a text").to_owned());
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.expect("a body");
    (status, etag, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

#[tokio::test]
async fn a_stale_patch_is_refused_and_names_nothing_of_the_database() {
    let store = Embedded::memory().await.expect("a store");
    let routes = router(Tracker::open(store).await.expect("it opens"));
    let task = json!({ "title": "Write", "due": "2030-01-01T00:00:00Z" });
    let (status, first, task) = ask(&routes, "POST", "/tasks", None, task).await;
    assert_eq!(status, StatusCode::CREATED);
    let path = format!("/tasks/{}", task["id"]);
    let first = first.as_deref();
    assert_eq!(ask(&routes, "GET", &path, None, Value::Null).await.1.as_deref(), first);
    let (status, etag, body) = ask(&routes, "GET", &path, first, Value::Null).await;
    assert_eq!((status, etag.as_deref(), body), (StatusCode::NOT_MODIFIED, first, Value::Null));

    let patch = json!({ "title": "Rewrite", "due": null });
    let (status, second, task) = ask(&routes, "PATCH", &path, first, patch.clone()).await;
    assert_eq!(status, StatusCode::OK);
    let second = second.as_deref();
    assert_eq!(ask(&routes, "GET", &path, first, Value::Null).await.0, StatusCode::OK);
    assert_eq!((&task["title"], &task["due"]), (&json!("Rewrite"), &Value::Null));
    let (status, _, body) = ask(&routes, "PATCH", &path, first, patch.clone()).await;
    assert_eq!(status, StatusCode::PRECONDITION_FAILED);
    assert!(!body.to_string().contains("tasks"), "{body}");
    let (status, ..) = ask(&routes, "PATCH", &path, None, patch).await;
    assert_eq!(status, StatusCode::PRECONDITION_REQUIRED);
    let (status, _, body) = ask(&routes, "PATCH", &path, second, json!({ "title": "" })).await;
    assert_eq!(
        (status, &body["fields"]),
        (StatusCode::UNPROCESSABLE_ENTITY, &json!({ "title": "minLength" }))
    );
}

#[tokio::test]
async fn a_list_is_filtered_sorted_and_paged_as_asked() {
    let store = Embedded::memory().await.expect("a store");
    let db = Tracker::open(store).await.expect("it opens");
    let tasks = (0..30).map(|number| NewTask {
        title: format!("task {number:02}"),
        due: Some(DateTime::from_millis(number * 1_000)),
    });
    db.tasks.insert_many(tasks).await.expect("they are stored");
    let routes = router(db);
    let path = "/tasks?sort=-due&due%5Blt%5D=1970-01-01T00:00:25Z";
    let (status, _, page) = ask(&routes, "GET", path, None, Value::Null).await;
    assert_eq!((status, &page["items"][0]["title"]), (StatusCode::OK, &json!("task 24")));
    let next = page["next"].as_str().expect("there is a next page");
    let (_, _, page) =
        ask(&routes, "GET", &format!("{path}&after={next}"), None, Value::Null).await;
    assert_eq!((page["items"].as_array().map(Vec::len), &page["next"]), (Some(5), &Value::Null));
    let (status, ..) = ask(&routes, "GET", "/tasks?secret=1", None, Value::Null).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let (status, ..) = ask(&routes, "GET", "/tasks/7777", None, Value::Null).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}
