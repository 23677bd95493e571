//! The operators of expressions.

use bson::spec::ElementType;

/// An operator with a list of operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Eq,
    Ne,
    Gt,
    Gte,
    Lt,
    Lte,
    Cmp,
    And,
    Or,
    Not,
    Add,
    Subtract,
    Multiply,
    Divide,
    Mod,
    Abs,
    Ceil,
    Floor,
    Round,
    Trunc,
    Cond,
    IfNull,
    In,
    Size,
    IsArray,
    ArrayElemAt,
    First,
    Last,
    Slice,
    Type,
    IsNumber,
    ToDouble,
    ToInt,
    ToLong,
    ToDecimal,
    ToString,
    ToBool,
    ToDate,
    ToObjectId,
    Concat,
    ToLower,
    ToUpper,
    StrLenCp,
    SubstrCp,
    ConcatArrays,
    MergeObjects,
}

use Operator::*;

/// The operators with their names and with the least and the greatest number of operands.
const OPERATORS: [(Operator, &str, usize, usize); 46] = [
    (Eq, "$eq", 2, 2),
    (Ne, "$ne", 2, 2),
    (Gt, "$gt", 2, 2),
    (Gte, "$gte", 2, 2),
    (Lt, "$lt", 2, 2),
    (Lte, "$lte", 2, 2),
    (Cmp, "$cmp", 2, 2),
    (And, "$and", 0, usize::MAX),
    (Or, "$or", 0, usize::MAX),
    (Not, "$not", 1, 1),
    (Add, "$add", 0, usize::MAX),
    (Subtract, "$subtract", 2, 2),
    (Multiply, "$multiply", 0, usize::MAX),
    (Divide, "$divide", 2, 2),
    (Mod, "$mod", 2, 2),
    (Abs, "$abs", 1, 1),
    (Ceil, "$ceil", 1, 1),
    (Floor, "$floor", 1, 1),
    (Round, "$round", 1, 2),
    (Trunc, "$trunc", 1, 2),
    (Cond, "$cond", 3, 3),
    (IfNull, "$ifNull", 2, usize::MAX),
    (In, "$in", 2, 2),
    (Size, "$size", 1, 1),
    (IsArray, "$isArray", 1, 1),
    (ArrayElemAt, "$arrayElemAt", 2, 2),
    (First, "$first", 1, 1),
    (Last, "$last", 1, 1),
    (Slice, "$slice", 2, 3),
    (Type, "$type", 1, 1),
    (IsNumber, "$isNumber", 1, 1),
    (ToDouble, "$toDouble", 1, 1),
    (ToInt, "$toInt", 1, 1),
    (ToLong, "$toLong", 1, 1),
    (ToDecimal, "$toDecimal", 1, 1),
    (ToString, "$toString", 1, 1),
    (ToBool, "$toBool", 1, 1),
    (ToDate, "$toDate", 1, 1),
    (ToObjectId, "$toObjectId", 1, 1),
    (Concat, "$concat", 0, usize::MAX),
    (ToLower, "$toLower", 1, 1),
    (ToUpper, "$toUpper", 1, 1),
    (StrLenCp, "$strLenCP", 1, 1),
    (SubstrCp, "$substrCP", 3, 3),
    (ConcatArrays, "$concatArrays", 0, usize::MAX),
    (MergeObjects, "$mergeObjects", 0, usize::MAX),
];

impl Operator {
    /// The operator of a name, and how many operands it takes.
    pub(super) fn by_name(name: &str) -> Option<(Operator, usize, usize)> {
        let found = OPERATORS.iter().find(|(_, other, ..)| *other == name)?;
        Some((found.0, found.2, found.3))
    }

    pub(super) fn name(self) -> &'static str {
        let found = OPERATORS.iter().find(|(other, ..)| *other == self);
        // Each operator is in the list.
        found.map_or("", |(_, name, ..)| name)
    }

    /// The type that an operator converts its operand to.
    pub(super) fn conversion(self) -> Option<ElementType> {
        Some(match self {
            ToDouble => ElementType::Double,
            ToInt => ElementType::Int32,
            ToLong => ElementType::Int64,
            ToDecimal => ElementType::Decimal128,
            ToString => ElementType::String,
            ToBool => ElementType::Boolean,
            ToDate => ElementType::DateTime,
            ToObjectId => ElementType::ObjectId,
            _ => return None,
        })
    }
}
