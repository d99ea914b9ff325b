"""Metrics for Prometheus, of all processes together; they never name a caller or quote a document."""

import os
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, values
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from garden.gateway.processes import ServiceProcess

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
CONTENT_TYPE = CONTENT_TYPE_LATEST


class Metrics:
    """The service's metrics, in a registry of their own.

    Each of several processes keeps its values in files, which all of them add up.
    """

    def __init__(self, process: ServiceProcess) -> None:
        self._registry = self._shown = CollectorRegistry()
        self._refreshed: list[Callable[[], None]] = []
        if process.folder is not None:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(process.folder)
            # A process continues the counts of the dead one whose number it has.
            values.ValueClass = values.MultiProcessValue(lambda: process.number)  # type: ignore[no-untyped-call]
            self._shown = CollectorRegistry()
            MultiProcessCollector(self._shown)  # type: ignore[no-untyped-call]
        self._requests = Histogram(
            "garden_http_request_seconds",
            "Time from a request's first byte to the end of its answer.",
            ("method", "route", "status"),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._calls = Histogram(
            "garden_tool_call_seconds",
            "Time that tool calls took, by their answer's code.",
            ("tool", "code"),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.in_flight = self._gauge("garden_http_requests_in_flight", "Requests being answered.")
        # Finding a child by its labels takes a lock and a hash; there are few, and they are never removed.
        self._request_child = lru_cache(4096)(self._requests.labels)
        self._call_child = lru_cache(4096)(self._calls.labels)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._request_child(method, route, str(status)).observe(seconds)

    def call(self, tool: str, code: str, seconds: float) -> None:
        """Count a tool call."""
        self._call_child(tool, code).observe(seconds)

    def watch(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        """Show a number, read at every refreshment."""
        gauge = self._gauge(name, meaning)
        self._refreshed.append(lambda: gauge.set(read()))

    def count(
        self,
        name: str,
        meaning: str,
        labels: Sequence[str],
        read: Callable[[], Iterable[tuple[Sequence[str], int]]],
    ) -> None:
        """Show counts kept elsewhere, read at every refreshment."""
        counter = Counter(name, meaning, labels, registry=self._registry)
        shown: Tally[Sequence[str]] = Tally()

        def add_new() -> None:
            for each, count in read():
                counter.labels(*each).inc(count - shown[each])
                shown[each] = count

        self._refreshed.append(add_new)

    def refresh(self) -> None:
        """Read the numbers that are kept elsewhere."""
        for each in self._refreshed:
            each()

    def page(self) -> bytes:
        """Return all metrics in Prometheus's text format; it may block."""
        return generate_latest(self._shown)

    def _gauge(self, name: str, meaning: str) -> Gauge:
        return Gauge(name, meaning, registry=self._registry, multiprocess_mode="livesum")
