-- Store::audit_orphans with repair: what the audit found goes back to its queue, through the gate.
-- Primary keys of workflow and ready, indexes timer_run_id and waiting_run_id; ready and claim are
-- read once, as in the audit. Any shard_key. Rare, and planned as it comes.
-- orphan: looked at again in this statement's own snapshot; only what is still nowhere is repaired.
-- passed: the gate, as in hand_back. $7 charged deaths make a suspect. $8 moves now() in tests, 0 otherwise.
-- Safe when run by many: one at a time has the lock, rows are locked in the order of run_id, and the
-- epoch is compared, so that a run that moved meanwhile is left alone.
with state as materialized (
  select
    now() + $8::bigint * interval '1 microsecond' as at,
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
known as (
  select r.run_id, r.epoch from ready r where r.run_id = any ($5::uuid[])
  union all
  select h.run_id, h.epoch
  from claim c
  cross join lateral unnest(c.run_ids, c.epochs) h (run_id, epoch)
  union all
  select t.run_id, t.epoch from timer t where t.run_id = any ($5::uuid[])
  union all
  select p.run_id, p.epoch from waiting p where p.run_id = any ($5::uuid[])
),
orphan as materialized (
  select o.run_id, o.epoch
  from (
    select i.run_id, i.epoch from unnest($5::uuid[], $6::bigint[]) i (run_id, epoch)
    except
    select k.run_id, k.epoch from known k
  ) o
  where (select g.locked from gate g)
  order by o.run_id
),
open as materialized (
  select i.run_id, i.epoch
  from orphan i
  cross join lateral (
    select
    from workflow w
    where w.run_id = i.run_id and w.epoch = i.epoch and w.status = 0
    for update skip locked
  ) w
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
    case when p.recoveries >= $7::bigint then 2 else 0 end,
    p.priority, p.queue, p.shard_key
  from passed p, gate g
)
select g.shape_ok, g.locked
from gate g
