-- Store::reclaim, first: marks leases that have ended, under the maintenance lock.
-- Reads all of worker, which holds a row for each process, shard-wide (shard_key is always '').
-- $5 moves now() in tests, 0 otherwise. An end farther away than two of the worker's own leases last
-- is not believed, as in renew; seen from the clock, since now() may be older than a renewal that the
-- snapshot shows.
-- ended: steps over a row that is locked, which is one that is being renewed.
-- lately, peers: leases that end within half a lease of each other end together, whichever pass finds
-- them; they are compared with the workers that were there when the last of them was
-- heard of, give or take a second (workers that start together). A session that was given up before
-- its end is no death, and does not count.
-- charge: when most end together it was the shard that was slow, or the whole fleet that was killed,
-- and nobody's runs are to blame, those of the workers that an earlier pass marked included.
-- Safe when run by many: one at a time has the lock, and the rows are locked before they change.
with state as materialized (
  select
    now() + $5::bigint * interval '1 microsecond' as at,
    clock_timestamp() + $5::bigint * interval '1 microsecond' as latest,
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
    s.latest,
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
      and w.expires_at
        <= (select g.latest from gate g) + 2 * w.lease_us * interval '1 microsecond'
    )
  order by w.worker_id
  for update skip locked
),
lately as materialized (
  select w.worker_id, w.expires_at - w.lease_us * interval '1 microsecond' as renewed_at
  from worker w
  where (select g.locked from gate g)
    and (
      (w.worker_id in (select e.worker_id from ended e)) is true
      or (
        w.lapsed_at > (select g.at from gate g) - w.lease_us * interval '1 microsecond' / 2
        and w.lapsed_at >= w.expires_at
      )
    )
  order by w.worker_id
),
verdict as materialized (
  select
    (select count(*) from ended) as ended,
    (select count(*) from lately) as lately,
    (
      select count(*)
      from (select w.worker_id, w.started_at, w.lapsed_at from worker w order by w.worker_id) w
      where w.started_at <= (select max(l.renewed_at) from lately l) + interval '1 second'
        and (w.lapsed_at is null or (w.worker_id in (select l.worker_id from lately l)) is true)
    ) as peers
),
marked as (
  update worker w
  set
    lapsed_at = coalesce(w.lapsed_at, (select g.at from gate g)),
    charge = w.charge and (select not (v.lately >= 2 and v.lately * 2 > v.peers) from verdict v)
  where w.worker_id = any (array(select l.worker_id from lately l))
)
select g.shape_ok, g.locked, v.ended as lapsed
from gate g, verdict v
