"""What stands between surfaces and tools: dispatcher, lookups, tokens, live feed and call threads."""
