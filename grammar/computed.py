"""A property that is computed on first use and kept with its object."""

from typing import TYPE_CHECKING, Any

__all__ = ["computed"]

if TYPE_CHECKING:
    from functools import cached_property as computed
else:
    from functools import cached_property

    class computed(cached_property):  # noqa: N801 - used like a keyword
        """A cached property without the lock of Python 3.11, which makes all objects of a class wait."""

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
