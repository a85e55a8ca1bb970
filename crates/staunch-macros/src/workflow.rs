//! What `#[workflow]` makes of a function.

use proc_macro2::{Group, Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use crate::arguments::{self, Kind, Parts, Problems};
use crate::function::Function;
use crate::options::Options;

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let function = match Function::read("workflow", item) {
        Ok(function) => function,
        Err(error) => return error.into_compile_error(),
    };
    let mut problems = Problems::default();
    let options = Options::read(Kind::Workflow, options, &mut problems);
    let stored_name = options.name_or(&function.signature.ident, &mut problems);
    let parts = arguments::read(Kind::Workflow, &function.signature, &mut problems);
    match (problems.none_or(), parts) {
        (Ok(()), Some(parts)) => items(&function, &stored_name, &parts),
        (outcome, _) => function.refused(outcome.err()),
    }
}

fn items(function: &Function, stored_name: &str, parts: &Parts) -> TokenStream {
    let name = &function.signature.ident;
    let visibility = &function.visibility;
    let outer = function.outer_attributes();
    let condition = function.condition_attributes();
    let implementation = implementation(function, stored_name, parts);
    let starters = starters(function, parts);
    // With the place of the user's own token it is the user's own type to the compiler, which then
    // tells when nothing registers or starts it.
    let unit = quote_spanned! {function.signature.fn_token.span=> struct #name; };
    quote! {
        #(#outer)*
        #[allow(non_camel_case_types)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #visibility #unit

        #(#condition)*
        #implementation

        #(#condition)*
        #starters
    }
}

fn implementation(function: &Function, stored_name: &str, parts: &Parts) -> TokenStream {
    let name = &function.signature.ident;
    let deprecated = function.deprecated_allowance();
    let inner = function.inner();
    let inner_name = function.inner_name();
    let input = input_type(function, parts);
    let context = Ident::new("context", Span::mixed_site());
    let values: Vec<Ident> = (0..parts.arguments.len()).map(value_name).collect();
    // What the compiler has to say about the return type, and about a body that is not Send, is
    // said at the return type.
    let written = &parts.output;
    let place = written.span().resolved_at(Span::mixed_site());
    let returned = quote_spanned! {place=>
        <#written as ::staunch::__private::WorkflowReturn>
    };
    let output = quote_spanned! {place=> #returned::Output };
    let result = quote_spanned! {place=>
        #returned::into_result(#inner_name(#context, #(#values,)*).await)
    };
    let future = quote_spanned! {place=>
        impl ::core::future::Future<
            Output = ::core::result::Result<Self::Output, ::staunch::__private::anyhow::Error>,
        > + ::core::marker::Send
    };
    quote! {
        #deprecated
        impl ::staunch::Workflow for #name {
            const NAME: &'static str = #stored_name;
            type Input = #input;
            type Output = #output;

            fn run(#context: ::staunch::Ctx, input: Self::Input) -> #future {
                #inner

                async move {
                    let (#(#values,)*) = input;
                    #result
                }
            }
        }
    }
}

/// The tuple of the argument types. It takes the place of the function's argument list, so that the
/// compiler reports a type that cannot be stored there.
fn input_type(function: &Function, parts: &Parts) -> TokenStream {
    let types = parts.arguments.iter().map(|argument| &argument.ty);
    let mut tuple = Group::new(proc_macro2::Delimiter::Parenthesis, quote! { #(#types,)* });
    tuple.set_span(function.signature.paren_token.span.join());
    quote! { #tuple }
}

fn starters(function: &Function, parts: &Parts) -> TokenStream {
    let name = &function.signature.ident;
    let visibility = &function.visibility;
    let deprecated = function.deprecated_allowance();
    let at = Ident::new("at", Span::mixed_site());
    let names: Vec<_> = parts.arguments.iter().map(|argument| &argument.name).collect();
    let types: Vec<_> = parts.arguments.iter().map(|argument| &argument.ty).collect();
    let start_doc = format!("Starts a run of `{name}`. Await what this gives.");
    let item_doc = format!("A run of `{name}`, to be started together with others.");
    quote! {
        #deprecated
        #[allow(clippy::too_many_arguments)]
        impl #name {
            #[doc = #start_doc]
            #visibility fn start<'at>(
                &self,
                #at: &'at ::staunch::Staunch,
                #(#names: #types,)*
            ) -> ::staunch::StartBuilder<'at, #name> {
                ::staunch::StartBuilder::new(#at, (#(#names,)*))
            }

            #[doc = #item_doc]
            #visibility fn item(&self, #(#names: #types,)*) -> ::staunch::StartItem<#name> {
                ::staunch::StartItem::new((#(#names,)*))
            }
        }
    }
}

fn value_name(index: usize) -> Ident {
    format_ident!("value_{index}", span = Span::mixed_site())
}

#[cfg(test)]
mod tests;
