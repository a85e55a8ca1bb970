-- Inspect::stats: the topics that runs are parked under, the fullest first, at most 1000 of them.
-- Primary key of waiting, at most $1 rows; every shard_key counts. Only reads; safe at any time.
select p.topic, count(*) as parked
from (
  select w.topic from waiting w order by w.topic limit $1::bigint
) p
group by p.topic
order by count(*) desc, p.topic
limit 1000
