//! Stores the documents of MongoDB's schema-design guides, runs the guides' queries, and prints
//! what is stored and found.
//!
//! `cargo run -p examples --example guides [folder]`: the database is kept in the folder, which must
//! not have one yet, or in a temporary one.

use std::path::PathBuf;

use odm::Embedded;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let temporary;
    let folder = match std::env::args_os().nth(1) {
        Some(folder) => PathBuf::from(folder),
        None => {
            temporary = tempfile::tempdir()?;
            temporary.path().to_owned()
        }
    };
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("guides.odm");
    if file.exists() {
        return Err(format!("`{}` exists already", file.display()).into());
    }
    println!("database: {}", file.display());
    let store = Embedded::open(&file).await?;
    examples::guides::run(&store).await?;
    odm::store::Store::close(&store).await?;
    Ok(())
}
