-- Store::prepare: its turn, kept until the transaction ends. Reads no table (and so no shard_key).
-- Safe when run by many: one wins, the others are told.
select pg_try_advisory_xact_lock($1::bigint) as won
