//! Starting runs: one, many, or by name.

use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use staunch_store::{InvalidValue, KeyedOutcome, NewRun, RunId, ShardKey, Try, WorkflowId};

use super::connect::Staunch;
use super::handle::Handle;
use super::local::LocalOutcome;
use crate::codec::encode;
use crate::config::{default_queue, named, workflow_name};
use crate::error::Error;
use crate::registry::Workflow;

/// Something that is started and has an output: every [`Workflow`], and [`ByName`].
pub trait Outcome {
    /// What a run returns.
    type Output: DeserializeOwned + Send + 'static;
}

impl<W: Workflow> Outcome for W {
    type Output = W::Output;
}

/// A workflow whose code is not linked: its output is plain JSON.
#[derive(Clone, Copy, Debug)]
pub enum ByName {}

impl Outcome for ByName {
    type Output = serde_json::Value;
}

/// What is to be started, without a connection; for [`Staunch::start_many`].
#[must_use = "an item starts nothing by itself"]
pub struct StartItem<W> {
    pub(super) spec: StartSpec,
    kind: PhantomData<fn() -> W>,
}

/// A start that is sent when awaited.
#[must_use = "a start is sent when it is awaited"]
pub struct StartBuilder<'a, W> {
    pub(super) at: &'a Staunch,
    pub(super) item: StartItem<W>,
}

#[derive(Clone, Debug)]
pub(super) struct StartSpec {
    name: String,
    input: Result<Bytes, Error>,
    shard_key: Option<String>,
    workflow_id: Option<String>,
    queue: Option<String>,
    priority: i16,
    delay: Option<Duration>,
    same_input: bool,
}

/// A start whose values have been checked.
pub(super) struct Checked {
    pub(super) run: NewRun,
    same_input: bool,
    may_run_here: bool,
}

impl StartSpec {
    pub(super) fn same_input(&self) -> bool {
        self.same_input
    }

    fn new<T: Serialize>(name: &str, input: &T) -> Self {
        let input =
            encode(format_args!("the input of workflow {name:?}"), input).map_err(Error::from);
        Self {
            name: name.to_owned(),
            input,
            shard_key: None,
            workflow_id: None,
            queue: None,
            priority: 0,
            delay: None,
            same_input: false,
        }
    }

    /// Checks every value; nothing is sent before all of them are right.
    pub(super) fn check(self, at: &Staunch) -> Result<Checked, Error> {
        let name = workflow_name(&self.name)?;
        let input = self.input?;
        let limit = at.settings().payload_max_bytes;
        if input.len() > limit {
            let what = format!("the input of workflow {:?}", self.name);
            return Err(Error::PayloadTooLarge { what, size: input.len(), limit });
        }
        let may_run_here =
            self.queue.is_none() && self.delay.is_none() && self.workflow_id.is_none();
        let queue = match self.queue {
            Some(queue) => named("queue", &queue)?,
            None => default_queue(),
        };
        let workflow_id = self.workflow_id.map(WorkflowId::new).transpose()?;
        let shard_key = match (self.shard_key, &workflow_id) {
            (Some(key), _) => Some(ShardKey::new(key)?),
            (None, Some(id)) => Some(ShardKey::new(id.as_str())?),
            (None, None) => None,
        };
        let (shard_key, run_id) = key_and_run_id(at, shard_key)?;
        let digest = workflow_id.as_ref().map(|_| digest(&input));
        let (priority, delay) = (self.priority, self.delay);
        let run =
            NewRun { run_id, shard_key, workflow_id, name, queue, priority, input, delay, digest };
        Ok(Checked { run, same_input: self.same_input, may_run_here })
    }
}

/// Without a key, the run id is the key; it is made by the first shard's time, which is as good as
/// any other's.
fn key_and_run_id(at: &Staunch, key: Option<ShardKey>) -> Result<(ShardKey, RunId), InvalidValue> {
    if let Some(key) = key {
        let run_id = at.shard_of(&key).shard.new_run_id();
        return Ok((key, run_id));
    }
    let run_id = at.inner.shards[0].shard.new_run_id();
    Ok((ShardKey::new(run_id.to_string())?, run_id))
}

/// Tells equal inputs, of the value before any codec.
fn digest(input: &[u8]) -> [u8; 32] {
    use sha2::{Digest, Sha256};
    Sha256::digest(input).into()
}

macro_rules! options {
    ($(|$self:ident| $spec:expr),*) => { $(
        /// Decides the shard: 1 to 255 bytes. Default: the workflow id, else the run id.
        pub fn shard_key(mut $self, key: impl Into<String>) -> Self {
            $spec.shard_key = Some(key.into());
            $self
        }

        /// Your own id of the run, unique within its shard key: 1 to 255 bytes. Starting an id that
        /// exists returns the existing run.
        pub fn workflow_id(mut $self, id: impl Into<String>) -> Self {
            $spec.workflow_id = Some(id.into());
            $self
        }

        /// The queue to wait in. Default `default`; naming one, even that, means that the run is
        /// enqueued and not started directly in this process.
        pub fn queue(mut $self, queue: impl Into<String>) -> Self {
            $spec.queue = Some(queue.into());
            $self
        }

        /// Lower goes first. Default 0.
        pub fn priority(mut $self, priority: i16) -> Self {
            $spec.priority = priority;
            $self
        }

        /// Enters the queue so long after now, by the shard's clock; never earlier.
        pub fn delay(mut $self, delay: Duration) -> Self {
            $spec.delay = Some(delay);
            $self
        }

        /// Refuses an existing run of the same workflow id whose arguments differ
        /// ([`Error::OtherInput`]).
        pub fn same_input(mut $self) -> Self {
            $spec.same_input = true;
            $self
        }
    )* };
}

impl<W> StartItem<W> {
    options!(|self| self.spec);
}

impl<W> StartBuilder<'_, W> {
    options!(|self| self.item.spec);
}

impl<W: Workflow> StartItem<W> {
    /// An item with these arguments.
    #[doc(hidden)]
    pub fn new(input: W::Input) -> Self {
        Self { spec: StartSpec::new(W::NAME, &input), kind: PhantomData }
    }
}

impl StartItem<ByName> {
    /// An item for a workflow whose code is not linked; `input` is the tuple of its arguments.
    pub fn by_name<T: Serialize>(name: &str, input: &T) -> Self {
        Self { spec: StartSpec::new(name, input), kind: PhantomData }
    }
}

impl<'a, W: Workflow> StartBuilder<'a, W> {
    /// A start with these arguments.
    #[doc(hidden)]
    pub fn new(at: &'a Staunch, input: W::Input) -> Self {
        Self { at, item: StartItem::new(input) }
    }
}

impl<'a, W: Outcome + 'a> IntoFuture for StartBuilder<'a, W> {
    type Output = Result<Handle<W::Output>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { at, item: StartItem { spec, .. } } = self;
        Box::pin(async move { start(at, spec.check(at)?).await })
    }
}

impl Staunch {
    /// Starts a workflow whose code this process does not link. `input` is the tuple of its
    /// arguments: `&("a", 1)`, or `&(order,)` for one.
    pub fn start_by_name<T: Serialize>(&self, name: &str, input: &T) -> StartBuilder<'_, ByName> {
        StartBuilder { at: self, item: StartItem::by_name(name, input) }
    }

    /// Starts many at once; an outcome per item, in order. Items are grouped into statements per
    /// shard; one bad item does not touch the others.
    pub async fn start_many<W: Outcome>(
        &self,
        items: impl IntoIterator<Item = StartItem<W>>,
    ) -> Vec<Result<Handle<W::Output>, Error>> {
        let starts = items.into_iter().map(|item| async move {
            let checked = item.spec.check(self)?;
            start(self, Checked { may_run_here: false, ..checked }).await
        });
        futures_util::future::join_all(starts).await
    }
}

async fn start<T>(at: &Staunch, checked: Checked) -> Result<Handle<T>, Error> {
    let Checked { run, same_input, may_run_here } = checked;
    let client = at.shard_of(&run.shard_key);
    let clock = &at.inner.doors.clock;
    let deadline = clock.now() + Duration::from_millis(at.settings().start_timeout_ms);
    let (shard_key, workflow_id) = (run.shard_key.clone(), run.workflow_id.clone());
    let mut run_id = run.run_id;
    if workflow_id.is_some() {
        let asked = run.clone();
        if let Some(existing) =
            existing(&asked, client.enqueue_keyed(run, deadline).await?, same_input)?
        {
            run_id = existing;
        }
    } else {
        let local = if may_run_here { at.local() } else { None };
        let outcome = match local.and_then(|local| local.offer(client.shard.id, &run)) {
            None => LocalOutcome::Declined(Try::First),
            Some(offer) => tokio::select! {
                biased;
                outcome = offer => outcome,
                () = clock.sleep_until(deadline) => LocalOutcome::Unanswered,
            },
        };
        let stored = match outcome {
            LocalOutcome::Started => Ok(()),
            LocalOutcome::Declined(first) => client.enqueue(run, first, deadline).await,
            LocalOutcome::Unanswered => {
                let problem = "start_timeout_ms was over before the shard answered".to_owned();
                Err(Error::UnknownOutcome { shard: client.shard.id, problem })
            }
        };
        stored.map_err(|error| error.of_run(run_id))?;
    }
    Ok(Handle::new(at.clone(), shard_key, run_id, workflow_id))
}

/// The run that has the id already, if it is another one than ours and fits what was asked.
pub(super) fn existing(
    asked: &NewRun,
    outcome: KeyedOutcome,
    same_input: bool,
) -> Result<Option<RunId>, Error> {
    let KeyedOutcome::Existing { run_id, name, digest } = outcome else { return Ok(None) };
    let workflow_id = asked.workflow_id.as_ref().map(ToString::to_string).unwrap_or_default();
    if name != asked.name {
        let (asked, found) = (asked.name.to_string(), name.to_string());
        return Err(Error::OtherWorkflow { workflow_id, asked, found });
    }
    if same_input && digest.is_some() && digest != asked.digest {
        return Err(Error::OtherInput { workflow_id });
    }
    Ok(Some(run_id))
}
