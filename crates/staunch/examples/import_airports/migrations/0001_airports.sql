-- The application's own table, on every shard. It has the shard key, so that a router that shards
-- by it finds the same rows where Staunch put them.
create table airport (
  shard_key text not null,
  iata text not null,
  name text not null,
  city text not null,
  latitude double precision not null,
  longitude double precision not null,
  km_to_equator bigint not null,
  imported_at timestamptz not null default now(),
  primary key (shard_key, iata)
);
