//! One world from its seed to its end: shards, processes that come and go, clients, and unrest.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use staunch::store::Inspect as _;
use staunch::store::door::{Rng, Tasks};
use staunch::store::memory::{HeldLock, MemoryStore};
use staunch::{SettingChange, SettingName, Settings, Shape, ShardId, ShardStore, Staunch, Worker};
use tokio::time::Instant;

use crate::check;
use crate::client;
use crate::faulty::{FaultyStore, at_once};
use crate::jobs::{Life, plain, poison, rare};
use crate::mutant::Mutant;
use crate::profile::{Order, Profile, index, number};
use crate::sim::Sim;

/// What became of a world.
pub(crate) struct Report {
    pub(crate) violations: Vec<String>,
    pub(crate) counters: BTreeMap<String, u64>,
    /// Follows from every event and their order.
    pub(crate) digest: u64,
    /// The ledgers of all shards, in full.
    pub(crate) history: String,
}

/// A process that lives, or died lately.
pub(crate) struct Process {
    pub(crate) life: Life,
    pub(crate) staunch: Staunch,
    pub(crate) worker: Option<Worker>,
}

/// A place for a process.
enum Slot {
    Up(Box<Process>),
    Down { until: Instant },
}

/// Something that goes wrong, or a start.
enum Action {
    Start(Order),
    Kill,
    Freeze(Duration),
    Stall(Duration),
    Drain,
    Outage(Duration),
    HoldLock(Option<u32>, Duration),
    Tend,
}

/// Everything of one seed.
pub(crate) struct World {
    pub(crate) sim: Arc<Sim>,
    pub(crate) stores: Vec<(MemoryStore, Shape)>,
    slots: Vec<Slot>,
    observer: Process,
    next_process: u64,
}

/// How often a dead process is looked for.
const TEND_EVERY: Duration = Duration::from_millis(250);

/// Runs a world on a runtime of its own: one thread, virtual time.
pub(crate) fn run(seed: u64, mutant: Option<Mutant>) -> Report {
    run_profile(seed, Profile::of(seed), mutant)
}

/// A world that takes so much real time has a loop in which virtual time cannot pass.
const LONGEST_REAL: Duration = Duration::from_secs(120);

fn run_profile(seed: u64, profile: Profile, mutant: Option<Mutant>) -> Report {
    // Dropped at the end of this function, which ends the watch.
    let (_running, ended) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        if ended.recv_timeout(LONGEST_REAL) == Err(RecvTimeoutError::Timeout) {
            eprintln!("seed {seed} came to no end in {LONGEST_REAL:?} ({mutant:?})");
            std::process::exit(101);
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async move {
        let mut world = World::new(seed, profile, mutant).await;
        world.unrest().await;
        world.quiet_down().await;
        check::judge(&world);
        world.report()
    })
}

impl World {
    async fn new(seed: u64, profile: Profile, mutant: Option<Mutant>) -> Self {
        let sim = Sim::new(seed, profile, mutant);
        let shards = sim.profile.shards;
        let doors = sim.doors();
        let store = |shard| {
            let cluster_id = "5f0c3b1e-0000-4000-8000-000000000001".parse().unwrap();
            let shape = Shape { cluster_id, shard: ShardId(shard), shards, generation: 1 };
            let store = MemoryStore::new(shape, doors.clone());
            let (name, value) =
                (SettingName::DequeueLocks, sim.profile.dequeue_locks.cast_signed());
            at_once(store.set_setting(SettingChange { name, value, seen: 0 })).unwrap();
            (store, shape)
        };
        let stores: Vec<_> = (0..shards).map(store).collect();
        let observer = connect(&sim, &stores, 0);
        let mut world = Self { sim, stores, slots: Vec::new(), observer, next_process: 1 };
        for index in 0..world.sim.profile.processes {
            let process = world.begin_process(index).await;
            world.slots.push(Slot::Up(Box::new(process)));
        }
        world
    }

    async fn begin_process(&mut self, slot: usize) -> Process {
        let mut process = connect(&self.sim, &self.stores, self.next_process);
        self.next_process += 1;
        let worker = process.staunch.worker().register(plain).register(poison);
        let worker = if slot == 0 { worker.register(rare) } else { worker };
        let worker = worker.queues(["default", "other"]).state(process.life.clone());
        process.worker = Some(worker.start().await.unwrap());
        process
    }

    /// Starts and faults, in the order of their times.
    async fn unrest(&mut self) {
        let begin = self.sim.clock.now();
        for (at, action) in self.plan() {
            self.sim.clock.sleep_until(begin + at).await;
            self.act(action).await;
        }
        self.sim.clock.sleep_until(begin + self.sim.profile.unrest).await;
        self.sim.heal();
        for slot in &self.slots {
            if let Slot::Up(process) = slot {
                process.life.tasks.thaw();
            }
        }
    }

    fn plan(&self) -> Vec<(Duration, Action)> {
        let (dice, profile) = (self.sim.dice(), &self.sim.profile);
        let unrest = profile.unrest.as_millis() as u64;
        let lease = profile.lease.as_millis() as u64;
        let when = || Duration::from_millis(dice.below(unrest));
        let within = |most: u64| Duration::from_millis(dice.below(most) + 1);
        let mut plan = Vec::new();
        for token in 0..profile.orders {
            let order = Order::draw(dice, profile, token);
            plan.push((order.at, Action::Start(order)));
        }
        plan.extend((0..profile.kills).map(|_| (when(), Action::Kill)));
        plan.extend((0..profile.freezes).map(|_| (when(), Action::Freeze(within(lease * 2)))));
        plan.extend((0..profile.stalls).map(|_| (when(), Action::Stall(within(lease * 2)))));
        plan.extend((0..profile.drains).map(|_| (when(), Action::Drain)));
        plan.extend((0..profile.outages).map(|_| (when(), Action::Outage(within(lease * 2)))));
        plan.extend((0..profile.held_locks).map(|_| {
            let slot = (dice.below(2) == 0).then(|| number(dice.below(2)));
            (when(), Action::HoldLock(slot, within(lease)))
        }));
        let ticks = profile.unrest.as_millis() / TEND_EVERY.as_millis();
        plan.extend((0..number(ticks as u64)).map(|tick| (TEND_EVERY * tick, Action::Tend)));
        plan.sort_by_key(|(at, _)| *at);
        plan
    }

    async fn act(&mut self, action: Action) {
        let dice = self.sim.dice().clone();
        let now = self.sim.clock.now();
        match action {
            Action::Start(order) => {
                let process = self.pick(order.from, true);
                client::begin(process, order);
            }
            Action::Kill => {
                self.pick(dice.u64(), false).life.end();
                self.sim.saw("a process was killed");
            }
            Action::Freeze(time) => {
                let tasks = self.pick(dice.u64(), false).life.tasks.clone();
                tasks.freeze();
                self.sim.saw("a process froze");
                self.later(time, move || tasks.thaw());
            }
            Action::Stall(time) => {
                let process = self.pick(dice.u64(), false).life.process;
                self.sim.stall(process, now + time);
                self.sim.saw("a network stood still");
            }
            Action::Drain => self.drain(&dice),
            Action::Outage(time) => {
                self.sim.outage(index(dice.below(self.stores.len() as u64)), now + time);
                self.sim.saw("a shard was out");
            }
            Action::HoldLock(slot, time) => {
                let number = self.sim.hold(self.lock(slot, &dice));
                let sim = self.sim.clone();
                self.later(time, move || sim.release(number));
            }
            Action::Tend => self.tend().await,
        }
    }

    fn lock(&self, slot: Option<u32>, dice: &Rng) -> HeldLock {
        let (store, _) = &self.stores[index(dice.below(self.stores.len() as u64))];
        match slot {
            Some(slot) => store.hold_dequeue_lock(slot),
            None => store.hold_maintenance_lock(),
        }
    }

    fn later(&self, time: Duration, act: impl FnOnce() + Send + 'static) {
        let clock = self.sim.clock.clone();
        self.sim.server.spawn(async move {
            clock.sleep(time).await;
            act();
        });
    }

    /// A process by lot; the client that never dies may be drawn, too, and stands in for the dead.
    fn pick(&mut self, lot: u64, or_observer: bool) -> &mut Process {
        let count = self.slots.len() as u64 + u64::from(or_observer);
        match self.slots.get_mut(index(lot % count)) {
            Some(Slot::Up(process)) => process,
            _ => &mut self.observer,
        }
    }

    /// Asks a worker to stop; its process exits when it has.
    fn drain(&mut self, dice: &Rng) {
        let process = self.pick(dice.u64(), false);
        let Some(worker) = process.worker.take() else { return };
        let life = process.life.clone();
        let tasks = life.tasks.clone();
        tasks.spawn(async move {
            worker.shutdown().await.unwrap();
            life.sim.saw("a worker drained");
            life.end();
        });
    }

    /// Notices deaths, and starts processes again after a while.
    async fn tend(&mut self) {
        let now = self.sim.clock.now();
        let deaths = self.sim.deaths();
        for slot in 0..self.slots.len() {
            match &self.slots[slot] {
                Slot::Up(process) if deaths.contains(&process.life.process) => {
                    let pause = Duration::from_millis(self.sim.dice().below(1_500));
                    self.slots[slot] = Slot::Down { until: now + pause };
                }
                Slot::Down { until } if now >= *until => {
                    let process = self.begin_process(slot).await;
                    self.slots[slot] = Slot::Up(Box::new(process));
                }
                Slot::Up(_) | Slot::Down { .. } => {}
            }
        }
    }

    /// After the last fault everything comes to its end within a bound.
    async fn quiet_down(&mut self) {
        let marathon = Duration::from_secs(if self.sim.profile.marathon { 300 } else { 0 });
        let bound = self.sim.profile.lease * 60 + Duration::from_secs(90) + marathon;
        let deadline = self.sim.clock.now() + bound;
        while let Some(unrest) = check::unrest(self) {
            if self.sim.clock.now() >= deadline {
                self.sim
                    .audit(|audit| audit.violate(format!("not quiet after {bound:?}: {unrest}")));
                return;
            }
            self.sim.clock.sleep(TEND_EVERY).await;
            self.tend().await;
        }
        self.check_workers().await;
    }

    /// Slots and counters are back where they began, and a drained worker leaves nothing.
    async fn check_workers(&mut self) {
        let concurrency = self.sim.profile.settings.concurrency as usize;
        for slot in &mut self.slots {
            let Slot::Up(process) = slot else { continue };
            let Some(worker) = process.worker.take() else { continue };
            let mut stats = worker.stats();
            for _ in 0..500 {
                if stats.running == 0 && stats.free_slots == concurrency {
                    break;
                }
                self.sim.clock.sleep(Duration::from_millis(7)).await;
                stats = worker.stats();
            }
            let number = process.life.process;
            if stats.running != 0 || stats.free_slots != concurrency || stats.orphans != 0 {
                let what = format!("worker of process {number} at the end: {stats:?}");
                self.sim.audit(|audit| audit.violate(what));
            }
            worker.shutdown().await.unwrap();
        }
        // Sessions that were stored late and never known end by themselves.
        self.sim.clock.sleep(self.sim.profile.lease * 4).await;
    }

    fn report(&self) -> Report {
        let mut history = String::new();
        for (store, _) in &self.stores {
            history += &store.read_ledger(|ledger| format!("{ledger:?}\n"));
        }
        self.sim.audit(|audit| Report {
            violations: audit.violations.clone(),
            counters: audit.counters.clone(),
            digest: audit.digest(),
            history,
        })
    }
}

/// A process without a worker.
fn connect(sim: &Arc<Sim>, stores: &[(MemoryStore, Shape)], process: u64) -> Process {
    let doors = sim.doors();
    let way = |(shard, (store, shape)): (usize, &(MemoryStore, Shape))| {
        let store = FaultyStore { sim: sim.clone(), store: store.clone(), shard, process };
        (Arc::new(store) as Arc<dyn ShardStore>, *shape)
    };
    let stores = stores.iter().enumerate().map(way).collect();
    let settings: Settings = sim.profile.settings.clone();
    let tasks: Tasks = doors.tasks.clone();
    let staunch = Staunch::over_stores(stores, settings, doors).unwrap();
    Process { life: Life { sim: sim.clone(), process, tasks }, staunch, worker: None }
}
