-- Store::prepare and the migration: partitions of workflow and step, by the month in run_id, up to the
-- month after next. The first one begins at the smallest id. No default partition.
-- A partition is created apart and then attached, which takes only SHARE UPDATE EXCLUSIVE on the
-- parent; creating it in place would stop the shard behind one long reader. LIKE does not copy
-- the fillfactor, so it is given here. Every partition has shard_key as its parent has.
-- Months that were missed are filled in: it goes on from the last month that there is.
-- Safe when run by many only under the lock of its turn, which both callers hold.
do $prepare$
declare
  parent text;
  storage text;
  last text;
  month date;
  upto date := date_trunc('month', now() at time zone 'utc')::date + interval '2 months';
  lower text;
  upper text;
  child text;
begin
  for parent, storage in
    values ('workflow', ' with (fillfactor = 50)'), ('step', '')
  loop
    select max(c.relname)
    into last
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent::regclass and c.relname ~ '^[a-z]+_[0-9]{6}$';

    if last is null then
      month := date_trunc('month', now() at time zone 'utc')::date;
      lower := 'minvalue';
    else
      month := to_date(right(last, 6), 'YYYYMM') + interval '1 month';
      lower := null;
    end if;

    while month <= upto loop
      child := parent || '_' || to_char(month, 'YYYYMM');
      -- A UUIDv7 begins with 48 bits of milliseconds since 1970.
      if lower is null then
        lower := quote_literal(rpad(lpad(to_hex(
          (extract(epoch from month::timestamp at time zone 'utc') * 1000)::bigint
        ), 12, '0'), 32, '0')::uuid);
      end if;
      upper := quote_literal(rpad(lpad(to_hex(
        (extract(epoch from (month + interval '1 month') at time zone 'utc') * 1000)::bigint
      ), 12, '0'), 32, '0')::uuid);
      execute format('create table %I (like %I including all)%s', child, parent, storage);
      execute format(
        'alter table %I attach partition %I for values from (%s) to (%s)',
        parent, child, lower, upper
      );
      lower := null;
      month := month + interval '1 month';
    end loop;
  end loop;
end
$prepare$
