//! What the attribute macros accept, and what they say to everything else.
//!
//! The messages are part of the interface. After a wanted change of one, run with
//! `TRYBUILD=overwrite` and read the difference.

#[test]
fn macros() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
