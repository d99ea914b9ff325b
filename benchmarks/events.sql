-- How a query runs past the policies.

-- name: act as no user
select set_config('role', 'none', true), set_config('garden.user_id', %(user_id)s, true)
