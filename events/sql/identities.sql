-- The role and the user that one transaction acts as.

-- name: reader
select set_config('role', 'garden_reader', true), set_config('garden.user_id', %(user_id)s, true);

-- name: service
select set_config('garden.user_id', %(user_id)s, true);

-- name: maintainer
select set_config('role', 'garden_maintainer', true);

-- name: maintainer_for_user
select set_config('role', 'garden_maintainer', true), set_config('garden.user_id', %(user_id)s, true);

-- name: service_again
select set_config('role', 'garden_service', true);
