"""The quality of recall: `make bench ARGS="recall"` judges the shipped weights on the questions held out.

`--write` puts the figures into docs/recall-quality.md and draws its plot.
"""

from benchmarks.ratios import Ratio


def measure() -> list[Ratio]:
    """Judge the rankings, print the figures, and compare those of the shipped one with their bounds."""
    from benchmarks.recall.judging import RESULTS, judge, ratios, table

    results = judge()
    RESULTS.update(results)
    print("\n".join(table(results)), flush=True)
    return ratios(results)
