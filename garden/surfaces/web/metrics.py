"""Metrics for Prometheus; they never name a caller or quote a document."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from prometheus_client import CollectorRegistry, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
CONTENT_TYPE = CONTENT_TYPE_LATEST


class _Counts(Collector):
    def __init__(
        self,
        name: str,
        meaning: str,
        labels: Sequence[str],
        read: Callable[[], Iterable[tuple[Sequence[str], int]]],
    ) -> None:
        self._name, self._meaning, self._labels, self._read = name, meaning, labels, read

    def collect(self) -> Iterator[CounterMetricFamily]:
        family = CounterMetricFamily(self._name, self._meaning, labels=self._labels)
        for values, count in self._read():
            family.add_metric(values, count)
        yield family


class Metrics:
    """The service's metrics, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
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
        self.in_flight = Gauge(
            "garden_http_requests_in_flight", "Requests being answered.", registry=self._registry
        )
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
        """Show a number, read at every scrape."""
        Gauge(name, meaning, registry=self._registry).set_function(read)

    def count(
        self,
        name: str,
        meaning: str,
        labels: Sequence[str],
        read: Callable[[], Iterable[tuple[Sequence[str], int]]],
    ) -> None:
        """Show counts kept elsewhere, read at every scrape."""
        self._registry.register(_Counts(name, meaning, labels, read))

    def page(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self._registry)
