//! A local HTTP service that answers slowly and fails now and then, as services do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;

/// Every so many calls one fails.
const FAILS_EVERY: u64 = 50;
/// Length of a degree of latitude.
const KM_PER_DEGREE: f64 = 111.195;

#[derive(Default)]
struct Counts {
    calls: AtomicU64,
    refusals: AtomicU64,
}

/// The running service.
pub(crate) struct Service {
    url: String,
    counts: Arc<Counts>,
}

/// Asks the service.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
}

/// Starts the service on a free port of this machine.
#[expect(clippy::disallowed_methods, reason = "the ban is for the library's own code")]
pub(crate) async fn start() -> anyhow::Result<Service> {
    let counts = Arc::new(Counts::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let router =
        Router::new().route("/km-to-equator/{latitude}", get(answer)).with_state(counts.clone());
    tokio::task::spawn(async move { axum::serve(listener, router).await });
    Ok(Service { url, counts })
}

async fn answer(
    State(counts): State<Arc<Counts>>,
    Path(latitude): Path<f64>,
) -> Result<String, StatusCode> {
    let call = counts.calls.fetch_add(1, Ordering::Relaxed) + 1;
    tokio::time::sleep(std::time::Duration::from_millis(3)).await;
    if call % FAILS_EVERY == 0 {
        counts.refusals.fetch_add(1, Ordering::Relaxed);
        return Err(StatusCode::SERVICE_UNAVAILABLE);
    }
    Ok(format!("{:.0}", latitude.abs() * KM_PER_DEGREE))
}

impl Service {
    pub(crate) fn client(&self) -> Client {
        Client { http: reqwest::Client::new(), url: self.url.clone() }
    }

    /// Calls, and how many of them failed.
    pub(crate) fn calls(&self) -> (u64, u64) {
        let Counts { calls, refusals } = &*self.counts;
        (calls.load(Ordering::Relaxed), refusals.load(Ordering::Relaxed))
    }
}

impl Client {
    pub(crate) async fn km_to_equator(&self, latitude: f64) -> anyhow::Result<i64> {
        let url = format!("{}/km-to-equator/{latitude}", self.url);
        let text = self.http.get(url).send().await?.error_for_status()?.text().await?;
        Ok(text.parse()?)
    }
}
