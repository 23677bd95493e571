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
    ToUuid,
    Concat,
    ToLower,
    ToUpper,
    StrLenCp,
    SubstrCp,
    ConcatArrays,
    MergeObjects,
    Exp,
    Ln,
    Log,
    Log10,
    Pow,
    Sqrt,
    Sigmoid,
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atan2,
    Atanh,
    Cos,
    Cosh,
    Sin,
    Sinh,
    Tan,
    Tanh,
    DegreesToRadians,
    RadiansToDegrees,
    BitAnd,
    BitOr,
    BitXor,
    BitNot,
    IndexOfArray,
    ReverseArray,
    Range,
    ArrayToObject,
    ObjectToArray,
    AllElementsTrue,
    AnyElementTrue,
    SetDifference,
    SetEquals,
    SetIntersection,
    SetIsSubset,
    SetUnion,
    Sum,
    Avg,
    Min,
    Max,
    StdDevPop,
    StdDevSamp,
    IndexOfBytes,
    IndexOfCp,
    Split,
    StrLenBytes,
    StrCaseCmp,
    Substr,
    SubstrBytes,
    BinarySize,
    BsonSize,
    TsSecond,
    TsIncrement,
    Rand,
}

use Operator::*;

/// Operators on the same kind of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Any values.
    Values,
    /// Operators that evaluate only the operands that they need.
    Lazy,
    Conversions,
    Arithmetic,
    Powers,
    Trigonometry,
    Bits,
    Arrays,
    Sets,
    Totals,
    Texts,
    /// Sizes, and the parts of timestamps.
    Parts,
}

/// The operators with their names and with the least and the greatest number of operands.
const OPERATORS: [(Operator, &str, usize, usize); 103] = [
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
    (ToUuid, "$toUUID", 1, 1),
    (Concat, "$concat", 0, usize::MAX),
    (ToLower, "$toLower", 1, 1),
    (ToUpper, "$toUpper", 1, 1),
    (StrLenCp, "$strLenCP", 1, 1),
    (SubstrCp, "$substrCP", 3, 3),
    (ConcatArrays, "$concatArrays", 0, usize::MAX),
    (MergeObjects, "$mergeObjects", 0, usize::MAX),
    (Exp, "$exp", 1, 1),
    (Ln, "$ln", 1, 1),
    (Log, "$log", 2, 2),
    (Log10, "$log10", 1, 1),
    (Pow, "$pow", 2, 2),
    (Sqrt, "$sqrt", 1, 1),
    (Sigmoid, "$sigmoid", 1, 1),
    (Acos, "$acos", 1, 1),
    (Acosh, "$acosh", 1, 1),
    (Asin, "$asin", 1, 1),
    (Asinh, "$asinh", 1, 1),
    (Atan, "$atan", 1, 1),
    (Atan2, "$atan2", 2, 2),
    (Atanh, "$atanh", 1, 1),
    (Cos, "$cos", 1, 1),
    (Cosh, "$cosh", 1, 1),
    (Sin, "$sin", 1, 1),
    (Sinh, "$sinh", 1, 1),
    (Tan, "$tan", 1, 1),
    (Tanh, "$tanh", 1, 1),
    (DegreesToRadians, "$degreesToRadians", 1, 1),
    (RadiansToDegrees, "$radiansToDegrees", 1, 1),
    (BitAnd, "$bitAnd", 0, usize::MAX),
    (BitOr, "$bitOr", 0, usize::MAX),
    (BitXor, "$bitXor", 0, usize::MAX),
    (BitNot, "$bitNot", 1, 1),
    (IndexOfArray, "$indexOfArray", 2, 4),
    (ReverseArray, "$reverseArray", 1, 1),
    (Range, "$range", 2, 3),
    (ArrayToObject, "$arrayToObject", 1, 1),
    (ObjectToArray, "$objectToArray", 1, 1),
    (AllElementsTrue, "$allElementsTrue", 1, 1),
    (AnyElementTrue, "$anyElementTrue", 1, 1),
    (SetDifference, "$setDifference", 2, 2),
    (SetEquals, "$setEquals", 2, usize::MAX),
    (SetIntersection, "$setIntersection", 0, usize::MAX),
    (SetIsSubset, "$setIsSubset", 2, 2),
    (SetUnion, "$setUnion", 0, usize::MAX),
    (Sum, "$sum", 0, usize::MAX),
    (Avg, "$avg", 0, usize::MAX),
    (Min, "$min", 0, usize::MAX),
    (Max, "$max", 0, usize::MAX),
    (StdDevPop, "$stdDevPop", 0, usize::MAX),
    (StdDevSamp, "$stdDevSamp", 0, usize::MAX),
    (IndexOfBytes, "$indexOfBytes", 2, 4),
    (IndexOfCp, "$indexOfCP", 2, 4),
    (Split, "$split", 2, 2),
    (StrLenBytes, "$strLenBytes", 1, 1),
    (StrCaseCmp, "$strcasecmp", 2, 2),
    (Substr, "$substr", 3, 3),
    (SubstrBytes, "$substrBytes", 3, 3),
    (BinarySize, "$binarySize", 1, 1),
    (BsonSize, "$bsonSize", 1, 1),
    (TsSecond, "$tsSecond", 1, 1),
    (TsIncrement, "$tsIncrement", 1, 1),
    (Rand, "$rand", 0, 0),
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

    /// The family of an operator.
    pub(super) fn family(self) -> Family {
        match self {
            Eq | Ne | Gt | Gte | Lt | Lte | Cmp | Not | Type | IsNumber | Rand => Family::Values,
            And | Or | Cond | IfNull | Concat | ConcatArrays | MergeObjects => Family::Lazy,
            ToDouble | ToInt | ToLong | ToDecimal | ToString | ToBool | ToDate | ToObjectId
            | ToUuid => Family::Conversions,
            Add | Subtract | Multiply | Divide | Mod | Abs | Ceil | Floor | Round | Trunc => {
                Family::Arithmetic
            }
            Exp | Ln | Log | Log10 | Pow | Sqrt | Sigmoid => Family::Powers,
            Acos | Acosh | Asin | Asinh | Atan | Atan2 | Atanh | Cos | Cosh | Sin | Sinh | Tan
            | Tanh | DegreesToRadians | RadiansToDegrees => Family::Trigonometry,
            BitAnd | BitOr | BitXor | BitNot => Family::Bits,
            In | Size | IsArray | ArrayElemAt | First | Last | Slice | IndexOfArray
            | ReverseArray | Range | ArrayToObject | ObjectToArray => Family::Arrays,
            AllElementsTrue | AnyElementTrue | SetDifference | SetEquals | SetIntersection
            | SetIsSubset | SetUnion => Family::Sets,
            Sum | Avg | Min | Max | StdDevPop | StdDevSamp => Family::Totals,
            ToLower | ToUpper | StrLenCp | SubstrCp | IndexOfBytes | IndexOfCp | Split
            | StrLenBytes | StrCaseCmp | Substr | SubstrBytes => Family::Texts,
            BinarySize | BsonSize | TsSecond | TsIncrement => Family::Parts,
        }
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
            ToUuid => ElementType::Binary,
            _ => return None,
        })
    }
}

impl From<Operator> for &'static str {
    fn from(operator: Operator) -> Self {
        operator.name()
    }
}
