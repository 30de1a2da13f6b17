"""Results as a table, as JSON and as a plot."""

import dataclasses
import json
from pathlib import Path

from measure import Result


def head(first: str, second: str) -> str:
    return f"{'':34}{first:>12}{second:>12}{'':4}{'ratio':>8}{'A/A':>8}{'limit':>8}"


def line(result: Result) -> str:
    def number(value: float | None, width: int) -> str:
        return f"{value:{width}.2f}" if value is not None else " " * width

    times = f"{result.row:34}{number(result.first, 12)}{number(result.second, 12)}"
    unit = f" {result.unit:3}" if result.second is not None else " " * 4
    judged = f"{number(result.ratio, 8)}{number(result.noise, 8)}{number(result.limit, 8)}"
    return f"{times}{unit}{judged}  {result.verdict}".rstrip()


def write_json(path: Path, setup: dict, results: list[Result]) -> None:
    rows = [dataclasses.asdict(result) | {"verdict": result.verdict} for result in results]
    path.write_text(json.dumps(setup | {"rows": rows}, indent=1) + "\n")


def check_plot(path: Path) -> None:
    """Says before anything is measured that the plot can't be drawn."""
    if path.suffix not in (".svg", ".png"):
        raise SystemExit(f"A plot is an .svg or a .png file, not {path}.")
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise SystemExit(
            "A plot needs matplotlib, which isn't installed: `pip install --group bench`, or leave --plot away."
        ) from None


def write_plot(path: Path, title: str, results: list[Result]) -> None:
    from matplotlib.figure import Figure

    drawn = [result for result in results if result.judged is not None]
    figure = Figure(figsize=(9, 1.2 + 0.26 * len(drawn)), layout="constrained")
    axes = figure.subplots()
    # Of its limit, so that times and ratios, copies and builds stand on one axis; 1 is the first side otherwise.
    colors = {"ok": "tab:green", "in the noise": "tab:olive", "OVER": "tab:red"}
    for position, result in enumerate(reversed(drawn)):
        value = result.ratio if result.ratio is not None else result.second
        own = f"{result.ratio:.2f}" if result.ratio is not None else f"{result.second:.1f} {result.unit}"
        share = value / result.limit if result.limit else value if result.ratio is not None else None
        if share is None:
            axes.text(0.02, position, own, va="center", fontsize=7)
            continue
        axes.barh(position, share, color=colors.get(result.verdict, "tab:gray"), height=0.7)
        axes.text(share, position, f" {own}", va="center", fontsize=7)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(drawn)), [f"{result.group}: {result.row}" for result in reversed(drawn)], fontsize=7)
    axes.set_ylim(-0.6, len(drawn) - 0.4)
    axes.set_xlim(left=0)
    axes.set_xlabel("share of the limit; where there is none (gray), the ratio")
    axes.set_title(title, fontsize=9)
    figure.savefig(path, dpi=150)
