-- Store::dequeue: one visit of a worker to the shard; one statement, so that the dequeue lock lasts
-- exactly as long as the claim.
-- Primary keys: ready, from a known position on, one group after the other; workflow; worker.
-- state: another shape or a lease that is not live (with a margin) claims nothing.
-- gate: the lock is tried once, and before the scan; when it is not won nothing is read.
-- start: per group the newest position that is at least $10 microseconds old; 0 when $10 is null.
--   Deleted entries before it stay in the index while any old snapshot is open.
-- found: in the order of the groups given, under one outer limit, stepping over locked rows.
-- met: entries of runs that ended or went on to another epoch match nothing, and are just gone.
-- taken: all, or if their inputs are larger than $15 bytes in all the first that fit, and a first
--   one of any size; the others are let go again. Most batches fit, so nothing is numbered for them.
-- gone: deletes by the ctid just locked; rows of ready are never updated, so it cannot move.
-- The rows come in the order found, because batches are joined row by row (a test holds the plan).
-- Always at least one row, so that a lost lock, a lost lease, another shape and an empty shard differ.
-- $13 moves now() in tests, 0 otherwise.
-- Safe when run by many: rows are locked before they are deleted, and (run_id, epoch) is in ready
-- at most once.
with state as materialized (
  select
    exists (
      select from cluster c
      where c.shard_key = ''
        and c.cluster_id = $1::uuid
        and c.shard = $2::bigint
        and c.generation = $3::bigint
    ) as shape_ok,
    exists (
      select from worker w
      where w.worker_id = $4::uuid
        and w.lapsed_at is null
        and w.expires_at > now() + $13::bigint * interval '1 microsecond' + interval '200 ms'
    ) as lease_ok
),
gate as materialized (
  select
    s.shape_ok,
    s.lease_ok,
    case when s.shape_ok and s.lease_ok then pg_try_advisory_xact_lock($6::bigint) else false end
      as locked
  from state s
),
found as materialized (
  select f.at, f.seq, f.run_id, f.epoch, g.place
  from unnest($7::text[], $8::smallint[], $9::smallint[])
    with ordinality g (queue, lane, priority, place)
  cross join lateral (
    select coalesce(
      (
        select p.seq
        from position p
        where p.queue = g.queue
          and p.lane = g.lane
          and p.priority = g.priority
          and p.written_at
            <= now() + ($13::bigint - $10::bigint) * interval '1 microsecond'
        order by p.written_at desc
        limit 1
      ),
      0
    ) as seq
    offset 0
  ) start
  cross join lateral (
    select r.ctid as at, r.seq, r.run_id, r.epoch
    from ready r
    where r.queue = g.queue
      and r.lane = g.lane
      and r.priority = g.priority
      and r.seq >= start.seq
    order by r.queue, r.lane, r.priority, r.seq
    limit $11::bigint
    for update skip locked
  ) f
  where (select locked from gate)
  limit $11::bigint
),
met as materialized (
  select
    f.at, f.seq, f.place,
    w.run_id, w.epoch, w.recoveries, w.shard_key, w.name, w.workflow_id, w.input
  from found f
  left join workflow w on w.run_id = f.run_id and w.epoch = f.epoch and w.status = 0
),
room as materialized (
  select coalesce(sum(octet_length(m.input)) <= $15::bigint, true) as enough from met m
),
taken as not materialized (
  select m.*
  from met m
  where (select enough from room)
    or m.at in (
      select q.at
      from (
        select
          s.at, octet_length(s.input) as size,
          sum(octet_length(s.input)) over (order by s.place, s.seq) as total
        from met s
      ) q
      where coalesce(q.total <= $15::bigint or q.total = q.size, true)
    )
),
gone as (
  delete from ready r
  using taken t
  where r.ctid = t.at
),
claimed as (
  insert into claim (worker_id, claim_id, claimed_at, alone, run_ids, epochs)
  select
    $4::uuid, $5::uuid, now() + $13::bigint * interval '1 microsecond', $14::boolean,
    array_agg(l.run_id), array_agg(l.epoch)
  from taken l
  where l.run_id is not null
  having count(*) > 0
),
marked as (
  insert into position (written_at, seq, lane, priority, queue, worker_id)
  select
    clock_timestamp() + $13::bigint * interval '1 microsecond',
    min(t.seq), ($8::smallint[])[t.place], ($9::smallint[])[t.place],
    ($7::text[])[t.place], $4::uuid
  from taken t
  where $12::boolean
  group by t.place
  on conflict do nothing
)
select
  g.shape_ok, g.lease_ok, g.locked,
  l.place, l.run_id, l.epoch, l.recoveries, l.shard_key, l.name, l.workflow_id, l.input
from gate g
left join taken l on l.run_id is not null
