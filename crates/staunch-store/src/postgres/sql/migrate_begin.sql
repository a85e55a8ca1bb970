-- migrate: makes the schema that the setting staunch.schema names, if it is missing, and the list of
-- applied migrations. The schema is looked for first because creating it asks for a right on the
-- database even when it is there.
-- Safe when run by many: runs under the migration lock.
do $begin$
declare
  wanted text := current_setting('staunch.schema');
begin
  if not exists (select from pg_namespace where nspname = wanted) then
    execute format('create schema %I', wanted);
  end if;
  perform set_config('search_path', wanted, true);
  create table if not exists migration (
    shard_key text collate "C" not null default '' check (shard_key = ''),
    source text not null,
    number bigint not null,
    slug text not null,
    checksum text not null,
    applied_at timestamptz not null default now(),
    primary key (source, number)
  );
end
$begin$
