-- Access tokens: the service looks them up for the user they name; the maintainer makes and revokes them.

-- name: find
select user_id, token_id, role, actor, created_at, expires_at, revoked_at, policy, secret_hash, seal, seal_salt_version,
       revoked_seal, revoked_salt_version
from garden.tokens
where user_id = %(user_id)s and token_id = %(token_id)s;

-- name: add
insert into garden.tokens (
    user_id, token_id, role, actor, secret_hash, created_at, expires_at, seal, seal_salt_version, revoked_seal,
    revoked_salt_version, policy)
values (
    %(user_id)s, %(token_id)s, %(role)s, %(actor)s, %(secret_hash)s, %(created_at)s, %(expires_at)s, %(seal)s,
    %(seal_salt_version)s, %(revoked_seal)s, %(revoked_salt_version)s, %(policy)s);

-- name: revoke
update garden.tokens
set revoked_at = %(now)s, revoked_seal = %(revoked_seal)s, revoked_salt_version = %(revoked_salt_version)s
where user_id = %(user_id)s and token_id = %(token_id)s and revoked_at is null;

-- name: all
select user_id, token_id, role, actor, created_at, expires_at, revoked_at, policy
from garden.tokens
order by user_id, created_at, token_id;

-- name: of_user
select user_id, token_id, role, actor, created_at, expires_at, revoked_at, policy
from garden.tokens
where user_id = %(user_id)s
order by created_at, token_id;

-- name: ended
select user_id, token_id
from garden.tokens
where user_id = any(%(user_ids)s) and token_id = any(%(token_ids)s)
  and (revoked_at is not null or expires_at <= %(now)s);

-- name: live
select exists (
    select from garden.tokens where revoked_at is null and (expires_at is null or expires_at > %(now)s)
) as is_any;
