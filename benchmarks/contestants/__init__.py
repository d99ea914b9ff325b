"""What the garden is compared with. `driver.py` runs one of them in a process and environment of its own."""
