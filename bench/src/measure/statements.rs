//! What each statement cost, as `pg_stat_statements` counts it.

use std::collections::{BTreeMap, HashMap};

use staunch::sqlx::postgres::PgConnection;
use staunch::sqlx::{Row as _, query};

use crate::report::CostlyStatement;

/// Statements without a header are shown by their first letters.
const NAME_LETTERS: usize = 60;

const STATEMENTS: &str = "
    -- Bench::statements
    select userid::bigint, queryid, toplevel, query, calls, total_exec_time, rows
    from pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database())
      and query not like '%-- Bench::%'
      and queryid is not null";

type Key = (i64, i64, bool);

/// What the statements of one database have cost so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statements(HashMap<Key, (String, Cost)>);

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Cost {
    calls: i64,
    total_ms: f64,
    rows: i64,
}

/// What all databases of a run cost between two readings, by the names of the statements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bill(BTreeMap<String, Cost>);

/// Reads them; `None` where the extension is missing.
pub(super) async fn statements(connection: &mut PgConnection) -> Option<Statements> {
    let rows = query(STATEMENTS).fetch_all(connection).await.ok()?;
    let mut found = HashMap::with_capacity(rows.len());
    for row in rows {
        let key = (row.try_get(0).ok()?, row.try_get(1).ok()?, row.try_get(2).ok()?);
        let cost = Cost {
            calls: row.try_get("calls").ok()?,
            total_ms: row.try_get("total_exec_time").ok()?,
            rows: row.try_get("rows").ok()?,
        };
        // Whose statements may not be read have no text.
        let text: Option<String> = row.try_get("query").ok()?;
        found.insert(key, (name(text.as_deref().unwrap_or("?")), cost));
    }
    Some(Statements(found))
}

/// The first line of the header, up to where the explanation begins.
fn name(text: &str) -> String {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let Some(header) = first.strip_prefix("--") else {
        let words: Vec<&str> = text.split_whitespace().collect();
        return words.join(" ").chars().take(NAME_LETTERS).collect();
    };
    let header = header.trim();
    let ends = [": ", ". "].into_iter().filter_map(|end| header.find(end)).min();
    header[..ends.unwrap_or(header.len())].trim_end_matches(['.', ':']).to_owned()
}

impl Bill {
    /// Adds what one database did between the two readings.
    pub(super) fn add(&mut self, begin: &Statements, end: &Statements) {
        for (key, (name, cost)) in &end.0 {
            let before = begin.0.get(key).map(|(_, cost)| *cost).unwrap_or_default();
            // Fewer than before: it was forgotten in between and counted anew.
            let before = if before.calls > cost.calls { Cost::default() } else { before };
            if cost.calls > before.calls {
                let sum = self.0.entry(name.clone()).or_default();
                sum.calls += cost.calls - before.calls;
                sum.total_ms += cost.total_ms - before.total_ms;
                sum.rows += cost.rows - before.rows;
            }
        }
    }

    /// How many statements were executed.
    pub(super) fn calls(&self) -> i64 {
        self.0.values().map(|cost| cost.calls).sum()
    }

    /// Those that cost the most, the costliest first.
    pub(crate) fn costliest(&self, limit: usize) -> Vec<CostlyStatement> {
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_by(|(_, left), (_, right)| right.total_ms.total_cmp(&left.total_ms));
        #[expect(clippy::cast_precision_loss, reason = "calls are far below 2^53")]
        let shown = all.into_iter().take(limit).map(|(name, cost)| CostlyStatement {
            statement: name.clone(),
            calls: cost.calls,
            mean_us: cost.total_ms * 1_000.0 / cost.calls as f64,
            total_ms: cost.total_ms,
            rows: cost.rows,
        });
        shown.collect()
    }
}

#[cfg(test)]
mod tests;
