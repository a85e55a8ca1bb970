-- migrate: what is applied, against what is known ($1 numbers, $2 texts, of source $3): known is null for a
-- migration from a newer version, applied is null for one that is missing, same tells a changed text.
-- Primary key of migration; shard-wide (shard_key is always ''). Only reads.
select
  coalesce(m.number, k.number) as number,
  m.number is not null as applied,
  k.number is not null as known,
  coalesce(m.checksum = encode(sha256(convert_to(k.body, 'UTF8')), 'hex'), false) as same
from (select number, checksum from migration where source = $3::text) m
full join unnest($1::bigint[], $2::text[]) k (number, body) on k.number = m.number
order by 1
