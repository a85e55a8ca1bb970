use super::seeds;

#[test]
fn seeds_and_their_rate_are_read_from_the_line_that_tells_them() {
    let text = "test seeds::some ... ok\n1200 seeds from 7 in 60.0s\n   12 x lost reply\n";
    assert_eq!(seeds(text), Some((1_200, 20.0)));
    assert_eq!(seeds("test seeds::some ... ok"), None);
}
