-- Inspect::set_setting: a setting changes, if it still has the version $6 that the caller has seen;
-- 0 where nothing was set. No version comes back when it has another one.
-- Primary key of setting, shard-wide (shard_key is always ''). $7 moves now() in tests, 0 otherwise.
-- Safe when run by many: of several that have seen the same version one wins, and a change that
-- waited for another one sees the raised version, or the row that is there by then.
with state as materialized (
  select exists (
    select from cluster c
    where c.shard_key = ''
      and c.cluster_id = $1::uuid
      and c.shard = $2::bigint
      and c.generation = $3::bigint
  ) as shape_ok
),
raised as (
  update setting t
  set
    value = $5::bigint,
    version = t.version + 1,
    changed_at = now() + $7::bigint * interval '1 microsecond'
  from state s
  where t.name = $4::text and t.version = $6::bigint and s.shape_ok
  returning t.version
),
created as (
  insert into setting (name, value, version, changed_at)
  select $4::text, $5::bigint, 1, now() + $7::bigint * interval '1 microsecond'
  from state s
  where $6::bigint = 0 and s.shape_ok
  on conflict do nothing
  returning version
)
select
  s.shape_ok,
  coalesce((select r.version from raised r), (select c.version from created c)) as version
from state s
