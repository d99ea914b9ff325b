-- Sign-ins of the console, for a named user; the last statements are the maintainer's, over all users.

-- name: add
insert into garden.sign_ins (
    user_id, sign_in_id, is_link, token_id, role, actor, created_at, expires_at, seal, seal_salt_version)
values (
    %(user_id)s, %(sign_in_id)s, %(is_link)s, %(token_id)s, %(role)s, %(actor)s, %(created_at)s, %(expires_at)s,
    %(seal)s, %(seal_salt_version)s)
on conflict do nothing;

-- name: find
select user_id, sign_in_id, is_link, token_id, role, actor, created_at, expires_at, seal, seal_salt_version
from garden.sign_ins
where user_id = %(user_id)s and sign_in_id = %(sign_in_id)s and is_link = %(is_link)s and expires_at > %(now)s;

-- name: remove
delete from garden.sign_ins
where user_id = %(user_id)s and sign_in_id = %(sign_in_id)s
returning sign_in_id;

-- Of some sign-ins, those that are still open; their tokens are looked at too.
-- name: open
select s.user_id, s.sign_in_id
from garden.sign_ins as s left join garden.tokens as t on t.user_id = s.user_id and t.token_id = s.token_id
where s.user_id = any(%(user_ids)s) and s.sign_in_id = any(%(sign_in_ids)s) and s.expires_at > %(now)s
  and (s.token_id is null or t.revoked_at is null and (t.expires_at is null or t.expires_at > %(now)s));

-- name: forget_expired
delete from garden.sign_ins where expires_at < now();
