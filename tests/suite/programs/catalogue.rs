//! The data of a product catalogue with a tree of categories, in which no writer keeps a path, a total, a price or the words of a search.

use std::collections::BTreeMap;

use odm::{ErrorKind, Result, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_local_stores};

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "categories", new(name = "NewCategory", derive(Clone)))]
struct Category {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: i64,
    name: String,
    #[reference(parent)]
    parent: Option<Ref<Category>>,
    #[ancestors(via = "parent")]
    path: Ancestors<Category>,
    /// With those of the categories below.
    #[count(of = "Product", via = "categories", filter = on_sale)]
    products: i64,
    #[min(of = "Product.from_cents", via = "categories", filter = on_sale)]
    from_cents: Option<i64>,
    #[subset(limit = 3, sort = "-sold, name", via = "categories", filter = on_sale)]
    best: Subset<ProductLine>,
}

fn on_sale() -> Filter<Product> {
    Product::fields().on_sale.eq(true)
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(
    collection = "products",
    new(name = "NewProduct", derive(Clone)),
    unique(fields = "variants.sku")
)]
struct Product {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: i64,
    name: String,
    names: BTreeMap<String, String>,
    #[embed]
    kind: Kind,
    #[reference(parent)]
    category: Ref<Category>,
    #[denormalize(from = "Category.name")]
    category_name: String,
    #[ancestors(via = "category")]
    categories: Ancestors<Category>,
    #[embed]
    variants: Vec<Variant>,
    #[computed(variants.iter().map(|variant| variant.cents).min())]
    from_cents: Option<i64>,
    #[computed(variants.iter().map(|variant| variant.stock).sum::<i64>() > 0)]
    on_sale: bool,
    #[computed(words(&format!("{name} {category_name}")))]
    #[index]
    words: Vec<String>,
    sold: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Variant {
    sku: String,
    cents: i64,
    stock: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Kind {
    Lamp { watts: i32 },
    Chair { legs: i32 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Product")]
struct ProductLine {
    name: String,
    from_cents: Option<i64>,
}

#[derive(Database)]
#[database(name = "catalogue", version = 1)]
struct Catalogue {
    categories: Repository<Category>,
    products: Repository<Product>,
}

impl Catalogue {
    /// `GET /categories/{id}/products?max_cents=..`, the cheapest first
    async fn below(&self, category: i64, max_cents: Option<i64>) -> Result<Vec<String>> {
        let product = Product::fields();
        // The list names the category of a product, too.
        let found = product.categories.within(category) & product.from_cents.lte_opt(max_cents);
        let found = self.products.find(found & on_sale()).sort(product.from_cents.asc()).await?;
        Ok(found.into_iter().map(|product| product.name).collect())
    }

    /// `GET /products/{id}`, with the names of the categories from the root down
    async fn product(&self, id: i64) -> Result<(Product, String)> {
        let with_path =
            self.products.find(Product::fields().id.eq(id)).join(Product::fields().categories);
        let (product, path) = with_path.one().await?;
        let names: Vec<String> = path.into_iter().map(|category: Category| category.name).collect();
        Ok((product, names.join(" / ")))
    }

    /// `POST /products/{id}/orders`
    async fn order(&self, id: i64, sku: &str) -> Result<Product> {
        let product = Product::fields();
        self.products
            .update(id)
            .update_each(
                product.variants,
                |variant| variant.sku.eq(sku) & variant.stock.gt(0),
                |variant, changes| changes.inc(variant.stock, -1),
            )
            .inc(product.sold, 1)
            .returning()
            .await
    }
}

/// Home / Lights / Lamps, and Home / Chairs; Garden.
async fn catalogue(store: impl TestStore) -> Result<Catalogue> {
    let catalogue = Catalogue::open(store).await?;
    let new = |name: &str, parent: Option<i64>| NewCategory {
        name: name.into(),
        parent: parent.map(Ref::new),
    };
    let categories = [
        new("Home", None),
        new("Lights", Some(1)),
        new("Lamps", Some(2)),
        new("Chairs", Some(1)),
        new("Garden", None),
    ];
    catalogue.categories.insert_many(categories).await?;
    let product = |name: &str, category: i64, kind: Kind, cents: [i64; 2]| NewProduct {
        name: name.into(),
        names: BTreeMap::from([("de".to_owned(), format!("{name} (de)"))]),
        kind,
        category: Ref::new(category),
        variants: cents
            .map(|cents| Variant { sku: format!("{name} {cents}"), cents, stock: 1 })
            .into(),
        sold: 0,
    };
    let lamp = Kind::Lamp { watts: 9 };
    let products = [
        product("Desk lamp", 3, lamp.clone(), [4900, 3900]),
        product("Torch", 2, lamp.clone(), [1500, 1900]),
        product("Stool", 4, Kind::Chair { legs: 3 }, [2900, 3100]),
    ];
    catalogue.products.insert_many(products).await?;
    Ok(catalogue)
}

on_local_stores! {
    async fn a_category_shows_what_is_below_it(store: AnyStore) {
        let catalogue = catalogue(store).await.unwrap();
        assert_eq!(catalogue.below(1, None).await.unwrap(), ["Torch", "Stool", "Desk lamp"]);
        assert_eq!(catalogue.below(2, Some(2000)).await.unwrap(), ["Torch"]);
        let home = catalogue.categories.get(1).await.unwrap();
        assert_eq!((home.products, home.from_cents), (3, Some(1500)));
        assert_eq!(catalogue.product(1).await.unwrap().1, "Home / Lights / Lamps");
        let found = catalogue.products.find(Product::fields().words.matches("lamp*")).await.unwrap();
        assert_eq!(found.len(), 1, "by its own name, and by that of its category");
    }

    async fn a_category_moves_with_its_products_and_totals(store: AnyStore) {
        let catalogue = catalogue(store).await.unwrap();
        let parent = Category::fields().parent;
        catalogue.categories.update(2).set(parent, Some(Ref::new(5))).await.unwrap();
        assert_eq!(catalogue.product(1).await.unwrap().1, "Garden / Lights / Lamps");
        let [home, garden] = [catalogue.categories.get(1).await.unwrap(), catalogue.categories.get(5).await.unwrap()];
        assert_eq!((home.products, home.from_cents), (1, Some(2900)));
        assert_eq!((garden.products, garden.from_cents), (2, Some(1500)));
        let refused = catalogue.categories.update(5).set(parent, Some(Ref::new(3))).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Uncomputable);
        assert!(refused.to_string().ends_with("lead in a ring: 3 -> 2 -> 5 -> 3"), "{refused}");
        assert_eq!(catalogue.audit().await.unwrap(), []);
    }

    async fn orders_change_the_prices_and_the_best_of_each_category_above(store: AnyStore) {
        let catalogue = catalogue(store).await.unwrap();
        for sku in ["Desk lamp 3900", "Desk lamp 4900"] {
            catalogue.order(1, sku).await.unwrap();
        }
        let lamp = catalogue.products.get(1).await.unwrap();
        assert_eq!((lamp.on_sale, lamp.sold), (false, 2));
        catalogue.order(3, "Stool 2900").await.unwrap();
        let home = catalogue.categories.get(1).await.unwrap();
        let best: Vec<&str> = home.best.iter().map(|line| line.name.as_str()).collect();
        assert_eq!((home.products, best), (2, vec!["Stool", "Torch"]), "what is sold out is not shown");
        let (variants, torch) = (Product::fields().variants, "Torch 1500");
        let update = catalogue.products.update(2);
        update
            .update_each(variants, |variant| variant.sku.eq(torch), |variant, changes| changes.set(variant.cents, 900))
            .await
            .unwrap();
        assert_eq!(catalogue.categories.get(1).await.unwrap().from_cents, Some(900));
        assert_eq!(catalogue.audit().await.unwrap(), []);
    }
}
