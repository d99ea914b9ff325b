"""Export and verify: the garden as files, and whether all is as it was recorded."""

from datetime import UTC, datetime
from io import BytesIO

from garden.gateway.exports import Verification
from garden.grammar.errors import GardenError
from garden.surfaces.web.console.visits import Download, Page, Redirect, View, Visit, address
from garden.surfaces.web.problems import STATUSES


def show_export(visit: Visit) -> Page:
    """Show what can be taken away."""
    return _page(visit)


def verify(visit: Visit) -> Page:
    """Verify, and show what does not hold."""
    try:
        return _page(visit, visit.garden.exports.verify(visit.access))
    except GardenError as error:
        if error.code != "unavailable":
            raise
        return _page(visit, problem=error)


def _page(visit: Visit, verification: Verification | None = None, problem: GardenError | None = None) -> Page:
    sees_all = visit.caller.role != "agent"
    note = visit.garden.exports.checkpoint(visit.access) if sees_all else None
    values = {"sees_all": sees_all, "checkpoint": note, "verification": verification, "problem": problem}
    return Page("export.html", values, STATUSES[problem.code] if problem else 200)


def send_documents(visit: Visit) -> Download:
    """Send the documents as a zip."""
    file = visit.garden.exports.documents(visit.access, history="history" in visit.form)
    return Download(f"{_name(visit)}.zip", file, "application/zip")


def send_archive(visit: Visit) -> Download:
    """Send the archive."""
    return Download(f"{_name(visit)}.tar.gz", visit.garden.exports.archive(visit.access), "application/gzip")


def send_checkpoint(visit: Visit) -> Download | Redirect:
    """Send the newest signed checkpoint; before the first one, the page says so."""
    note = visit.garden.exports.checkpoint(visit.access)
    if note is None:
        return Redirect(address("/export"))
    return Download("checkpoint", BytesIO(note.encode()), "text/plain; charset=utf-8")


def _name(visit: Visit) -> str:
    return f"{visit.caller.user_id}-{datetime.now(UTC).date()}"


VIEWS = (
    View("GET", "/export", show_export),
    View("POST", "/export/documents", send_documents),
    View("POST", "/export/archive", send_archive),
    View("GET", "/export/checkpoint", send_checkpoint),
    View("POST", "/export/verify", verify),
)
