-- migrate: remembers an applied migration, in the transaction that applied it.
-- Primary key of migration; shard_key is always ''. Runs under the migration lock.
insert into migration (number, slug, checksum)
values ($1::bigint, $2::text, encode(sha256(convert_to($3::text, 'UTF8')), 'hex'))
