#[derive(Document)]
#[document(collection = "issues")]
struct Issue {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    project: Ref<Project>,
    #[embed]
    book: Option<BookLink>,
    #[sequence(within = "project")]
    number: i64,
    #[sequence(within = "book.id")]
    page: Option<i32>,
}
