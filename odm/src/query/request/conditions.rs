//! The conditions of a request on fields, as a filter.

use std::collections::HashSet;

use bson::RawBson;
use odm_mql::{self as mql, Test};
use odm_store::Result;

use super::{
    fields::{Purpose, RequestFields, shortened, wrong},
    value::{RequestJson, RequestScalar},
};
use crate::model::{Operand, read_bool};

/// How many values a list in a request has at most.
const VALUES: usize = 1000;

/// An operator of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Operator {
    Eq,
    Ne,
    Gt,
    Gte,
    Lt,
    Lte,
    In,
    Exists,
    Matches,
}

impl Operator {
    const ALL: [(&'static str, Operator); 9] = [
        ("eq", Operator::Eq),
        ("ne", Operator::Ne),
        ("gt", Operator::Gt),
        ("gte", Operator::Gte),
        ("lt", Operator::Lt),
        ("lte", Operator::Lte),
        ("in", Operator::In),
        ("exists", Operator::Exists),
        ("matches", Operator::Matches),
    ];

    fn named(field: &str, name: &str) -> Result<Self> {
        let found = Operator::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, operator)| *operator).ok_or_else(|| {
            let known: Vec<&str> = Operator::ALL.iter().map(|(known, _)| *known).collect();
            wrong(format_args!(
                "`{field}` has no operator `{}`: use `{}`",
                shortened(name),
                known.join("`, `")
            ))
        })
    }

    fn name(self) -> &'static str {
        let found = Operator::ALL.iter().find(|(_, known)| *known == self);
        found.map_or("", |(name, _)| name)
    }

    fn test(self, value: RawBson) -> Test {
        match self {
            Operator::Ne => Test::Ne(value),
            Operator::Gt => Test::Gt(value),
            Operator::Gte => Test::Gte(value),
            Operator::Lt => Test::Lt(value),
            Operator::Lte => Test::Lte(value),
            Operator::Eq | Operator::In | Operator::Exists | Operator::Matches => Test::Eq(value),
        }
    }
}

/// Conditions that must all hold.
pub(super) struct Conditions<'a> {
    fields: &'a RequestFields,
    /// The conditions so far by field and operator, to find duplicates.
    named: HashSet<(String, Operator)>,
    pub(super) filter: mql::Filter,
}

impl<'a> Conditions<'a> {
    pub(super) fn new(fields: &'a RequestFields) -> Self {
        Conditions {
            fields,
            named: HashSet::new(),
            filter: mql::Filter::default(),
        }
    }

    /// Adds the conditions of a JSON object.
    pub(super) fn add_json(&mut self, json: RequestJson) -> Result<()> {
        let fields = match json {
            RequestJson::Object(fields) => fields,
            RequestJson::Scalar(RequestScalar::Null) => return Ok(()),
            json => {
                return Err(wrong(format_args!(
                    "filter is {}, and not an object of fields",
                    json.noun()
                )));
            }
        };
        for (name, json) in fields {
            let found = self.fields.find(&name, Purpose::Filter)?;
            match json {
                RequestJson::Object(operators) if operators.is_empty() => {
                    return Err(wrong(format_args!(
                        "`{name}` has an empty object in place of a value"
                    )));
                }
                RequestJson::Object(operators) => {
                    for (operator, json) in operators {
                        let operator = Operator::named(&name, &operator)?;
                        self.add(&name, &found, operator, json)?;
                    }
                }
                RequestJson::List(_) => self.add(&name, &found, Operator::In, json)?,
                json => self.add(&name, &found, Operator::Eq, json)?,
            }
        }
        Ok(())
    }

    /// Adds the condition of a pair of a query string: `name=value` or `name[operator]=value`.
    pub(super) fn add_pair(&mut self, name: &str, value: &str) -> Result<()> {
        let bracketed = name.strip_suffix(']').and_then(|name| name.split_once('['));
        let (name, operator) = bracketed.unwrap_or((name, "eq"));
        let found = self.fields.find(name, Purpose::Filter)?;
        let operator = Operator::named(name, operator)?;
        let text = |text: &str| RequestJson::Scalar(RequestScalar::Query(text.to_owned()));
        let json = match operator {
            Operator::In if value.is_empty() => RequestJson::List(Vec::new()),
            Operator::In => RequestJson::List(value.split(',').map(text).collect()),
            _ => text(value),
        };
        self.add(name, &found, operator, json)
    }

    fn add(
        &mut self,
        name: &str,
        (operand, path): &(Operand, String),
        operator: Operator,
        json: RequestJson,
    ) -> Result<()> {
        if !self.named.insert((name.to_owned(), operator)) {
            let operator = operator.name();
            return Err(wrong(format_args!("`{name}` has `{operator}` twice")));
        }
        let test = match operator {
            Operator::Matches => words(name, operand, json)?,
            _ => Some(test(name, *operand, operator, json)?),
        };
        if let Some(test) = test {
            let condition = mql::Filter::Path(path.clone().into(), test);
            self.filter = std::mem::take(&mut self.filter).and(condition);
        }
        Ok(())
    }
}

/// The words of a search; `None` if there are none.
fn words(name: &str, operand: &Operand, json: RequestJson) -> Result<Option<Test>> {
    if !operand.is_text_list() {
        return Err(wrong(format_args!(
            "`{name}` is no list of words, and so has no `matches`"
        )));
    }
    match json {
        RequestJson::Scalar(RequestScalar::Text(text) | RequestScalar::Query(text)) => {
            let count = mql::words::searched(&text).len();
            if count > VALUES {
                return Err(wrong(format_args!(
                    "`matches` of `{name}` has {count} words, and at most {VALUES} are allowed"
                )));
            }
            Ok(Test::words(&text)?)
        }
        json => Err(wrong(format_args!(
            "`matches` of `{name}` takes a text, not {}",
            json.noun()
        ))),
    }
}

fn test(name: &str, operand: Operand, operator: Operator, json: RequestJson) -> Result<Test> {
    let by_order = matches!(
        operator,
        Operator::Gt | Operator::Gte | Operator::Lt | Operator::Lte
    );
    if by_order && !operand.is_ordered {
        let operator = operator.name();
        return Err(wrong(format_args!(
            "`{name}` has no order, and so no `{operator}`"
        )));
    }
    match (operator, json) {
        (Operator::In, RequestJson::List(values)) => {
            if values.len() > VALUES {
                let count = values.len();
                return Err(wrong(format_args!(
                    "`{name}` has a list of {count} values, and at most {VALUES} are allowed"
                )));
            }
            let values = values.into_iter().map(|json| value(name, &operand, json));
            Ok(Test::In(values.collect::<Result<Vec<_>>>()?.into()))
        }
        (Operator::In, json) => Err(wrong(format_args!(
            "`in` of `{name}` takes a list, not {}",
            json.noun()
        ))),
        (Operator::Exists, RequestJson::Scalar(scalar)) => scalar
            .read(|value| read_bool(value))
            .map(Test::Exists)
            .map_err(|why| wrong(format_args!("`exists` of `{name}`: {}", shortened(&why)))),
        (_, RequestJson::Scalar(RequestScalar::Null)) if by_order => Err(wrong(format_args!(
            "`{name}` is compared by its order with null, which has none"
        ))),
        (operator, json) => value(name, &operand, json).map(|value| operator.test(value)),
    }
}

/// A value as its field stores it.
fn value(name: &str, operand: &Operand, json: RequestJson) -> Result<RawBson> {
    match json {
        RequestJson::Scalar(RequestScalar::Null) if operand.is_nullable() => Ok(RawBson::Null),
        RequestJson::Scalar(scalar) => {
            let read = scalar.read(|value| operand.read(value));
            read.map_err(|why| wrong(format_args!("`{name}`: {}", shortened(&why))))
        }
        json => Err(wrong(format_args!(
            "`{name}` takes a value here, not {}",
            json.noun()
        ))),
    }
}
