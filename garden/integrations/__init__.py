"""The garden behind the interfaces of agent frameworks: one module a framework, each an extra."""
