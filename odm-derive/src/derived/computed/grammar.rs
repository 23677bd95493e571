//! The expressions of `#[computed(..)]`: Rust expressions of fields, literals, operators, and methods of a list.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::{
    BinOp, Block, Expr, ExprCall, ExprClosure, ExprIf, ExprMacro, ExprMethodCall, ExprPath, Lit,
    Pat, PathSegment, ReturnType, Stmt, Token, Type, UnOp, punctuated::Punctuated,
};

use super::methods::{Arguments, COUNT_CHARS, METHODS, Method, NUMBERS, Receiver};
use crate::{ctxt::Ctxt, types};

/// An expression.
#[derive(Clone)]
pub(super) enum Node {
    /// A literal, and its value.
    Integer(syn::LitInt, i64),
    Float(Lit, f64),
    Constant(Lit),
    /// `Status::Open`
    Variant(ExprPath),
    None(ExprPath),
    /// Names with dots between them, the first of which is that of a field.
    Field(Vec<Ident>),
    /// The parameter of a closure.
    Parameter(Parameter),
    /// A field in it.
    FieldOf(Parameter, Vec<Ident>),
    /// `-a`, `!a`
    Unary(UnOp, &'static str, Box<Node>),
    /// `*a`, `&a`, which have the value of `a`.
    Same(UnaryToken, Box<Node>),
    Binary(Box<Node>, BinOp, &'static str, Box<Node>),
    Cast(Box<Node>, Token![as], NumberType),
    If(Token![if], Token![else], Box<[Node; 3]>),
    Some(ExprPath, Box<Node>),
    /// A function of the library, and its name among the functions of `odm_mql`.
    OfText(Ident, &'static str, Box<Node>),
    Call(Box<Node>, Ident, &'static Method, Vec<Node>),
    /// A method that takes a closure.
    Each(Box<Node>, Ident, &'static Method, Closure),
    /// `.sum::<i64>()`
    Sum(Box<Node>, Ident, NumberType),
    /// `format!("{} {}", a, b)`, as the texts between its values.
    Format(Span, Vec<Piece>),
}

#[derive(Clone)]
pub(super) enum UnaryToken {
    Star(Token![*]),
    And(Token![&]),
}

#[derive(Clone)]
pub(super) struct Parameter {
    pub(super) name: Ident,
    /// The number of closures around its own.
    pub(super) level: usize,
    /// The list that it is an element of.
    pub(super) list: Option<Box<Node>>,
}

#[derive(Clone)]
pub(super) struct Closure {
    pub(super) tokens: ExprClosure,
    pub(super) body: Box<Node>,
}

#[derive(Clone)]
pub(super) enum Piece {
    Text(String),
    Value(Box<Node>),
}

/// A type of numbers, and its name among the types of `odm_mql`.
#[derive(Clone)]
pub(super) struct NumberType {
    pub(super) ty: Type,
    pub(super) name: &'static str,
}

/// An expression, and the fields of the document that it names.
#[derive(Clone)]
pub(super) struct Parsed {
    pub(super) node: Node,
    /// The names on the path to each, by the path.
    pub(super) fields: BTreeMap<String, Vec<Ident>>,
}

/// Reads an expression.
pub(super) fn parse(cx: &Ctxt, expression: &Expr) -> Option<Parsed> {
    let mut parser = Parser {
        cx,
        parameters: Vec::new(),
        fields: BTreeMap::new(),
    };
    let node = parser.node(expression)?;
    Some(Parsed {
        node,
        fields: parser.fields,
    })
}

struct Parser<'c> {
    cx: &'c Ctxt,
    /// The parameters of the closures around the expression, outermost first.
    parameters: Vec<Parameter>,
    fields: BTreeMap<String, Vec<Ident>>,
}

impl Parser<'_> {
    /// A value: an iterator is none by itself.
    fn node(&mut self, expression: &Expr) -> Option<Node> {
        let node = self.any(expression)?;
        if is_iterator(&node) {
            return self.refuse(expression);
        }
        Some(node)
    }

    /// A value, or an iterator that a method is called on.
    fn any(&mut self, expression: &Expr) -> Option<Node> {
        match expression {
            Expr::Paren(paren) => self.any(&paren.expr),
            Expr::Group(group) => self.any(&group.expr),
            Expr::Block(block) if block.label.is_none() => self.block(&block.block),
            Expr::Lit(literal) => self.literal(&literal.lit),
            Expr::Path(path) => self.path(path),
            Expr::Field(_) => self.field(expression),
            Expr::Unary(unary) => {
                let inner = Box::new(self.node(&unary.expr)?);
                match unary.op {
                    UnOp::Neg(_) => Some(Node::Unary(unary.op, "Negate", inner)),
                    UnOp::Not(_) => Some(Node::Unary(unary.op, "Not", inner)),
                    UnOp::Deref(star) => Some(Node::Same(UnaryToken::Star(star), inner)),
                    _ => self.refuse(expression),
                }
            }
            Expr::Reference(reference) if reference.mutability.is_none() => {
                let inner = Box::new(self.node(&reference.expr)?);
                Some(Node::Same(UnaryToken::And(reference.and_token), inner))
            }
            Expr::Binary(binary) => {
                let (left, right) = (self.node(&binary.left), self.node(&binary.right));
                let Some(function) = operator(&binary.op) else {
                    return self.refuse(binary.op);
                };
                Some(Node::Binary(
                    Box::new(left?),
                    binary.op,
                    function,
                    Box::new(right?),
                ))
            }
            Expr::Cast(cast) => {
                let inner = self.node(&cast.expr);
                let ty = self.number(&cast.ty)?;
                Some(Node::Cast(Box::new(inner?), cast.as_token, ty))
            }
            Expr::If(condition) => self.if_else(condition),
            Expr::Call(call) => {
                if let (Expr::Path(path), [argument]) =
                    (&*call.func, &*call.args.iter().collect::<Vec<_>>())
                    && path.path.is_ident("Some")
                {
                    let inner = self.node(argument)?;
                    return Some(Node::Some(path.clone(), Box::new(inner)));
                }
                self.function(call)
            }
            Expr::MethodCall(call) => self.method(call),
            Expr::Macro(call) if call.mac.path.is_ident("format") => self.format(call),
            other => self.refuse(other),
        }
    }

    /// `fold_case(a)`, `words(a)`
    fn function(&mut self, call: &ExprCall) -> Option<Node> {
        let functions = [("fold_case", "FoldCase"), ("words", "Words")];
        if let Expr::Path(path) = &*call.func
            && let Some(name) = path.path.get_ident()
            && let Some((_, function)) = functions.into_iter().find(|(of, _)| name == of)
            && let [argument] = &*call.args.iter().collect::<Vec<_>>()
        {
            let argument = self.node(argument)?;
            return Some(Node::OfText(name.clone(), function, Box::new(argument)));
        }
        self.refuse(&call.func)
    }

    fn refuse<T>(&self, at: impl ToTokens) -> Option<T> {
        self.cx.error(
            at,
            "this cannot be stored as a formula: write an expression of fields, literals, operators, `if` with `else`, `Some`, `None`, \
             `as`, `format!`, and the methods of numbers, options, texts and lists that the documentation of `Document` has",
        );
        None
    }

    fn block(&mut self, block: &Block) -> Option<Node> {
        match &*block.stmts {
            [Stmt::Expr(expression, None)] => self.node(expression),
            [Stmt::Macro(call)] if call.semi_token.is_none() => {
                self.node(&Expr::Macro(ExprMacro {
                    attrs: Vec::new(),
                    mac: call.mac.clone(),
                }))
            }
            _ => self.refuse(block),
        }
    }

    fn literal(&self, literal: &Lit) -> Option<Node> {
        match literal {
            Lit::Int(integer) if is_integer(integer.suffix()) => {
                match integer.base10_parse() {
                    Ok(value) => Some(Node::Integer(integer.clone(), value)),
                    // Past those of BSON.
                    Err(_) => self.refuse(integer),
                }
            }
            Lit::Int(integer) if integer.suffix() == "f64" => {
                self.float(literal, integer.base10_digits())
            }
            Lit::Float(float) if float.suffix() != "f32" => {
                self.float(literal, float.base10_digits())
            }
            Lit::Bool(_) | Lit::Str(_) => Some(Node::Constant(literal.clone())),
            other => self.refuse(other),
        }
    }

    fn float(&self, literal: &Lit, digits: &str) -> Option<Node> {
        match digits.parse() {
            Ok(value) => Some(Node::Float(literal.clone(), value)),
            Err(_) => self.refuse(literal),
        }
    }

    fn path(&mut self, path: &ExprPath) -> Option<Node> {
        if path.path.is_ident("None") {
            return Some(Node::None(path.clone()));
        }
        match path.path.get_ident() {
            Some(name) => Some(self.named(name, Vec::new())),
            None if path.path.segments.last().is_some_and(is_variant) => {
                Some(Node::Variant(path.clone()))
            }
            None => self.refuse(path),
        }
    }

    /// A field, or the field of a parameter.
    fn field(&mut self, expression: &Expr) -> Option<Node> {
        let mut names = Vec::new();
        let mut inner = expression;
        loop {
            match inner {
                Expr::Field(field) => {
                    let syn::Member::Named(name) = &field.member else {
                        return self.refuse(&field.member);
                    };
                    names.push(name.clone());
                    inner = &field.base;
                }
                Expr::Paren(paren) => inner = &paren.expr,
                Expr::Path(path) if path.path.get_ident().is_some() => {
                    names.reverse();
                    let name = path.path.get_ident()?;
                    return Some(self.named(name, names));
                }
                other => return self.refuse(other),
            }
        }
    }

    fn named(&mut self, name: &Ident, rest: Vec<Ident>) -> Node {
        let parameters = self.parameters.iter().rev();
        if let Some(parameter) = parameters.clone().find(|parameter| parameter.name == *name) {
            let mut parameter = parameter.clone();
            parameter.name = name.clone();
            if rest.is_empty() {
                return Node::Parameter(parameter);
            }
            if parameter.list.is_none() {
                self.cx.error(
                    name,
                    format!(
                        "`{name}` is a value that is computed, which has no fields: name the fields in the closure before it"
                    ),
                );
            }
            return Node::FieldOf(parameter, rest);
        }
        let mut path = vec![name.clone()];
        path.extend(rest);
        let names: Vec<String> = path.iter().map(types::name).collect();
        self.fields.insert(names.join("."), path.clone());
        Node::Field(path)
    }

    fn number(&self, ty: &Type) -> Option<NumberType> {
        let text = crate::attr::text(ty);
        match NUMBERS.iter().find(|(name, _)| *name == text) {
            Some((_, name)) => Some(NumberType {
                ty: ty.clone(),
                name,
            }),
            None => self.refuse(ty),
        }
    }

    fn if_else(&mut self, condition: &ExprIf) -> Option<Node> {
        if let Expr::Let(pattern) = &*condition.cond {
            return self.refuse(pattern);
        }
        let Some((token, otherwise)) = &condition.else_branch else {
            return self.refuse(condition.if_token);
        };
        let test = self.node(&condition.cond);
        let then = self.block(&condition.then_branch);
        let otherwise = self.node(otherwise);
        Some(Node::If(
            condition.if_token,
            *token,
            Box::new([test?, then?, otherwise?]),
        ))
    }

    fn method(&mut self, call: &ExprMethodCall) -> Option<Node> {
        let receiver = self.any(&call.receiver);
        let name = types::name(&call.method);
        if name == "sum" && call.args.is_empty() {
            let arguments = call.turbofish.as_ref();
            let argument = arguments.and_then(|arguments| arguments.args.first());
            let Some(syn::GenericArgument::Type(ty)) = argument else {
                let message = "write the type of the sum: `.sum::<i64>()`";
                self.cx.error(&call.method, message);
                return None;
            };
            let ty = self.number(ty)?;
            if ty.name == "F32" {
                return self.refuse(&ty.ty);
            }
            return Some(Node::Sum(Box::new(receiver?), call.method.clone(), ty));
        }
        if let Some(turbofish) = &call.turbofish {
            return self.refuse(turbofish);
        }
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let given = match &*arguments {
            [] => Arguments::None,
            [Expr::Closure(_)] => Arguments::Closure,
            _ => Arguments::One,
        };
        let mut methods = METHODS.iter();
        let method = methods.find(|method| method.name == name && method.arguments == given);
        let Some(method) = method else {
            return self.refuse(&call.method);
        };
        let receiver = Box::new(receiver?);
        let is_of_iterators = matches!(
            method.receiver,
            Receiver::Iterator | Receiver::Value("ordered_iterator")
        );
        let is_kept = matches!(method.name, "copied" | "cloned");
        if is_iterator(&receiver) && !is_of_iterators && !is_kept {
            return self.refuse(&call.method);
        }
        let (name, method) = match (&*receiver, method.name) {
            (Node::Call(_, _, chars, _), "count") if chars.name == "chars" => {
                (call.method.clone(), &COUNT_CHARS)
            }
            (Node::Call(_, chars, of, _), _) if of.name == "chars" => {
                return self.refuse(chars);
            }
            _ => (call.method.clone(), method),
        };
        match arguments.first() {
            Some(Expr::Closure(closure)) => {
                let closure = self.closure(closure, &receiver)?;
                Some(Node::Each(receiver, name, method, closure))
            }
            argument => {
                let argument = match argument {
                    Some(argument) => Some(self.node(argument)?),
                    None => None,
                };
                let arguments = Vec::from_iter(argument);
                Some(Node::Call(receiver, name, method, arguments))
            }
        }
    }

    fn closure(&mut self, closure: &ExprClosure, receiver: &Node) -> Option<Closure> {
        let mut inputs = closure.inputs.iter();
        let (Some(Pat::Ident(parameter)), None) = (inputs.next(), inputs.next()) else {
            return self.refuse(&closure.inputs);
        };
        let is_plain = closure.capture.is_none() && closure.attrs.is_empty();
        if !is_plain || !matches!(closure.output, ReturnType::Default) {
            return self.refuse(closure);
        }
        self.parameters.push(Parameter {
            name: parameter.ident.clone(),
            level: self.parameters.len(),
            list: element_of(receiver).map(|list| Box::new(list.clone())),
        });
        let body = self.node(&closure.body);
        self.parameters.pop();
        Some(Closure {
            tokens: closure.clone(),
            body: Box::new(body?),
        })
    }

    fn format(&mut self, call: &ExprMacro) -> Option<Node> {
        let arguments = call
            .mac
            .parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err(error) => {
                self.cx.syntax(error);
                return None;
            }
        };
        let mut arguments = arguments.iter();
        let Some(Expr::Lit(syn::ExprLit {
            lit: Lit::Str(text),
            ..
        })) = arguments.next()
        else {
            return self.refuse(&call.mac.path);
        };
        let mut pieces = Vec::new();
        for part in parts(&text.value()) {
            pieces.push(match part {
                Part::Text(text) => Piece::Text(text),
                Part::Value(name) if name.is_empty() => match arguments.next() {
                    Some(argument) => Piece::Value(Box::new(self.node(argument)?)),
                    None => return self.refuse(text),
                },
                Part::Value(name) => match types::ident(&name, text.span()) {
                    Some(name) => Piece::Value(Box::new(self.named(&name, Vec::new()))),
                    None => return self.refuse(text),
                },
                Part::Unmatched => return self.refuse(text),
            });
        }
        if let Some(more) = arguments.next() {
            return self.refuse(more);
        }
        Some(Node::Format(text.span(), pieces))
    }
}

/// A part of the text of `format!`.
enum Part {
    Text(String),
    /// The text between braces.
    Value(String),
    Unmatched,
}

fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut before = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '{' | '}' if chars.peek() == Some(&char) => before.extend(chars.next()),
            '{' => {
                parts.push(Part::Text(std::mem::take(&mut before)));
                let mut name = String::new();
                loop {
                    match chars.next() {
                        Some('}') => break,
                        Some(char) => name.push(char),
                        None => return vec![Part::Unmatched],
                    }
                }
                parts.push(Part::Value(name));
            }
            '}' => return vec![Part::Unmatched],
            char => before.push(char),
        }
    }
    parts.push(Part::Text(before));
    parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
    parts
}

/// Whether this is the suffix of an integer.
fn is_integer(suffix: &str) -> bool {
    let mut numbers = NUMBERS.iter();
    suffix.is_empty() || numbers.any(|(name, of)| *name == suffix && !of.starts_with('F'))
}

/// Whether it is the name of a variant, and not of a constant.
fn is_variant(name: &PathSegment) -> bool {
    let name = types::name(&name.ident);
    let is_constant = name.len() > 1 && !name.chars().any(char::is_lowercase);
    name.starts_with(char::is_uppercase) && !is_constant
}

/// Whether it is an iterator, and no value.
fn is_iterator(node: &Node) -> bool {
    match node {
        Node::Call(inner, _, method, _) => match method.name {
            "iter" | "chars" => true,
            "copied" | "cloned" => is_iterator(inner),
            _ => false,
        },
        Node::Each(_, _, method, _) => matches!(method.name, "map" | "filter" | "filter_map"),
        _ => false,
    }
}

/// The list whose elements an iterator has.
fn element_of(iterator: &Node) -> Option<&Node> {
    match iterator {
        Node::Call(list, _, method, _) if method.name == "iter" => match &**list {
            list @ (Node::Field(_) | Node::FieldOf(..)) => Some(list),
            _ => None,
        },
        Node::Each(list, _, method, _) if method.name == "filter" => element_of(list),
        Node::Call(list, _, method, _) if matches!(method.name, "copied" | "cloned") => {
            element_of(list)
        }
        _ => None,
    }
}

fn operator(operator: &BinOp) -> Option<&'static str> {
    Some(match operator {
        BinOp::Add(_) => "Add",
        BinOp::Sub(_) => "Subtract",
        BinOp::Mul(_) => "Multiply",
        BinOp::Div(_) => "Divide",
        BinOp::Rem(_) => "Remainder",
        BinOp::And(_) => "And",
        BinOp::Or(_) => "Or",
        BinOp::Eq(_) => "Equal",
        BinOp::Ne(_) => "NotEqual",
        BinOp::Lt(_) => "Less",
        BinOp::Le(_) => "LessOrEqual",
        BinOp::Gt(_) => "Greater",
        BinOp::Ge(_) => "GreaterOrEqual",
        _ => return None,
    })
}
