// A group of four models with their relations.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "parts_GROUP")]
pub struct Part {
    #[serde(rename = "_id")]
    pub id: i64,
    pub name: String,
    #[index(unique)]
    pub number: String,
    pub price: i64,
    pub stock: Option<i32>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "products_GROUP")]
pub struct Product {
    #[serde(rename = "_id")]
    pub id: i64,
    #[index]
    pub name: String,
    pub price: i64,
    #[embed]
    pub parts: Vec<PartLink>,
    #[count(of = "Review")]
    pub reviews: i64,
    #[sum(of = "Review.stars")]
    pub stars: i64,
    #[subset(limit = 10, sort = "-published")]
    pub newest: Subset<ReviewLine>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
pub struct PartLink {
    #[reference(child)]
    pub part: Ref<Part>,
    #[denormalize(from = "Part.name")]
    pub name: String,
    pub pieces: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "reviews_GROUP")]
pub struct Review {
    #[serde(rename = "_id")]
    pub id: i64,
    #[reference(parent)]
    pub product: Ref<Product>,
    pub author: String,
    pub text: String,
    pub stars: i64,
    pub published: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Review")]
pub struct ReviewLine {
    #[serde(rename = "_id")]
    pub id: i64,
    pub author: String,
    pub published: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "notes_GROUP")]
pub struct Note {
    #[serde(rename = "_id")]
    pub id: i64,
    pub title: String,
    pub text: String,
    pub tags: Vec<String>,
    pub is_draft: bool,
}
