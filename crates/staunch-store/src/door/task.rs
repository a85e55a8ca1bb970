//! Spawning: plain tokio tasks in production, tasks that stop and die together in simulations.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::task::{AbortHandle, JoinHandle};

/// Spawns tasks. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    killable: Option<Arc<Mutex<Killable>>>,
}

#[derive(Debug, Default)]
struct Killable {
    dead: bool,
    frozen: bool,
    handles: Vec<AbortHandle>,
    /// Tasks that wanted to run while frozen.
    stopped: Vec<Waker>,
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
        let Some(process) = &self.killable else { return Task(tokio::spawn(future)) };
        let stoppable = Stoppable { future: Box::pin(future), process: process.clone() };
        let handle = tokio::spawn(stoppable);
        let mut killable = lock(process);
        if killable.dead {
            handle.abort();
        } else {
            killable.handles.retain(|handle| !handle.is_finished());
            killable.handles.push(handle.abort_handle());
        }
        drop(killable);
        Task(handle)
    }

    /// Ends every task that was or will be spawned here, as `kill -9` ends a process.
    ///
    /// Does nothing unless made by [`Tasks::killable`].
    pub fn kill(&self) {
        if let Some(process) = &self.killable {
            let mut killable = lock(process);
            killable.dead = true;
            for handle in killable.handles.drain(..) {
                handle.abort();
            }
        }
    }

    /// Stops every task that was or will be spawned here until [`Tasks::thaw`], as SIGSTOP stops a
    /// process: time passes, and nothing runs.
    ///
    /// Does nothing unless made by [`Tasks::killable`].
    pub fn freeze(&self) {
        if let Some(process) = &self.killable {
            lock(process).frozen = true;
        }
    }

    /// Lets frozen tasks go on.
    pub fn thaw(&self) {
        let Some(process) = &self.killable else { return };
        let mut killable = lock(process);
        killable.frozen = false;
        let stopped = std::mem::take(&mut killable.stopped);
        drop(killable);
        for waker in stopped {
            waker.wake();
        }
    }
}

fn lock(process: &Mutex<Killable>) -> MutexGuard<'_, Killable> {
    process.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A task of a simulated process, which does not run while the process is frozen.
struct Stoppable<F> {
    future: Pin<Box<F>>,
    process: Arc<Mutex<Killable>>,
}

impl<F: Future> Future for Stoppable<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        {
            let mut process = lock(&self.process);
            if process.frozen {
                let waker = context.waker();
                if !process.stopped.iter().any(|known| known.will_wake(waker)) {
                    process.stopped.push(waker.clone());
                }
                return Poll::Pending;
            }
        }
        self.future.as_mut().poll(context)
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

#[cfg(test)]
mod tests;
