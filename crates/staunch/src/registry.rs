//! Which workflows a worker can run.

use std::any::{Any, TypeId, type_name};
use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use staunch_store::Name;

use crate::codec::{decode, encode};
use crate::config::workflow_name;
use crate::context::Ctx;
use crate::error::{Error, RunError};

/// A workflow: what `#[workflow]` makes of an async function.
pub trait Workflow: Copy + Send + Sync + 'static {
    /// The name under which its runs are stored. Renaming it strands its open runs.
    const NAME: &'static str;
    /// The arguments behind the context, as a tuple.
    type Input: Serialize + DeserializeOwned + Send + 'static;
    /// What it returns.
    type Output: Serialize + DeserializeOwned + Send + 'static;

    /// Runs it.
    fn run(
        ctx: Ctx,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, anyhow::Error>> + Send;
}

pub(crate) type HandlerFuture = Pin<Box<dyn Future<Output = Result<Bytes, RunError>> + Send>>;

/// A registered workflow behind its types.
pub(crate) trait Handler: Send + Sync {
    fn call(&self, ctx: Ctx, input: Bytes) -> HandlerFuture;
}

struct Typed<W>(PhantomData<fn() -> W>);

impl<W: Workflow> Handler for Typed<W> {
    fn call(&self, ctx: Ctx, input: Bytes) -> HandlerFuture {
        Box::pin(async move {
            let codec = |error: crate::codec::CodecError| RunError::new("codec", error.to_string());
            let arguments =
                decode::<W::Input>(format_args!("the input of workflow {:?}", W::NAME), &input)
                    .map_err(codec)?;
            let output = W::run(ctx, arguments).await.map_err(|error| RunError::of(&error))?;
            encode(format_args!("the output of workflow {:?}", W::NAME), &output).map_err(codec)
        })
    }
}

/// The workflows of a worker, by name.
#[derive(Clone, Default)]
pub(crate) struct Registry {
    entries: BTreeMap<Name, Entry>,
}

/// One registered workflow.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) handler: Arc<dyn Handler>,
    /// Whether its code was seen waiting for something foreign.
    pub(crate) foreign_wait: Arc<AtomicBool>,
}

impl Registry {
    pub(crate) fn register<W: Workflow>(&mut self) -> Result<(), Error> {
        let name = workflow_name(W::NAME)?;
        if self.entries.contains_key(&name) {
            return Err(Error::DuplicateRegistration { name: W::NAME.to_owned() });
        }
        let handler = Arc::new(Typed::<W>(PhantomData));
        self.entries.insert(name, Entry { handler, foreign_wait: Arc::default() });
        Ok(())
    }

    pub(crate) fn get(&self, name: &Name) -> Option<&Entry> {
        self.entries.get(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &Name> {
        self.entries.keys()
    }
}

/// Values that steps and workflows share: clients, pools, configuration.
#[derive(Clone, Default)]
pub(crate) struct States {
    values: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
}

impl States {
    pub(crate) fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.values.insert(TypeId::of::<T>(), Arc::new(value));
    }

    /// # Panics
    ///
    /// When no value of this type was given to the worker.
    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Arc<T> {
        let value = self.values.get(&TypeId::of::<T>()).cloned();
        value.and_then(|value| value.downcast::<T>().ok()).unwrap_or_else(|| {
            panic!("no state of type {} was given to the worker", type_name::<T>())
        })
    }
}
