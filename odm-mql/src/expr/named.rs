//! Operators whose arguments have names.

mod forms;

use std::sync::Arc;

use bson::{Bson, Document, RawBson};
use odm_pattern::Finder;

pub(super) use self::forms::{Form, NamedOperator};
use super::{
    ExprNode, dates, evaluate, parse, quantiles, regexes, scope::Scope, search, sort_array,
    work::Held, zip,
};
use crate::{
    Collation, Error, PushSort,
    group::QuantileKind,
    types::{bad_as, from_raw, to_raw, unknown},
    variables::Substitution,
};

/// An operator with its arguments, each at the place of its name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Named {
    form: &'static Form,
    arguments: Vec<Option<ExprNode>>,
    prepared: Prepared,
}

/// The value that is made of constant arguments once.
#[derive(Debug, Clone, PartialEq)]
enum Prepared {
    Nothing,
    Finder(Arc<Finder>),
    Order(PushSort),
    Quantiles(QuantileKind),
}

/// The arguments of an operator in a scope.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arguments<'a> {
    named: &'a Named,
    scope: Scope<'a>,
    /// The memory that the values take.
    held: &'a Held<'a>,
}

impl Named {
    /// Parses the operator of a name, if it is one of these.
    pub(super) fn parse(
        name: &str,
        operand: &Bson,
        variables: &Substitution<'_>,
    ) -> Option<Result<Named, Error>> {
        let form = Form::by_name(name)?;
        Some(Named::of(form, operand, variables))
    }

    fn of(
        form: &'static Form,
        operand: &Bson,
        variables: &Substitution<'_>,
    ) -> Result<Named, Error> {
        let mut named = Named {
            form,
            arguments: form.keys.iter().map(|_| None).collect(),
            prepared: Prepared::Nothing,
        };
        match operand {
            Bson::Document(document) if !(form.takes_value && parse::is_operator(document)) => {
                named.parse_arguments(document, variables)?;
            }
            Bson::Array(values) if form.takes_value => match values.as_slice() {
                [value] => named.arguments[0] = Some(parse::node(value, variables)?),
                _ => return Err(bad_as(form.no_document, form.name, "one operand")),
            },
            value if form.takes_value => {
                named.arguments[0] = Some(parse::node(value, variables)?);
            }
            _ => {
                let expected = "a document of its arguments";
                return Err(bad_as(form.no_document, form.name, expected));
            }
        }
        named.prepare()?;
        Ok(named)
    }

    fn parse_arguments(
        &mut self,
        document: &Document,
        variables: &Substitution<'_>,
    ) -> Result<(), Error> {
        let form = self.form;
        let is_known = |key: &String| form.keys.iter().any(|(known, _)| known == key);
        if let Some(other) = document.keys().find(|key| !is_known(key)) {
            return Err(unknown(form.unknown, other));
        }
        for ((key, missing), argument) in form.keys.iter().zip(&mut self.arguments) {
            *argument = match (document.get(key), missing) {
                (Some(value), _) if is_literal(key) => Some(ExprNode::Literal(to_raw(value)?)),
                (Some(value), _) => Some(parse::node(value, variables)?),
                (None, None) => None,
                (None, Some(code)) => {
                    return Err(bad_as(*code, form.name, "all arguments that it requires"));
                }
            };
        }
        Ok(())
    }

    /// Makes the value that constant arguments determine.
    fn prepare(&mut self) -> Result<(), Error> {
        match (self.form.operator, self.arguments.as_slice()) {
            (operator, [_, Some(ExprNode::Literal(regex)), options]) if operator.is_regex() => {
                let options = match options {
                    None => None,
                    Some(ExprNode::Literal(options)) => Some(options.clone()),
                    Some(_) => return Ok(()),
                };
                let finder = regexes::finder(self.form.name, &Some(regex.clone()), &options)?;
                self.prepared =
                    finder.map_or(Prepared::Nothing, |it| Prepared::Finder(Arc::new(it)));
            }
            (NamedOperator::SortArray, [_, Some(ExprNode::Literal(by))]) => {
                self.prepared = Prepared::Order(sort_array::order(&from_raw(by))?);
            }
            (NamedOperator::Median, [_, Some(ExprNode::Literal(method))]) => {
                quantiles::check_method(self.form.name, &from_raw(method))?;
                self.prepared = Prepared::Quantiles(QuantileKind::Median);
            }
            (NamedOperator::Percentile, [_, Some(ExprNode::Literal(method)), Some(p)]) => {
                quantiles::check_method(self.form.name, &from_raw(method))?;
                let p = quantiles::constant(p)?;
                let percentiles = quantiles::percentiles(&p)?;
                self.prepared = Prepared::Quantiles(QuantileKind::Percentiles(percentiles));
            }
            (NamedOperator::DateFromParts, _) => dates::check_parts(self)?,
            (NamedOperator::Zip, [inputs, longest, defaults]) => {
                zip::check(inputs, longest, defaults)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether an argument is there.
    pub(super) fn has(&self, place: usize) -> bool {
        matches!(self.arguments.get(place), Some(Some(_)))
    }

    pub(super) fn to_bson(&self) -> Bson {
        let names = self.form.keys.iter().map(|(name, _)| (*name).to_owned());
        let arguments = names.zip(&self.arguments);
        let arguments = arguments.filter_map(|(name, node)| {
            let value = match node.as_ref()? {
                ExprNode::Literal(value) if is_literal(&name) => from_raw(value),
                node => node.to_bson(),
            };
            Some((name, value))
        });
        bson::doc! { self.form.name: arguments.collect::<Document>() }.into()
    }

    /// The arguments that are there.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &ExprNode> {
        self.arguments.iter().flatten()
    }

    /// The same with other arguments.
    pub(super) fn map(self, change: impl Fn(ExprNode) -> ExprNode) -> Self {
        let arguments = self.arguments.into_iter();
        Named {
            arguments: arguments.map(|node| node.map(&change)).collect(),
            ..self
        }
    }

    pub(super) fn evaluate(&self, scope: Scope<'_>) -> Result<Option<RawBson>, Error> {
        use NamedOperator::*;
        let held = scope.work.hold();
        let arguments = Arguments {
            named: self,
            scope,
            held: &held,
        };
        match self.form.operator {
            RegexMatch | RegexFind | RegexFindAll => regexes::evaluate(arguments),
            Trim | Ltrim | Rtrim => search::trim(arguments),
            ReplaceOne | ReplaceAll => search::replace(arguments),
            Zip => zip::zip(arguments),
            SortArray => sort_array::sort(arguments),
            FirstN | LastN | MaxN | MinN => sort_array::some(arguments),
            Median | Percentile => quantiles::evaluate(arguments),
            _ => dates::evaluate(arguments),
        }
    }
}

impl<'a> Arguments<'a> {
    pub(super) fn operator(self) -> NamedOperator {
        self.named.form.operator
    }

    pub(super) fn name(self) -> &'static str {
        self.named.form.name
    }

    /// By which texts are compared.
    pub(super) fn collation(self) -> Option<&'a Collation> {
        self.scope.collation
    }

    /// Whether an argument is there.
    pub(super) fn has(self, place: usize) -> bool {
        self.named.has(place)
    }

    /// The value of an argument, which is missing if the argument is.
    pub(super) fn value(self, place: usize) -> Result<Option<RawBson>, Error> {
        match self.named.arguments.get(place) {
            Some(Some(node)) => {
                let value = evaluate::node(node, self.scope)?;
                self.held.add(&value)?;
                Ok(value)
            }
            _ => Ok(None),
        }
    }

    /// The operands of an argument that is a list.
    pub(super) fn list(self, place: usize) -> Option<&'a [ExprNode]> {
        match self.named.arguments.get(place) {
            Some(Some(ExprNode::Array(nodes))) => Some(nodes),
            _ => None,
        }
    }

    pub(super) fn scope(self) -> Scope<'a> {
        self.scope
    }

    /// The regular expression of constant arguments.
    pub(super) fn finder(self) -> Option<&'a Finder> {
        match &self.named.prepared {
            Prepared::Finder(finder) => Some(finder),
            _ => None,
        }
    }

    /// The quantiles that `$median` or `$percentile` computes.
    pub(super) fn quantiles(self) -> Option<&'a QuantileKind> {
        match &self.named.prepared {
            Prepared::Quantiles(kind) => Some(kind),
            _ => None,
        }
    }

    /// The order of `$sortArray`.
    pub(super) fn order(self) -> Option<&'a PushSort> {
        match &self.named.prepared {
            Prepared::Order(order) => Some(order),
            _ => None,
        }
    }
}

/// Whether an argument is no expression.
fn is_literal(key: &str) -> bool {
    ["sortBy", "method"].contains(&key)
}
