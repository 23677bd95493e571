use odm::prelude::*;

#[derive(Document)]
#[document(collection = "uses")]
union Use {
    id: i64,
}

fn main() {}
