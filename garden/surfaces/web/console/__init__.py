"""The console: pages for people, on top of the same tools and with the same rights as every other caller."""
