//! Sends requests to the handlers of the web service, on a database in memory and without a socket.

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Request, StatusCode, header},
};
use examples::service::{Catalog, router};
use odm::{Embedded, prelude::*};
use serde_json::{Value, json};
use tower::ServiceExt;

struct Service {
    db: Catalog,
    router: Router,
}

impl Service {
    async fn new() -> Service {
        let db = Catalog::open(Embedded::memory().await.unwrap())
            .await
            .unwrap();
        let router = router(db.clone());
        Service { db, router }
    }

    async fn answer(&self, request: Request<Body>) -> (StatusCode, HeaderMap, Value) {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let body = match bytes.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&bytes).unwrap(),
        };
        (parts.status, parts.headers, body)
    }

    async fn send(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let request = Request::builder().method(method).uri(path);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        let body = match body {
            Value::Null => Body::empty(),
            body => Body::from(body.to_string()),
        };
        let (status, _, body) = self.answer(request.body(body).unwrap()).await;
        (status.as_u16(), body)
    }

    async fn patch(&self, path: &str, tag: Option<&str>, body: Value) -> (u16, Value) {
        let request = Request::builder().method("PATCH").uri(path);
        let mut request = request.header(header::CONTENT_TYPE, "application/json");
        if let Some(tag) = tag {
            request = request.header(header::IF_MATCH, tag);
        }
        let (status, _, body) = self
            .answer(request.body(body.to_string().into()).unwrap())
            .await;
        (status.as_u16(), body)
    }

    /// Sends a request with the tag that a client may have, and returns the status, the tag and the body.
    async fn get(&self, path: &str, seen: Option<&str>) -> (u16, String, Value) {
        let mut request = Request::builder().uri(path);
        if let Some(seen) = seen {
            request = request.header(header::IF_NONE_MATCH, seen);
        }
        let request = request.body(Body::empty()).unwrap();
        let (status, headers, body) = self.answer(request).await;
        let tag = headers[header::ETAG].to_str().unwrap().to_owned();
        (status.as_u16(), tag, body)
    }

    async fn tag(&self, path: &str) -> String {
        self.get(path, None).await.1
    }

    /// Stores a part, and returns its path.
    async fn grommet(&self) -> String {
        let (status, part) = self.send("POST", "/parts", grommet()).await;
        assert_eq!(status, 201, "{part}");
        format!("/parts/{}", part["_id"].as_str().unwrap())
    }
}

fn grommet() -> Value {
    json!({ "partno": "123-aff-456", "name": "#4 grommet", "qty": 94, "cost": 0.94, "price": 3.99 })
}

fn product(catalog_number: i32, parts: Value) -> Value {
    json!({
        "name": "smoke shifter", "manufacturer": "Acme", "catalog_number": catalog_number,
        "parts": parts,
    })
}

/// The fields that an answer names, with their rules.
fn fields(body: &Value) -> Vec<(&str, &str)> {
    let fields = body["fields"].as_array().map_or(&[][..], Vec::as_slice);
    fields
        .iter()
        .map(|field| {
            (
                field["path"].as_str().unwrap(),
                field["rule"].as_str().unwrap(),
            )
        })
        .collect()
}

#[tokio::test]
async fn stock_is_taken_as_long_as_it_lasts_and_never_added() {
    let service = Service::new().await;
    let part = service.grommet().await;
    let path = format!("{part}/take");
    let (status, taken) = service.send("POST", &path, json!({ "qty": 90 })).await;
    assert_eq!((status, &taken["qty"]), (200, &json!(4)));
    for (qty, expected) in [
        (json!(5), 409),
        (json!(0), 422),
        (json!(-5), 422),
        (json!(1.5), 422),
        (json!(5_000_000_000_i64), 422),
        (json!("1"), 422),
    ] {
        let (status, body) = service.send("POST", &path, json!({ "qty": qty })).await;
        assert_eq!(status, expected, "{qty}: {body}");
    }
    let (_, left) = service.send("GET", &part, Value::Null).await;
    assert_eq!(left["qty"], 4);
    assert_eq!(
        service.send("POST", &path, json!({ "qty": 4 })).await.0,
        200
    );
}

#[tokio::test]
async fn values_out_of_their_ranges_are_refused_with_their_fields() {
    let service = Service::new().await;
    for (field, value, rule) in [
        ("partno", json!(""), "pattern"),
        ("partno", json!("no spaces"), "pattern"),
        ("name", json!(""), "pattern"),
        ("name", json!("  \t"), "pattern"),
        ("name", json!("n".repeat(201)), "maxLength"),
        ("qty", json!(1_000_001), "maximum"),
        ("cost", json!(-0.01), "minimum"),
        ("price", json!(1e12), "maximum"),
    ] {
        let mut part = grommet();
        part[field] = value.clone();
        let (status, body) = service.send("POST", "/parts", part).await;
        assert_eq!(
            (status, fields(&body)),
            (422, vec![(field, rule)]),
            "{value}: {body}"
        );
    }
    let mut part = grommet();
    part["qty"] = json!(-1);
    assert_eq!(service.send("POST", "/parts", part).await.0, 422);

    for (field, value, rule) in [
        ("name", json!(" "), "pattern"),
        ("manufacturer", json!(""), "pattern"),
        ("catalog_number", json!(0), "minimum"),
    ] {
        let mut product = product(1, json!([]));
        product[field] = value.clone();
        let (status, body) = service.send("POST", "/products", product).await;
        assert_eq!(
            (status, fields(&body)),
            (422, vec![(field, rule)]),
            "{value}: {body}"
        );
    }
    let id = service.grommet().await.split_off("/parts/".len());
    let many = product(1, json!(vec![id; 501]));
    let (status, body) = service.send("POST", "/products", many).await;
    assert_eq!((status, fields(&body)), (422, vec![("parts", "maxItems")]));
    let large = json!({ "name": "n".repeat(100_000) });
    assert_eq!(service.send("POST", "/parts", large).await.0, 413);
    for query in ["size=0", "size=201", "size=x", "after=x"] {
        let (status, body) = service
            .send("GET", &format!("/parts?{query}"), Value::Null)
            .await;
        assert_eq!(status, 400, "{query}: {body}");
    }
    assert_eq!(service.db.products.all().count().await.unwrap(), 0);
    assert_eq!(service.db.parts.all().count().await.unwrap(), 1);
}

#[tokio::test]
async fn a_part_is_changed_by_who_has_read_what_it_is() {
    let service = Service::new().await;
    let part = service.grommet().await;
    let id = &part["/parts/".len()..];
    service
        .send("POST", "/products", product(1, json!([id])))
        .await;
    let tag = service.tag(&part).await;

    assert_eq!(
        service.patch(&part, None, json!({ "price": 4.5 })).await.0,
        428
    );
    for odd in ["4", "\"x\"", "W/\"1\"", "\"1\", \"2\""] {
        let (status, body) = service
            .patch(&part, Some(odd), json!({ "price": 4.5 }))
            .await;
        assert_eq!(status, 412, "{odd}: {body}");
    }
    let (status, changed) = service
        .patch(&part, Some(&tag), json!({ "name": "#5 grommet" }))
        .await;
    assert_eq!((status, &changed["name"]), (200, &json!("#5 grommet")));
    assert_eq!(
        (&changed["price"], &changed["qty"]),
        (&json!(3.99), &json!(94))
    );
    // The product has the name, without a join.
    let (_, products) = service.send("GET", "/products", Value::Null).await;
    assert_eq!(products["items"][0]["parts"][0]["name"], "#5 grommet");

    for late in [json!({ "name": "late" }), json!({})] {
        let (status, body) = service.patch(&part, Some(&tag), late).await;
        assert_eq!(status, 412, "{body}");
    }
    let (status, _) = service
        .patch(&part, Some("*"), json!({ "price": 4.5 }))
        .await;
    assert_eq!(status, 200);
    assert_ne!(service.tag(&part).await, tag);

    for (patch, expected) in [
        (json!({}), 200),
        (json!({ "nmae": "x" }), 422),
        (json!({ "partno": "x" }), 422),
        (json!({ "name": "" }), 422),
        (json!({ "qty": -1 }), 422),
    ] {
        let (status, body) = service.patch(&part, Some("*"), patch.clone()).await;
        assert_eq!(status, expected, "{patch}: {body}");
    }
    let absent = "/parts/00000000000000000000aaaa";
    assert_eq!(
        service
            .patch(absent, Some("\"1\""), json!({ "qty": 1 }))
            .await
            .0,
        404
    );
    let (_, unchanged) = service.send("GET", &part, Value::Null).await;
    assert_eq!(
        (&unchanged["name"], &unchanged["qty"]),
        (&json!("#5 grommet"), &json!(94))
    );
}

#[tokio::test]
async fn what_a_client_has_is_not_sent_again_until_something_of_it_changes() {
    let service = Service::new().await;
    let part = service.grommet().await;
    let id = &part["/parts/".len()..];
    service
        .send("POST", "/products", product(1, json!([id])))
        .await;
    for path in [&*part, "/products/1"] {
        let (status, tag, body) = service.get(path, None).await;
        assert_eq!((status, body.is_object()), (200, true));
        for seen in [tag.clone(), format!("\"other\", W/{tag}"), "*".to_owned()] {
            let answer = service.get(path, Some(&seen)).await;
            assert_eq!(answer, (304, tag.clone(), Value::Null), "{path}: {seen}");
        }
        let answer = service.get(path, Some("\"other\"")).await;
        assert_eq!(answer, (200, tag, body));
    }

    // A new name of the part changes the shown product, but not the stored revision of the product.
    let (_, tag, before) = service.get("/products/1", None).await;
    let rename = json!({ "name": "#5 grommet" });
    assert_eq!(service.patch(&part, Some("*"), rename).await.0, 200);
    let (status, renamed, after) = service.get("/products/1", Some(&tag)).await;
    assert_eq!(status, 200);
    assert_ne!(renamed, tag);
    assert_eq!(after["product"]["parts"][0]["name"], "#5 grommet");
    assert_eq!(after["product"]["revision"], before["product"]["revision"]);
    assert_eq!(service.get("/products/1", Some(&renamed)).await.0, 304);
}

#[tokio::test]
async fn names_are_searched_by_how_they_begin_in_any_case() {
    let service = Service::new().await;
    for (number, name) in ["Bolt", "bolster", "nut", "BOLT (long)", "washer"]
        .iter()
        .enumerate()
    {
        let mut part = grommet();
        part["partno"] = json!(format!("p-{number}"));
        part["name"] = json!(name);
        assert_eq!(service.send("POST", "/parts", part).await.0, 201);
    }
    let mut names = Vec::new();
    let mut path = "/parts?name=bol&size=2".to_owned();
    loop {
        let (status, page) = service.send("GET", &path, Value::Null).await;
        assert_eq!(status, 200, "{page}");
        for part in page["items"].as_array().unwrap() {
            names.push(part["name"].as_str().unwrap().to_owned());
        }
        match page["next"].as_str() {
            Some(next) => path = format!("/parts?name=bol&size=2&after={next}"),
            None => break,
        }
    }
    assert_eq!(names, ["bolster", "Bolt", "BOLT (long)"]);
    // A cursor is valid for its own search alone.
    let (_, page) = service.send("GET", "/parts?size=1", Value::Null).await;
    let other = format!("/parts?name=n&after={}", page["next"].as_str().unwrap());
    assert_eq!(service.send("GET", &other, Value::Null).await.0, 400);
}

#[tokio::test]
async fn errors_have_a_status_and_tell_nothing_of_what_is_stored() {
    let service = Service::new().await;
    let part = service.grommet().await;
    let id = part["/parts/".len()..].to_owned();
    let absent = "00000000000000000000aaaa";
    let of_absent = product(2, json!([absent]));
    assert_eq!(
        service
            .send("POST", "/products", product(1, json!([id])))
            .await
            .0,
        201
    );

    let mut bad = grommet();
    bad["qty"] = json!(7_777_777);
    let refused = [
        ("POST", "/parts".to_owned(), grommet(), 409),
        ("POST", "/parts".to_owned(), bad, 422),
        ("POST", "/products".to_owned(), product(1, json!([])), 409),
        ("POST", "/products".to_owned(), of_absent, 422),
        ("DELETE", part.clone(), Value::Null, 409),
        ("DELETE", format!("/parts/{absent}"), Value::Null, 404),
        ("GET", format!("/parts/{absent}"), Value::Null, 404),
        ("GET", "/parts/nonsense".to_owned(), Value::Null, 400),
        ("GET", "/products/2".to_owned(), Value::Null, 404),
        ("POST", "/parts".to_owned(), json!({ "name": 5 }), 422),
    ];
    for (method, path, body, expected) in refused {
        let (status, answer) = service.send(method, &path, body).await;
        assert_eq!(status, expected, "{method} {path}: {answer}");
        let text = answer.to_string();
        for name in [
            "parts_",
            "products",
            "collection",
            "index",
            "123-aff-456",
            "7777777",
            absent,
        ] {
            assert!(!text.contains(name), "{method} {path}: {text}");
        }
    }
    let (_, taken) = service.send("POST", "/parts", grommet()).await;
    assert_eq!(fields(&taken), [("partno", "unique")]);
    assert_eq!(service.db.audit().await.unwrap(), []);
}
