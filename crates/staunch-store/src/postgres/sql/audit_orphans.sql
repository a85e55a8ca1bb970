-- Store::audit_orphans: open runs that nothing would ever run again, among the next $5 of workflow.
-- Primary key of workflow, from behind $4 ('00000000-..' at first) to the runs made $6 microseconds
-- ago, whatever their status, so that no call costs more for a longer history. When one of them is
-- open: ready and claim once, and the range in timer_run_id and waiting_run_id; every shard_key.
-- Rare, and planned as it comes, on the lane for reads.
-- One statement, so one snapshot: a run that moves from one place to another is seen in one of them.
-- It takes no lock: what it finds is looked at again before it is repaired.
-- orphan: EXCEPT, since it is hashed or sorted whatever is estimated, and never a loop over loops.
-- A row of another epoch does not count.
-- next: where to go on, null at the end. $7 orphans are enough for one answer.
-- $8 moves now() in tests, 0 otherwise. Only reads; safe at any time.
with state as materialized (
  select
    rpad(lpad(to_hex(greatest(
      (extract(epoch from now()) * 1000000)::bigint + $8::bigint - $6::bigint, 0
    ) / 1000), 12, '0'), 32, '0')::uuid as made_before,
    exists (
      select from cluster c
      where c.shard_key = ''
        and c.cluster_id = $1::uuid
        and c.shard = $2::bigint
        and c.generation = $3::bigint
    ) as shape_ok
),
page as materialized (
  select w.run_id, w.epoch, w.status
  from workflow w
  where (select s.shape_ok from state s)
    and w.run_id > $4::uuid
    and w.run_id < (select s.made_before from state s)
  order by w.run_id
  limit $5::bigint
),
span as materialized (
  select
    (select p.run_id from page p order by p.run_id desc limit 1) as upto,
    (select count(*) from page) as seen,
    exists (select from page p where p.status = 0) as any_open
),
known as (
  select r.run_id, r.epoch
  from ready r
  where (select s.any_open from span s)
    and r.run_id > $4::uuid and r.run_id <= (select s.upto from span s)
  union all
  select h.run_id, h.epoch
  from claim c
  cross join lateral unnest(c.run_ids, c.epochs) h (run_id, epoch)
  where (select s.any_open from span s)
  union all
  select t.run_id, t.epoch
  from timer t
  where (select s.any_open from span s)
    and t.run_id > $4::uuid and t.run_id <= (select s.upto from span s)
  union all
  select p.run_id, p.epoch
  from waiting p
  where (select s.any_open from span s)
    and p.run_id > $4::uuid and p.run_id <= (select s.upto from span s)
),
orphan as materialized (
  select o.run_id, o.epoch
  from (
    select p.run_id, p.epoch from page p where p.status = 0
    except
    select k.run_id, k.epoch from known k
  ) o
  order by o.run_id
  limit $7::bigint
)
select
  s.shape_ok,
  case
    when (select count(*) from orphan) >= $7::bigint
      then (select o.run_id from orphan o order by o.run_id desc limit 1)
    when n.seen >= $5::bigint then n.upto
  end as next,
  o.run_id, o.epoch
from state s
cross join span n
left join orphan o on true
