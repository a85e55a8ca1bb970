-- migrate: what a server is, before there are tables. Reads no table (and so no shard_key).
select
  pg_is_in_recovery() as in_recovery,
  current_setting('server_encoding') as encoding
