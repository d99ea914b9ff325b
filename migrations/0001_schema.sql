-- The schema that holds everything of the garden's. Nobody gets in by default: what the roles of the service
-- may do is granted to them table by table.

comment on schema garden is 'Memory Garden: the account of what happened to every document';

revoke all on schema garden from public;

comment on table garden.schema_migrations is 'Which migrations this database has, with the checksum each had when it ran';
