use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    a: Ref<Part>,
    #[reference(child)]
    b: Ref<Part>,
    #[reference(child)]
    c: Ref<Part>,
    #[reference(child)]
    d: Ref<Part>,
    #[reference(child)]
    e: Ref<Part>,
    #[reference(child)]
    f: Ref<Part>,
    #[reference(child)]
    g: Ref<Part>,
    #[reference(child)]
    h: Ref<Part>,
}

async fn run(uses: Repository<Use>) -> odm::Result<()> {
    let of = Use::fields();
    let rows = uses
        .all()
        .join(of.a)
        .join(of.b)
        .join(of.c)
        .join(of.d)
        .join(of.e)
        .join(of.f)
        .join(of.g)
        .join(of.h)
        .await?;
    drop(rows);
    Ok(())
}

fn main() {}

//   .join(of.g)
// - .join(of.h)
//   .await?;
