-- Store::notify: hints for the processes that listen, after what they tell of was committed.
-- Reads no table (and so no shard_key). Safe when run by many: the same hint of one statement is
-- sent once, and a hint too many does no harm.
select pg_notify($1::text, i.payload)::text as told
from unnest($2::text[]) i (payload)
