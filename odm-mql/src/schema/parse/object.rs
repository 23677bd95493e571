//! The parser of the keywords about objects.

use bson::{RawBsonRef, RawDocument};

use super::{
    super::{
        node::{Dependency, FieldRule, Limits, Needs, ObjectRules, Rest, SchemaNode},
        words::Path,
    },
    Keywords, Parsed, check_distinct, failed, invalid, mismatch, node, strings,
};
use crate::{Pattern, error::code};

/// A dependency by the names of fields.
enum NamedNeeds {
    Fields(Vec<String>),
    Conforming(Box<SchemaNode>),
}

/// The rules about an object, by the names of fields.
struct NamedRules {
    required: Vec<String>,
    fields: Vec<FieldRule>,
    patterns: Vec<(Pattern, SchemaNode)>,
    rest: Rest,
    length: Limits,
    dependencies: Vec<(String, NamedNeeds)>,
}

pub(super) fn object(keywords: &Keywords<'_>) -> Parsed<Option<Box<ObjectRules>>> {
    Ok(by_position(NamedRules {
        required: required(keywords)?,
        fields: properties(keywords)?,
        patterns: patterns(keywords)?,
        rest: keywords.rest("additionalProperties")?,
        length: keywords.limits("minProperties", "maxProperties")?,
        dependencies: dependencies(keywords)?,
    }))
}

/// Returns `None` if there is no rule.
fn by_position(named: NamedRules) -> Option<Box<ObjectRules>> {
    let is_stated = !(named.fields.is_empty()
        && named.patterns.is_empty()
        && named.required.is_empty()
        && named.dependencies.is_empty()
        && matches!(named.rest, Rest::Any))
        || named.length.is_stated();
    if !is_stated {
        return None;
    }
    let needed = named.dependencies.iter().flat_map(|(name, needs)| {
        let others: &[String] = match needs {
            NamedNeeds::Fields(names) => names,
            NamedNeeds::Conforming(_) => &[],
        };
        others.iter().chain([name])
    });
    let others = named.required.iter().chain(needed).map(|name| FieldRule {
        name: name.clone(),
        node: None,
    });
    let mut fields = named.fields;
    fields.extend(others);
    // The sort is stable: the first rule of a field has the schema, if there is one.
    fields.sort_by(|a, b| a.name.cmp(&b.name));
    fields.dedup_by(|later, first| later.name == first.name);

    let mut rules = Box::new(ObjectRules {
        length: named.length,
        fields,
        patterns: named.patterns,
        rest: named.rest,
        ..ObjectRules::default()
    });
    let positions = |rules: &ObjectRules, names: &[String]| -> Vec<usize> {
        let positions = names.iter().filter_map(|name| rules.position(name));
        positions.collect()
    };
    rules.required = positions(&rules, &named.required);
    for (name, needs) in named.dependencies {
        let needs = match needs {
            NamedNeeds::Fields(names) => Needs::Fields(positions(&rules, &names)),
            NamedNeeds::Conforming(node) => Needs::Conforming(node),
        };
        if let Some(field) = rules.position(&name) {
            rules.dependencies.push(Dependency { field, needs });
        }
    }
    Some(rules)
}

fn required(keywords: &Keywords<'_>) -> Parsed<Vec<String>> {
    match keywords.array("required")? {
        None => Ok(Vec::new()),
        Some((array, path)) => names(strings(array, &path)?, &path),
    }
}

/// The operand of a keyword that is an object, if the schema has it.
fn document<'s>(
    keywords: &Keywords<'s>,
    keyword: &'static str,
) -> Parsed<Option<(&'s RawDocument, Path<'s>)>> {
    match keywords.get(keyword) {
        None => Ok(None),
        Some((RawBsonRef::Document(document), path)) => Ok(Some((document, path))),
        Some((_, path)) => Err(mismatch(&path, "must be an object")),
    }
}

fn properties(keywords: &Keywords<'_>) -> Parsed<Vec<FieldRule>> {
    let Some((document, path)) = document(keywords, "properties")? else {
        return Ok(Vec::new());
    };
    let mut fields = Vec::new();
    for (name, value) in document.iter().flatten() {
        let name = name.as_str().to_owned();
        check_name(&name, &path)?;
        let path = Path::Field(&path, &name);
        let RawBsonRef::Document(schema) = value else {
            return Err(mismatch(&path, "must be a schema"));
        };
        let node = Some(*node(schema, &path)?);
        fields.push(FieldRule { name, node });
    }
    let all: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
    check_distinct(&all, &path)?;
    Ok(fields)
}

fn patterns(keywords: &Keywords<'_>) -> Parsed<Vec<(Pattern, SchemaNode)>> {
    let Some((document, path)) = document(keywords, "patternProperties")? else {
        return Ok(Vec::new());
    };
    let mut patterns = Vec::new();
    for (source, value) in document.iter().flatten() {
        let path = Path::Field(&path, source.as_str());
        let RawBsonRef::Document(schema) = value else {
            return Err(mismatch(&path, "must be a schema"));
        };
        let node = *node(schema, &path)?;
        let pattern = Pattern::new(source.as_str(), "").map_err(|error| {
            let reason = format!("has no regular expression as its name: {error}");
            invalid(code::BAD_VALUE, &path, reason)
        })?;
        patterns.push((pattern, node));
    }
    Ok(patterns)
}

fn dependencies(keywords: &Keywords<'_>) -> Parsed<Vec<(String, NamedNeeds)>> {
    let Some((document, path)) = document(keywords, "dependencies")? else {
        return Ok(Vec::new());
    };
    let mut dependencies = Vec::new();
    for (name, value) in document.iter().flatten() {
        let name = name.as_str().to_owned();
        check_name(&name, &path)?;
        let path = Path::Field(&path, &name);
        let needs = match value {
            RawBsonRef::Document(schema) => NamedNeeds::Conforming(node(schema, &path)?),
            RawBsonRef::Array(array) => NamedNeeds::Fields(names(strings(array, &path)?, &path)?),
            _ => return Err(mismatch(&path, "must be a schema or an array of names")),
        };
        dependencies.push((name, needs));
    }
    let all: Vec<String> = dependencies.iter().map(|(name, _)| name.clone()).collect();
    check_distinct(&all, &path)?;
    Ok(dependencies)
}

/// Checks a list of names of fields.
fn names(names: Vec<String>, path: &Path<'_>) -> Parsed<Vec<String>> {
    if names.is_empty() {
        return Err(failed(path, "must have at least one name"));
    }
    check_distinct(&names, path)?;
    names.iter().try_for_each(|name| check_name(name, path))?;
    Ok(names)
}

fn check_name(name: &str, path: &Path<'_>) -> Parsed<()> {
    if name.contains('\0') {
        return Err(invalid(code::NUL_IN_PATH, path, "has a name with a NUL"));
    }
    if name.contains('.') {
        let reason = format!(
            "has {name:?}, which is not the name of one field; write a schema of the object that it is in"
        );
        return Err(invalid(code::BAD_VALUE, path, reason));
    }
    Ok(())
}
