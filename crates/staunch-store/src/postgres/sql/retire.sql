-- Store::retire: a worker's session ends, at once when it holds no claims, else through the reaper.
-- Primary keys of worker and claim, shard-wide (shard_key is always ''). $5 moves now() in tests.
-- left_over: the process ends in good order, so its runs are not charged.
-- Safe when run by many: it changes the worker's own row, and a second time finds nothing to do.
with state as materialized (
  select
    now() + $5::bigint * interval '1 microsecond' as at,
    exists (
      select from cluster c
      where c.shard_key = ''
        and c.cluster_id = $1::uuid
        and c.shard = $2::bigint
        and c.generation = $3::bigint
    ) as shape_ok,
    exists (select from claim h where h.worker_id = $4::uuid) as holds
),
gone as (
  delete from worker w
  using state s
  where w.worker_id = $4::uuid and s.shape_ok and not s.holds
),
left_over as (
  update worker w
  set lapsed_at = coalesce(w.lapsed_at, s.at), charge = false
  from state s
  where w.worker_id = $4::uuid and s.shape_ok and s.holds
)
select shape_ok from state
