//! The function that an attribute stands on, and how its own attributes are shared out among the
//! items that are made of it.

use proc_macro2::{Group, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Ident, Signature, Visibility};

/// A function whose body is not read. An error in the body is the compiler's to report, and it
/// reports it better; an unfinished body keeps its completions in an editor.
pub(crate) struct Function {
    attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    pub(crate) body: Group,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self {
            attributes: input.call(Attribute::parse_outer)?,
            visibility: input.parse()?,
            signature: input.parse()?,
            body: input.parse()?,
        })
    }
}

impl Function {
    /// Reads the item under `attribute`.
    pub(crate) fn read(attribute: &str, item: TokenStream) -> syn::Result<Self> {
        syn::parse2(item).map_err(|error| {
            syn::Error::new(error.span(), format!("#[{attribute}] goes on an async fn: {error}"))
        })
    }

    /// The errors, and the function as it was written: other code still finds the name, and an
    /// editor its types. Whether it uses all of its arguments is of no interest meanwhile.
    pub(crate) fn refused(&self, errors: Option<syn::Error>) -> TokenStream {
        let errors = errors.map(syn::Error::into_compile_error);
        let Self { attributes, visibility, signature, body } = self;
        quote! {
            #errors
            #(#attributes)*
            #[allow(unused)]
            #visibility #signature #body
        }
    }

    /// What belongs on the item that takes the function's place.
    pub(crate) fn outer_attributes(&self) -> Vec<&Attribute> {
        self.attributes_in(&["doc", "cfg", "deprecated", "allow", "warn", "deny", "forbid"])
    }

    /// What belongs on every further item: without `cfg` they would stay behind alone.
    pub(crate) fn condition_attributes(&self) -> Vec<&Attribute> {
        self.attributes_in(&["cfg"])
    }

    /// What lets the further items of a deprecated function name it. The user's body is in one of
    /// them, so others do not get it: the use of something deprecated there is worth its warning.
    pub(crate) fn deprecated_allowance(&self) -> Option<TokenStream> {
        let deprecated = !self.attributes_in(&["deprecated"]).is_empty();
        deprecated.then(|| quote! { #[allow(deprecated)] })
    }

    fn attributes_in(&self, names: &[&str]) -> Vec<&Attribute> {
        let named =
            |attribute: &&Attribute| names.iter().any(|name| attribute.path().is_ident(name));
        self.attributes.iter().filter(named).collect()
    }

    /// The name of the function that holds the user's body. The body is nested in what has the
    /// user's own name, which must still mean that item inside.
    pub(crate) fn inner_name(&self) -> Ident {
        format_ident!("__{}", self.signature.ident)
    }

    /// The user's function, under its inner name.
    pub(crate) fn inner(&self) -> TokenStream {
        let outer_only = ["doc", "cfg", "deprecated"];
        let attributes = self
            .attributes
            .iter()
            .filter(|attribute| !outer_only.iter().any(|name| attribute.path().is_ident(name)));
        let signature = Signature { ident: self.inner_name(), ..self.signature.clone() };
        let body = &self.body;
        quote! { #(#attributes)* #signature #body }
    }
}

/// The attributes of an argument.
pub(crate) fn attributes_of(argument: &FnArg) -> &[Attribute] {
    match argument {
        FnArg::Receiver(receiver) => &receiver.attrs,
        FnArg::Typed(typed) => &typed.attrs,
    }
}
