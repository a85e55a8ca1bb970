//! None, one, several and twelve arguments; mutable ones; names that the macros use themselves.

use staunch::Workflow;
use staunch::prelude::*;

#[workflow]
async fn nothing(_: Ctx) -> Result<()> {
    Ok(())
}

#[workflow]
async fn one(_ctx: Ctx, order: String) -> Result<String> {
    Ok(order)
}

#[workflow]
async fn several(context: Ctx, mut order: String, express: bool, r#type: u8) -> Result<String> {
    let weight = weigh(&context, order.clone()).await?;
    order.push_str(&format!(" {express} {} {weight}", r#type));
    Ok(order)
}

#[workflow]
async fn clashing(
    ctx: Ctx,
    at: u8,
    input: u8,
    context: u8,
    value_0: u8,
    value_1: u8,
    output: u8,
) -> Result<u8> {
    Ok(add(&ctx, at, input, context, value_0, value_1 + output).await?)
}

#[workflow]
async fn twelve(
    _ctx: staunch::Ctx,
    a: u8,
    b: u8,
    c: u8,
    d: u8,
    e: u8,
    f: u8,
    g: u8,
    h: u8,
    i: u8,
    j: u8,
    k: u8,
    l: Vec<(u8, Option<String>)>,
) -> Result<usize> {
    Ok([a, b, c, d, e, f, g, h, i, j, k].len() + l.len())
}

#[step]
async fn weigh(order: String) -> Result<usize> {
    Ok(order.len())
}

#[step]
async fn add(
    step_ctx: StepCtx,
    ctx: u8,
    name: u8,
    options: u8,
    body: u8,
    mut context: u8,
) -> Result<u8> {
    let _ = step_ctx;
    context += ctx + name + options + body;
    Ok(context)
}

fn input_of<W: Workflow>(_: W) -> &'static str {
    std::any::type_name::<W::Input>()
}

fn output_of<W: Workflow>(_: W) -> &'static str {
    std::any::type_name::<W::Output>()
}

fn starts(staunch: &Staunch) {
    let _: staunch::StartBuilder<'_, nothing> = nothing.start(staunch);
    let _: staunch::StartBuilder<'_, one> = one.start(staunch, "a".to_owned());
    let _: staunch::StartItem<several> = several.item("a".to_owned(), true, 1);
    let _: staunch::StartItem<clashing> = clashing.item(1, 2, 3, 4, 5, 6);
}

fn calls(ctx: &Ctx) {
    let _: staunch::StepCall<usize> = weigh(ctx, "a".to_owned());
    let _: staunch::StepCall<u8> = add(ctx, 1, 2, 3, 4, 5);
}

fn main() {
    assert_eq!(input_of(nothing), "()");
    assert_eq!(input_of(one), "(alloc::string::String,)");
    assert_eq!(input_of(several), "(alloc::string::String, bool, u8)");
    assert_eq!(input_of(clashing), "(u8, u8, u8, u8, u8, u8)");
    assert_eq!(output_of(one), "alloc::string::String");
    assert_eq!(output_of(twelve), "usize");
    let _ = (starts as fn(&Staunch), calls as fn(&Ctx));
}
