"""A value that is computed on first use and kept with its object."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["computed"]

if TYPE_CHECKING:
    from functools import cached_property as computed
else:

    class computed:  # noqa: N801 - used like a keyword
        """A property that is computed once; two threads at a time may both compute it, to the same value.

        `functools.cached_property` of Python 3.11 has one lock for all objects of a class.
        """

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self.compute = compute
            self.name = compute.__name__
            self.__doc__ = compute.__doc__

        def __get__(self, owner: Any, kind: type) -> Any:
            if owner is None:
                return self
            value = owner.__dict__[self.name] = self.compute(owner)
            return value
