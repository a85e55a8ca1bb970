-- Store::cancel: ends open runs, and takes away what would wake them.
-- Primary key of workflow, indexes timer_run_id and waiting_run_id; any shard_key.
-- found: one lateral probe a run, in the order given, which is by run_id; waits for others and then
-- reads the row as they left it, so that an end that comes at the same time is seen, and one round
-- trip answers everything.
-- An entry in ready stays; the claim that meets it drops it, and finding it here would need an index.
-- closed: looked up by array, as in hand_back.
-- timed, parked: lateral probes, deleted by the ctid just locked, so that no plan reads the tables.
-- $5 moves now() in tests, 0 otherwise.
-- Safe when run by many: rows are locked in the order of run_id, and a final status never changes.
with state as materialized (
  select
    now() + $5::bigint * interval '1 microsecond' as at,
    exists (
      select from cluster c
      where c.shard_key = ''
        and c.cluster_id = $1::uuid
        and c.shard = $2::bigint
        and c.generation = $3::bigint
    ) as shape_ok
),
found as materialized (
  select i.run_id, w.status
  from unnest($4::uuid[]) i (run_id)
  cross join lateral (
    select w.status
    from workflow w
    where w.run_id = i.run_id
    for update
  ) w
  where (select s.shape_ok from state s)
),
open as materialized (
  select f.run_id
  from found f
  where f.status = 0
),
closed as (
  update workflow w
  set completed_at = (select s.at from state s), status = 3
  where w.run_id = any (array(select o.run_id from open o)) and w.status = 0
  returning w.run_id
),
timed as materialized (
  select t.at
  from open o
  cross join lateral (
    select t.ctid as at from timer t where t.run_id = o.run_id for update
  ) t
),
parked as materialized (
  select p.at
  from open o
  cross join lateral (
    select p.ctid as at from waiting p where p.run_id = o.run_id for update
  ) p
),
no_timer as (
  delete from timer t
  where t.ctid = any (array(select d.at from timed d))
),
not_waiting as (
  delete from waiting p
  where p.ctid = any (array(select d.at from parked d))
)
select
  s.shape_ok,
  array(select c.run_id from closed c) as cancelled,
  array(select f.run_id from found f where f.status <> 0) as ended_runs,
  array(select f.status from found f where f.status <> 0) as ended_statuses
from state s
