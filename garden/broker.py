"""The message broker for background jobs: Redis or RabbitMQ, by the scheme of its address."""

from garden.settings import redacted
from grammar.errors import GardenError

_SECONDS_MAX = 3


class BrokerUnavailableError(GardenError):
    """The configured broker does not answer."""

    code = "unavailable"

    def __init__(self, url: str, reason: Exception) -> None:
        cause = _root_cause(reason)
        said = str(cause).replace(url, redacted(url)) or type(cause).__name__
        super().__init__(
            f"{redacted(url)} does not answer: {said}", hint="Check that it runs, and GARDEN_BROKER_URL."
        )


def _root_cause(error: BaseException) -> BaseException:
    """Unwrap what pika wraps: its errors carry the one that caused them as an attribute or an argument."""
    inner = getattr(error, "exception", None) or next(iter(error.args), None)
    return _root_cause(inner) if isinstance(inner, BaseException) else error


def greet(url: str) -> None:
    """Exchange one greeting with the broker, or raise."""
    (_greet_redis if url.startswith("redis") else _greet_rabbitmq)(url)


def _greet_redis(url: str) -> None:
    from redis import Redis
    from redis.exceptions import RedisError

    try:
        with Redis.from_url(url, socket_connect_timeout=_SECONDS_MAX, socket_timeout=_SECONDS_MAX) as client:
            client.ping()
    except (RedisError, OSError, ValueError) as error:
        raise BrokerUnavailableError(url, error) from None


def _greet_rabbitmq(url: str) -> None:
    from pika import BlockingConnection, URLParameters
    from pika.adapters.utils.connection_workflow import AMQPConnectorException
    from pika.exceptions import AMQPError

    try:
        parameters = URLParameters(url)
        parameters.connection_attempts = 1
        parameters.socket_timeout = parameters.blocked_connection_timeout = _SECONDS_MAX
        parameters.stack_timeout = _SECONDS_MAX
        BlockingConnection(parameters).close()
    except (AMQPError, AMQPConnectorException, OSError, ValueError) as error:
        raise BrokerUnavailableError(url, error) from None
