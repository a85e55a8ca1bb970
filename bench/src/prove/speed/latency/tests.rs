use super::Demanded;

#[test]
fn a_usual_disk_changes_nothing_and_a_slow_one_adds_its_writes() {
    let usual = Demanded { p50: 2.0, p99: 8.0 };
    for sync_ms in [0.0, 0.4, 1.0] {
        assert_eq!(usual.on_disk(sync_ms), usual);
    }
    assert_eq!(usual.on_disk(2.0), Demanded { p50: 7.0, p99: 18.0 });
    assert_eq!(usual.on_disk(10.0), Demanded { p50: 27.0, p99: 58.0 });
}
