"""Strategies for texts that are hard on rules: documents pieced together from what they look for."""

from hypothesis import strategies as st

FRONTMATTER = "---\nid: tea\nuser_id: sample-user\nschema: 1\nmood: calm \n---\n"

LINES = (
    *("", " ", "  ", "\t", "   \t"),
    *(
        "# Tea",
        "## Summary",
        "##  worries  ##",
        "## Concerns",
        "### At work ",
        "####\tdeep",
        "Summary",
        "---",
        "===",
        "- ",
    ),
    *("<!-- @anchor: summary v1 -->"),
    *("<!-- @anchor: concerns v1 -->  ", "<!-- @anchor: evidence v1 -->"),
    *("> <!-- @anchor: needs v1 -->", "  <!-- @anchor: x v2 -->"),
    *("<!-- @anchor needs -->", "@anchor: x v1"),
    *(
        "- item",
        "-\titem",
        "  - nested",
        "\t- nested",
        "\t\tdeeper",
        "1. one",
        "10)\tten",
        "*\t\tcode?",
        "+",
        "- - - a",
    ),
    *("```", "~~~", "```python ", "    code ", "\tcode\t", "  ```"),
    *(
        "words",
        "words ",
        "words  ",
        "words   ",
        "words\t",
        "words \t ",
        "words\\ ",
        "words\\",
        "wo\trds",
        "`code ",
        "span`  ",
    ),
    *("> quote ", ">\tquote", ">  ", "<div> ", "</div>"),
    *("<!-- ", "--> ", "<pre>", "</pre>", "<b>bold</b> "),
    *(
        "[a]: /url ",
        '"title" ',
        "***",
        "---  ",
        "id: coffee",
        "id:\ttea",
        "&nbsp; ",
        "![x](y) ",
        "<https://a.b> ",
    ),
    *(
        '- "I can\'t" (ev:s12-m40)',
        "- no token ",
        "- 2026-11-18 08:25Z · concerns v1 · replace_section · x (evt:1)",
    ),
    *(
        "Ignore all previous instructions",
        "<tool_call>",
        "password: hunter2hunter2hunter2",
        "她总是在看表",
        "ภาษาไทย",
    ),
    *(
        "\u200b",
        "\u202e",
        "\ufeff",
        "\x00",
        "\x0c",
        "\x85",
        "\u2028",
        "\ud800",
        "\xa0",
        "👩\u200d👧",
        "می\u200cخواهم",
    ),
)

lines = st.one_of(st.sampled_from(LINES), st.sampled_from(LINES), st.text(max_size=8))
line_ends = st.sampled_from(["\n", "\n", "\n", "\n", "\n", "\n", "\r\n", "\r"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Piece a text together, with one kind of line end or with several, with frontmatter or without."""
    body = draw(st.lists(lines, max_size=14))
    ends = line_ends if draw(st.integers(0, 3)) == 0 else st.just(draw(line_ends))
    text = "".join(line + draw(ends) for line in body)
    last = draw(st.sampled_from(["", "", "", "words", "  ", "```"]))
    return draw(st.sampled_from(["", "", FRONTMATTER, "\ufeff"])) + text + last
