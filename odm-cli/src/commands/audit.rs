//! `audit` and `validate`: whether the data is right.

use std::time::Duration;

use mongodb::bson::{Bson, Document, doc};
use odm::{Audit, Collections, Finding, Problem};

use super::names;
use crate::{
    error::{Exit, Result},
    output::{Output, counted},
    progress::{Progress, Unit},
    source::{Opened, Source},
};

/// How often a bar shows how far an audit is.
const TICK: Duration = Duration::from_millis(200);

/// The subject of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// Derived data with its sources.
    Derived,
    /// Documents with the rules of their models.
    Rules,
}

impl Of {
    fn has(self, finding: &Finding) -> bool {
        let is_of_rules = matches!(
            finding.problem,
            Problem::Invalid(_) | Problem::Unreadable(_) | Problem::CheckFailed(_)
        );
        is_of_rules == (self == Of::Rules)
    }
}

pub(super) async fn run(
    source: &Source<'_>,
    only: Option<&str>,
    of: Of,
    output: &mut Output,
) -> Result<Exit> {
    let opened = source.look().await?;
    let names = names(&opened, only).await?;
    let found = match opened.collections().await? {
        Some(collections) => {
            let audit = audit_of(&collections, only);
            let audit = if of == Of::Rules {
                audit.with_validation()
            } else {
                audit
            };
            run_audit(audit, "audit", |finding| of.has(finding), output).await?
        }
        None => ask(&opened, &names, output).await?,
    };
    Ok(if found == 0 {
        Exit::Done
    } else {
        Exit::Findings
    })
}

fn audit_of(collections: &Collections, only: Option<&str>) -> Audit {
    match only {
        Some(name) => collections.collection(name).audit(),
        None => collections.audit(),
    }
}

/// Shows the findings of an audit as they come, and their number, which is returned without those that were repaired.
pub(super) async fn run_audit(
    mut audit: Audit,
    task: &str,
    is_shown: impl Fn(&Finding) -> bool,
    output: &mut Output,
) -> Result<u64> {
    let progress = Progress::new(task, 0, Unit::Documents);
    let (mut left, mut repaired) = (0, 0);
    let mut ticks = tokio::time::interval(TICK);
    loop {
        let next = tokio::select! {
            next = audit.try_next() => next?,
            _ = ticks.tick() => {
                let at = audit.progress();
                progress.at(at.checked, at.total);
                continue;
            }
        };
        let Some(finding) = next else { break };
        if !is_shown(&finding) {
            continue;
        }
        let count = if finding.repaired {
            &mut repaired
        } else {
            &mut left
        };
        *count += 1;
        progress.aside(|| show(&finding, output))?;
    }
    progress.end();
    let at = audit.progress();
    let mut text = format!(
        "{} checked, {}",
        counted(at.checked, "document"),
        counted(left, "finding")
    );
    if repaired > 0 {
        text.push_str(&format!(", {repaired} repaired"));
    }
    if at.deferred > 0 {
        text.push_str(&format!(", {} fields wait for their refresh", at.deferred));
    }
    output.note(&text)?;
    Ok(left)
}

fn show(finding: &Finding, output: &mut Output) -> Result<()> {
    if output.is_json() {
        let id = Bson::try_from(finding.id.clone()).unwrap_or(Bson::Null);
        return output.json(&doc! {
            "collection": &finding.collection,
            "_id": id,
            "path": &finding.path,
            "finding": finding.to_string(),
            "repaired": finding.repaired,
        });
    }
    let mark = if finding.repaired { "repaired: " } else { "" };
    output.text(&format!(
        "{mark}{}",
        crate::table::printable(&finding.to_string())
    ))
}

/// Asks another process for an audit: a server of odm answers with the findings of derived data and rules together.
async fn ask(opened: &Opened, names: &[String], output: &mut Output) -> Result<u64> {
    let database = opened.database().await?;
    let progress = Progress::new("audit", names.len() as u64, Unit::Documents);
    let mut found = 0;
    for (done, name) in names.iter().enumerate() {
        progress.at(done as u64, names.len() as u64);
        let reply = database.run_command(doc! { "validate": name }).await?;
        let number = reply.get("nInvalidDocuments").map_or(0, as_number);
        found += number;
        let errors = reply.get_array("errors").into_iter().flatten();
        let errors: Vec<&str> = errors.filter_map(Bson::as_str).collect();
        progress.aside(|| {
            for error in &errors {
                let row: Document = doc! { "collection": name, "finding": *error };
                if output.is_json() {
                    output.json(&row)?
                } else {
                    output.text(error)?
                }
            }
            Ok::<_, crate::error::Failure>(())
        })?;
        let shown = errors.len() as u64;
        if number > shown {
            output.note(&format!("and {} more in {name}", number - shown))?;
        }
    }
    progress.end();
    output.note(&format!(
        "{} checked, {}",
        counted(names.len() as u64, "collection"),
        counted(found, "finding")
    ))?;
    Ok(found)
}

fn as_number(value: &Bson) -> u64 {
    match value {
        Bson::Int32(number) => u64::try_from(*number).unwrap_or_default(),
        Bson::Int64(number) => u64::try_from(*number).unwrap_or_default(),
        _ => 0,
    }
}
