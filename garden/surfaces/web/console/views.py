"""Every view of the console, and the navigation."""

from garden.surfaces.web.console import (
    approvals,
    documents,
    erasure,
    event,
    export,
    health,
    needs,
    recall,
    timeline,
    today,
)
from garden.surfaces.web.console.visits import View

NAVIGATION = (
    ("/", "Today"),
    ("/documents", "Documents"),
    ("/timeline", "Timeline"),
    ("/approvals", "Approvals"),
    ("/recall", "Recall"),
    ("/health", "Health"),
    ("/erasure", "Erasure"),
    ("/export", "Export and verify"),
)
"""The main pages, each with its name."""

VIEWS: tuple[View, ...] = (
    *today.VIEWS,
    *needs.VIEWS,
    *documents.VIEWS,
    *timeline.VIEWS,
    *event.VIEWS,
    *approvals.VIEWS,
    *recall.VIEWS,
    *health.VIEWS,
    *erasure.VIEWS,
    *export.VIEWS,
)
