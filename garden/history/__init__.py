"""The history of documents: versions, lines, checkpoints and proofs."""
