-- Store::load_steps: the recorded steps of runs that start again, page by page.
-- Primary key of step, one range a run, from the number in $5 on; any shard_key.
-- found: at most one row more than a page ($6) holds; the order is that of the runs given.
-- sized: a size is read without the value. The first row that is too much ($7 bytes) is answered
-- without its values, and says that there is more.
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
sized as (
  select
    f.*,
    row_number() over (order by f.place, f.seq) <= $6::bigint
      and (
        sum(f.size) over (order by f.place, f.seq) <= $7::bigint
        or sum(f.size) over (order by f.place, f.seq) = f.size
      ) as fits,
    sum(f.size) over (order by f.place, f.seq) - f.size as before
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
    where (select shape_ok from state)
    limit $6::bigint + 1
  ) f
)
select
  t.shape_ok, s.fits, s.run_id, s.seq, s.ordinal, s.epoch, s.attempts,
  (extract(epoch from s.started_at) * 1000000)::bigint as started_us,
  s.shard_key, s.name,
  case when s.fits then s.output end as output,
  case when s.fits then s.error end as error
from state t
left join sized s on s.before <= $7::bigint
order by s.place, s.seq
