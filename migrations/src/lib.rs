//! The SQL schema of Staunch, as numbered forward-only migrations.
//!
//! Texts only: the store applies them. A migration that was released never changes; see the README
//! for how to add one.

/// One step of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migration {
    /// From 1, without gaps.
    pub number: i64,
    /// What it does, in words for file names.
    pub slug: &'static str,
    /// The statements, run in one transaction with the schema as the only entry of `search_path`.
    pub sql: &'static str,
}

/// The migrations for Postgres, in order.
pub const POSTGRES: &[Migration] =
    &[Migration { number: 1, slug: "init", sql: include_str!("../postgres/0001_init.sql") }];

#[cfg(test)]
mod tests;
