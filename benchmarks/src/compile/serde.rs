// The same group without relations.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Part {
    #[serde(rename = "_id")]
    pub id: i64,
    pub name: String,
    pub number: String,
    pub price: i64,
    pub stock: Option<i32>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Product {
    #[serde(rename = "_id")]
    pub id: i64,
    pub name: String,
    pub price: i64,
    pub parts: Vec<PartLink>,
    pub reviews: i64,
    pub stars: i64,
    pub newest: Vec<ReviewLine>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PartLink {
    pub part: i64,
    pub name: String,
    pub pieces: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Review {
    #[serde(rename = "_id")]
    pub id: i64,
    pub product: i64,
    pub author: String,
    pub text: String,
    pub stars: i64,
    pub published: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReviewLine {
    #[serde(rename = "_id")]
    pub id: i64,
    pub author: String,
    pub published: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Note {
    #[serde(rename = "_id")]
    pub id: i64,
    pub title: String,
    pub text: String,
    pub tags: Vec<String>,
    pub is_draft: bool,
}
