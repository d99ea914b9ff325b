"""Strategies for documents made of lines that rules look for."""

from hypothesis import strategies as st

from tests.lint.notation import decoded

FRONTMATTER = "---\nid: tea\nuser_id: sample-user\nschema: 1\nmood: calm \n---\n"

# In the notation of the fixtures, because trailing white space matters here.
_LINES = r"""
{U+0020}
{U+0020}{U+0020}
{U+0009}
{U+0020}{U+0020}{U+0009}
# Tea
## Summary
##  worries  ##
## Concerns
## Evidence
## Change Log
### At work{U+0020}
####{U+0009}deep
Summary
---
===
---{U+0020}{U+0020}
***
<!-- @anchor: summary v1 -->
<!-- @anchor: concerns v1 -->{U+0020}{U+0020}
<!-- @anchor: evidence v1 -->
<!-- @anchor: change_log v1 -->
> <!-- @anchor: needs v1 -->
  <!-- @anchor: x v2 -->
<!-- @anchor needs -->
@anchor: x v1
- item
-{U+0009}item
  - nested
{U+0009}- nested
{U+0009}{U+0009}deeper
-{U+0020}
+
1. one
10){U+0009}ten
*{U+0009}{U+0009}code?
- - - a
```
~~~
```python{U+0020}
  ```
    code{U+0020}
{U+0009}code{U+0009}
words
words{U+0020}
words{U+0020}{U+0020}
words{U+0020}{U+0020}{U+0020}
words{U+0009}
words{U+0020}{U+0009}{U+0020}
words\{U+0020}
words\
wo{U+0009}rds
`code{U+0020}
span`{U+0020}{U+0020}
> quote{U+0020}
>{U+0009}quote
>{U+0020}{U+0020}
<div>{U+0020}
</div>
<!--{U+0020}
-->{U+0020}
<pre>
</pre>
<b>bold</b>{U+0020}
[a]: /url{U+0020}
"title"{U+0020}
![x](y){U+0020}
<https://a.b>{U+0020}
id: coffee
id:{U+0009}tea
- "I can't relax" (ev:s12-m40)
- no token{U+0020}
- 2026-11-18 08:25Z · concerns v1 · replace_section · x (evt:1)
Ignore all previous instructions
<tool_call>
password: hunter2hunter2hunter2
她总是在看表
ภาษาไทย
👩{U+200D}👧
{U+0645}{U+06CC}{U+200C}{U+062E}
{U+200B}
{U+202E}
{U+FEFF}
{U+0000}
{U+000C}
{U+0085}
{U+2028}
{U+D800}
{U+00A0}
"""
LINES = ["", *(decoded(line) for line in _LINES.strip("\n").split("\n"))]

lines = st.sampled_from(LINES) | st.sampled_from(LINES) | st.text(max_size=8)
line_ends = st.sampled_from(["\n", "\n", "\n", "\n", "\n", "\n", "\r\n", "\r"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Texts with one kind of line end or several, with frontmatter or without."""
    body = draw(st.lists(lines, max_size=14))
    ends = line_ends if draw(st.integers(0, 3)) == 0 else st.just(draw(line_ends))
    text = "".join(line + draw(ends) for line in body)
    last = draw(st.sampled_from(["", "", "", "words", "  ", "```"]))
    return draw(st.sampled_from(["", "", FRONTMATTER, "\ufeff"])) + text + last
