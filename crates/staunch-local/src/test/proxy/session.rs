//! What one connection is doing: which statements it has prepared, and which replies are due.
//!
//! Every request ends with a Sync or is a simple query, and the server answers each such group with
//! one ReadyForQuery, in order. So the first group that waits is the one the server is answering.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::frame::Message;
use super::rule::{Active, Ending, Loss};

#[derive(Debug)]
pub(super) struct Session {
    statements: HashMap<Vec<u8>, Arc<str>>,
    portals: HashMap<Vec<u8>, Arc<str>>,
    groups: VecDeque<Group>,
}

/// Requests up to a Sync.
#[derive(Debug, Default)]
struct Group {
    closed: bool,
    failed: bool,
    hit: Option<Active>,
}

/// What to do with a message of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Deliver,
    Withhold,
    /// The last of a lost reply: what happens to the connection now.
    End(Loss),
}

impl Session {
    /// A connection that has just opened: the server will say that it is ready without being asked.
    pub(super) fn new() -> Self {
        let greeting = Group { closed: true, ..Group::default() };
        Self {
            statements: HashMap::new(),
            portals: HashMap::new(),
            groups: VecDeque::from([greeting]),
        }
    }

    /// Notes a message of the client, before it is passed on. `judge` finds the rule that hits an
    /// executed statement. True when the message must not reach the server.
    pub(super) fn request(
        &mut self,
        message: &Message,
        judge: impl FnOnce(&str) -> Option<Active>,
    ) -> bool {
        let body = message.body();
        match message.tag() {
            b'P' => {
                let (name, rest) = word(body);
                let text = String::from_utf8_lossy(word(rest).0).into();
                self.statements.insert(name.to_vec(), text);
                self.open_group();
            }
            b'B' => {
                let (portal, rest) = word(body);
                if let Some(text) = self.statements.get(word(rest).0) {
                    self.portals.insert(portal.to_vec(), Arc::clone(text));
                }
                self.open_group();
            }
            b'E' => {
                let text = self.portals.get(word(body).0).cloned();
                return text.is_some_and(|text| self.executes(&text, judge));
            }
            b'Q' => {
                let text = String::from_utf8_lossy(word(body).0).into_owned();
                let stopped = self.executes(&text, judge);
                self.open_group().closed = true;
                return stopped;
            }
            b'S' | b'F' => self.open_group().closed = true,
            b'D' | b'C' => {
                self.open_group();
            }
            _ => {}
        }
        false
    }

    /// Says what to do with a message of the server.
    pub(super) fn reply(&mut self, message: &Message) -> Reply {
        let ready = message.tag() == b'Z';
        let Some(group) = self.groups.front_mut() else { return Reply::Deliver };
        group.failed |= message.tag() == b'E';
        let decision = match &group.hit {
            None => Reply::Deliver,
            Some(_) if !ready => Reply::Withhold,
            Some(rule) => {
                rule.withheld(match message.body().first() {
                    _ if group.failed => Ending::Failed,
                    Some(b'I') => Ending::Committed,
                    _ => Ending::InTransaction,
                });
                Reply::End(rule.loss())
            }
        };
        if ready {
            self.groups.pop_front();
        }
        decision
    }

    /// True when the statement must not reach the server.
    fn executes(&mut self, text: &str, judge: impl FnOnce(&str) -> Option<Active>) -> bool {
        let group = self.open_group();
        if group.hit.is_none() {
            group.hit = judge(text);
        }
        group.hit.as_ref().is_some_and(|rule| rule.loss() == Loss::Request)
    }

    fn open_group(&mut self) -> &mut Group {
        if self.groups.back().is_none_or(|group| group.closed) {
            self.groups.push_back(Group::default());
        }
        self.groups.back_mut().expect("one was just added if there was none")
    }
}

/// The bytes up to the first zero, and those after it.
fn word(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    (&bytes[..end], bytes.get(end + 1..).unwrap_or_default())
}

#[cfg(test)]
mod tests;
