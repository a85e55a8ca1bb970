use staunch::prelude::*;

#[workflow(nam = "checkout")]
unsafe fn checkout<T>(order: &T, (a, b): (u8, u8), ref c: String) {}

#[step(attempts = 0, backoff = "1d")]
const fn charge(_: u8, Pair { left, right }: Pair) {}

fn main() {}
