//! `import`: an export of odm, files of mongoexport, or a folder of mongodump.

use std::path::PathBuf;

use mongodb::bson::doc;
use odm::Collections;
use tokio::{
    fs::File,
    io::{AsyncBufReadExt, BufReader},
};

use crate::{
    arguments::Import,
    error::{Exit, Failure, Result},
    output::{Output, counted},
    progress::{Progress, Unit},
    source::Source,
};

/// A file that is read once from its beginning to its end, so that it can be a pipe.
struct Input {
    path: PathBuf,
    bytes: u64,
    reader: BufReader<File>,
}

pub(super) async fn run(source: &Source<'_>, import: &Import, output: &mut Output) -> Result<Exit> {
    let files = files_of(&import.files)?;
    let target = if import.create {
        source.create().await?
    } else {
        source.open_collections().await?
    };
    let mut inputs = Vec::new();
    for path in files {
        inputs.push(Input::open(path).await?);
    }
    let is_export = match inputs.as_mut_slice() {
        [only] if import.into.is_none() => only.is_export().await?,
        _ => false,
    };
    let number = match inputs.pop() {
        Some(only) if is_export => import_export(&target.collections, only).await?,
        last => {
            inputs.extend(last);
            import_files(&target.collections, inputs, import.into.as_deref()).await?
        }
    };
    target.close().await?;
    if output.is_json() {
        output.json(&doc! { "imported": number as i64 })?;
    } else {
        output.text(&format!("{} imported", counted(number, "document")))?;
    }
    Ok(Exit::Done)
}

impl Input {
    async fn open(path: PathBuf) -> Result<Input> {
        let cannot = |error| Failure::io(format_args!("cannot read `{}`", path.display()), &error);
        let file = File::open(&path).await.map_err(cannot)?;
        let bytes = file.metadata().await.map_err(cannot)?.len();
        let reader = BufReader::new(file);
        Ok(Input {
            path,
            bytes,
            reader,
        })
    }

    /// Whether it begins as an export of odm.
    async fn is_export(&mut self) -> Result<bool> {
        let start = self.reader.fill_buf().await;
        let start = start.map_err(|error| {
            Failure::io(
                format_args!("cannot read `{}`", self.path.display()),
                &error,
            )
        })?;
        Ok(start.starts_with(b"{\"export\":"))
    }
}

/// The files that are named, and those of BSON in folders that are named, without what mongodump says of itself.
fn files_of(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in named {
        let cannot = |error| Failure::io(format_args!("cannot read `{}`", path.display()), &error);
        if !std::fs::metadata(path).map_err(cannot)?.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut within = Vec::new();
        for entry in std::fs::read_dir(path).map_err(cannot)? {
            let file = entry.map_err(cannot)?.path();
            if file
                .extension()
                .is_some_and(|extension| extension == "bson")
            {
                within.push(file);
            }
        }
        if within.is_empty() {
            let message = format!("the folder `{}` has no files of BSON", path.display());
            return Err(Failure::not_found(message)
                .with_advice("Name the folder of one database: dump/shop"));
        }
        within.sort_unstable();
        files.extend(within);
    }
    Ok(files)
}

async fn import_export(collections: &Collections, input: Input) -> Result<u64> {
    let progress = Progress::new("import", 0, Unit::Documents);
    let report = progress.reporter();
    let import = collections.import(input.reader);
    let number = import
        .on_progress(move |at| report(at.documents, at.of))
        .await;
    progress.end();
    number.map_err(|error| Failure::from(error).within(input.path.display()))
}

async fn import_files(
    collections: &Collections,
    inputs: Vec<Input>,
    into: Option<&str>,
) -> Result<u64> {
    let mut import = collections.import_files();
    let bytes = inputs.iter().map(|input| input.bytes).sum();
    let names: Vec<String> = inputs
        .iter()
        .map(|input| input.path.display().to_string())
        .collect();
    for Input { path, reader, .. } in inputs {
        let of_file = path
            .file_stem()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        import = import.file_into(into.unwrap_or(of_file), reader);
    }
    let progress = Progress::new("import", bytes, Unit::Bytes);
    let report = progress.reporter();
    let number = import.on_progress(move |at| report(at.bytes, bytes)).await;
    progress.end();
    number.map_err(|error| Failure::from(error).within(names.join("`, `")))
}
