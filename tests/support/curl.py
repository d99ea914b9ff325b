"""The part of curl that the docs use, for machines without it."""

import argparse
import sys
import urllib.error
import urllib.request

_HTTP_ERROR = 22


def main() -> int:
    """Send one request and print the answer."""
    told = _told()
    data = told.data.encode() if told.data is not None else None
    request = urllib.request.Request(told.url, data)  # noqa: S310 - the documents' own addresses
    for header in told.header:
        name, _, value = header.partition(":")
        request.add_header(name, value.strip())
    try:
        answer = urllib.request.urlopen(request)  # noqa: S310
    except urllib.error.HTTPError as error:
        if told.fail:
            return _HTTP_ERROR
        answer = error
    except OSError:
        return 7
    with answer:
        if told.include:
            sys.stdout.write(f"HTTP/1.1 {answer.status}\r\n")
            sys.stdout.writelines(f"{name}: {value}\r\n" for name, value in answer.headers.items())
            sys.stdout.write("\r\n")
        sys.stdout.flush()
        sys.stdout.buffer.write(answer.read())
    return 0


def _told() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", dest="silent", action="store_true")
    parser.add_argument("-f", dest="fail", action="store_true")
    parser.add_argument("-i", dest="include", action="store_true")
    parser.add_argument("-d", dest="data")
    parser.add_argument("-H", dest="header", action="append", default=[])
    parser.add_argument("url")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
