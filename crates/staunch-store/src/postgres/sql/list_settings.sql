-- Inspect::settings: what was set on the shard, by name.
-- All of setting, shard-wide (shard_key is always ''). Only reads; safe at any time.
select
  s.name, s.value, s.version, (extract(epoch from s.changed_at) * 1000000)::bigint as changed_us
from setting s
order by s.name
