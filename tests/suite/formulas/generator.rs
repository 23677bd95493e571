//! Random expressions of the fields of `Formulas`, as the attribute has them and as a function of Rust has them.

use std::fmt::Write as _;

use fastrand::Rng;

/// An expression of both.
#[derive(Clone)]
struct Both {
    attribute: String,
    native: String,
}

/// The types of expressions.
#[derive(Clone, Copy, PartialEq)]
enum Type {
    I64,
    I32,
    U8,
    U64,
    F64,
    Bool,
    Text,
    Date,
    MaybeI64,
    MaybeF64,
    MaybeText,
}

use Type::*;

impl Type {
    fn name(self) -> &'static str {
        match self {
            I64 => "i64",
            I32 => "i32",
            U8 => "u8",
            U64 => "u64",
            F64 => "f64",
            Bool => "bool",
            Text => "String",
            Date => "DateTime",
            MaybeI64 => "Option<i64>",
            MaybeF64 => "Option<f64>",
            MaybeText => "Option<String>",
        }
    }
}

/// The text of the struct with a computed field of each expression, and of the functions that Rust evaluates.
pub(super) fn generate(number: usize) -> String {
    let types = [
        I64, I64, I32, U8, U64, F64, F64, Bool, Bool, Text, Text, Date, MaybeI64, MaybeF64,
        MaybeText,
    ];
    let mut generator = Generator { rng: Rng::with_seed(45), elements: 0 };
    let mut fields = String::new();
    let mut functions = String::new();
    for at in 0..number {
        let ty = types[at % types.len()];
        let Both { attribute, native } = generator.of(ty, 3);
        let name = ty.name();
        writeln!(fields, "    #[computed({attribute})]\n    e{at}: {name},").unwrap();
        writeln!(functions, "    |d| {{ let value: {name} = {native}; bson(value) }},").unwrap();
    }
    format!(
        "// Made by `UPDATE=1 cargo test --package tests --test derived formulas`: do not edit.\n\n\
         #[derive(Clone, Serialize, Deserialize, Document)]\n#[document(collection = \"formulas\")]\n\
         pub(super) struct Formulas {{\n    #[serde(rename = \"_id\")]\n    pub(super) id: i64,\n    \
         #[serde(flatten)]\n    #[embed]\n    pub(super) own: Operands,\n{fields}}}\n"
    )
    .replace("    #[serde(flatten)]\n    #[embed]\n    pub(super) own: Operands,\n", OPERANDS)
        + &format!("\npub(super) const NATIVE: [fn(&Formulas) -> Bson; {number}] = [\n{functions}];\n")
}

const OPERANDS: &str = "    pub(super) a: i64,
    pub(super) b: i64,
    pub(super) small: i32,
    pub(super) byte: u8,
    pub(super) large: u64,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) flag: bool,
    pub(super) name: String,
    pub(super) other: String,
    pub(super) maybe: Option<i64>,
    pub(super) ratio: Option<f64>,
    pub(super) note: Option<String>,
    pub(super) from: DateTime,
    pub(super) until: DateTime,
    pub(super) numbers: Vec<i64>,
    pub(super) words: Vec<String>,
    #[embed]
    pub(super) inner: Inner,
    #[embed]
    pub(super) lines: Vec<Inner>,
";

struct Generator {
    rng: Rng,
    /// How many closures with an element of `lines` there are around the expression.
    elements: usize,
}

fn field_of(ty: Type) -> Both {
    match ty {
        I32 => field("small", true),
        U8 => field("byte", true),
        U64 => field("large", true),
        _ => field("a", true),
    }
}

fn plain(text: impl Into<String>) -> Both {
    let text = text.into();
    Both { attribute: text.clone(), native: text }
}

/// A field, which Rust takes from the document.
fn field(name: &str, is_copy: bool) -> Both {
    let clone = if is_copy { "" } else { ".clone()" };
    Both { attribute: name.to_owned(), native: format!("d.{name}{clone}") }
}

/// A text with an expression in the place of each `{}`.
fn with(text: &str, parts: &[&Both]) -> Both {
    let fill = |of: &dyn Fn(&Both) -> &str| {
        let mut filled = String::new();
        let mut pieces = text.split("{}");
        filled.push_str(pieces.next().unwrap());
        for (part, piece) in parts.iter().zip(pieces) {
            filled.push_str(of(part));
            filled.push_str(piece);
        }
        filled
    };
    Both { attribute: fill(&|part| &part.attribute), native: fill(&|part| &part.native) }
}

/// A text in which the list is that of the document.
fn of_list(list: &str, text: &str, parts: &[&Both]) -> Both {
    let rest = with(text, parts);
    Both {
        attribute: format!("{list}{}", rest.attribute),
        native: format!("d.{list}{}", rest.native),
    }
}

impl Generator {
    fn of(&mut self, ty: Type, depth: usize) -> Both {
        if depth == 0 || depth < 3 && self.rng.u8(..8) == 0 {
            return self.leaf(ty);
        }
        if self.rng.u8(..6) == 0 {
            let condition = self.of(Bool, depth - 1);
            let then = self.of(ty, depth - 1);
            // A literal takes the type of the other branch.
            let other = match ty {
                I64 | I32 | U8 | U64 if self.rng.bool() => plain(self.rng.u8(..120).to_string()),
                ty => self.of(ty, depth - 1),
            };
            return with("(if {} { {} } else { {} })", &[&condition, &then, &other]);
        }
        match ty {
            I64 | I32 | U8 | U64 => self.integer(ty, depth - 1),
            F64 => self.float(depth - 1),
            Bool => self.bool(depth - 1),
            Text => self.text(depth - 1),
            Date => self.leaf(Date),
            MaybeI64 | MaybeF64 | MaybeText => self.option(ty, depth - 1),
        }
    }

    fn leaf(&mut self, ty: Type) -> Both {
        if self.elements > 0 && self.rng.bool() {
            let element = format!("line{}", self.elements);
            match ty {
                I64 => return plain(format!("{element}.count")),
                F64 => return plain(format!("{element}.price")),
                Text => {
                    return Both {
                        attribute: format!("{element}.label"),
                        native: format!("{element}.label.clone()"),
                    };
                }
                MaybeI64 => return plain(format!("{element}.extra")),
                _ => {}
            }
        }
        let literal = self.rng.u8(..5) == 0;
        match ty {
            I64 if literal => plain(format!("{}_i64", self.rng.u8(..120))),
            I64 => match self.rng.u8(..4) {
                0 => field("inner.count", true),
                1 => field("b", true),
                _ => field("a", true),
            },
            I32 if literal => plain(format!("{}_i32", self.rng.u8(..120))),
            I32 => field("small", true),
            U8 if literal => plain(format!("{}_u8", self.rng.u8(..120))),
            U8 => field("byte", true),
            U64 if literal => plain(format!("{}_u64", self.rng.u8(..120))),
            U64 => field("large", true),
            F64 if literal => plain(format!("{:?}_f64", f64::from(self.rng.u8(..20)) / 8.0)),
            F64 => match self.rng.u8(..3) {
                0 => field("inner.price", true),
                1 => field("y", true),
                _ => field("x", true),
            },
            Bool => field("flag", true),
            Text if literal => {
                plain(format!("{:?}.to_owned()", self.rng.choice(["", "a", "Ä b", "{x}"]).unwrap()))
            }
            Text => match self.rng.u8(..3) {
                0 => field("inner.label", false),
                1 => field("other", false),
                _ => field("name", false),
            },
            Date => field(if self.rng.bool() { "from" } else { "until" }, true),
            MaybeI64 if literal => plain("None"),
            MaybeI64 => field("maybe", true),
            MaybeF64 if literal => plain("None"),
            MaybeF64 => field("ratio", true),
            MaybeText if literal => plain("None"),
            MaybeText => field("note", false),
        }
    }

    fn integer(&mut self, ty: Type, depth: usize) -> Both {
        let left = self.of(ty, depth);
        match self.rng.u8(..14) {
            at @ 0..5 => {
                let operator = ["+", "-", "*", "/", "%"][usize::from(at)];
                // A literal takes the type of the other side.
                let right = if self.rng.u8(..3) == 0 {
                    plain(format!("{}", self.rng.u8(1..9)))
                } else {
                    self.of(ty, depth)
                };
                with(&format!("({{}} {operator} {{}})"), &[&left, &right])
            }
            5 if matches!(ty, I64 | I32) => with("(-{})", &[&left]),
            6 if matches!(ty, I64 | I32) => with("({}).abs()", &[&left]),
            at @ 7..9 => {
                let method = if at == 7 { "min" } else { "max" };
                let right = if self.rng.bool() { plain("100") } else { left };
                with(&format!("(({{}}).{method}({{}}) - 99)"), &[&field_of(ty), &right])
            }
            9 if ty == I64 => self.of_lines(depth),
            10 if ty == I64 => {
                let each = self.of(I64, depth);
                of_list("numbers", ".iter().map(|each| *each + {}).sum::<i64>()", &[&each])
            }
            11 if ty == I64 => {
                let other = if self.rng.bool() { plain("9") } else { left };
                with("(({}).unwrap_or({}) * 1_000_000_000)", &[&field("maybe", true), &other])
            }
            12 if ty == I64 => match self.rng.u8(..4) {
                0 => with("(({}).len() as i64)", &[&self.of(Text, depth)]),
                1 => with("(({}).chars().count() as i64)", &[&self.of(Text, depth)]),
                2 => of_list("words", ".iter().filter(|word| word.len() > 1).count() as i64", &[])
                    .in_parentheses(),
                _ => of_list("lines", ".len() as i64", &[]).in_parentheses(),
            },
            _ => {
                let from = *self.rng.choice(&[I64, I32, U8, U64, F64, Bool]).unwrap();
                with(&format!("({{}} as {})", ty.name()), &[&self.of(from, depth)])
            }
        }
    }

    /// A number of the lines.
    fn of_lines(&mut self, depth: usize) -> Both {
        self.elements += 1;
        let at = self.elements;
        let (value, test) = (self.of(I64, depth), self.of(Bool, depth));
        let maybe = self.of(MaybeI64, depth);
        self.elements -= 1;
        match self.rng.u8(..3) {
            0 => of_list("lines", &format!(".iter().map(|line{at}| {{}}).sum::<i64>()"), &[&value]),
            1 => of_list(
                "lines",
                &format!(".iter().filter(|line{at}| {{}}).map(|line{at}| {{}}).sum::<i64>()"),
                &[&test, &value],
            ),
            _ => of_list(
                "lines",
                &format!(".iter().filter_map(|line{at}| {{}}).max().unwrap_or(7)"),
                &[&maybe],
            ),
        }
    }

    fn float(&mut self, depth: usize) -> Both {
        let left = self.of(F64, depth);
        match self.rng.u8(..12) {
            at @ 0..5 => {
                let operator = ["+", "-", "*", "/", "%"][usize::from(at)];
                with(&format!("({{}} {operator} {{}})"), &[&left, &self.of(F64, depth)])
            }
            5 => with("(-{})", &[&left]),
            6 => {
                let method = self.rng.choice(["abs", "round", "floor", "ceil"]).unwrap();
                with(&format!("({{}}).{method}()"), &[&left])
            }
            at @ 7..9 => {
                // Rust leaves open which of two zeros is the result.
                let (method, function) =
                    if at == 7 { ("min", "least") } else { ("max", "greatest") };
                let right = self.of(F64, depth);
                Both {
                    attribute: format!("({}).{method}({})", left.attribute, right.attribute),
                    native: format!("{function}({}, {})", left.native, right.native),
                }
            }
            9 => {
                self.elements += 1;
                let at = self.elements;
                let value = self.of(F64, depth);
                self.elements -= 1;
                of_list("lines", &format!(".iter().map(|line{at}| {{}}).sum::<f64>()"), &[&value])
            }
            10 => with("({}).unwrap_or({})", &[&self.of(MaybeF64, depth), &left]),
            _ => {
                let from = *self.rng.choice(&[I64, I32, U8, U64]).unwrap();
                with("({} as f64)", &[&self.of(from, depth)])
            }
        }
    }

    fn bool(&mut self, depth: usize) -> Both {
        match self.rng.u8(..10) {
            0 => with("(!{})", &[&self.of(Bool, depth)]),
            1 => with("({} && {})", &[&self.of(Bool, depth), &self.of(Bool, depth)]),
            2 => with("({} || {})", &[&self.of(Bool, depth), &self.of(Bool, depth)]),
            3 => {
                let ty = *self.rng.choice(&[MaybeI64, MaybeF64, MaybeText]).unwrap();
                let method = if self.rng.bool() { "is_some" } else { "is_none" };
                let value = match ty {
                    MaybeI64 => field("maybe", true),
                    MaybeF64 => field("ratio", true),
                    _ => field("note", false),
                };
                with(&format!("({{}}).{method}()"), &[&value])
            }
            4 => {
                let method = self.rng.choice(["starts_with", "ends_with", "contains"]).unwrap();
                with(
                    &format!("({{}}).{method}(&({{}}))"),
                    &[&self.of(Text, depth), &self.of(Text, depth)],
                )
            }
            5 => {
                let (method, operator) = if self.rng.bool() { ("any", "==") } else { ("all", "<") };
                let text = self.of(Text, depth);
                of_list(
                    "words",
                    &format!(".iter().{method}(|word| *word {operator} {{}})"),
                    &[&text],
                )
            }
            6 => {
                self.elements += 1;
                let at = self.elements;
                let test = self.of(Bool, depth);
                self.elements -= 1;
                let method = if self.rng.bool() { "any" } else { "all" };
                of_list("lines", &format!(".iter().{method}(|line{at}| {{}})"), &[&test])
            }
            _ => {
                let ty = *self
                    .rng
                    .choice(&[I64, I32, U8, U64, F64, Bool, Text, Date, MaybeI64, MaybeF64])
                    .unwrap();
                let operator = self.rng.choice(["==", "!=", "<", "<=", ">", ">="]).unwrap();
                // Rust would ask for the type of `None == None`.
                let left = match ty {
                    MaybeI64 => field("maybe", true),
                    MaybeF64 => field("ratio", true),
                    ty => self.of(ty, depth),
                };
                with(&format!("(({{}}) {operator} ({{}}))"), &[&left, &self.of(ty, depth)])
            }
        }
    }

    fn text(&mut self, depth: usize) -> Both {
        match self.rng.u8(..6) {
            0 => {
                let method = self.rng.choice(["to_lowercase", "to_uppercase", "trim"]).unwrap();
                let owned = if *method == *"trim" { ".to_owned()" } else { "" };
                with(&format!("({{}}).{method}(){owned}"), &[&self.of(Text, depth)])
            }
            1 => {
                let ty = *self.rng.choice(&[I64, U64, Bool, Text]).unwrap();
                with("({}).to_string()", &[&self.of(ty, depth)])
            }
            2 => with("({}).unwrap_or({})", &[&self.of(MaybeText, depth), &self.of(Text, depth)]),
            _ => {
                let ty = *self.rng.choice(&[I32, U8, Bool, Text]).unwrap();
                with(
                    "format!(\"<{} {{{}}}>\", {}, {})",
                    &[&plain("{}"), &plain("{}"), &self.of(Text, depth), &self.of(ty, depth)],
                )
            }
        }
    }

    fn option(&mut self, ty: Type, depth: usize) -> Both {
        match (ty, self.rng.u8(..3)) {
            (MaybeI64, 0) => {
                let method = if self.rng.bool() { "min" } else { "max" };
                of_list("numbers", &format!(".iter().copied().{method}()"), &[])
            }
            (MaybeText, 0) => {
                of_list("words", ".iter().map(|word| word.to_lowercase()).max()", &[])
            }
            (MaybeI64, _) => with("Some({})", &[&self.of(I64, depth)]),
            (MaybeF64, _) => with("Some({})", &[&self.of(F64, depth)]),
            (_, _) => with("Some({})", &[&self.of(Text, depth)]),
        }
    }
}

impl Both {
    fn in_parentheses(self) -> Both {
        with("({})", &[&self])
    }
}
