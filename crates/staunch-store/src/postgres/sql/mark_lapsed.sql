-- Store::reclaim, first: marks leases that have ended, under the maintenance lock.
-- Reads all of worker, which holds a row for each process, shard-wide (shard_key is always '').
-- $5 moves now() in tests, 0 otherwise. An end farther away than the worker's own lease lasts is
-- not believed, as in renew.
-- ended: steps over a row that is locked, which is one that is being renewed.
-- charge: when most leases of the shard end together it was the shard that was slow, and nobody's
-- runs are to blame.
-- Safe when run by many: one at a time has the lock, and the rows are locked before they change.
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
gate as materialized (
  select
    s.at,
    s.shape_ok,
    case when s.shape_ok then pg_try_advisory_xact_lock($4::bigint) else false end as locked
  from state s
),
ended as materialized (
  select w.worker_id
  from worker w
  where (select g.locked from gate g)
    and w.lapsed_at is null
    and not (
      w.expires_at > (select g.at from gate g)
      and w.expires_at <= (select g.at from gate g) + w.lease_us * interval '1 microsecond'
    )
  order by w.worker_id
  for update skip locked
),
verdict as materialized (
  select
    (select count(*) from ended) as ended,
    (
      select count(*)
      from (select w.lapsed_at from worker w order by w.worker_id) w
      where w.lapsed_at is null
    ) as registered
),
marked as (
  update worker w
  set
    lapsed_at = (select g.at from gate g),
    charge = (select not (v.ended >= 2 and v.ended * 2 > v.registered) from verdict v)
  where w.worker_id = any (array(select e.worker_id from ended e))
)
select g.shape_ok, g.locked, v.ended as lapsed
from gate g, verdict v
