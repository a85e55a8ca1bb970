//! Which groups of a shard are known to hold rows, so that empty queues cost a claim nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use staunch_store::door::Rng;
use staunch_store::{Group, LANE_NEW, LANE_RESUMED, LANE_SUSPECT, Name};
use tokio::time::Instant;

/// A group that brought nothing for so long is forgotten until a wake-up or a scan names it again.
const FORGET: Duration = Duration::from_secs(10);

/// The groups of one shard that are worth asking for.
pub(crate) struct Groups {
    queues: Vec<Name>,
    seen: BTreeMap<Group, Instant>,
    /// Found by a look from the beginning only: what they hold may lie before their positions.
    buried: BTreeSet<Group>,
}

impl Groups {
    pub(crate) fn new(queues: Vec<Name>) -> Self {
        Self { queues, seen: BTreeMap::new(), buried: BTreeSet::new() }
    }

    /// These groups hold rows, or held some just now.
    pub(crate) fn note(&mut self, groups: impl IntoIterator<Item = Group>, now: Instant) {
        for group in groups {
            if self.queues.contains(&group.queue) {
                self.seen.insert(group, now);
            }
        }
    }

    /// A look from the beginning found rows in these groups. Of those that nobody knew of, a claim
    /// has to look at everything.
    pub(crate) fn note_everything(&mut self, groups: Vec<Group>, now: Instant) {
        let unknown = |group: &&Group| {
            let is_asked_always = group.lane != LANE_SUSPECT && group.priority == 0;
            self.queues.contains(&group.queue)
                && !is_asked_always
                && !self.seen.get(*group).is_some_and(|seen| is_fresh(*seen, now))
        };
        let unknown: Vec<Group> = groups.iter().filter(unknown).cloned().collect();
        self.buried.extend(unknown);
        self.note(groups, now);
    }

    /// Those of this kind for which a claim that asks for all of the kind has to look at everything.
    pub(crate) fn take_buried(&mut self, suspects: bool) -> BTreeSet<Group> {
        let all = std::mem::take(&mut self.buried);
        let (taken, left) =
            all.into_iter().partition(|group| (group.lane == LANE_SUSPECT) == suspects);
        self.buried = left;
        taken
    }

    /// That claim found no way in.
    pub(crate) fn bury(&mut self, groups: BTreeSet<Group>) {
        self.buried.extend(groups);
    }

    /// Whether a suspect is known to wait.
    pub(crate) fn has_suspects(&self) -> bool {
        self.seen.keys().any(|group| group.lane == LANE_SUSPECT)
    }

    /// A claim for suspects brought none.
    pub(crate) fn forget_suspects(&mut self) {
        self.seen.retain(|group, _| group.lane != LANE_SUSPECT);
    }

    /// The groups of suspects.
    pub(crate) fn suspects(&self) -> Vec<Group> {
        self.seen.keys().filter(|group| group.lane == LANE_SUSPECT).cloned().collect()
    }

    /// What a usual claim asks for: queues in random order, each in order of lane and priority.
    pub(crate) fn usual(&mut self, rng: &Rng, now: Instant) -> Vec<Group> {
        let buried = &self.buried;
        self.seen.retain(|group, seen| is_fresh(*seen, now) || buried.contains(group));
        let mut queues = self.queues.clone();
        rng.shuffle(&mut queues);
        let mut groups = Vec::new();
        for queue in queues {
            let default = |lane| Group { queue: queue.clone(), lane, priority: 0 };
            let mut of_queue = vec![default(LANE_RESUMED), default(LANE_NEW)];
            of_queue.extend(
                self.seen
                    .keys()
                    .filter(|group| group.queue == queue && group.lane != LANE_SUSPECT)
                    .cloned(),
            );
            of_queue.sort();
            of_queue.dedup();
            groups.extend(of_queue);
        }
        groups
    }
}

fn is_fresh(seen: Instant, now: Instant) -> bool {
    now.duration_since(seen) < FORGET
}

#[cfg(test)]
mod tests;
