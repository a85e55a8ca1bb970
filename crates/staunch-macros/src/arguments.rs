//! The rules for the functions that can be workflows and steps.
//!
//! Every violation becomes an error of its own at the place where it is, and all of them are
//! reported at once.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{FnArg, Ident, Pat, PatType, ReturnType, Safety, Signature, Type};

use crate::function::attributes_of;

/// The arguments become a tuple, and tuples are stored and compared up to this size.
const ARGUMENTS_MAX: usize = 12;

/// Errors, gathered so that the user sees all of them in one build.
#[derive(Default)]
pub(crate) struct Problems(Option<syn::Error>);

impl Problems {
    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Marks the whole of `at`.
    pub(crate) fn at(&mut self, at: impl ToTokens, problem: impl std::fmt::Display) {
        self.add(syn::Error::new_spanned(at, problem));
    }

    pub(crate) fn none_or(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

/// What a function is to become.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Workflow,
    Step,
}

impl Kind {
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Workflow => "workflow",
            Self::Step => "step",
        }
    }

    /// The type of its first argument.
    fn context(self) -> &'static str {
        match self {
            Self::Workflow => "Ctx",
            Self::Step => "StepCtx",
        }
    }

    /// Why its arguments are owned.
    fn why_owned(self) -> &'static str {
        match self {
            Self::Workflow => "the arguments of a workflow are stored",
            Self::Step => "a step may run again and gets a copy of its arguments each time",
        }
    }
}

/// An argument behind the context.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
}

/// A function that keeps the rules.
pub(crate) struct Parts {
    /// Whether its first argument is the context. Always so in a workflow.
    pub(crate) has_context: bool,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) output: Type,
}

/// Reads the signature; `None` when a problem was found.
pub(crate) fn read(kind: Kind, signature: &Signature, problems: &mut Problems) -> Option<Parts> {
    let mut found = Problems::default();
    check_qualifiers(kind, signature, &mut found);
    let (has_context, rest) = split_context(kind, signature, &mut found);
    if let Some(first_too_many) = rest.get(ARGUMENTS_MAX) {
        let noun = kind.noun();
        let count = rest.len();
        found.at(
            first_too_many,
            format!(
                "a {noun} takes at most {ARGUMENTS_MAX} arguments behind its context, not {count}; \
                 put some of them into a struct"
            ),
        );
    }
    let arguments: Vec<Argument> =
        rest.into_iter().filter_map(|argument| read_argument(kind, argument, &mut found)).collect();
    let output = read_output(kind, signature, &mut found);
    match (found.none_or(), output) {
        (Ok(()), Some(output)) => Some(Parts { has_context, arguments, output }),
        (outcome, _) => {
            outcome.err().into_iter().for_each(|error| problems.add(error));
            None
        }
    }
}

fn check_qualifiers(kind: Kind, signature: &Signature, problems: &mut Problems) {
    let noun = kind.noun();
    if signature.asyncness.is_none() {
        problems.at(signature.fn_token, format!("a {noun} is async; write `async fn`"));
    }
    if let Some(constness) = signature.constness {
        problems.at(constness, format!("a {noun} cannot be const"));
    }
    match &signature.safety {
        Safety::Safe(token) => problems.at(token, format!("a {noun} cannot be marked safe")),
        Safety::Unsafe(token) => problems.at(token, format!("a {noun} cannot be unsafe")),
        _ => {}
    }
    if let Some(abi) = &signature.abi {
        problems.at(abi, format!("a {noun} cannot be extern"));
    }
    if let Some(variadic) = &signature.variadic {
        problems.at(variadic, format!("a {noun} cannot be variadic"));
    }
    let why = match kind {
        Kind::Workflow => "it is found by its name alone when a stored run goes on",
        Kind::Step => "its result is read from the record as one type",
    };
    if !signature.generics.params.is_empty() {
        problems.at(&signature.generics, format!("a {noun} cannot be generic: {why}"));
    }
    if let Some(clause) = &signature.generics.where_clause {
        problems.at(clause, format!("a {noun} cannot have a where clause"));
    }
}

/// Takes the context off the arguments.
fn split_context<'a>(
    kind: Kind,
    signature: &'a Signature,
    problems: &mut Problems,
) -> (bool, Vec<&'a PatType>) {
    let (noun, context) = (kind.noun(), kind.context());
    let mut typed = Vec::new();
    for argument in &signature.inputs {
        if let Some(attribute) =
            attributes_of(argument).iter().find(|attribute| is_condition(attribute))
        {
            problems.at(attribute, format!("an argument of a {noun} cannot be conditional"));
        }
        match argument {
            FnArg::Receiver(receiver) => {
                problems.at(receiver, format!("a {noun} is a free function; it has no self"));
                // With self in the first place, a missing context is not worth a second error.
                return (false, Vec::new());
            }
            FnArg::Typed(argument) => typed.push(argument),
        }
    }
    let has_context = typed.first().is_some_and(|first| is_named(&first.ty, context));
    if !has_context && kind == Kind::Workflow {
        report_missing_context(signature, typed.first().copied(), problems);
        // What stands in the context's place was reported; only what follows is still unchecked.
        return (false, typed.into_iter().skip(1).collect());
    }
    (has_context, typed.into_iter().skip(usize::from(has_context)).collect())
}

fn report_missing_context(signature: &Signature, first: Option<&PatType>, problems: &mut Problems) {
    let rule = "the first argument of a workflow is its context: `ctx: Ctx`";
    match first {
        Some(first) => match &*first.ty {
            Type::Reference(reference) if is_named(&reference.elem, "Ctx") => problems
                .at(reference, "a workflow takes its context by value; write `Ctx` without `&`"),
            _ => problems.at(first, rule),
        },
        None => problems.add(syn::Error::new(signature.paren_token.span.join(), rule)),
    }
}

fn read_argument(kind: Kind, argument: &PatType, problems: &mut Problems) -> Option<Argument> {
    let noun = kind.noun();
    let ty = &*argument.ty;
    if let Some(problem) = type_problem(kind, ty) {
        problems.at(ty, problem);
        return None;
    }
    match &*argument.pat {
        Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => {
            Some(Argument { name: pattern.ident.clone(), ty: ty.clone() })
        }
        Pat::Wild(pattern) => {
            let problem = "give this argument a name; one that the body does not use begins with _";
            problems.at(pattern, problem);
            None
        }
        pattern => {
            let problem = format!(
                "an argument of a {noun} has a plain name, `name: Type`; \
                 take it apart in the body"
            );
            problems.at(pattern, problem);
            None
        }
    }
}

fn type_problem(kind: Kind, ty: &Type) -> Option<String> {
    let noun = kind.noun();
    if contains_impl(ty) {
        return Some(format!("a {noun} cannot be generic; name the type instead of `impl Trait`"));
    }
    if is_borrowed(ty.to_token_stream(), true) {
        let why = kind.why_owned();
        return Some(format!("take an owned value here, because {why}"));
    }
    for context in ["Ctx", "StepCtx"] {
        let problem = match (kind, context) {
            _ if !is_named(ty, context) => continue,
            (Kind::Step, "Ctx") => {
                "a step cannot have the workflow's context; the step's own is `StepCtx`, in the \
                 first place"
                    .to_owned()
            }
            _ if context == kind.context() => {
                format!("the context of a {noun} is its first argument, and there is one alone")
            }
            _ => format!("a {noun} has no `{context}`; its context is `{}`", kind.context()),
        };
        return Some(problem);
    }
    None
}

fn read_output(kind: Kind, signature: &Signature, problems: &mut Problems) -> Option<Type> {
    let noun = kind.noun();
    match &signature.output {
        ReturnType::Default => {
            let problem = format!("a {noun} returns a Result; write `-> Result<()>` for no value");
            problems.add(syn::Error::new(end_of_signature(signature), problem));
            None
        }
        ReturnType::Type(_, ty) if contains_impl(ty) => {
            problems.at(ty, format!("name the type that the {noun} returns; its value is stored"));
            None
        }
        ReturnType::Type(_, ty) if is_borrowed(ty.to_token_stream(), false) => {
            problems.at(ty, format!("a {noun} returns owned values, because they are stored"));
            None
        }
        ReturnType::Type(_, ty) => Some((**ty).clone()),
    }
}

/// Where a return type would be missed.
fn end_of_signature(signature: &Signature) -> Span {
    signature.paren_token.span.join()
}

fn is_condition(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
}

/// Whether the last part of the type's path is `name`.
fn is_named(ty: &Type, name: &str) -> bool {
    match ty {
        Type::Group(group) => is_named(&group.elem, name),
        Type::Paren(paren) => is_named(&paren.elem, name),
        Type::Path(path) => path.path.segments.last().is_some_and(|segment| segment.ident == name),
        _ => false,
    }
}

fn contains_impl(ty: &Type) -> bool {
    contains_token(
        ty.to_token_stream(),
        &|token| matches!(token, TokenTree::Ident(ident) if ident == "impl"),
    )
}

/// Whether a reference or a lifetime is in the type. `'static` ones count only when `all` do.
fn is_borrowed(tokens: TokenStream, all: bool) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    tokens.iter().enumerate().any(|(index, token)| match token {
        TokenTree::Group(group) => is_borrowed(group.stream(), all),
        TokenTree::Punct(punct) if punct.as_char() == '&' => {
            all || !matches!(tokens.get(index + 1), Some(next) if is_quote(next))
        }
        TokenTree::Punct(punct) if punct.as_char() == '\'' => {
            all || !matches!(tokens.get(index + 1), Some(TokenTree::Ident(name)) if name == "static")
        }
        _ => false,
    })
}

fn is_quote(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '\'')
}

fn contains_token(tokens: TokenStream, wanted: &dyn Fn(&TokenTree) -> bool) -> bool {
    tokens.into_iter().any(|token| match &token {
        TokenTree::Group(group) => contains_token(group.stream(), wanted),
        token => wanted(token),
    })
}
