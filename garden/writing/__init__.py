"""The write path: planning, recording and writing an edit; settling, adopting, moving and snapshots."""
