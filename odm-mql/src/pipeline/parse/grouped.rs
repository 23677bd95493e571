//! `$group`, and the stages that are a group and a stage after it.

use std::borrow::Cow;

use bson::{Bson, Document, RawBson, RawDocumentBuf, doc, raw::CString};

use super::{StageParser, StageScope, unknown_option};
use crate::{
    Direction, Error, Expr, Projection, Sort,
    order::{compare_by, same_type_bracket},
    path,
    pipeline::{
        Stage,
        accumulate::StageAccumulator,
        group::{GroupId, GroupStage},
    },
    types::bad_as,
    write::malformed,
};

impl StageScope<'_> {
    pub(super) fn group(&self, document: &Document) -> Result<GroupStage, Error> {
        let Some(id) = document.get("_id") else {
            return Err(bad_as(15_955, "$group", "an `_id`"));
        };
        Ok(GroupStage {
            id: GroupId::Value(self.group_id(id)?),
            accumulators: self.accumulators(document.iter().filter(|(name, _)| *name != "_id"))?,
            collation: self.collation().cloned(),
        })
    }

    fn group_id(&self, id: &Bson) -> Result<Expr, Error> {
        let Bson::Document(document) = id else {
            return self.expr(id);
        };
        let mut fields = document.iter();
        let id = match (fields.next(), fields.next()) {
            (Some((name, _)), _) if name.starts_with('$') => Cow::Borrowed(id),
            _ if document.values().any(is_inclusion) => {
                let expected = "expressions as the fields of its `_id`, not numbers or booleans";
                return Err(bad_as(17_390, "$group", expected));
            }
            // A missing value of the only field is null, as that of `_id` itself is.
            (Some((name, value)), None) => {
                Cow::Owned(doc! { name: { "$ifNull": [value, null_literal()] } }.into())
            }
            _ => Cow::Borrowed(id),
        };
        self.expr(&id)
    }

    fn accumulators<'d>(
        &self,
        fields: impl Iterator<Item = (&'d String, &'d Bson)>,
    ) -> Result<Vec<(CString, StageAccumulator)>, Error> {
        let field = |(name, value): (&String, &Bson)| {
            let accumulator = StageAccumulator::parse(name, value, self)?;
            let reason = "it contains a NUL";
            let name =
                CString::try_from(name.as_str()).map_err(|_| path::bad(name, reason, 16_411))?;
            Ok((name, accumulator))
        };
        fields.map(field).collect()
    }

    fn boundaries(&self, values: &[Bson]) -> Result<Vec<RawBson>, Error> {
        let bad = |code, expected| bad_as(code, "$bucket", expected);
        let boundary = |value: &Bson| {
            let constant = self.constant(value)?;
            constant.ok_or_else(|| bad(40_191, "constant `boundaries`"))
        };
        let boundaries: Vec<RawBson> = values.iter().map(boundary).collect::<Result<_, _>>()?;
        if boundaries.len() < 2 {
            return Err(bad(40_192, "at least two `boundaries`"));
        }
        for pair in boundaries.windows(2) {
            if let [low, high] = pair {
                let (low, high) = (low.as_raw_bson_ref(), high.as_raw_bson_ref());
                if !same_type_bracket(low, high) {
                    return Err(bad(40_193, "`boundaries` of one type"));
                }
                if !compare_by(self.collation(), low, high).is_lt() {
                    return Err(bad(40_194, "`boundaries` in ascending order"));
                }
            }
        }
        Ok(boundaries)
    }

    /// The value of an expression that reads no field.
    pub(in crate::pipeline) fn constant(&self, value: &Bson) -> Result<Option<RawBson>, Error> {
        let expr = self.expr(value)?;
        match expr.paths().is_empty() {
            true => expr.evaluate(&RawDocumentBuf::new()),
            false => Ok(None),
        }
    }
}

impl StageParser<'_> {
    pub(super) fn count(&mut self, value: &Bson) -> Result<(), Error> {
        let bad = |code, expected| bad_as(code, "$count", expected);
        let name = match value {
            Bson::String(name) => name,
            _ => return Err(bad(40_156, "a string that is not empty")),
        };
        match name.as_str() {
            "" => return Err(bad(40_157, "a string that is not empty")),
            "_id" => return Err(bad(15_948, "another name than `_id`")),
            name if name.starts_with('$') => {
                return Err(bad(40_158, "a name without `$` at its begin"));
            }
            name if name.contains('\0') => return Err(bad(40_159, "a name without NUL")),
            name if name.contains('.') => return Err(bad(40_160, "a name without a dot")),
            _ => {}
        }
        self.group_and_count(&Bson::Null, name)?;
        self.stages
            .push(Stage::Project(Projection::exclude(["_id"])?));
        Ok(())
    }

    pub(super) fn sort_by_count(&mut self, value: &Bson) -> Result<(), Error> {
        let bad = |code| bad_as(code, "$sortByCount", "a path with `$` or an operator");
        match value {
            Bson::String(path) if !path.starts_with('$') => return Err(bad(40_148)),
            Bson::Document(document) if !is_operator(document) => return Err(bad(40_147)),
            Bson::String(_) | Bson::Document(_) => {}
            _ => return Err(bad(40_149)),
        }
        self.group_and_count(value, "count")?;
        let sort = Sort::new().by("count", Direction::Descending);
        self.stages.push(Stage::Sort(sort));
        Ok(())
    }

    fn group_and_count(&mut self, id: &Bson, name: &str) -> Result<(), Error> {
        let name = CString::try_from(name).map_err(malformed)?;
        self.stages.push(Stage::Group(GroupStage {
            id: GroupId::Value(self.scope.expr(id)?),
            accumulators: vec![(name, StageAccumulator::count()?)],
            collation: self.scope.collation().cloned(),
        }));
        Ok(())
    }

    pub(super) fn bucket(&mut self, document: &Document) -> Result<(), Error> {
        let bad = |code, expected| bad_as(code, "$bucket", expected);
        let (mut of, mut boundaries, mut default, mut output) = (None, Vec::new(), None, None);
        for (name, value) in document {
            match (name.as_str(), value) {
                ("groupBy", value) => {
                    let is_expression = match value {
                        Bson::String(path) => path.starts_with('$'),
                        Bson::Document(document) => is_operator(document),
                        _ => false,
                    };
                    if !is_expression {
                        return Err(bad(40_202, "a path with `$` or an operator as `groupBy`"));
                    }
                    of = Some(self.scope.expr(value)?);
                }
                ("boundaries", Bson::Array(array)) => boundaries = self.scope.boundaries(array)?,
                ("boundaries", _) => return Err(bad(40_200, "an array as `boundaries`")),
                ("default", value) => {
                    let constant = self.scope.constant(value)?;
                    let constant = constant.ok_or_else(|| bad(40_195, "a constant `default`"))?;
                    default = Some(constant);
                }
                ("output", Bson::Document(fields)) => output = Some(fields),
                ("output", _) => return Err(bad(40_196, "an object as `output`")),
                (other, _) => return Err(unknown_option(40_197, "$bucket", other)),
            }
        }
        let (Some(of), [first, .., last]) = (of, boundaries.as_slice()) else {
            return Err(bad(40_198, "`groupBy` and `boundaries`"));
        };
        if let Some(default) = &default {
            let (first, last) = (first.as_raw_bson_ref(), last.as_raw_bson_ref());
            let default = default.as_raw_bson_ref();
            let compare = |a, b| compare_by(self.scope.collation(), a, b);
            let is_in_bucket = compare(first, default).is_le() && compare(default, last).is_lt();
            if same_type_bracket(default, first) && is_in_bucket {
                return Err(bad(40_199, "a `default` that is in no bucket"));
            }
        }
        let accumulators = match output {
            Some(fields) => self.scope.accumulators(fields.iter())?,
            None => vec![(
                CString::try_from("count").map_err(malformed)?,
                StageAccumulator::count()?,
            )],
        };
        self.stages.push(Stage::Group(GroupStage {
            id: GroupId::Bucket {
                of,
                boundaries,
                default,
            },
            accumulators,
            collation: self.scope.collation().cloned(),
        }));
        let sort = Sort::new().by("_id", Direction::Ascending);
        let sort = sort.collated(self.scope.collation());
        self.stages.push(Stage::Sort(sort));
        Ok(())
    }
}

fn null_literal() -> Bson {
    doc! { "$literal": null }.into()
}

fn is_operator(document: &Document) -> bool {
    let mut names = document.keys();
    names.next().is_some_and(|name| name.starts_with('$'))
}

fn is_inclusion(value: &Bson) -> bool {
    matches!(
        value,
        Bson::Boolean(_) | Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) | Bson::Decimal128(_)
    )
}
