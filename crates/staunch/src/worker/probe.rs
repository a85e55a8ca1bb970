//! Health over HTTP, for orchestrators.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use tokio::net::TcpListener;

use super::core::Core;
use super::health::Health;

/// Serves both probes until the worker is closed.
pub(super) async fn serve(core: Arc<Core>, listener: TcpListener) {
    let closed = core.closed.clone();
    let ready_core = core.clone();
    let ready = move || async move {
        let health = Health::of(&ready_core);
        let status = if health.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        (status, Json(health))
    };
    let alive = move || async move { Json(Health::of(&core)) };
    let router = Router::new().route("/healthz", get(alive)).route("/readyz", get(ready));
    let serving = axum::serve(listener, router);
    tokio::select! {
        () = closed.cancelled() => {}
        outcome = serving => {
            if let Err(error) = outcome {
                tracing::error!(%error, "the probe has stopped");
            }
        }
    }
}
