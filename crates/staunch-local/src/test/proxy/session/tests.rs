use super::super::frame::Message;
use super::super::rule::{Active, Loss, Rule};
use super::{Reply, Session};

fn message(tag: u8, body: &[u8]) -> Message {
    let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    Message { bytes: [&[tag], length.as_slice(), body].concat() }
}

fn ready() -> Session {
    let mut session = Session::new();
    assert_eq!(session.reply(&message(b'Z', b"I")), Reply::Deliver);
    session
}

fn send(session: &mut Session, rule: &Active, tag: u8, body: &[u8]) -> bool {
    session.request(&message(tag, body), |text| rule.hits(text).then(|| rule.clone()))
}

fn rule(loss: Loss) -> Active {
    Rule::new("r", loss, |text| text.starts_with("insert")).activate()
}

#[test]
fn a_statement_prepared_once_is_known_each_time_it_is_executed() {
    let (mut session, rule) = (ready(), rule(Loss::ReplyThenCut));
    send(&mut session, &rule, b'P', b"s1\0insert into t\0\0\0");
    send(&mut session, &rule, b'S', b"");
    assert_eq!(session.reply(&message(b'1', b"")), Reply::Deliver);
    assert_eq!(session.reply(&message(b'Z', b"I")), Reply::Deliver);
    for hits in 1..=2 {
        send(&mut session, &rule, b'B', b"\0s1\0\0\0");
        assert!(!send(&mut session, &rule, b'E', b"\0\0\0\0\0"));
        send(&mut session, &rule, b'S', b"");
        assert_eq!(session.reply(&message(b'C', b"INSERT 0 1\0")), Reply::Withhold);
        assert_eq!(session.reply(&message(b'Z', b"I")), Reply::End(Loss::ReplyThenCut));
        assert_eq!(rule.counts().committed, hits);
    }
}

#[test]
fn a_reply_that_is_due_before_the_lost_one_is_delivered() {
    let (mut session, rule) = (ready(), rule(Loss::ReplyThenSilence));
    send(&mut session, &rule, b'Q', b"select 1\0");
    send(&mut session, &rule, b'Q', b"insert into t\0");
    assert_eq!(session.reply(&message(b'D', b"")), Reply::Deliver);
    assert_eq!(session.reply(&message(b'Z', b"I")), Reply::Deliver);
    assert_eq!(session.reply(&message(b'E', b"")), Reply::Withhold);
    assert_eq!(session.reply(&message(b'Z', b"I")), Reply::End(Loss::ReplyThenSilence));
    assert_eq!((rule.counts().committed, rule.counts().failed), (0, 1));
}

#[test]
fn an_open_transaction_is_not_counted_as_committed() {
    let (mut session, rule) = (ready(), rule(Loss::ReplyThenCut));
    send(&mut session, &rule, b'Q', b"insert into t\0");
    session.reply(&message(b'Z', b"T"));
    assert_eq!((rule.counts().committed, rule.counts().in_transaction), (0, 1));
}

#[test]
fn a_lost_request_is_stopped_at_its_execution() {
    let (mut session, rule) = (ready(), rule(Loss::Request));
    assert!(!send(&mut session, &rule, b'P', b"\0insert into t\0\0\0"));
    assert!(!send(&mut session, &rule, b'B', b"\0\0\0\0"));
    assert!(send(&mut session, &rule, b'E', b"\0\0\0\0\0"));
}

#[test]
fn a_notice_between_requests_is_delivered() {
    let mut session = ready();
    assert_eq!(session.reply(&message(b'A', b"")), Reply::Deliver);
}
