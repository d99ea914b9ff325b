"""Texts for benchmarks: a part profile of about 6 KB, as a companion agent would keep it."""

SECTIONS = (
    ("Summary", "summary", "narrative"),
    ("Concerns", "concerns", "list"),
    ("Needs", "needs", "list"),
    ("Strengths", "strengths", "list"),
    ("What Helps", "what_helps", "list"),
    ("Evidence", "evidence", "evidence"),
    ("Open Questions", "questions", "list"),
    ("Change Log", "change_log", "log"),
)

HEAD = """---
id: anxious-achiever
user_id: sample-user
schema: 1
created: 2026-03-02
tags: [work, sleep]
---

# Anxious Achiever

"""

NARRATIVE = """\
This part watches the clock and the inbox, and it took over early, when being good at school was
the one sure way to be seen. It means well: as long as everything is done, no one can be disappointed.

Lately it has begun to let go for an evening at a time, mostly after a walk, and it says so itself. What it is
afraid of has not changed, but it is no longer sure that the fear is right.

"""

LIST = """- Says yes to work before it has looked at the week, and then can't sleep
- Reads silence as criticism
  - above all from people it admires
- Plans the free day so full that it is not a free day

"""

EVIDENCE = """- "I can't relax until it's done" (ev:s12-m40)
- "If I stop, everything falls on someone else" (ev:s13-m02)
- "I noticed I was breathing again on the way home" (ev:s15-m11)
- "It was fine. No one even asked." (ev:s17-m31)

"""

LOG = "".join(
    f"- 2026-11-{day:02} 08:25Z · concerns v1 · replace_section · she named it herself, the {day}th\n"
    for day in range(1, 29)
)

BODIES = {"narrative": NARRATIVE * 2, "list": LIST * 2, "evidence": EVIDENCE, "log": LOG}


def sections(repeat: int = 1) -> str:
    """Write every section `repeat` times, each with its own anchor."""
    return "".join(
        f"## {heading}\n<!-- @anchor: {anchor}{round_ or ''} v1 -->\n\n{BODIES[shape].rstrip()}\n\n"
        for round_ in range(repeat)
        for heading, anchor, shape in SECTIONS
    )


def profile() -> str:
    """Write a part profile of about 6 KB."""
    return HEAD + sections().rstrip() + "\n"


def text_of(size: int) -> str:
    """Write a profile-like text of about `size` characters."""
    return HEAD + sections(size // len(sections()) + 1)[: size - len(HEAD)]
