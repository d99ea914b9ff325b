"""Takes a picture of each view of the console, light and dark, into docs/images: `make screenshots`.

The sample gardens are imported into a throw-away home, and the story of tests/browser happens in one of them.
"""

import base64
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from playwright.sync_api import Page

from garden.application import open_garden
from garden.demo.throw_away import throw_away_home
from tests.browser.browsing import Visits, running_browser
from tests.browser.story import Story, tell
from tests.support.served import served

IMAGES = Path(__file__).parents[1] / "docs" / "images"
VIEWS: Mapping[str, str] = {
    "today": "/",
    "documents": "/documents",
    "document": "/documents/{document}?blame=yes",
    "versions": "/documents/{document}?view=versions",
    "comparison": "/documents/{document}?from=1&to=head",
    "timeline": "/timeline",
    "event": "/timeline/{event}",
    "approvals": "/approvals",
    "recall": "/recall?query=the+night+before+the+inspection",
    "health": "/health",
    "erasure": "/erasure/{erasure}",
    "export": "/export",
}
"""The name of each picture, and the address it shows; the names in braces are those of the story."""
BYTES_MAX = 2_500_000
# The browser decodes its own picture.
_PIXELS = """async png => {
    const bytes = Uint8Array.from(atob(png), each => each.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], {type: "image/png"}));
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    const pixels = context.getImageData(0, 0, image.width, image.height).data;
    let text = "";
    for (let at = 0; at < pixels.length; at += 8192)
        text += String.fromCharCode(...pixels.subarray(at, at + 8192));
    return btoa(text);
}"""


@contextmanager
def _visits() -> Iterator[tuple[Visits, Story]]:
    with throw_away_home() as home:
        with open_garden(home.path) as garden:
            story = tell(garden)
        with served(home) as service, running_browser() as browser:
            yield Visits(browser, service), story


def take(page: Page, name: str) -> int:
    """Take the pictures of an open page; returns their bytes."""
    size = 0
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        picture = with_few_colours(page, page.screenshot())
        (IMAGES / f"console-{name}-{scheme}.png").write_bytes(picture)
        size += len(picture)
    return size


def with_few_colours(page: Page, png: bytes) -> bytes:
    """The same picture with 256 colours: a page has few, but the edges of its letters have many alike."""
    width, height = struct.unpack(">II", png[16:24])
    pixels = np.frombuffer(base64.b64decode(page.evaluate(_PIXELS, base64.b64encode(png).decode())), np.uint8)
    codes, where, counts = np.unique(
        pixels.reshape(-1, 4)[:, :3].astype(np.int32) @ np.array([1 << 16, 1 << 8, 1]),
        return_inverse=True,
        return_counts=True,
    )
    kept = codes[np.argsort(-counts)[:256]]
    colours, palette = (np.stack([each >> 16, each >> 8 & 255, each & 255], 1) for each in (codes, kept))
    nearest = np.array([np.abs(palette - colour).sum(1).argmin() for colour in colours], np.uint8)
    # Each row begins with the number of its filter; pictures with a palette do best without one.
    rows = np.zeros((height, width + 1), np.uint8)
    rows[:, 1:] = nearest[where].reshape(height, width)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = [(b"IHDR", header), (b"PLTE", palette.astype(np.uint8).tobytes())]
    parts += [(b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")]
    return png[:8] + b"".join(_chunk(*each) for each in parts)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def main() -> None:
    """Take all pictures."""
    with _visits() as (visits, story):
        page = visits.enter(story.user_id)
        size = 0
        for name, address in VIEWS.items():
            page.goto(visits.address(story.address(address)))
            size += take(page, name)
        visits.leave()
    print(f"{2 * len(VIEWS)} pictures, {size / 1000:.0f} kB")
    if visits.guard.faults or size > BYTES_MAX:
        raise SystemExit("\n".join([*visits.guard.faults, f"at most {BYTES_MAX / 1000:.0f} kB"]))


if __name__ == "__main__":
    main()
