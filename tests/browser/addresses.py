"""A sample address, or several, of every page of the console; the names in braces are those of the story."""

from collections.abc import Mapping

# The patterns are those of the views; a download, which is no page, has no sample.
OF_VIEWS: Mapping[str, tuple[str, ...]] = {
    "/": ("/",),
    "/needs": ("/needs",),
    "/documents": ("/documents", "/documents?find=notes"),
    "/documents/{path:path}": (
        "/documents/{document}",
        "/documents/{document}?blame=yes",
        "/documents/{document}?view=lines&at=1",
        "/documents/{document}?view=versions",
        "/documents/{document}?from=1&to=head",
        "/documents/{document}?from=1&to=head&as=sides",
        "/documents/{document}?do=undo&event={event}",
        "/documents/{document}?do=restore&version=1",
        "/documents/{missing}",
        "/documents/{missing}?do=restore&version=1",
    ),
    "/timeline": ("/timeline", "/timeline?text=the&actor=companion", "/timeline?actor=no-one"),
    "/timeline/{event_id}": ("/timeline/{event}",),
    "/timeline/{event_id}/proof": (),
    "/approvals": ("/approvals",),
    "/approvals/{id}": ("/approvals/{approval}",),
    "/approvals/{id}/edit": ("/approvals/{approval}/edit",),
    "/recall": ("/recall", "/recall?query=the+night+before"),
    "/recall/given": ("/recall/given",),
    "/health": ("/health",),
    "/erasure": ("/erasure",),
    "/erasure/{id}": ("/erasure/{erasure}",),
    "/export": ("/export",),
    "/export/checkpoint": (),
}
PAGES = tuple(address for samples in OF_VIEWS.values() for address in samples)
# The console's own pages, each with its status.
OTHERS: Mapping[str, int] = {"/sign-in": 200, "/nowhere": 404, "/enter?code=none": 401}
