"""The rules, one module each; the docstring of the module documents its rule."""
