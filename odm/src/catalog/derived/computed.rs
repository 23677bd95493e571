//! Computed fields: values of expressions of the fields beside them.

use std::borrow::Cow;

use odm_mql::formula::Formula;
use odm_store::Result;
use serde::{Deserialize, Serialize};

use super::{EmptyValue, FieldDefinition, FieldRead, SourceReference};
use crate::{
    catalog::{join, schema},
    model::derived::ComputedShape,
};

/// A field whose value is that of an expression of the fields beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ComputedDefinition {
    /// The collection of the holder.
    pub(crate) holder: String,
    /// The path of the struct that the field and those beside it are in, through lists; empty for the document itself.
    pub(crate) within: String,
    /// The name of the field in it.
    pub(crate) name: String,
    /// The expression of the paths in that struct.
    pub(crate) formula: Formula,
}

impl ComputedDefinition {
    pub(super) fn from_shape(
        holder: &str,
        within: &str,
        name: &str,
        shape: &ComputedShape,
    ) -> Result<Self> {
        let formula = Formula::new((shape.expression)(), (shape.result)());
        if let Some(constant) = formula.invalid_constant() {
            return Err(schema(format!(
                "invalid constant: `{holder}.{}` is computed from {constant}, which is no scalar; name a variant without content",
                join(within, name)
            )));
        }
        Ok(ComputedDefinition {
            holder: holder.to_owned(),
            within: within.to_owned(),
            name: name.to_owned(),
            formula,
        })
    }
}

impl FieldDefinition for ComputedDefinition {
    fn holder(&self) -> &str {
        &self.holder
    }

    fn path(&self) -> Cow<'_, str> {
        join(&self.within, &self.name).into()
    }

    fn source(&self) -> &str {
        &self.holder
    }

    fn reference(&self) -> Option<SourceReference<'_>> {
        None
    }

    fn reads(&self) -> Vec<FieldRead<'_>> {
        let paths = self.formula.paths().into_iter();
        let paths = paths.map(|path| FieldRead::new(&self.holder, join(&self.within, path)));
        paths.collect()
    }

    /// It costs no read to compute it at once.
    fn is_deferred(&self) -> bool {
        false
    }

    fn set_deferred(&mut self, _: bool) {}

    fn empty(&self) -> EmptyValue {
        match self.formula.result {
            odm_mql::formula::ValueType::Optional(_) => EmptyValue::Absent,
            _ => EmptyValue::None,
        }
    }

    fn arrow(&self) -> (&'static str, String) {
        ("-.->", format!("computed {}", self.path()))
    }
}
