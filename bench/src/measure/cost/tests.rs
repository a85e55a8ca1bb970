use super::super::server::ServerCounters;
use super::super::statements::Statements;
use super::Reading;

fn reading(servers: &[(i64, i64)], cpu_us: Option<u64>) -> Reading {
    let counters = |(transactions, wal_bytes): &(i64, i64)| ServerCounters {
        transactions: *transactions,
        wal_bytes: *wal_bytes,
    };
    Reading {
        servers: Some(servers.iter().map(counters).collect()),
        statements: Some(vec![Statements::default(); servers.len()]),
        postgres_cpu_us: cpu_us,
        client_cpu_us: cpu_us.map(|micros| micros * 2),
    }
}

#[test]
fn the_counts_of_all_servers_add_up() {
    let begin = reading(&[(1_000, 50), (7, 1)], Some(100));
    let costs = begin.until(&reading(&[(1_010, 550), (8, 4)], Some(350)));
    assert_eq!((costs.commits, costs.wal_bytes), (Some(11.0), Some(503.0)));
    assert_eq!((costs.postgres_cpu_us, costs.client_cpu_us), (Some(250.0), Some(500.0)));
    assert_eq!(costs.statements, Some(0.0));
}

#[test]
fn what_could_not_be_read_at_one_end_is_not_known() {
    let whole = || reading(&[(1, 1)], Some(1));
    let nothing =
        || Reading { servers: None, statements: None, postgres_cpu_us: None, client_cpu_us: None };
    for costs in [whole().until(&nothing()), nothing().until(&whole())] {
        assert_eq!((costs.commits, costs.wal_bytes, costs.statements), (None, None, None));
        assert_eq!((costs.postgres_cpu_us, costs.client_cpu_us), (None, None));
        assert!(costs.bill.is_none());
    }
}
