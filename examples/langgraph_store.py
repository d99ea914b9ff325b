"""A graph of LangGraph with a long-term memory in a garden.

    GARDEN_HOME=my-garden python examples/langgraph_store.py "I like mint tea."
    GARDEN_HOME=my-garden python examples/langgraph_store.py "Which tea do I like?"

The node keeps each message, and answers with the best of those that were kept before. Your own graph would
give them to its model.
"""

import sys
from typing import TypedDict
from uuid import uuid4

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from garden.integrations.langgraph import GardenStore

MESSAGES = ("messages",)


class State(TypedDict):
    """What goes through the graph."""

    message: str
    remembered: str


def remember(state: State, runtime: Runtime) -> State:
    """Recall what fits the message, and keep the message."""
    found = runtime.store.search(MESSAGES, query=state["message"], limit=1)
    runtime.store.put(MESSAGES, uuid4().hex, {"text": state["message"]})
    return {**state, "remembered": found[0].value["text"] if found else "nothing yet"}


def main(message: str) -> None:
    """Run the graph once."""
    with GardenStore("me") as store:
        builder = StateGraph(State)
        builder.add_node(remember)
        builder.add_edge(START, "remember")
        result = builder.compile(store=store).invoke({"message": message, "remembered": ""})
    print(f"I remember: {result['remembered']}")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "I like mint tea.")
