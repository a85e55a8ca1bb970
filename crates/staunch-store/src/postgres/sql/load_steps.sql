-- Store::load_steps: the recorded steps of runs that start again, page by page.
-- Primary key of step, one range a run, from the number in $5 on; any shard_key.
-- At most one row more than a page ($6) holds is read, in the order of the runs given.
-- sized: sizes are read without the values. What fits into $7 bytes is answered, and a first row of
-- any size.
-- Always at least one row, so that another shape and a run without steps differ. Only reads; safe at
-- any time.
with state as materialized (
  select exists (
    select from cluster c
    where c.shard_key = ''
      and c.cluster_id = $1::uuid
      and c.shard = $2::bigint
      and c.generation = $3::bigint
  ) as shape_ok
),
sized as materialized (
  select
    f.*,
    row_number() over w <= $6::bigint
      and (sum(f.size) over w <= $7::bigint or sum(f.size) over w = f.size)
      as fits
  from (
    select
      i.place, s.run_id, s.seq, s.ordinal, s.epoch, s.attempts, s.started_at, s.shard_key, s.name,
      s.output, s.error,
      coalesce(octet_length(s.output), octet_length(s.error)) as size
    from unnest($4::uuid[], $5::bigint[]) with ordinality i (run_id, seq, place)
    cross join lateral (
      select *
      from step s
      where s.run_id = i.run_id and s.seq >= i.seq
      order by s.seq
      limit $6::bigint + 1
    ) s
    where (select t.shape_ok from state t)
    limit $6::bigint + 1
  ) f
  window w as (order by f.place, f.seq)
)
select
  t.shape_ok,
  exists (select from sized s where not s.fits) as more,
  s.run_id, s.seq, s.ordinal, s.epoch, s.attempts,
  (extract(epoch from s.started_at) * 1000000)::bigint as started_us,
  s.shard_key, s.name, s.output, s.error
from state t
left join sized s on s.fits
order by s.place, s.seq
