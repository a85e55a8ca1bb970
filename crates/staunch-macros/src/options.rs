//! What stands in the brackets of an attribute: `#[step(attempts = 5, name = "charge-card")]`.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Ident, Lit, LitInt, LitStr, Meta, MetaNameValue, Token};

use crate::arguments::{Kind, Problems};
use crate::duration::{Backoff, parse_backoff, parse_millis};

/// The longest name that the store takes, in bytes.
const NAME_BYTES_MAX: usize = 255;
/// More attempts than this is a mistake: the pauses alone would take most of a day.
const ATTEMPTS_MAX: u32 = 1_000;

/// The options that were given.
#[derive(Default)]
pub(crate) struct Options {
    name: Option<String>,
    pub(crate) attempts: Option<u32>,
    pub(crate) backoff: Option<Backoff>,
    pub(crate) timeout_ms: Option<u64>,
}

impl Options {
    /// Reads the options of an attribute. A wrong one is a problem and is left out.
    pub(crate) fn read(kind: Kind, tokens: TokenStream, problems: &mut Problems) -> Self {
        let mut options = Self::default();
        let given = match Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens) {
            Ok(given) => given,
            Err(error) => {
                let problem = format!("{error}; an option is written as `name = value`");
                problems.add(syn::Error::new(error.span(), problem));
                return options;
            }
        };
        let mut seen: Vec<String> = Vec::new();
        for meta in given {
            let name = meta.path().to_token_stream().to_string();
            if seen.contains(&name) {
                problems.at(meta.path(), format!("`{name}` is given twice"));
            } else if let Err(error) = options.set(kind, &name, &meta) {
                problems.add(error);
            }
            seen.push(name);
        }
        options
    }

    fn set(&mut self, kind: Kind, name: &str, meta: &Meta) -> syn::Result<()> {
        match (kind, name) {
            (_, "name") => self.name = Some(read_name(kind, meta)?),
            (Kind::Step, "attempts") => self.attempts = Some(read_attempts(meta)?),
            (Kind::Step, "backoff") => {
                self.backoff = Some(read_duration(meta, "1s..1m", parse_backoff)?);
            }
            (Kind::Step, "timeout") => {
                self.timeout_ms = Some(read_duration(meta, "30s", parse_millis)?);
            }
            _ => return Err(unknown(kind, name, meta)),
        }
        Ok(())
    }

    /// The name that is stored: the given one, else the function's.
    pub(crate) fn name_or(&self, function: &Ident, problems: &mut Problems) -> String {
        let name = self.name.clone().unwrap_or_else(|| function.unraw().to_string());
        if let (None, Some(problem)) = (&self.name, name_problem(&name)) {
            problems.at(function, problem);
        }
        name
    }
}

fn unknown(kind: Kind, name: &str, meta: &Meta) -> syn::Error {
    let problem = match kind {
        Kind::Workflow => format!("a workflow has no option `{name}`; its only option is `name`"),
        Kind::Step => format!(
            "a step has no option `{name}`; its options are `attempts`, `backoff`, `timeout` and \
             `name`"
        ),
    };
    syn::Error::new_spanned(meta.path(), problem)
}

fn read_name(kind: Kind, meta: &Meta) -> syn::Result<String> {
    let text = read_text(meta, "checkout")?;
    let name = text.value();
    if kind == Kind::Step && name.starts_with('@') {
        let problem = "the name of a step cannot begin with '@', which marks other recorded calls";
        return Err(syn::Error::new_spanned(text, problem));
    }
    name_problem(&name).map_or(Ok(name), |problem| Err(syn::Error::new_spanned(text, problem)))
}

fn name_problem(name: &str) -> Option<String> {
    let size = name.len();
    if size == 0 || size > NAME_BYTES_MAX {
        return Some(format!("the name has {size} bytes; 1 to {NAME_BYTES_MAX} are allowed"));
    }
    name.contains('\0').then(|| "the name holds a NUL character".to_owned())
}

fn read_attempts(meta: &Meta) -> syn::Result<u32> {
    let allowed = format!("`attempts` is a whole number, 1 to {ATTEMPTS_MAX}");
    let value = value_of(meta, "attempts = 5")?;
    let attempts = literal_of(value).and_then(|literal| match literal {
        Lit::Int(number) => whole(number),
        _ => None,
    });
    match attempts {
        Some(attempts) if (1..=ATTEMPTS_MAX).contains(&attempts) => Ok(attempts),
        _ => Err(syn::Error::new_spanned(value, allowed)),
    }
}

fn whole(number: &LitInt) -> Option<u32> {
    number.base10_parse().ok()
}

fn read_duration<T>(
    meta: &Meta,
    example: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> syn::Result<T> {
    let text = read_text(meta, example)?;
    parse(&text.value()).map_err(|problem| syn::Error::new_spanned(text, problem))
}

fn read_text(meta: &Meta, example: &str) -> syn::Result<LitStr> {
    let name = meta.path().to_token_stream();
    let value = value_of(meta, &format!("{name} = {example:?}"))?;
    match literal_of(value) {
        Some(Lit::Str(text)) => Ok(text.clone()),
        _ => {
            let problem = format!("`{name}` is a text in quotes, such as `{name} = {example:?}`");
            Err(syn::Error::new_spanned(value, problem))
        }
    }
}

fn value_of<'a>(meta: &'a Meta, example: &str) -> syn::Result<&'a Expr> {
    match meta {
        Meta::NameValue(MetaNameValue { value, .. }) => Ok(value),
        _ => Err(syn::Error::new_spanned(meta, format!("write it as `{example}`"))),
    }
}

/// A literal, also when it comes out of another macro.
fn literal_of(value: &Expr) -> Option<&Lit> {
    match value {
        Expr::Lit(ExprLit { lit, .. }) => Some(lit),
        Expr::Group(group) => literal_of(&group.expr),
        _ => None,
    }
}
