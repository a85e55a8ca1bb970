use quote::ToTokens;
use syn::Item;

use super::*;

fn expanded(options: TokenStream, item: TokenStream) -> Vec<Item> {
    syn::parse2::<syn::File>(expand(options, item)).expect("the expansion is Rust").items
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

#[test]
fn function_becomes_a_type_its_workflow_and_its_starters() {
    let items = expanded(
        quote! {},
        quote! { pub(crate) async fn checkout(ctx: Ctx, mut order: Order, express: bool) -> Result<Receipt> { work() } },
    );
    let [Item::Struct(unit), Item::Impl(workflow), Item::Impl(starters)] = &items[..] else {
        panic!("not a struct and two impls: {}", squeezed(quote! { #(#items)* }));
    };
    assert_eq!(squeezed(&unit.vis), "pub(crate)");
    assert_eq!(unit.ident, "checkout");
    check_says(workflow, "constNAME:&'staticstr=\"checkout\";");
    check_says(workflow, "typeInput=(Order,bool,);");
    check_says(
        workflow,
        "asyncfn__checkout(ctx:Ctx,mutorder:Order,express:bool)->Result<Receipt>{work()}",
    );
    check_says(workflow, "__checkout(context,value_0,value_1,).await");
    check_says(
        starters,
        "pub(crate)fnstart<'at>(&self,at:&'at::staunch::Staunch,order:Order,express:bool,)",
    );
    check_says(starters, "::staunch::StartBuilder::new(at,(order,express,))");
    check_says(starters, "pub(crate)fnitem(&self,order:Order,express:bool,)");
    check_says(starters, "::staunch::StartItem::new((order,express,))");
}

#[test]
fn no_arguments_are_the_empty_tuple() {
    let items = expanded(quote! {}, quote! { async fn tick(_: Ctx) -> Result<()> { Ok(()) } });
    check_says(&items[1], "typeInput=();");
    check_says(&items[2], "StartBuilder::new(at,())");
}

#[test]
fn given_name_is_the_stored_name() {
    let function = quote! { async fn checkout(ctx: Ctx) -> Result<()> {} };
    let items = expanded(quote! { name = "orders.checkout", }, function);
    check_says(&items[1], "NAME:&'staticstr=\"orders.checkout\"");
    let items = expanded(quote! {}, quote! { async fn r#loop(ctx: Ctx) -> Result<()> {} });
    check_says(&items[1], "NAME:&'staticstr=\"loop\"");
}

#[test]
fn name_of_more_than_255_bytes_is_refused() {
    let function = quote! { async fn checkout(ctx: Ctx) -> Result<()> {} };
    let name = "ä".repeat(127);
    check_says(expand(quote! { name = #name }, function.clone()), &name);
    let name = "ä".repeat(128);
    check_says(expand(quote! { name = #name }, function), "thenamehas256bytes");
    let ident = quote::format_ident!("{}", "f".repeat(256));
    let refused = expand(quote! {}, quote! { async fn #ident(ctx: Ctx) -> Result<()> {} });
    check_says(refused, "thenamehas256bytes");
}

#[test]
fn attributes_go_where_they_count() {
    let items = expanded(
        quote! {},
        quote! {
            /// Sells.
            #[cfg(feature = "shop")]
            #[deprecated]
            #[allow(clippy::pedantic)]
            #[expect(unused_variables)]
            #[instrument(skip(ctx))]
            async fn checkout(ctx: Ctx) -> Result<()> {}
        },
    );
    let [unit, workflow, starters] = &items[..] else { panic!("not three items") };
    for item in [unit, workflow, starters] {
        check_says(item, "#[cfg(feature=\"shop\")]");
        assert_eq!(squeezed(item).matches("#[cfg(").count(), 1);
    }
    for shared in ["#[doc=r\"Sells.\"]", "#[deprecated]", "#[allow(clippy::pedantic)]"] {
        check_says(unit, shared);
        assert!(!squeezed(starters).contains(shared), "{shared} is on the starters");
    }
    for inner in ["#[allow(clippy::pedantic)]", "#[expect(unused_variables)]", "#[instrument("] {
        check_says(workflow, inner);
    }
    for inner in ["#[expect", "#[instrument"] {
        assert!(!squeezed(unit).contains(inner), "{inner} is on the struct");
    }
}

#[test]
fn refused_function_stays_for_others_to_find() {
    let refused = expand(quote! { nam = "a" }, quote! { async fn checkout(ctx: Ctx) {} });
    check_says(&refused, "::core::compile_error!");
    check_says(&refused, "hasnooption`nam`");
    check_says(&refused, "returnsaResult");
    check_says(&refused, "asyncfncheckout(ctx:Ctx){}");
}

#[test]
fn unfinished_body_is_passed_on() {
    let items = expand(quote! {}, quote! { async fn checkout(ctx: Ctx) -> Result<()> { order. } });
    check_says(items, "{order.}");
}
