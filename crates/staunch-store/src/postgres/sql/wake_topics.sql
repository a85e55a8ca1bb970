-- Store::wake_topics: runs parked under these topics go back to their queue, under the maintenance lock.
-- Primary keys of waiting (one range a topic), workflow and ready; any shard_key.
-- parked, open: rows that others have locked are left for the next time.
-- busy: runs that this snapshot shows open but that could not be locked; they stay parked.
-- passed: the gate, as in hand_back. Rows of runs that ended or moved on match nothing, and are just gone.
-- Resumed runs go to lane 0; $6 charged deaths make a suspect. $7 moves now() in tests, 0 otherwise.
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
parked as materialized (
  select p.at, p.run_id, p.epoch
  from unnest($8::text[]) i (topic)
  cross join lateral (
    select p.ctid as at, p.run_id, p.epoch
    from waiting p
    where p.topic = i.topic
    order by p.topic, p.run_id
    limit $5::bigint
    for update skip locked
  ) p
  where (select g.locked from gate g)
  limit $5::bigint
),
sorted as materialized (
  select d.at, d.run_id, d.epoch from parked d order by d.run_id, d.epoch
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
    case when p.recoveries >= $6::bigint then 2 else 0 end,
    p.priority, p.queue, p.shard_key
  from passed p, gate g
  returning queue, lane, priority
),
gone as (
  delete from waiting t
  where t.ctid = any (array(
    select d.at from parked d where (d.at in (select b.at from busy b)) is not true
  ))
)
select
  g.shape_ok,
  g.locked,
  (select count(*) from passed) as moved,
  q.queue, q.lane, q.priority
from gate g
left join (select distinct queue, lane, priority from queued) q on true
