"""The message broker for background jobs: Redis or RabbitMQ, by the scheme of its address."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from garden.grammar.errors import GardenError
from garden.home.settings import Settings, redacted

if TYPE_CHECKING:
    from dramatiq import Broker, Middleware

NAMESPACE = "memory-garden"
"""What every key in a Redis begins with."""

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
            # It quotes what it stumbled over, which may be the end of a password.
            super().__init__(
                f"GARDEN_BROKER_URL is no address that can be understood: {redacted(url)}",
                hint="Write it as redis://user:password@127.0.0.1:6379/0, and signs like / # and @ in a "
                "password as %2F, %23 and %40.",
            )
            return
        told = str(cause).replace(url, redacted(url)) or type(cause).__name__
        super().__init__(
            f"{redacted(url)} does not answer: {told}", hint="Check that it runs, and GARDEN_BROKER_URL."
        )


def _root_cause(error: BaseException) -> BaseException:
    """Unwrap what pika wraps: its errors carry the one that caused them as an attribute or an argument."""
    inner = getattr(error, "exception", None) or next(iter(error.args), None)
    return _root_cause(inner) if isinstance(inner, BaseException) else error


def configured(settings: Settings) -> str:
    """Give the address of the broker, or refuse where there is none."""
    if settings.broker_url is None:
        raise NoBrokerError(
            "No broker is configured, and without one there are no messages to work by.",
            hint="Set GARDEN_BROKER_URL, to redis://127.0.0.1:6379 for instance. "
            "Without one 'garden serve' does the same jobs by itself, and 'garden reconcile' does them once.",
        )
    return settings.broker_url.get_secret_value()


def broker_at(url: str, middleware: "list[Middleware]") -> "Broker":
    """Make the client of a broker; no connection is opened before it is needed."""
    with speaking_to(url):
        return (_redis if _is_redis(url) else _rabbitmq)(url, middleware)


@contextmanager
def speaking_to(url: str) -> Iterator[None]:
    """Have every way in which a broker can fail told in one, without the password."""
    from dramatiq.errors import DramatiqError
    from pika.adapters.utils.connection_workflow import AMQPConnectorException
    from pika.exceptions import AMQPError
    from redis.exceptions import RedisError

    try:
        yield
    except (DramatiqError, RedisError, AMQPError, AMQPConnectorException, OSError, ValueError) as error:
        raise BrokerUnavailableError(url, error) from None


def greet(url: str) -> None:
    """Exchange one greeting with the broker, or raise."""
    with speaking_to(url):
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

    # Without the confirmation a message for a queue that is gone would vanish unnoticed.
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
