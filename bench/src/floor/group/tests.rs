use std::sync::{Arc, Mutex};

use anyhow::bail;
use staunch::store::door::Doors;

use super::{Group, Write};
use crate::floor::crew::Crew;

/// Notes the groups that it gets; fails when one holds `bad`.
struct Notes {
    groups: Arc<Mutex<Vec<Vec<u32>>>>,
    bad: u32,
}

impl Write<u32> for Notes {
    async fn write(&mut self, items: &[u32]) -> anyhow::Result<()> {
        if items.contains(&self.bad) {
            bail!("a bad item");
        }
        self.groups.lock().unwrap().push(items.to_vec());
        tokio::task::yield_now().await;
        Ok(())
    }
}

fn crews(callers: u32, bad: u32) -> (Arc<Group<u32>>, Crew<()>, Crew<()>, Notes) {
    let (group, doors) = (Group::new(), Doors::default());
    let groups = Arc::default();
    let (mut writers, mut calling) = (Crew::new(&doors), Crew::new(&doors));
    for _ in 0..2 {
        writers.spawn(group.clone().serve(Notes { groups: Arc::clone(&groups), bad }));
    }
    for caller in 0..callers {
        let group = group.clone();
        calling.spawn(async move {
            group.submit(caller).await?;
            group.submit(caller + callers).await
        });
    }
    (group, writers, calling, Notes { groups, bad })
}

#[tokio::test]
async fn every_item_is_in_one_group_and_some_share_one() {
    let (group, writers, callers, notes) = crews(10, u32::MAX);
    callers.join().await.unwrap();
    group.close();
    writers.join().await.unwrap();
    let groups = notes.groups.lock().unwrap().clone();
    let mut items: Vec<u32> = groups.concat();
    items.sort_unstable();
    assert_eq!(items, (0..20).collect::<Vec<u32>>());
    assert!(groups.len() < items.len(), "{groups:?}");
    group.submit(1).await.unwrap_err();
}

#[tokio::test]
async fn a_writer_that_fails_leaves_no_caller_and_no_writer_waiting() {
    let (group, writers, callers, _notes) = crews(10, 13);
    let failed = callers.join().await.unwrap_err();
    let failed = failed.to_string();
    assert!(failed.contains("writer"), "{failed}");
    assert_eq!(writers.join().await.unwrap_err().to_string(), "a bad item");
    group.submit(1).await.unwrap_err();
}
