"""Draws a part of a chrome trace of torch.profiler as an SVG: the rows of threads, the rows of a device, and arrows.

python tools/draw_trace.py trace.json docs/profile.svg --from aten::convolution --events 6
"""

import argparse
import json
from html import escape
from pathlib import Path
from typing import Any

WIDTH, LEFT, BAR, GAP = 1000, 130, 18, 6
COLORS = {"cpu_op": "#c6dbef", "privateuse1_runtime": "#fdd0a2", "kernel": "#a1d99b", "gpu_memcpy": "#bcbddc"}
STYLE = (
    "text { font: 11px sans-serif } .small { font-size: 9px } .row { fill: #f5f5f5 } path { stroke: #999; fill: none }"
)


def rows_of(events: list[dict[str, Any]]) -> dict[tuple[Any, Any, int], list[dict[str, Any]]]:
    """By process, thread and depth: an event that lies in another one stands below it."""
    rows: dict[tuple[Any, Any, int], list[dict[str, Any]]] = {}
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        depth = 0
        while (row := rows.setdefault((event["pid"], event["tid"], depth), [])) and (
            row[-1]["ts"] + row[-1]["dur"] > event["ts"]
        ):
            depth += 1
        row.append(event)
    return rows


def window(events: list[dict[str, Any]], first: str, count: int) -> tuple[float, float]:
    """From an operator to the end of the work of some operators on the device."""
    begin = next(event["ts"] for event in events if event["name"] == first)
    work = sorted(
        (event for event in events if event["cat"] in ("kernel", "gpu_memcpy") and event["ts"] >= begin),
        key=lambda event: event["ts"],
    )
    last = work[min(count, len(work)) - 1]
    return begin, last["ts"] + last["dur"]


def fitting(name: str, width: float) -> str:
    name = name.removeprefix("aten::")
    return name if len(name) * 6 <= width else ""


def draw(trace: dict[str, Any], first: str, count: int) -> str:
    events = [event for event in trace["traceEvents"] if event.get("ph") == "X" and event.get("cat") in COLORS]
    begin, end = window(events, first, count)
    scale = (WIDTH - LEFT - 10) / (end - begin)
    shown = [event for event in events if event["ts"] < end and event["ts"] + event["dur"] > begin]
    labels = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in trace["traceEvents"]
        if event.get("name") == "thread_name"
    }
    on_device = {(event["pid"], event["tid"]) for event in shown if event["cat"] in ("kernel", "gpu_memcpy")}
    rows = sorted(rows_of(shown).items(), key=lambda row: (row[0][:2] in on_device, str(row[0][:2]), row[0][2]))
    places: dict[tuple[str, int], tuple[float, float]] = {}
    bars, lines = [], []
    for number, ((process, thread, depth), row) in enumerate(rows):
        top = 10 + number * (BAR + GAP)
        bars.append(f'<rect class="row" x="{LEFT}" y="{top}" width="{WIDTH - LEFT}" height="{BAR}"/>')
        if depth == 0:
            device = (process, thread) in on_device
            label = labels.get((process, thread), f"stream {thread}") if device else f"thread {thread}"
            bars.append(f'<text x="4" y="{top + 13}">{escape(label)}</text>')
        for event in row:
            left = LEFT + max(0.0, event["ts"] - begin) * scale
            right = LEFT + (min(end, event["ts"] + event["dur"]) - begin) * scale
            color, name = COLORS[event["cat"]], escape(event["name"])
            bars.append(
                f'<rect x="{left:.1f}" y="{top}" width="{max(right - left, 1):.1f}" height="{BAR}" '
                f'fill="{color}"><title>{name}, {event["dur"]:.1f} µs</title></rect>'
            )
            if words := fitting(event["name"], right - left):
                bars.append(f'<text class="small" x="{left + 3:.1f}" y="{top + 12}">{escape(words)}</text>')
            if "correlation" in event.get("args", {}):
                place = ("to" if event["cat"] in ("kernel", "gpu_memcpy") else "from", event["args"]["correlation"])
                places[place] = (left, top)
    for (side, number), (x, y) in places.items():
        if side == "from" and ("to", number) in places:
            to_x, to_y = places["to", number]
            lines.append(f'<path d="M{x:.1f},{y + BAR} L{to_x:.1f},{to_y}"/>')
    height = 10 + len(rows) * (BAR + GAP) + 16
    scale_words = f'<text x="{LEFT}" y="{height - 4}">{end - begin:.0f} µs</text>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"><style>{STYLE}</style>'
    return "\n".join([head, *bars, *lines, scale_words, "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path)
    parser.add_argument("svg", type=Path)
    parser.add_argument("--from", dest="first", required=True, metavar="OPERATOR", help="where the picture begins")
    parser.add_argument("--events", type=int, default=6, help="how many kernels and copies it shows (6)")
    options = parser.parse_args()
    options.svg.write_text(draw(json.loads(options.trace.read_text()), options.first, options.events), encoding="utf-8")


if __name__ == "__main__":
    main()
