use super::{Buffer, Opening};

#[test]
fn messages_are_whole_or_waited_for() {
    let mut buffer = Buffer::default();
    let stream = [b"Q\0\0\0\x08abc\0".as_slice(), b"S\0\0\0\x04"].concat();
    for &byte in &stream[..8] {
        buffer.push(&[byte]);
        assert!(buffer.message().unwrap().is_none());
    }
    buffer.push(&stream[8..]);
    let first = buffer.message().unwrap().unwrap();
    assert_eq!((first.tag(), first.body()), (b'Q', b"abc\0".as_slice()));
    let second = buffer.message().unwrap().unwrap();
    assert_eq!((second.tag(), second.body()), (b'S', b"".as_slice()));
    assert!(buffer.message().unwrap().is_none());
}

#[test]
fn a_question_about_encryption_is_told_from_a_start() {
    let mut buffer = Buffer::default();
    buffer.push(&[0, 0, 0, 8, 4, 210, 22, 47, 0, 0, 0, 9, 0, 3, 0, 0, 0]);
    assert_eq!(buffer.opening().unwrap().unwrap().0, Opening::Encryption);
    assert_eq!(buffer.opening().unwrap().unwrap().0, Opening::Start);
    assert!(buffer.opening().unwrap().is_none());
}

#[test]
fn nonsense_is_refused() {
    let mut buffer = Buffer::default();
    buffer.push(b"GET / HTTP/1.1");
    assert!(buffer.message().is_err());
}
