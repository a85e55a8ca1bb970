-- Store::hand_back: runs that their living owner gives back, uncharged, through the gate.
-- Primary keys of workflow and ready; the runs may have any shard_key.
-- open: one lateral probe a run, in the order given, which is by run_id; waits for others, so that a
-- run is back in ready when this is answered. What they changed meanwhile is not taken.
-- passed: the gate; who raises the epoch puts the run back, everybody else has lost. The epoch was
-- compared when the row was locked; and an array, unlike a join, is always looked up by index, also
-- by a plan that was made while the table was empty.
-- $6 charged deaths make a suspect. $7 moves now() in tests, 0 otherwise.
-- Safe when run by many: rows are locked in the order of run_id, and the epoch is compared.
with state as materialized (
  select
    now() + $7::bigint * interval '1 microsecond' as at,
    exists (
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
    where w.run_id = i.run_id and w.epoch = i.epoch and w.status = 0
    for update
  ) w
  where (select s.shape_ok from state s)
),
passed as (
  update workflow w
  set epoch = w.epoch + 1
  where w.run_id = any (array(select o.run_id from open o)) and w.status = 0
  returning w.run_id, w.epoch, w.recoveries, w.priority, w.shard_key, w.queue
),
queued as (
  insert into ready (run_id, epoch, enqueued_at, lane, priority, queue, shard_key)
  select
    p.run_id, p.epoch, s.at,
    case when p.recoveries >= $6::bigint then 2 else 0 end,
    p.priority, p.queue, p.shard_key
  from passed p, state s
  returning queue, lane, priority
)
select s.shape_ok, q.queue, q.lane, q.priority
from state s
left join (select distinct queue, lane, priority from queued) q on true
