-- Store::acquit: forgets the charged deaths of suspects that proved innocent.
-- Primary key of workflow; the runs may have any shard_key.
-- open: one lateral probe a run, in the order given, which is by run_id.
-- acquitted: looked up by array, as in hand_back.
-- Safe when run by many: rows are locked in the order of run_id; only the owner's epoch counts.
with state as materialized (
  select exists (
    select from cluster c
    where c.shard_key = ''
      and c.cluster_id = $1::uuid
      and c.shard = $2::bigint
      and c.generation = $3::bigint
  ) as shape_ok
),
open as materialized (
  select i.run_id, i.epoch
  from unnest($4::uuid[], $5::bigint[]) i (run_id, epoch)
  cross join lateral (
    select
    from workflow w
    where w.run_id = i.run_id and w.epoch = i.epoch and w.status = 0 and w.recoveries > 0
    for update
  ) w
  where (select s.shape_ok from state s)
),
acquitted as (
  update workflow w
  set recoveries = 0
  where w.run_id = any (array(select o.run_id from open o)) and w.status = 0
)
select shape_ok from state
