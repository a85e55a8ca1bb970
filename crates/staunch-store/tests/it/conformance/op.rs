//! Random calls.

use proptest::prelude::{Strategy, any};

/// A call: what it does, and three numbers that choose its arguments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) kind: Kind,
    pub(super) numbers: [u8; 3],
}

/// What a call does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Enqueue,
    EnqueueAgain,
    EnqueueKeyed,
    Register,
    Dequeue,
    Step,
    Complete,
    Park,
    Mixed,
    Start,
    Finish,
    HandBack,
    HandBackClaims,
    Acquit,
    Renew,
    Retire,
    Advance,
    Reclaim,
    Promote,
    Wake,
    Audit,
    Cancel,
    Look,
}

/// Each kind as often as it should come: a life needs many claims and few retirements.
const KINDS: [Kind; 36] = [
    Kind::Enqueue,
    Kind::Enqueue,
    Kind::Enqueue,
    Kind::EnqueueAgain,
    Kind::EnqueueKeyed,
    Kind::EnqueueKeyed,
    Kind::Register,
    Kind::Register,
    Kind::Dequeue,
    Kind::Dequeue,
    Kind::Dequeue,
    Kind::Dequeue,
    Kind::Dequeue,
    Kind::Step,
    Kind::Step,
    Kind::Complete,
    Kind::Complete,
    Kind::Park,
    Kind::Park,
    Kind::Mixed,
    Kind::Mixed,
    Kind::Start,
    Kind::Finish,
    Kind::HandBack,
    Kind::HandBackClaims,
    Kind::Acquit,
    Kind::Renew,
    Kind::Renew,
    Kind::Retire,
    Kind::Advance,
    Kind::Reclaim,
    Kind::Reclaim,
    Kind::Promote,
    Kind::Wake,
    Kind::Audit,
    Kind::Cancel,
];

impl Op {
    pub(super) fn any() -> impl Strategy<Value = Self> {
        let kind = (0..=KINDS.len()).prop_map(|at| KINDS.get(at).copied().unwrap_or(Kind::Look));
        (kind, any::<[u8; 3]>()).prop_map(|(kind, numbers)| Self { kind, numbers })
    }
}
