use super::{Stat, cpu_us, peak_of, peak_rss_bytes, tree_cpu_us};

const REST: &str =
    "4194560 910 5104 1 20 31 7 411 89 20 0 1 0 2207 226263040 6854 18446744073709551615";

#[test]
fn times_are_found_behind_any_name() {
    for name in ["postgres", "a b", "x) S 9 (y", ""] {
        let line = format!("4711 ({name}) S 42 4711 4711 0 -1 {REST}\n");
        let expected = Stat { parent: 42, own: 31 + 7, children: 411 + 89 };
        assert_eq!(line.parse::<Stat>().unwrap(), expected, "{name:?}");
    }
}

#[test]
fn half_a_line_and_words_in_place_of_numbers_are_refused() {
    for line in
        ["", "4711 (postgres", "4711 (postgres) S 42", "1 (a) S 42 1 1 0 -1 0 0 0 0 0 x 7 8 9"]
    {
        assert!(line.parse::<Stat>().is_err(), "{line:?}");
    }
}

#[test]
fn the_peak_is_read_in_bytes() {
    let status = "Name:\tbench\nVmPeak:\t  99 kB\nVmHWM:\t   12345 kB\nVmRSS:\t   1 kB\n";
    assert_eq!(peak_of(status), Some(12_345 * 1024));
    assert_eq!(peak_of("Name:\tbench\n"), None);
}

/// On other systems none of it is known, and that is said.
#[test]
fn this_process_and_those_below_it_are_found() {
    let id = std::process::id();
    let linux = cfg!(target_os = "linux");
    assert_eq!(cpu_us(id).is_some(), linux);
    assert_eq!(peak_rss_bytes().is_some_and(|bytes| bytes > 100_000), linux);
    // The tree has at least what its root has.
    let own = cpu_us(id);
    assert!(tree_cpu_us(id) >= own);
    assert_eq!(tree_cpu_us(u32::MAX), None);
}
