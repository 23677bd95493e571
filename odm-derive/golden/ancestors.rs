#[derive(Document)]
#[document(collection = "categories")]
struct Category {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    parent: Option<Ref<Category>>,
    #[ancestors(via = "parent")]
    #[serde(rename = "ancestorIds")]
    path: Ancestors<Category>,
    #[reference(child)]
    shelf: Option<Ref<Shelf>>,
    #[ancestors(via = "shelf", refresh = "later")]
    shelves: Ancestors<Shelf>,
}
