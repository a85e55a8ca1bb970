use super::*;

#[test]
fn schema_names_that_need_quoting_are_refused() {
    let longest = "a".repeat(41);
    for good in ["staunch", "_x", "a1_b", longest.as_str()] {
        assert!(check_schema(good).is_ok(), "{good}");
    }
    let too_long = "a".repeat(42);
    for bad in ["", "1a", "Staunch", "a-b", "a b", "a\"b", "ä", too_long.as_str()] {
        assert!(check_schema(bad).is_err(), "{bad}");
    }
}

#[test]
fn the_options_of_a_target_are_kept_and_the_pins_follow() {
    let options = PgConnectOptions::new_without_pgpass().options([("pgdog.shard", "3")]);
    let target = PgTarget::new(options, "staunch").unwrap();
    let hot = lane_options(&target, &PgSettings::default(), Lane::Hot);
    let text = hot.get_options().unwrap();
    assert!(text.starts_with("-c pgdog.shard=3 -c search_path=staunch"), "{text}");
    assert!(text.contains("-c enable_seqscan=off"), "{text}");
    assert!(!text.contains('\\'), "an escaped value does not pass a router: {text}");
    let read = lane_options(&target, &PgSettings::default(), Lane::Read);
    assert!(!read.get_options().unwrap().contains("enable_seqscan"));
}
