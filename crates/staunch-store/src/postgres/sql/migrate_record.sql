-- migrate: remembers an applied migration, in the transaction that applied it.
-- Primary key of migration; shard_key is always ''. Runs under the migration lock.
insert into migration (source, number, slug, checksum)
values (
  $1::text, $2::bigint, $3::text, encode(sha256(convert_to($4::text, 'UTF8')), 'hex')
)
