-- Store::retire: a worker's session ends in good order; the reaper takes its claims, if there are any,
-- uncharged, and forgets it later. The row stays for that, since a claim that is on its way may still
-- be committed.
-- Primary key of worker, shard-wide (shard_key is always ''). $5 moves now() in tests, 0 otherwise.
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
    ) as shape_ok
),
ended as (
  update worker w
  set lapsed_at = coalesce(w.lapsed_at, s.at), charge = false
  from state s
  where w.worker_id = $4::uuid and s.shape_ok
)
select shape_ok from state
