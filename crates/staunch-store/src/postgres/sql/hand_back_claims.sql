-- Store::hand_back_claims: the runs of claims whose reply the worker never got, uncharged, through
-- the gate; the claims are deleted.
-- Primary keys of claim, workflow and ready, index waiting_run_id; the runs may have any shard_key.
-- taken: the worker's own claims, one lateral probe each, locked in the order given.
-- held: a run that was parked waits for its topic, and not for this claim; one probe of waiting_run_id
-- each.
-- open: one lateral probe a run, in the order of run_id; waits for others, since a claim may only go
-- when each of its runs was looked at. What they changed meanwhile is not taken.
-- passed: the gate, as in hand_back. $7 moves now() in tests, 0 otherwise.
-- Safe when run by many: rows are locked in one order, and the epoch is compared.
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
taken as materialized (
  select c.at, c.run_ids, c.epochs
  from unnest($5::uuid[]) i (claim_id)
  cross join lateral (
    select c.ctid as at, c.run_ids, c.epochs
    from claim c
    where c.worker_id = $4::uuid and c.claim_id = i.claim_id
    for update
  ) c
  where (select s.shape_ok from state s)
),
held as materialized (
  select r.run_id, r.epoch
  from taken t
  cross join lateral unnest(t.run_ids, t.epochs) r (run_id, epoch)
  left join lateral (
    select true as parked
    from waiting p
    where p.run_id = r.run_id and p.epoch = r.epoch
    limit 1
  ) p on true
  where p.parked is null
  order by r.run_id, r.epoch
),
open as materialized (
  select h.run_id, h.epoch
  from held h
  cross join lateral (
    select
    from workflow w
    where w.run_id = h.run_id and w.epoch = h.epoch and w.status = 0
    for update
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
    p.run_id, p.epoch, s.at,
    case when p.recoveries >= $6::bigint then 2 else 0 end,
    p.priority, p.queue, p.shard_key
  from passed p, state s
  returning queue, lane, priority
),
gone as (
  delete from claim c
  where c.ctid = any (array(select t.at from taken t))
)
select s.shape_ok, q.queue, q.lane, q.priority
from state s
left join (select distinct queue, lane, priority from queued) q on true
