-- Store::server_time. Reads no table (and so no shard_key); $1 moves now() in tests, 0 otherwise.
select
  (extract(epoch from clock_timestamp()) * 1000000)::bigint + $1::bigint as now_us
