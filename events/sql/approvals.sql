-- Approvals, for a named user; the last three statements are the maintainer's, over all users.

-- The newest first; where only those that wait are asked for, the oldest, which end first. The answer to a call counts for as long again as it was waited for. A denied call keeps its words for
-- as long as the answer can be taken back, and shows them to no one.
-- name: read
select approval_id, actor, role, tool, case when now.state <> 'denied' then args end as args,
       case when now.state <> 'denied' then diff end as diff, asked_at, expires_at, decided_by, decided_at, reason, event_id,
       greatest(0, (length(diff) - length(replace(diff, e'\n+', ''))) / 2 - 1) as lines_added,
       coalesce((length(diff) - length(replace(diff, e'\n-', ''))) / 2, 0) as lines_removed, now.state
from garden.approvals, lateral (
    select case when state in ('pending', 'approved') and expires_at <= now() then 'expired' else state end as state) as now
where user_id = %(user_id)s
  and (%(approval_id)s::uuid is null or approval_id = %(approval_id)s)
  and (%(actor)s::text is null or actor = %(actor)s)
  and (%(call_mark)s::bytea is null or call_mark = %(call_mark)s and expires_at + (expires_at - asked_at) > now())
  and (%(state)s::text is null or now.state = %(state)s)
  and (%(is_waiting)s::boolean is null or (now.state = 'pending') = %(is_waiting)s)
  and (%(after)s::uuid is null or case when %(is_waiting)s then approval_id > %(after)s else approval_id < %(after)s end)
order by case when %(is_waiting)s then approval_id end, approval_id desc
limit %(limit)s;

-- name: ask
insert into garden.approvals (user_id, approval_id, actor, role, tool, call_mark, effect_mark, args, diff, state, asked_at,
                              expires_at)
select %(user_id)s::text, %(approval_id)s::uuid, %(actor)s, %(role)s, %(tool)s, %(call_mark)s::bytea,
       %(effect_mark)s::bytea, %(args)s::jsonb, %(diff)s, 'pending', now(), now() + make_interval(secs => %(seconds)s)
where %(open_max)s > (select count(*) from garden.approvals
                      where user_id = %(user_id)s and state in ('pending', 'approved') and expires_at > now())
on conflict (user_id, actor, call_mark) where state in ('pending', 'approved') do nothing
returning approval_id, pg_notify('garden_feed', user_id);

-- Ends the open approval of a call if its time is over, or the call would change something else now.
-- name: end_outdated
update garden.approvals
set state = case when expires_at <= now() then 'expired' else 'void' end, args = null, diff = null
where user_id = %(user_id)s and actor = %(actor)s and call_mark = %(call_mark)s and state in ('pending', 'approved')
  and (expires_at <= now() or effect_mark <> %(effect_mark)s);

-- Takes all of these approvals, or none.
-- name: take
with taken as (
    select approval_id
    from garden.approvals join unnest(%(ids)s::uuid[], %(marks)s::bytea[]) as wanted (id, mark)
        on approval_id = wanted.id and effect_mark = wanted.mark
    where user_id = %(user_id)s and state = 'approved' and expires_at > now()
    order by approval_id
    for update of approvals)
update garden.approvals
set state = 'used', args = null, diff = null
where user_id = %(user_id)s and approval_id = any(%(ids)s::uuid[])
  and (select count(*) from taken) = cardinality(%(ids)s::uuid[])
returning approval_id;

-- Waiting readers are woken through the feed.
-- name: decide
update garden.approvals
set state = %(state)s, decided_by = %(by)s, decided_at = now(), reason = %(reason)s
where user_id = %(user_id)s and approval_id = %(approval_id)s and state = 'pending' and expires_at > now()
returning approval_id, pg_notify('garden_feed', user_id);

-- The call waits again; unless it was used, its words are gone, or the same call is asked about anew.
-- name: reopen
update garden.approvals as answered
set state = 'pending', decided_by = null, decided_at = null, reason = null
where user_id = %(user_id)s and approval_id = %(approval_id)s and state in ('approved', 'denied') and decided_by = %(by)s
  and decided_at > now() - make_interval(secs => %(seconds)s) and expires_at > now() and args is not null
  and not exists (
    select from garden.approvals as other
    where other.user_id = answered.user_id and other.actor = answered.actor and other.call_mark = answered.call_mark
      and other.approval_id <> answered.approval_id and other.state in ('pending', 'approved'))
returning approval_id, pg_notify('garden_feed', user_id);

-- The approver's own call was carried out; or it was refused, and the approval is pending again.
-- name: close_edit
update garden.approvals
set state = %(state)s, event_id = %(event_id)s, args = case when %(state)s = 'pending' then args end,
    diff = case when %(state)s = 'pending' then diff end
where user_id = %(user_id)s and approval_id = %(approval_id)s and state = 'edited' and args is not null
returning approval_id, pg_notify('garden_feed', user_id);

-- name: end_all
update garden.approvals
set state = case when state in ('pending', 'approved') then 'void' else state end, args = null, diff = null, reason = null
where user_id = %(user_id)s and (args is not null or reason is not null);

-- name: forget_words
update garden.approvals
set state = case when state in ('pending', 'approved') then 'expired' else state end, args = null, diff = null
where expires_at < now() and args is not null;

-- name: forget_denied
update garden.approvals
set args = null, diff = null
where args is not null and state = 'denied' and decided_at < now() - interval '1 minute';

-- name: forget_old
delete from garden.approvals where asked_at < now() - interval '90 days' and expires_at < now();
