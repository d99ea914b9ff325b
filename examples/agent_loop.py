"""An agent with a memory, in one loop: the model asks for tools, the garden answers, the model continues.

    GARDEN_HOME=my-garden python examples/agent_loop.py

`model` stands in for your own call of a language model: it receives the conversation and the tools, and
returns a tool call or a reply. Here it follows a script, so that the example needs no API key.
"""

import json
from typing import Any

import garden

USER = "tilda-quill"
NOTES = f"users/{USER}/notes.md"
TOOLS = ("fs.list", "fs.read", "fs.append", "md.list_sections", "md.patch_section", "md.plant")
TURNS_MAX = 10

Message = dict[str, Any]


def model(messages: list[Message], tools: list[Message]) -> Message:
    """The same script every time, in place of your own model."""
    if not {"fs_append", "md_plant"} <= {tool["name"] for tool in tools}:
        return {"role": "assistant", "content": "I have nothing to remember with."}
    answers = [json.loads(message["content"]) for message in messages if message["role"] == "tool"]
    note = {"path": NOTES, "text": "- The lamp was lit late, and she let it be."}
    match [answer["ok"] for answer in answers]:
        case []:
            return {"role": "assistant", "tool": "fs_append", "args": note}
        case [False]:
            # A refusal changes nothing and hints at what to do: there are no notes yet, so plant them.
            return {"role": "assistant", "tool": "md_plant", "args": {"path": NOTES, "title": "Notes"}}
        case [False, True]:
            return {"role": "assistant", "tool": "fs_append", "args": note}
        case _:
            return {"role": "assistant", "content": "I will remember that about the lamp."}


def described(page: Message) -> Message:
    """Describe a tool as most models expect it: without a dot in its name."""
    about = f"{page['summary']} {page['description']}"
    name = page["name"].replace(".", "_")
    return {"name": name, "description": about, "input_schema": page["requestSchema"]}


def main() -> None:
    """Run one turn of a conversation."""
    with garden.open() as opened:
        session = opened.session(USER, "companion", transaction_id="evening-talk")
        tools = [described(session.call("tools.help", {"tool": name})["result"]) for name in TOOLS]
        messages: list[Message] = [{"role": "user", "content": "The lamp was late, and I let it be."}]
        for _ in range(TURNS_MAX):
            said = model(messages, tools)
            messages.append(said)
            if "tool" not in said:
                print(said["content"])
                break
            # Both forms of the name work. A refusal is an answer too: the model reads its hint and goes on.
            envelope = session.call(said["tool"], said["args"])
            print(said["tool"], "->", "ok" if envelope["ok"] else envelope["error"]["message"])
            messages.append({"role": "tool", "content": json.dumps(envelope)})


if __name__ == "__main__":
    main()
