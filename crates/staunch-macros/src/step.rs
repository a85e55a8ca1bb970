//! What `#[step]` makes of a function.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::arguments::{self, Kind, Parts, Problems};
use crate::duration::Backoff;
use crate::function::Function;
use crate::options::Options;

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let function = match Function::read("step", item) {
        Ok(function) => function,
        Err(error) => return error.into_compile_error(),
    };
    let mut problems = Problems::default();
    let options = Options::read(Kind::Step, options, &mut problems);
    let stored_name = options.name_or(&function.signature.ident, &mut problems);
    let parts = arguments::read(Kind::Step, &function.signature, &mut problems);
    match (problems.none_or(), parts) {
        (Ok(()), Some(parts)) => call(&function, &stored_name, &policy(&options), &parts),
        (outcome, _) => function.refused(outcome.err()),
    }
}

/// The function that a workflow calls. It is not async: the step's number is taken by the call, not
/// by the first poll, so that calls which are awaited together keep their order.
fn call(
    function: &Function,
    stored_name: &str,
    policy: &TokenStream,
    parts: &Parts,
) -> TokenStream {
    let name = &function.signature.ident;
    let visibility = &function.visibility;
    let outer = function.outer_attributes();
    let inner = function.inner();
    let context = Ident::new("ctx", Span::mixed_site());
    let output = &parts.output;
    let names: Vec<_> = parts.arguments.iter().map(|argument| &argument.name).collect();
    let types: Vec<_> = parts.arguments.iter().map(|argument| &argument.ty).collect();
    let body = body(function, parts);
    // A result that cannot be recorded is reported at these two, so they carry the place of its type.
    let place = output.span().resolved_at(Span::mixed_site());
    let record = quote_spanned! {place=> ::staunch::Ctx::__step };
    let recorded = quote_spanned! {place=> <#output as ::staunch::__private::StepReturn>::Output };
    // With the user's own tokens around it, it is the user's own function to the compiler, which then
    // tells when nothing calls it.
    let function_token = function.signature.fn_token;
    let mut block = Group::new(
        Delimiter::Brace,
        quote! {
            #inner

            #record(#context, #stored_name, #policy, #body)
        },
    );
    block.set_span(function.body.span());
    quote! {
        #(#outer)*
        #[allow(clippy::too_many_arguments)]
        #visibility #function_token #name(
            #context: &::staunch::Ctx,
            #(#names: #types,)*
        ) -> ::staunch::StepCall<#recorded> #block
    }
}

/// What one attempt does. The arguments stay with the step, since there may be another attempt.
fn body(function: &Function, parts: &Parts) -> TokenStream {
    let inner_name = function.inner_name();
    let context = Ident::new("step_ctx", Span::mixed_site());
    let passed = parts.has_context.then(|| quote! { #context, });
    let names: Vec<_> = parts.arguments.iter().map(|argument| &argument.name).collect();
    // A type that is not Clone is reported where the function names it.
    let copies = parts.arguments.iter().map(|argument| {
        let (name, ty) = (&argument.name, &argument.ty);
        let copy = quote_spanned! {ty.span().resolved_at(Span::mixed_site())=>
            <#ty as ::core::clone::Clone>::clone
        };
        quote! { let #name = #copy(&#name); }
    });
    let output = &parts.output;
    let result = quote_spanned! {output.span().resolved_at(Span::mixed_site())=>
        <#output as ::staunch::__private::StepReturn>::into_result(
            #inner_name(#passed #(#names,)*).await
        )
    };
    quote! {
        move |#context: ::staunch::StepCtx| {
            #(#copies)*
            async move { #result }
        }
    }
}

fn policy(options: &Options) -> TokenStream {
    let attempts = options.attempts.map(|attempts| quote! { .attempts(#attempts) });
    let backoff = options.backoff.map(|Backoff { first_ms, longest_ms }| {
        let (first, longest) = (millis(first_ms), millis(longest_ms));
        quote! { .backoff(#first, #longest) }
    });
    let timeout = options.timeout_ms.map(|timeout_ms| {
        let timeout = millis(timeout_ms);
        quote! { .timeout(#timeout) }
    });
    quote! { ::staunch::StepOptions::new() #attempts #backoff #timeout }
}

fn millis(count: u64) -> TokenStream {
    quote! { ::core::time::Duration::from_millis(#count) }
}

#[cfg(test)]
mod tests;
