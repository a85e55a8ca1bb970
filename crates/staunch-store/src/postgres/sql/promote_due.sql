-- Store::promote_due: delayed runs that are due enter their queue, under the maintenance lock.
-- Primary keys of timer (from $8, in microseconds since 1970, to now), workflow and ready; any
-- shard_key. From the beginning it would walk over all entries of late that an old snapshot keeps from
-- being removed.
-- due, open: rows that others have locked are left for the next time.
-- busy: runs that this snapshot shows open but that could not be locked; their timer stays.
-- passed: the gate, as in hand_back. Timers of runs that ended or moved on match nothing, and are just gone.
-- new runs go to lane 1; $6 charged deaths make a suspect. $7 moves now() in tests, 0 otherwise.
-- reached_us: nothing that is due before it was left, but for what others have locked.
-- Safe when run by many: one at a time has the lock, rows are locked before they change, in the
-- order of run_id, and the epoch is compared.
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
gate as materialized (
  select
    s.at,
    s.shape_ok,
    case when s.shape_ok then pg_try_advisory_xact_lock($4::bigint) else false end as locked
  from state s
),
due as materialized (
  select t.ctid as at, t.due_at, t.run_id, t.epoch
  from timer t
  where (select g.locked from gate g)
    and t.due_at >= timestamptz 'epoch' + $8::bigint * interval '1 microsecond'
    and t.due_at <= (select g.at from gate g)
  order by t.due_at, t.run_id
  limit $5::bigint
  for update skip locked
),
sorted as materialized (
  select d.at, d.run_id, d.epoch from due d order by d.run_id, d.epoch
),
open as materialized (
  select d.run_id, d.epoch
  from sorted d
  cross join lateral (
    select
    from workflow w
    where w.run_id = d.run_id and w.epoch = d.epoch and w.status = 0
    for update skip locked
  ) w
),
busy as materialized (
  select d.at
  from sorted d
  cross join lateral (
    select
    from workflow w
    where w.run_id = d.run_id and w.epoch = d.epoch and w.status = 0
    offset 0
  ) w
  where ((d.run_id, d.epoch) in (select o.run_id, o.epoch from open o)) is not true
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
    p.run_id, p.epoch, g.at,
    case when p.recoveries >= $6::bigint then 2 else 1 end,
    p.priority, p.queue, p.shard_key
  from passed p, gate g
  returning queue, lane, priority
),
gone as (
  delete from timer t
  where t.ctid = any (array(
    select d.at from due d where (d.at in (select b.at from busy b)) is not true
  ))
)
select
  g.shape_ok,
  g.locked,
  (select count(*) from passed) as moved,
  (
    extract(epoch from case
      when (select count(*) from due) < $5::bigint then g.at
      else (select max(d.due_at) from due d)
    end) * 1000000
  )::bigint as reached_us,
  q.queue, q.lane, q.priority
from gate g
left join (select distinct queue, lane, priority from queued) q on true
