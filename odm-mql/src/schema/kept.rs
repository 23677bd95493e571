//! Updates that keep every conforming document in conformity with a schema.

use bson::{RawBson, RawBsonRef, spec::ElementType};
use odm_pattern::Steps;

use super::{
    Schema,
    check::conforms,
    node::{ArrayRules, Bound, ObjectRules, Rest, SchemaNode},
};
use crate::{Filter, Operation, Push, Test, Update};

impl Schema {
    /// Returns a filter: a conforming document that matches it conforms after the update as well. `None` if the document is needed to
    /// decide.
    ///
    /// Each operation is judged by the rules on its own field, so rules on several fields at once, such as `minProperties`, `anyOf` and
    /// `dependencies`, give `None`.
    #[doc(hidden)]
    pub fn kept_by(&self, update: &Update) -> Option<Filter> {
        let mut conditions = Vec::new();
        for (path, operation) in &update.operations {
            let names: Vec<&str> = path.split('.').collect();
            // An element of an array is not a field.
            let is_field = |name: &&str| {
                !name.is_empty() && !name.starts_with('$') && name.parse::<u64>().is_err()
            };
            if !names.iter().all(is_field) {
                return None;
            }
            if let Some((outer, _)) = path.rsplit_once('.') {
                // A missing document would be created, with this field alone.
                conditions.push(is_of_type(outer, ElementType::EmbeddedDocument));
            }
            let change = Change { path, operation };
            change.keeps(&self.0.root, &names, &mut conditions)?;
        }
        Some(Filter::And(conditions))
    }
}

/// An operation on the field at a path.
struct Change<'a> {
    path: &'a str,
    operation: &'a Operation,
}

/// The types of whole numbers and the least and greatest sums that stay of the type.
const WHOLE: [(ElementType, i64, i64); 2] = [
    (ElementType::Int64, i64::MIN, i64::MAX),
    (ElementType::Int32, i32::MIN as i64, i32::MAX as i64),
];

impl Change<'_> {
    /// Returns `Some` if a value that conforms to a node still conforms after the change of the field at `names` in it, under the
    /// conditions that are added.
    fn keeps(&self, node: &SchemaNode, names: &[&str], conditions: &mut Vec<Filter>) -> Option<()> {
        let Some((name, inner)) = names.split_first() else {
            return self.keeps_value(node, conditions);
        };
        if has_alternatives(node) {
            return None;
        }
        if let Some(rules) = &node.object {
            self.keeps_field(rules, name, inner, conditions)?;
        }
        let mut all = node.all.iter();
        all.try_for_each(|node| self.keeps(node, names, conditions))
    }

    fn keeps_field(
        &self,
        rules: &ObjectRules,
        name: &str,
        inner: &[&str],
        conditions: &mut Vec<Filter>,
    ) -> Option<()> {
        let is_simple =
            !rules.length.is_stated() && rules.patterns.is_empty() && rules.dependencies.is_empty();
        if !is_simple {
            return None;
        }
        let position = rules.position(name);
        if inner.is_empty() && *self.operation == Operation::Unset {
            let is_required = position.is_some_and(|at| rules.required.contains(&at));
            return (!is_required).then_some(());
        }
        let own = position.and_then(|at| rules.fields[at].node.as_ref());
        match (own, &rules.rest) {
            (Some(node), _) => self.keeps(node, inner, conditions),
            (None, Rest::Conforming(node)) => self.keeps(node, inner, conditions),
            (None, Rest::Any) => Some(()),
            (None, Rest::None) => None,
        }
    }

    fn keeps_value(&self, node: &SchemaNode, conditions: &mut Vec<Filter>) -> Option<()> {
        match self.operation {
            // The other possible result is the value before.
            Operation::Set(value) | Operation::Min(value) | Operation::Max(value) => {
                has_value(node, value)
            }
            Operation::SetOnInsert(_) => Some(()),
            Operation::Inc(number) | Operation::Add(number) => {
                self.keeps_sum(node, number, conditions)
            }
            // A missing field becomes an array of these elements alone.
            Operation::Push(Push {
                each, sort: None, ..
            })
            | Operation::AddToSet(each) => {
                let is_growing = |rules: &ArrayRules| {
                    rules.length.is_stated() || rules.unique || !rules.first.is_empty()
                };
                (!arrays(node)?.into_iter().any(is_growing)).then_some(())?;
                let mut array = bson::RawArrayBuf::new();
                each.iter().for_each(|value| array.push(value.clone()));
                has_value(node, &RawBson::Array(array))
            }
            Operation::Pop(_) => {
                let is_shrinking =
                    |rules: &ArrayRules| rules.length.least.is_some() || !rules.first.is_empty();
                (!arrays(node)?.into_iter().any(is_shrinking)).then_some(())
            }
            _ => None,
        }
    }

    /// The same for the sum of a field and a number.
    fn keeps_sum(
        &self,
        node: &SchemaNode,
        number: &RawBson,
        conditions: &mut Vec<Filter>,
    ) -> Option<()> {
        let nodes = conjunction(node)?;
        if nodes.iter().any(|node| node.native.is_some()) {
            return None;
        }
        let admits = |value: RawBsonRef<'_>| {
            let mut types = nodes.iter().filter_map(|node| node.types.as_ref());
            types.all(|types| types.has(value))
        };
        let rules = || nodes.iter().filter_map(|node| node.number.as_ref());
        let (kind, added) = match *number {
            RawBson::Int32(number) if admits(RawBsonRef::Int64(0)) => (WHOLE[0], number.into()),
            RawBson::Int64(number) if admits(RawBsonRef::Int64(0)) => (WHOLE[0], number),
            RawBson::Int32(number) if admits(RawBsonRef::Int32(0)) => (WHOLE[1], number.into()),
            // The sum of a double and a number is a double, and may be any.
            RawBson::Int32(_) | RawBson::Int64(_) | RawBson::Double(_)
                if admits(RawBsonRef::Double(0.0)) && rules().next().is_none() =>
            {
                conditions.push(is_of_type(self.path, ElementType::Double));
                return Some(());
            }
            _ => return None,
        };
        let (kind, mut least, mut greatest) = kind;
        for rules in rules() {
            if rules.multiple_of.is_some() {
                return None;
            }
            if let Some(minimum) = &rules.minimum {
                least = least.max(whole(minimum, 1)?);
            }
            if let Some(maximum) = &rules.maximum {
                greatest = greatest.min(whole(maximum, -1)?);
            }
        }
        conditions.push(is_of_type(self.path, kind));
        // If a difference is out of the range of the type, either every value has a sum within the bound, or no value has.
        let bounds = [
            bound(least, added, added > 0)?.map(|least| Test::Gte(least.into())),
            bound(greatest, added, added < 0)?.map(|greatest| Test::Lte(greatest.into())),
        ];
        let path = || self.path.to_owned().into();
        let bounds = bounds.into_iter().flatten();
        conditions.extend(bounds.map(|bound| Filter::Path(path(), bound)));
        Some(())
    }
}

/// Whether a value can conform to a schema in other ways than by all of its rules on types, numbers, texts, arrays and objects.
fn has_alternatives(node: &SchemaNode) -> bool {
    node.one_of.is_some() || !node.any.is_empty() || !node.one.is_empty() || node.not.is_some()
}

/// All nodes that a value must conform to, if there are no other rules for it.
fn conjunction(node: &SchemaNode) -> Option<Vec<&SchemaNode>> {
    let mut all = vec![node];
    let mut at = 0;
    while let Some(&node) = all.get(at) {
        if has_alternatives(node) {
            return None;
        }
        all.extend(&node.all);
        at += 1;
    }
    Some(all)
}

/// The rules of an array that conforms to a node.
fn arrays(node: &SchemaNode) -> Option<Vec<&ArrayRules>> {
    let nodes = conjunction(node)?.into_iter();
    Some(nodes.filter_map(|node| node.array.as_deref()).collect())
}

fn has_value(node: &SchemaNode, value: &RawBson) -> Option<()> {
    let conforms = conforms(node, value.as_raw_bson_ref(), &Steps::default());
    conforms.unwrap_or(false).then_some(())
}

fn is_of_type(path: &str, kind: ElementType) -> Filter {
    Filter::Path(path.to_owned().into(), Test::Type(vec![kind]))
}

/// The bound of a value whose sum with a number has this bound, or `Some(None)` if every sum is within it. `None` if no sum is.
fn bound(of_sum: i64, added: i64, is_wide: bool) -> Option<Option<i64>> {
    match of_sum.checked_sub(added) {
        Some(bound) => Some(Some(bound)),
        None => is_wide.then_some(None),
    }
}

/// The last whole number within a bound that is a whole number.
fn whole(bound: &Bound, inwards: i64) -> Option<i64> {
    let value = match bound.value {
        RawBson::Int32(value) => value.into(),
        RawBson::Int64(value) => value,
        _ => return None,
    };
    match bound.exclusive {
        true => value.checked_add(inwards),
        false => Some(value),
    }
}
