-- Store::listen, every few seconds: whether the listening connection still stands. A connection of
-- which the other end is gone would otherwise be silent for ever. Reads no table, no shard_key.
select 1 as beat
