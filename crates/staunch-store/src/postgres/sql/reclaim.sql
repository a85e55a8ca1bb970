-- Store::reclaim, second: dissolves claims without a live owner, oldest first, within the budget.
-- Primary keys: claim (one probe for each worker that has claims, then those of dead workers),
-- worker, workflow, step (the steps of a run that may be charged). Shard-wide, for every shard_key.
-- holders: a loose index scan, so that claims of living workers are not read.
-- dead: workers that mark_lapsed marked, and such that have no row any more: their session had ended
-- before, so that a claim which was committed late proves no crash, and nobody is charged.
-- taken, open: rows that others have locked are left for the next pass.
-- held: a run that its owner had parked waits for its topic, and not for this claim, which only had
-- not been finished yet; one probe of waiting_run_id each.
-- busy: runs that this snapshot shows open but that could not be locked; their claim stays.
-- judged: a death is charged unless the run recorded a step since its claim. Enough of them end the
-- run: $6 when it was alone, twice as many when it never was, so that innocents pass through.
-- passed: the gate, as in hand_back; ended: those convicted. No run is in both.
-- charged in the answer: the test in brackets makes a hashed look-up of what would be a loop over
-- loops, since these connections join by nothing else.
-- forgotten: workers that lapsed a minute ago, and a lease, and of which no claim is left; until then
-- mark_lapsed counts them, and a claim that is committed late finds whether it is charged. All of
-- worker is read for them, which holds a row for each process.
-- $9 moves now() in tests, 0 otherwise.
-- Safe when run by many: one at a time has the lock, and every update compares the epoch of a row
-- that is locked, in the order of run_id.
with recursive state as materialized (
  select
    now() + $9::bigint * interval '1 microsecond' as at,
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
holders as (
  select f.worker_id
  from gate g
  cross join lateral (
    select c.worker_id from claim c order by c.worker_id limit 1
  ) f
  where g.locked
  union all
  select n.worker_id
  from holders h
  cross join lateral (
    select c.worker_id from claim c where c.worker_id > h.worker_id order by c.worker_id limit 1
  ) n
),
dead as materialized (
  select h.worker_id, w.charge
  from holders h
  cross join lateral (
    select coalesce(bool_and(w.charge), false) as charge, bool_and(w.lapsed_at is not null) as lapsed
    from worker w
    where w.worker_id = h.worker_id
  ) w
  where w.lapsed is not false
),
chosen as materialized (
  select d.worker_id, d.charge, c.claim_id
  from dead d
  cross join lateral (
    select c.claim_id, c.claimed_at from claim c where c.worker_id = d.worker_id offset 0
  ) c
  order by c.claimed_at, d.worker_id, c.claim_id
  limit $5::bigint
),
taken as materialized (
  select c.at, n.worker_id, n.claim_id, n.charge, c.alone, c.run_ids, c.epochs
  from chosen n
  cross join lateral (
    select c.ctid as at, c.alone, c.run_ids, c.epochs
    from claim c
    where c.worker_id = n.worker_id and c.claim_id = n.claim_id
    for update skip locked
  ) c
),
held as materialized (
  select r.run_id, r.epoch, t.worker_id, t.claim_id, t.charge, t.alone
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
  select h.run_id, h.epoch, h.charge, h.alone, w.recoveries
  from held h
  cross join lateral (
    select w.recoveries
    from workflow w
    where w.run_id = h.run_id and w.epoch = h.epoch and w.status = 0
    for update skip locked
  ) w
),
busy as materialized (
  select h.worker_id, h.claim_id
  from held h
  cross join lateral (
    select
    from workflow w
    where w.run_id = h.run_id and w.epoch = h.epoch and w.status = 0
    offset 0
  ) w
  where ((h.run_id, h.epoch) in (select o.run_id, o.epoch from open o)) is not true
),
charged as materialized (
  select o.run_id, o.epoch, o.recoveries, o.alone, o.charge and s.seq is null as charge
  from open o
  left join lateral (
    select s.seq
    from step s
    where s.run_id = o.run_id and s.epoch = o.epoch
    limit 1
  ) s on o.charge
),
judged as materialized (
  select
    c.run_id, c.epoch, c.charge,
    c.charge
      and c.recoveries + 1 >= case when c.alone then $6::bigint else 2 * $6::bigint end
      as convicted
  from charged c
),
passed as (
  update workflow w
  set
    epoch = w.epoch + 1,
    recoveries = w.recoveries
      + (w.run_id in (select j.run_id from judged j where j.charge))::int
  where w.status = 0
    and w.run_id = any (array(select j.run_id from judged j where not j.convicted))
  returning w.run_id, w.epoch, w.recoveries, w.priority, w.shard_key, w.queue
),
ended as (
  update workflow w
  set
    recoveries = w.recoveries + 1,
    completed_at = (select g.at from gate g),
    status = 4,
    error = $7::bytea
  where w.status = 0
    and w.run_id = any (array(select j.run_id from judged j where j.convicted))
  returning w.run_id
),
queued as (
  insert into ready (run_id, epoch, enqueued_at, lane, priority, queue, shard_key)
  select
    p.run_id, p.epoch, g.at,
    case when p.recoveries >= $8::bigint then 2 else 0 end,
    p.priority, p.queue, p.shard_key
  from passed p, gate g
  returning queue, lane, priority
),
dissolved as (
  delete from claim c
  where c.ctid = any (array(
    select t.at
    from taken t
    where ((t.worker_id, t.claim_id) in (select b.worker_id, b.claim_id from busy b)) is not true
  ))
  returning c.worker_id, c.claim_id
),
lapsed as materialized (
  select w.ctid as at, w.worker_id
  from worker w
  where (select g.locked from gate g)
    and w.lapsed_at
      <= (select g.at from gate g)
        - greatest(w.lease_us * interval '1 microsecond', interval '1 minute')
  order by w.worker_id
  for update skip locked
),
forgotten as (
  delete from worker w
  where w.ctid = any (array(
    select l.at
    from lapsed l
    left join lateral (
      select true as holds
      from claim c
      where c.worker_id = l.worker_id
        and ((c.worker_id, c.claim_id) in (
          select d.worker_id, d.claim_id from dissolved d
        )) is not true
      limit 1
    ) c on true
    where c.holds is null
  ))
)
select
  g.shape_ok,
  g.locked,
  (select count(*) from dissolved) as claims,
  (select count(*) from passed) as recovered,
  (
    select count(*)
    from passed p
    where (p.run_id in (select j.run_id from judged j where j.charge)) is true
  ) as charged,
  (select count(*) from ended) as dead,
  q.queue, q.lane, q.priority
from gate g
left join (select distinct queue, lane, priority from queued) q on true
