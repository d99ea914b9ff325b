"""Documents as HTML: whatever they hold, they stay words in a page, and no word is lost."""

import os
import time
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from markupsafe import escape

from garden.surfaces.web.console.markdown import PART_CHARACTERS, PART_LINES, Reading, number_of_part

_ELEMENTS = {"h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "blockquote", "em", "strong", "br", "hr",
             "pre", "code", "span", "a"}  # fmt: skip
# Larger than some parts; a text that costs more than its share costs a part alone as much.
_HUGE = int(os.environ.get("GARDEN_TEST_CHARACTERS", "100000"))
_ATTRIBUTES = {"id", "class", "href", "start", "tabindex", "aria-label"}


class _Checked(HTMLParser):
    """Checks every tag of a page, and that they nest."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.open: list[str] = []
        self.words = ""
        self.feed(html)
        self.close()
        assert self.open == []
        assert len(set(self.ids)) == len(self.ids)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert tag in _ELEMENTS, tag
        assert given.keys() <= _ATTRIBUTES, attrs
        assert (given.get("href") or "#").startswith("#")
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def _read(text: str) -> _Checked:
    reading = Reading(text)
    return _Checked("".join(reading.html(part, events="#") for part in reading.parts))


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "words <b onclick='x'>bold</b> <!-- hidden -->",
        "<div>\n\n# heading\n\n</div>",
        "<style>*{display:none}</style>",
        "[press](javascript:alert(1))",
        "[press](&#106;avascript:alert(1))",
        "[press](data:text/html,x)",
        "<javascript:alert(1)>",
        "[press]\n\n[press]: javascript:alert(1)",
        '```html"><script>\n</pre><script>\n```',
        '![x"><script>](https://evil.example/a.png)',
    ],
)
def test_nothing_of_a_document_becomes_an_element(text: str) -> None:
    checked = _read(text)
    for word in ("script", "onclick", "alert(1)", "hidden", "javascript", "data:"):
        if word in text:
            assert word in checked.words


def test_raw_html_is_words_among_markdown() -> None:
    reading = Reading("<div>*soft*</div>")
    assert "&lt;div&gt;<em>soft</em>&lt;/div&gt;" in reading.html(reading.parts[0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[a doctor](https://evil.example/?q=1)", "a doctor (https://evil.example/?q=1)"),
        ('[a](<//evil.example> "and more")', "a (//evil.example “and more”)"),
        ("<https://evil.example>", "https://evil.example"),
        ("[a][b]\n\n[b]: https://evil.example 'said'", "[B]: https://evil.example said"),
        ("[never]: https://evil.example", "[NEVER]: https://evil.example"),
        ("![a face](https://evil.example/a.png)", "picture: a face (https://evil.example/a.png)"),
        ("![](x.png 'see')", "picture: no words (x.png “see”)"),
    ],
)
def test_addresses_are_shown_and_lead_nowhere(text: str, words: str) -> None:
    assert words in _read(text).words


def test_characters_that_hide_are_shown_by_number() -> None:
    checked = _read("safe \u202etxet\u202c and\u200bhidden &#x202e; `\u2066`\n\n```\u202e\n\u200b\n```")
    for number in ("U+202E", "U+202C", "U+200B", "U+2066"):
        assert number in checked.words
    assert checked.words.count("U+202E") == 3


def test_words_in_deep_quotes_and_lists_are_not_lost() -> None:
    for mark in ("> ", "- ", "1. ", "> - "):
        assert "here I am" in _read(f"{mark * 500}here I am\n").words


def test_ids_of_the_page_and_of_lines_are_kept_from_documents() -> None:
    anchors = ("main", "L12", "twice", "twice")
    text = "".join(f"## Head\n<!-- @anchor: {each} v1 -->\n\n- word\n" for each in anchors)
    ids = _read(text).ids
    assert "main" not in ids
    assert ids.count("twice") == 1
    assert '<li id="L12">' in Reading(text).html(Reading(text).parts[0])


def test_headings_leave_no_level_out() -> None:
    reading = Reading("# top\n\n#### low\n\n#\n")
    html = reading.html(reading.parts[0])
    assert '<h2><span id="L1">top' in html
    assert '<h3><span id="L3">low' in html
    assert "(no words)" in html


def test_frontmatter_and_anchors_are_not_text() -> None:
    reading = Reading("---\nid: critic\ntags: [a, b]\n---\n\n## Needs\n<!-- @anchor: needs v2 -->\n\nrest\n")
    assert reading.facts == {"id": "critic", "tags": "a, b"}
    html = reading.html(reading.parts[0], lambda start, end: escape(f"{start}-{end} "))
    assert 'href="#needs">needs v2</a>' in html
    assert "critic" not in html
    assert "@anchor" not in html
    assert '<p id="L9"><a class="line" href="#L9" aria-label="Line 9">9</a> 9-10 rest' in html


def test_damaged_frontmatter_and_anchors_in_other_places_are_text() -> None:
    checked = _read("---\nid: [\n---\n\nwords\n\n<!-- @anchor: needs v2 -->\n")
    assert "id: [" in checked.words
    assert "@anchor: needs v2" in checked.words


def _hostile() -> Iterator[tuple[str, str]]:
    yield "one line", "word " * (_HUGE // 5)
    yield "line ends", "\n" * _HUGE
    yield "items", "- x\n" * (_HUGE // 4)
    for each in ("[", "![", "*a **b ", "<a", "> ", "`a``b", "a_", "[[a]", "|a", "\u202e", "- "):
        yield each, each * (_HUGE // len(each))
    for each in ("[", "*a **b ", "a_"):
        yield f"paragraphs of {each}", f"{each * (7_900 // len(each))}\n\n" * (_HUGE // 7_900)


@pytest.mark.parametrize("text", [text for _, text in _hostile()], ids=[name for name, _ in _hostile()])
def test_a_huge_text_comes_in_parts_that_take_no_time(text: str) -> None:
    reading = Reading(text)
    parts, started = reading.parts, time.process_time()
    html = reading.html(parts[1])
    assert time.process_time() - started < 1
    assert "".join(each.text for part in parts for each in part) == text
    assert max(sum(len(each.text) for each in part) for part in parts) <= PART_CHARACTERS
    assert max(map(len, parts)) <= PART_LINES
    _Checked(html)


def test_a_part_ends_before_a_section() -> None:
    text = "".join(f"## Section {number}\n" + "- item\n" * 99 for number in range(5))
    parts = Reading(text).parts
    assert [part[0].line for part in parts] == [1, 201, 401]
    assert number_of_part(parts, 200) == 1
    assert number_of_part(parts, 201) == 2
    assert number_of_part(parts, 9_999) == 1
