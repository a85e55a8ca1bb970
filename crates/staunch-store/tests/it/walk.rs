//! How far a page of runs walks when few of them match.

use staunch_store::{Inspect as _, NewRun, RunFilter, RunId, Store as _, Try};
use uuid::Uuid;

use crate::database::{Database, shape};
use crate::path::{name, new_run};

#[tokio::test]
async fn a_rare_match_is_found_in_several_short_pages() {
    let database = Database::migrated().await;
    let store = database.store(shape());
    let rare = NewRun { name: name("rare"), ..new_run() };
    store.enqueue(vec![rare.clone()], Try::First).await.unwrap();
    let later = |_| NewRun { run_id: RunId(Uuid::now_v7()), ..new_run() };
    for _ in 0..9 {
        store.enqueue((0..1000).map(later).collect(), Try::First).await.unwrap();
    }
    let mut filter = RunFilter { name: Some(name("rare")), limit: 10, ..RunFilter::default() };
    let mut found = Vec::new();
    for expected_end in [false, false, true] {
        let page = store.list_runs(filter.clone()).await.unwrap();
        found.extend(page.runs.iter().map(|run| run.run_id));
        assert_eq!(page.next.is_none(), expected_end, "each page walks over a few thousand rows");
        filter.before = page.next;
    }
    assert_eq!(found, [rare.run_id]);
}
