use super::*;

#[test]
fn codes_are_sorted_by_what_the_caller_may_do() {
    let cases = [
        ("55P03", ErrorKind::Conflict),
        ("57014", ErrorKind::TimedOut),
        ("57P03", ErrorKind::Unavailable),
        ("53300", ErrorKind::Unavailable),
        ("25006", ErrorKind::Unavailable),
        ("57P01", ErrorKind::Unknown),
        ("08006", ErrorKind::Unknown),
        ("58000", ErrorKind::Unknown),
        ("22021", ErrorKind::Invalid),
        ("23505", ErrorKind::Invalid),
        ("42P01", ErrorKind::Broken),
        ("42501", ErrorKind::Broken),
    ];
    for (code, kind) in cases {
        assert_eq!(kind_of_code(code, Effect::Writes), kind, "{code}");
    }
    assert_eq!(kind_of_code("57P01", Effect::Reads), ErrorKind::Unavailable);
}

#[test]
fn a_lost_answer_is_unknown_only_for_writes() {
    let lost = || Fault::Sql(std::io::Error::from(std::io::ErrorKind::BrokenPipe).into());
    assert_eq!(lost().kind(Effect::Writes), ErrorKind::Unknown);
    assert_eq!(lost().kind(Effect::Reads), ErrorKind::Unavailable);
    assert!(lost().ends_connection());
    let refused =
        Fault::Connect(std::io::Error::from(std::io::ErrorKind::ConnectionRefused).into());
    assert_eq!(refused.kind(Effect::Writes), ErrorKind::Unavailable);
}

#[test]
fn an_answer_that_cannot_be_read_is_broken_and_keeps_the_connection() {
    let fault = Fault::Sql(sqlx::Error::ColumnNotFound("epoch".to_owned()));
    assert_eq!(fault.kind(Effect::Writes), ErrorKind::Broken);
    assert!(!fault.ends_connection());
}
