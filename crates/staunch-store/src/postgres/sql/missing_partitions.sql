-- Store::prepare, after a failure: the partitions of the next month that are not there.
-- Reads the catalogue, no table (and so no shard_key). Only reads; safe at any time.
select array(
  select n.name
  from (
    select
      p.parent,
      p.parent || '_' || to_char(
        date_trunc('month', now() at time zone 'utc') + interval '1 month', 'YYYYMM'
      ) as name
    from (values ('workflow'), ('step')) p (parent)
  ) n
  where not exists (
    select
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = n.parent::regclass and c.relname = n.name
  )
  order by n.name
) as partitions
