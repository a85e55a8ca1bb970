//! Spawning: plain tokio tasks in production, tasks that die together in simulations.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::task::{AbortHandle, JoinHandle};

/// Spawns tasks. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    killable: Option<Arc<Mutex<Killable>>>,
}

#[derive(Debug, Default)]
struct Killable {
    dead: bool,
    handles: Vec<AbortHandle>,
}

impl Tasks {
    /// Tasks of a simulated process, which [`Tasks::kill`] ends all at once.
    pub fn killable() -> Self {
        Self { killable: Some(Arc::default()) }
    }

    /// Runs `future` as a task. Dropping the returned [`Task`] detaches it.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn spawn<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let handle = tokio::spawn(future);
        if let Some(killable) = &self.killable {
            let mut killable = killable.lock().unwrap_or_else(PoisonError::into_inner);
            if killable.dead {
                handle.abort();
            } else {
                killable.handles.retain(|handle| !handle.is_finished());
                killable.handles.push(handle.abort_handle());
            }
        }
        Task(handle)
    }

    /// Ends every task that was or will be spawned here, as `kill -9` ends a process.
    ///
    /// Does nothing unless made by [`Tasks::killable`].
    pub fn kill(&self) {
        if let Some(killable) = &self.killable {
            let mut killable = killable.lock().unwrap_or_else(PoisonError::into_inner);
            killable.dead = true;
            for handle in killable.handles.drain(..) {
                handle.abort();
            }
        }
    }
}

/// A running task. Resolves to its output, or `None` when it panicked or was killed.
#[derive(Debug)]
pub struct Task<T>(JoinHandle<T>);

impl<T> Task<T> {
    /// Asks the task to stop at its next await point.
    pub fn abort(&self) {
        self.0.abort();
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl<T> Future for Task<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(Result::ok)
    }
}
