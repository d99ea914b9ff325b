"""A model without native tool calls: it writes calls into its replies, and reads their answers.

    GARDEN_HOME=my-garden python examples/text_protocol.py

`model` stands in for your own call of a language model: it receives the conversation and returns a reply.
Here it follows a script, so that the example needs no API key.
"""

import garden
from garden.gateway.text_protocol import Message, converse

USER = "tilda-quill"
NOTES = f"users/{USER}/notes.md"
PLANT = f'<tool_call>{{"tool": "md.plant", "params": {{"path": "{NOTES}"}}}}</tool_call>'
NOTE = f'<tool_call>{{"tool": "fs.append", "params": {{"path": "{NOTES}", "text": "- Slept."}}}}</tool_call>'
SCRIPT = (
    f"There may be no notes yet. {PLANT}",
    # A brace too few: nothing is run, and the model is told what is wrong.
    NOTE.replace("}}", "}"),
    NOTE,
    "I noted that you slept well.",
)


def model(messages: list[Message]) -> str:
    """The same script every time, in place of your own model."""
    return SCRIPT[sum(message["role"] == "assistant" for message in messages)]


def main() -> None:
    """Run one turn of a conversation."""
    with garden.open() as opened:
        session = opened.session(USER, "companion")
        # The first message is session.prompt(): the house rules, and the tools that this caller may use.
        for message in converse(model, session, "I slept well.")[1:]:
            print(f"{message['role']}: {message['content']}")


if __name__ == "__main__":
    main()
