"""Random sequences of calls from several processes, judged by a garden in memory."""
