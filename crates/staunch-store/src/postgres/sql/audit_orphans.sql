-- Store::audit_orphans: open runs that nothing would ever run again, under the maintenance lock.
-- Reads workflow from its oldest run to those made $5 microseconds ago, and each of ready, claim,
-- timer and waiting once; every shard_key. Rare, and planned as it comes, on the lane for reads.
-- One statement, so one snapshot: a run that moves from one place to another is seen in one of them.
-- held: claims taken apart once; the test in brackets makes a hashed look-up, whatever is estimated.
-- A row of another epoch does not count. $6 moves now() in tests, 0 otherwise.
-- Only reads; safe at any time.
with state as materialized (
  select
    rpad(lpad(to_hex(greatest(
      (extract(epoch from now()) * 1000000)::bigint + $6::bigint - $5::bigint, 0
    ) / 1000), 12, '0'), 32, '0')::uuid as made_before,
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
    s.made_before,
    s.shape_ok,
    case when s.shape_ok then pg_try_advisory_xact_lock($4::bigint) else false end as locked
  from state s
),
held as materialized (
  select h.run_id, h.epoch
  from claim c
  cross join lateral unnest(c.run_ids, c.epochs) h (run_id, epoch)
),
orphan as (
  select w.run_id, w.epoch
  from workflow w
  where (select g.locked from gate g)
    and w.run_id < (select g.made_before from gate g)
    and w.status = 0
    and not exists (
      select from ready r where r.run_id = w.run_id and r.epoch = w.epoch
    )
    and not exists (
      select from timer t where t.run_id = w.run_id and t.epoch = w.epoch
    )
    and not exists (
      select from waiting p where p.run_id = w.run_id and p.epoch = w.epoch
    )
    and ((w.run_id, w.epoch) in (select h.run_id, h.epoch from held h)) is not true
  order by w.run_id
  limit 1000
)
select g.shape_ok, g.locked, o.run_id, o.epoch
from gate g
left join orphan o on true
