-- Store::prepare: forgets positions older than a minute, except the newest such of each group, which
-- is where a claim starts when nothing newer is old enough.
-- Primary key of position, shard-wide (shard_key is always ''). $1 moves now() in tests.
-- Safe when run by many: positions are only appended, and it runs under the lock of its turn.
delete from position p
where p.written_at < now() + $1::bigint * interval '1 microsecond' - interval '1 minute'
  and exists (
    select from position n
    where n.queue = p.queue
      and n.lane = p.lane
      and n.priority = p.priority
      and n.written_at > p.written_at
      and n.written_at < now() + $1::bigint * interval '1 microsecond' - interval '1 minute'
  )
