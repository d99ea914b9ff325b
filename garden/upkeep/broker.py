"""The message broker for background jobs: Redis or RabbitMQ, by the scheme of its address."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from garden.grammar.errors import GardenError
from garden.home.settings import Settings, redact_url

if TYPE_CHECKING:
    from dramatiq import Broker, Middleware

NAMESPACE = "memory-garden"
"""Prefix of every key in a Redis."""

_SECONDS_MAX = 3
_DEAD_MILLISECONDS = 24 * 60 * 60 * 1000


class NoBrokerError(GardenError):
    """A command needs a broker, and none is configured."""

    code = "invalid_input"


class BrokerUnavailableError(GardenError):
    """The configured broker does not answer."""

    code = "unavailable"

    def __init__(self, url: str, reason: Exception) -> None:
        cause = _root_cause(reason)
        if isinstance(cause, ValueError) and not isinstance(cause, OSError):
            # The cause quotes the part it could not parse, which may be the end of a password.
            super().__init__(
                f"GARDEN_BROKER_URL is not a valid address: {redact_url(url)}",
                hint="Write it as redis://user:password@127.0.0.1:6379/0; in a password write / # and @ as "
                "%2F, %23 and %40.",
            )
            return
        text = str(cause).replace(url, redact_url(url)) or type(cause).__name__
        super().__init__(
            f"{redact_url(url)} does not answer: {text}",
            hint="Check that the broker runs and that GARDEN_BROKER_URL names it.",
        )


def _root_cause(error: BaseException) -> BaseException:
    """Unwrap the errors of pika, which carry their cause as an attribute or an argument."""
    inner = getattr(error, "exception", None) or next(iter(error.args), None)
    return _root_cause(inner) if isinstance(inner, BaseException) else error


def broker_url(settings: Settings) -> str:
    """Address of the configured broker; raises if there is none."""
    if settings.broker_url is None:
        raise NoBrokerError(
            "No broker is configured.",
            hint="Set GARDEN_BROKER_URL, for example to redis://127.0.0.1:6379. Without a broker "
            "'garden serve' runs the same jobs by itself, and 'garden reconcile' runs them once.",
        )
    return settings.broker_url.get_secret_value()


def broker_at(url: str, middleware: "list[Middleware]") -> "Broker":
    """Client of a broker; it connects when it is first used."""
    with translate_errors(url):
        return (_redis if _is_redis(url) else _rabbitmq)(url, middleware)


@contextmanager
def translate_errors(url: str) -> Iterator[None]:
    """Raise every failure of a broker as `BrokerUnavailableError`, without the password."""
    from dramatiq.errors import DramatiqError
    from pika.adapters.utils.connection_workflow import AMQPConnectorException
    from pika.exceptions import AMQPError
    from redis.exceptions import RedisError

    try:
        yield
    except (DramatiqError, RedisError, AMQPError, AMQPConnectorException, OSError, ValueError) as error:
        raise BrokerUnavailableError(url, error) from None


def greet(url: str) -> None:
    """Check that the broker answers, or raise."""
    with translate_errors(url):
        (_greet_redis if _is_redis(url) else _greet_rabbitmq)(url)


def _is_redis(url: str) -> bool:
    return url.startswith("redis")


def _redis(url: str, middleware: "list[Middleware]") -> "Broker":
    from dramatiq.brokers.redis import RedisBroker
    from redis import Redis

    client = Redis.from_url(url, socket_connect_timeout=_SECONDS_MAX, socket_timeout=_SECONDS_MAX)
    make: Callable[..., Broker] = RedisBroker
    return make(
        client=client, middleware=middleware, namespace=NAMESPACE, dead_message_ttl=_DEAD_MILLISECONDS
    )


def _rabbitmq(url: str, middleware: "list[Middleware]") -> "Broker":
    from dramatiq.brokers.rabbitmq import RabbitmqBroker

    # Without confirmation, messages to a deleted queue would be lost unnoticed.
    broker = RabbitmqBroker(url=url, confirm_delivery=True, middleware=middleware)
    broker.parameters = _parameters(url)
    return broker


def _greet_redis(url: str) -> None:
    from redis import Redis

    with Redis.from_url(url, socket_connect_timeout=_SECONDS_MAX, socket_timeout=_SECONDS_MAX) as client:
        client.ping()


def _greet_rabbitmq(url: str) -> None:
    from pika import BlockingConnection

    BlockingConnection(_parameters(url)).close()


def _parameters(url: str) -> Any:
    from pika import URLParameters

    parameters = URLParameters(url)
    parameters.connection_attempts = 1
    parameters.socket_timeout = parameters.blocked_connection_timeout = _SECONDS_MAX
    parameters.stack_timeout = _SECONDS_MAX
    return parameters
