"""The parts of an open garden that read events, record, write and recover, connected to one another."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from garden.events.attempts import Attempts
from garden.events.erased_words import ErasedWords
from garden.events.erasures import Erasures
from garden.events.head_guard import HeadGuard
from garden.events.heads import HeadBuilder
from garden.events.kept_texts import KeptTexts
from garden.events.keyring import Keyring
from garden.events.maintenance import Maintenance
from garden.events.passages import PassageStore
from garden.events.pool import Pool
from garden.events.recall_reader import RecallReader
from garden.events.store import EventStore
from garden.events.tokens import TokenStore
from garden.events.verifier import Verifier
from garden.passages.extraction import ANALYSIS
from garden.recall.embedders import load_embedder
from garden.recall.embedders.names import configured_name
from garden.recall.recall import Recall
from garden.writing.adoption import DriftAdopter
from garden.writing.erased_text import ErasedText
from garden.writing.erasing.eraser import Eraser
from garden.writing.erasing.living_files import LivingFiles
from garden.writing.hand_moves import HandMoves
from garden.writing.indexing import Indexing
from garden.writing.lost_copies import LostCopies
from garden.writing.lost_writes import LostWrites
from garden.writing.moves import Mover
from garden.writing.planner import Planner
from garden.writing.replays import Replays
from garden.writing.services import Services
from garden.writing.settlement import SagaSettler
from garden.writing.snapshots import Snapshots
from garden.writing.transactions import Transactions
from garden.writing.write_path import WritePath

if TYPE_CHECKING:
    from garden.home.settings import Settings


def writing_parts(
    services: Services, pools: Mapping[str, Pool], keys: Callable[[], Keyring]
) -> dict[str, Any]:
    """Make the parts of a garden whose files, documents and reader are there."""
    files, documents, reader = services.files, services.documents, services.reader
    readers, limits, disk_space = pools["readers"], services.limits, services.disk_space
    store = EventStore(pools["writers"], keys)
    verifier = Verifier(reader, keys)
    erased_text = ErasedText(ErasedWords(readers, keys))
    planner = Planner(documents, reader, limits.document_bytes, limits.caps)
    indexing = Indexing(documents, keys, services.timezone, services.language)
    guard = HeadGuard(reader, keys)
    settlement = SagaSettler(store, reader, files, indexing)
    adoption = DriftAdopter(reader, documents, files, guard, erased_text, indexing)
    lost_writes, lost_copies = LostWrites(store, reader, files), LostCopies(reader, files)
    replays = Replays(reader, files, settlement, lost_writes)
    parts = (
        *(files, documents, planner, settlement, adoption),
        *(lost_writes, lost_copies, replays, erased_text, disk_space, indexing),
        HandMoves(settlement, adoption),
    )
    write_path = WritePath(store, *parts)
    erasures, tokens = Erasures(readers, keys), TokenStore(readers, keys)
    passages, living = PassageStore(readers), LivingFiles(files, documents, indexing)
    return {
        "store": store,
        "verifier": verifier,
        "maintenance": Maintenance(readers),
        "recoveries": Attempts(readers),
        "heads": HeadBuilder(store, reader, verifier),
        "head_guard": guard,
        "indexing": indexing,
        "write_path": write_path,
        "recovery_path": WritePath(EventStore(pools["recoverers"], keys), *parts),
        "mover": Mover(store, files, documents, write_path, disk_space),
        "transactions": Transactions(store, write_path),
        "snapshots": Snapshots(store, reader, files, write_path, disk_space),
        "eraser": Eraser(store, reader, erasures, tokens, files, living, write_path, passages),
        "passages": passages,
        "kept_texts": KeptTexts(readers),
    }


def recall_parts(settings: "Settings", pools: Mapping[str, Pool]) -> dict[str, Any]:
    """Make recall; it loads numpy and a model when it is first used."""
    load, name = partial(load_embedder, settings), partial(configured_name, settings.recall)
    return {"recall": Recall(RecallReader(pools["readers"], ANALYSIS), load, name_embedder=name)}
