//! The two forms of an expression: for the compiler, which checks its types, and as the formula that is stored.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{LitStr, spanned::Spanned};

use super::{
    Default,
    grammar::{Closure, Node, Parameter, Piece, UnaryToken},
    methods::Receiver,
};
use crate::{
    model::{Head, Structure},
    types,
};

/// The names that both forms share.
pub(super) struct Emission<'e> {
    head: &'e Head,
    structure: &'e Structure,
    /// The parameter for the document.
    pub(super) document: Ident,
    defaults: &'e [(String, Default)],
}

impl<'e> Emission<'e> {
    pub(super) fn new(
        head: &'e Head,
        structure: &'e Structure,
        defaults: &'e [(String, Default)],
    ) -> Self {
        Emission {
            head,
            structure,
            document: head.fresh("__document"),
            defaults,
        }
    }

    /// A function of the library, called where its argument is.
    fn call(&self, name: &str, argument: &TokenStream) -> TokenStream {
        let span = argument.span();
        let private = self.head.private_at(span);
        let name = Ident::new(name, span);
        quote_spanned!(span=> #private::formula::#name(#argument))
    }

    /// The expression as Rust, in which each operand is an argument of a function that requires its type: of other types, the operators and
    /// methods could have a meaning that a formula does not know.
    pub(super) fn checked(&self, node: &Node) -> TokenStream {
        match node {
            Node::Integer(literal, _) => literal.to_token_stream(),
            // Of no narrower type.
            Node::Float(literal, _) => self.call("float", &literal.to_token_stream()),
            Node::Constant(literal) => literal.to_token_stream(),
            Node::Variant(path) | Node::None(path) => path.to_token_stream(),
            Node::Parameter(parameter) => parameter.name.to_token_stream(),
            Node::Field(_) | Node::FieldOf(..) => {
                let place = self.place(node);
                self.call("copied", &reference_to(&place))
            }
            // rustc counts the sign in.
            Node::Unary(operator, _, inner) if matches!(**inner, Node::Integer(..)) => {
                let literal = self.checked(inner);
                quote!(#operator #literal)
            }
            Node::Unary(operator, function, inner) => {
                let kind = if *function == "Not" {
                    "boolean"
                } else {
                    "number"
                };
                let inner = self.operand(kind, inner);
                quote!(#operator #inner)
            }
            Node::Same(token, inner) => {
                let inner = self.operand("same", inner);
                match token {
                    UnaryToken::Star(star) => quote!(#star #inner),
                    UnaryToken::And(and) => quote!(#and #inner),
                }
            }
            Node::Binary(left, operator, function, right) => {
                let kind = match *function {
                    "And" | "Or" => "boolean",
                    "Equal" | "NotEqual" => "equated",
                    "Less" | "LessOrEqual" | "Greater" | "GreaterOrEqual" => "compared",
                    _ => "number",
                };
                // Rust compares without taking the values.
                if matches!(kind, "equated" | "compared") {
                    let value = |node: &Node| {
                        let borrowed = self.borrowed(kind, node);
                        quote_spanned!(borrowed.span()=> *#borrowed)
                    };
                    let (left, right) = (value(left), value(right));
                    return quote!(#left #operator #right);
                }
                let (left, right) = (self.operand(kind, left), self.operand(kind, right));
                quote!(#left #operator #right)
            }
            Node::Cast(inner, token, number) => {
                let (inner, ty) = (self.operand("castable", inner), &number.ty);
                quote!(#inner #token #ty)
            }
            Node::If(token, otherwise, parts) => {
                let [condition, then, other] = &**parts;
                let condition = self.operand("boolean", condition);
                let (then, other) = (self.checked(then), self.checked(other));
                quote!(#token #condition { #then } #otherwise { #other })
            }
            Node::Some(some, inner) => {
                let inner = self.checked(inner);
                quote!(#some(#inner))
            }
            Node::OfText(name, _, text) => {
                let text = self.borrowed("text", text);
                let private = self.head.private_at(name.span());
                quote_spanned!(name.span()=> #private::formula::#name(#text))
            }
            Node::Call(receiver, name, method, arguments) => {
                let receiver = self.receiver(receiver, method.receiver);
                let arguments = arguments.iter().map(|argument| match method.receiver {
                    Receiver::Borrowed("text") => self.operand("pattern", argument),
                    _ => self.checked(argument),
                });
                quote!(#receiver.#name(#(#arguments),*))
            }
            Node::Each(receiver, name, method, closure) => {
                let receiver = self.receiver(receiver, method.receiver);
                let Closure { tokens, body } = closure;
                let (inputs, body) = (&tokens.inputs, self.checked(body));
                quote!(#receiver.#name(|#inputs| #body))
            }
            Node::Sum(receiver, name, number) => {
                let receiver = self.receiver(receiver, Receiver::Iterator);
                let ty = &number.ty;
                quote!(#receiver.#name::<#ty>())
            }
            Node::Format(span, pieces) => {
                let mut text = String::new();
                let mut values = Vec::new();
                for piece in pieces {
                    match piece {
                        Piece::Text(part) => {
                            text.push_str(&part.replace('{', "{{").replace('}', "}}"));
                        }
                        Piece::Value(value) => {
                            text.push_str("{}");
                            values.push(self.operand("shown", value));
                        }
                    }
                }
                let text = LitStr::new(&text, *span);
                quote_spanned!(*span=> ::std::format!(#text #(, #values)*))
            }
        }
    }

    fn operand(&self, kind: &str, node: &Node) -> TokenStream {
        self.call(kind, &self.checked(node))
    }

    fn receiver(&self, node: &Node, receiver: Receiver) -> TokenStream {
        match receiver {
            Receiver::Value(kind) => self.operand(kind, node),
            Receiver::Iterator => self.operand("iterator", node),
            Receiver::Any => self.operand("same", node),
            Receiver::Borrowed(kind) => self.borrowed(kind, node),
        }
    }

    fn borrowed(&self, kind: &str, node: &Node) -> TokenStream {
        let place = match node {
            Node::Field(_) | Node::FieldOf(..) => self.place(node),
            Node::Parameter(_) | Node::Same(..) | Node::Constant(_) | Node::Variant(_) => {
                self.checked(node)
            }
            node => self.operand("same", node),
        };
        self.call(kind, &reference_to(&place))
    }

    /// The field itself.
    fn place(&self, node: &Node) -> TokenStream {
        match node {
            Node::Field(path) => {
                let mut document = self.document.clone();
                if let Some(first) = path.first() {
                    document.set_span(document.span().located_at(first.span()));
                }
                quote!(#document #(.#path)*)
            }
            Node::FieldOf(Parameter { name, .. }, path) => quote!(#name #(.#path)*),
            node => self.checked(node),
        }
    }

    /// The formula.
    pub(super) fn formula(&self, node: &Node) -> TokenStream {
        let private = &self.head.private;
        let expression = quote!(#private::formula::Expression);
        let number = quote!(#private::formula::NumberType);
        match node {
            Node::Integer(literal, value) => {
                let number = match literal.suffix() {
                    "" => quote!(#private::None),
                    suffix => {
                        let name = Ident::new(&capitalized(suffix), literal.span());
                        quote!(#private::Some(#number::#name))
                    }
                };
                quote!(#expression::Integer(#value, #number))
            }
            Node::Float(_, value) => quote!(#expression::Float(#value)),
            Node::Constant(literal) => quote!(#private::formula::constant(&#literal)),
            Node::Variant(path) => quote!(#private::formula::constant(&#path)),
            Node::None(_) => quote!(#expression::None),
            Node::Parameter(Parameter { level, .. }) => quote!(#expression::Parameter(#level)),
            Node::Field(path) => {
                let field = self.typed(node);
                let name = path.first().map(types::name).unwrap_or_default();
                match (&**path, self.default_of(&name)) {
                    ([_], Some(default)) => {
                        quote!(#private::formula::defaulted_field(#field, #default))
                    }
                    _ => quote!(#private::formula::field(#field)),
                }
            }
            Node::FieldOf(Parameter { level, list, .. }, _) => {
                let list = list.as_ref().map(|list| self.typed(list));
                let field = self.typed(node);
                quote!(#private::formula::field_of(#level, #list, #field))
            }
            Node::Unary(_, function, inner) => self.function(function, [&**inner]),
            Node::Same(_, inner) => self.formula(inner),
            Node::Binary(left, _, function, right) => self.function(function, [&**left, &**right]),
            Node::Cast(inner, _, ty) => self.function_of("As", ty.name, inner),
            Node::Sum(inner, _, ty) => self.function_of("Sum", ty.name, inner),
            Node::If(_, _, parts) => self.function("If", &**parts),
            Node::Some(_, inner) => self.function("Some", [&**inner]),
            Node::OfText(_, function, text) => self.function(function, [&**text]),
            Node::Call(receiver, _, method, arguments) => match method.function {
                None => self.formula(receiver),
                Some("CountChars") => self.function("CountChars", [&**receiver]),
                Some(function) => {
                    self.function(function, std::iter::once(&**receiver).chain(arguments))
                }
            },
            Node::Each(receiver, _, method, closure) => {
                let function = method.function.unwrap_or_default();
                self.function(function, [&**receiver, &*closure.body])
            }
            Node::Format(_, pieces) => {
                let function = quote!(#private::formula::Function::Format);
                let pieces = pieces.iter().map(|piece| match piece {
                    Piece::Text(text) => quote!(#private::formula::constant(&#text)),
                    Piece::Value(value) => self.formula(value),
                });
                quote!(#expression::Call(#function, ::std::vec![#(#pieces),*]))
            }
        }
    }

    fn function<'n>(
        &self,
        function: &str,
        arguments: impl IntoIterator<Item = &'n Node>,
    ) -> TokenStream {
        let private = &self.head.private;
        let function = Ident::new(function, proc_macro2::Span::call_site());
        let arguments = arguments.into_iter().map(|argument| self.formula(argument));
        quote! {
            #private::formula::Expression::Call(
                #private::formula::Function::#function,
                ::std::vec![#(#arguments),*],
            )
        }
    }

    fn function_of(&self, function: &str, number: &str, argument: &Node) -> TokenStream {
        let private = &self.head.private;
        let span = proc_macro2::Span::call_site();
        let (function, number) = (Ident::new(function, span), Ident::new(number, span));
        let argument = self.formula(argument);
        quote! {
            #private::formula::Expression::Call(
                #private::formula::Function::#function(#private::formula::NumberType::#number),
                ::std::vec![#argument],
            )
        }
    }

    /// The typed field, which has the stored path and the type.
    ///
    /// ```ignore
    /// step(step(fields_of::<Order>().lines).part).price
    /// ```
    pub(super) fn typed(&self, node: &Node) -> TokenStream {
        let this = &self.structure.this;
        let (start, path) = match node {
            Node::Field(path) => {
                let span = path
                    .first()
                    .map_or_else(proc_macro2::Span::call_site, Ident::span);
                let private = self.head.private_at(span);
                let [first, rest @ ..] = &**path else {
                    return TokenStream::new();
                };
                (
                    quote_spanned!(span=> #private::fields_of::<#this>().#first),
                    rest,
                )
            }
            Node::FieldOf(Parameter { list, .. }, path) => {
                let list = list.as_ref().map(|list| self.typed(list));
                let [first, rest @ ..] = &**path else {
                    return TokenStream::new();
                };
                let span = first.span();
                let private = self.head.private_at(span);
                (quote_spanned!(span=> #private::step(#list).#first), rest)
            }
            _ => return TokenStream::new(),
        };
        path.iter().fold(start, |field, name| {
            let span = name.span();
            let private = self.head.private_at(span);
            quote_spanned!(span=> #private::step(#field).#name)
        })
    }

    /// The value of a field that a document lacks.
    fn default_of(&self, field: &str) -> Option<TokenStream> {
        let this = &self.structure.this;
        let own = self.defaults.iter().find(|(name, _)| name == field);
        match own {
            Some((_, Default::Function(path))) => Some(path.to_token_stream()),
            Some((_, Default::OfType)) => Some(quote!(::core::default::Default::default)),
            None if self.structure.defaulted => {
                let field = types::ident(field, proc_macro2::Span::call_site())?;
                Some(quote!(|| <#this as ::core::default::Default>::default().#field))
            }
            None => None,
        }
    }
}

/// `&place`, as a whole where the place is.
fn reference_to(place: &TokenStream) -> TokenStream {
    quote_spanned!(place.span()=> &#place)
}

fn capitalized(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}
