use quote::ToTokens;
use syn::ItemFn;

use super::*;

fn expanded(options: TokenStream, item: TokenStream) -> ItemFn {
    syn::parse2(expand(options, item)).expect("the expansion is one function")
}

/// The tokens without spaces, so that the place of a space decides nothing.
fn squeezed(tokens: impl ToTokens) -> String {
    tokens.to_token_stream().to_string().replace([' ', '\n'], "")
}

#[track_caller]
fn check_says(tokens: impl ToTokens, expected: &str) {
    let text = squeezed(tokens);
    assert!(text.contains(expected), "{expected} is not in {text}");
}

fn charge() -> TokenStream {
    quote! { pub async fn charge(ctx: StepCtx, mut order: Order, cents: u64) -> Result<Charge> { pay() } }
}

#[test]
fn call_takes_the_workflows_context_and_is_not_async() {
    let call = expanded(quote! {}, charge());
    assert!(call.sig.asyncness.is_none());
    assert_eq!(squeezed(&call.vis), "pub");
    assert_eq!(
        squeezed(&call.sig),
        "fncharge(ctx:&::staunch::Ctx,order:Order,cents:u64,)\
         ->::staunch::StepCall<<Result<Charge>as::staunch::__private::StepReturn>::Output>"
    );
}

#[test]
fn every_attempt_gets_its_context_and_its_own_arguments() {
    let call = expanded(quote! {}, charge());
    let body = call.block.as_ref();
    check_says(
        body,
        "asyncfn__charge(ctx:StepCtx,mutorder:Order,cents:u64)->Result<Charge>{pay()}",
    );
    check_says(body, "move|step_ctx:::staunch::StepCtx|{");
    check_says(body, "letorder=<Orderas::core::clone::Clone>::clone(&order);");
    check_says(body, "letcents=<u64as::core::clone::Clone>::clone(&cents);");
    check_says(body, "__charge(step_ctx,order,cents,).await");
}

#[test]
fn context_can_be_left_out() {
    let call = expanded(quote! {}, quote! { async fn count(page: String) -> Result<usize> {} });
    check_says(&call.sig, "(ctx:&::staunch::Ctx,page:String,)");
    check_says(&call.block, "__count(page,).await");
}

#[test]
fn options_become_the_policy() {
    let options = quote! {
        attempts = 5, backoff = "1s..1m", timeout = "30s", name = "charge-card"
    };
    let call = expanded(options, charge());
    check_says(
        &call.block,
        "(ctx,\"charge-card\",::staunch::StepOptions::new().attempts(5u32)\
         .backoff(::core::time::Duration::from_millis(1000u64),\
         ::core::time::Duration::from_millis(60000u64))\
         .timeout(::core::time::Duration::from_millis(30000u64)),move|",
    );
}

#[test]
fn fixed_pause_is_first_and_longest() {
    let call = expanded(quote! { backoff = "250ms" }, charge());
    check_says(
        &call.block,
        ".backoff(::core::time::Duration::from_millis(250u64),\
         ::core::time::Duration::from_millis(250u64))",
    );
}

#[test]
fn without_options_the_library_decides() {
    let call = expanded(quote! {}, charge());
    check_says(&call.block, "(ctx,\"charge\",::staunch::StepOptions::new(),move|");
}

#[test]
fn limits_of_attempts_are_allowed_and_one_more_is_not() {
    for allowed in [1u32, 1_000] {
        let call = expanded(quote! { attempts = #allowed }, charge());
        check_says(&call.block, &format!(".attempts({allowed}u32)"));
    }
    for refused in [0u64, 1_001, u64::from(u32::MAX) + 2] {
        let refused = expand(quote! { attempts = #refused }, charge());
        check_says(refused, "`attempts`isawholenumber,1to1000");
    }
}

#[test]
fn name_that_marks_other_calls_is_refused() {
    check_says(expand(quote! { name = "@now" }, charge()), "cannotbeginwith'@'");
}

#[test]
fn attributes_go_where_they_count() {
    let call = expanded(
        quote! {},
        quote! {
            /// Takes money.
            #[cfg(feature = "shop")]
            #[expect(unused_variables)]
            #[instrument]
            async fn charge(cents: u64) -> Result<()> {}
        },
    );
    let outer: String = call.attrs.iter().map(squeezed).collect();
    check_says(&call.block, "#[expect(unused_variables)]#[instrument]asyncfn__charge");
    assert!(outer.contains("#[cfg(feature=\"shop\")]"), "no cfg on the call: {outer}");
    assert!(outer.contains("Takesmoney."), "no documentation on the call: {outer}");
    assert!(!outer.contains("instrument") && !outer.contains("expect"), "too much: {outer}");
}
