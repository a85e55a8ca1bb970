use staunch::RunId;

use super::{BEGIN, Line, read};

fn line(seq: i64, at_us: i64) -> Line {
    Line { run: RunId::at(1, 2), seq, epoch: 3, token: u64::MAX, at_us, pid: 7 }
}

#[test]
fn a_line_reads_back_as_it_was_written() {
    let written = line(BEGIN, 1_800_000_000_000_000);
    assert_eq!(written.text().trim_end().parse::<Line>().unwrap(), written);
}

#[test]
fn lines_of_all_processes_come_in_the_order_of_time_and_half_a_line_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let half = line(2, 30).text();
    let first = format!("{}{}", line(1, 20).text(), &half[..half.len() - 1]);
    std::fs::write(folder.path().join("ledger-1"), first).unwrap();
    std::fs::write(folder.path().join("ledger-2"), line(0, 10).text()).unwrap();
    assert_eq!(read(folder.path()).unwrap(), [line(0, 10), line(1, 20)]);
}

#[test]
fn a_foreign_line_is_an_error() {
    assert!("one two".parse::<Line>().is_err());
}
