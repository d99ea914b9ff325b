"""The rules, one module each; what a module says of itself is the documentation of its rule."""
