"""Programs for developers: set-up, generated pages, the site, the check on words."""
