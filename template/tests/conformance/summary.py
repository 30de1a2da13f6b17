"""What passed, by dtype and kind, what failed, and what was skipped for want of a dtype or a kernel: as a table, and as
JSON. Shows a progress bar meanwhile."""

import json
import re
from collections import defaultdict
from pathlib import Path

from selection import exclusion_of, is_whole
from tqdm import tqdm

BY = ("kernels", "emulated", "fallback")
# In percent of the entries that pass on the CPU.
WANTED = defaultdict(lambda: 99.0, float32=99.5, modules=100.0)


class Summary:
    def __init__(self, config):
        self.config = config
        self.folder = Path(config.getoption("--report"))
        self.results = []
        self.bar = None

    def pytest_collection_finish(self, session):
        self.start(len(session.items))

    def pytest_xdist_node_collection_finished(self, node, ids):
        self.start(len(ids))

    def start(self, count):
        if self.bar is None and count:
            self.bar = tqdm(total=count, unit="test", dynamic_ncols=True, mininterval=1)

    def pytest_report_teststatus(self, report):
        # No dot for each that passes: the bar shows them.
        passed = report.when == "call" and report.passed and not hasattr(report, "wasxfail")
        return ("passed", "", "PASSED") if passed else None

    def pytest_runtest_logreport(self, report):
        # A worker that crashed has a report of its own, which says "???".
        if report.when not in ("call", "???") and (report.when == "teardown" or report.passed):
            return
        self.bar.update()
        name = re.fullmatch(r".*\[(\w+)-(\w+)-(.+)\]", report.nodeid)
        if name is None:
            return
        kind, dtype, entry = name.groups()
        # Else passed, failed or skipped, as pytest says it.
        status = "excluded" if hasattr(report, "wasxfail") and not report.failed else report.outcome
        text = report.longreprtext
        if report.when == "???":
            status = "crashed"
        properties = dict(report.user_properties)
        self.results.append(
            {
                "suite": re.sub(r".*test_(\w+)\.py.*", r"\1", report.nodeid),
                "kind": kind,
                "dtype": dtype,
                "entry": entry,
                "status": status,
                "compared": properties.get("compared"),
                "by": properties.get("by"),
                "seconds": round(report.duration, 3) if hasattr(report, "duration") else None,
                "error": error_of(text) if status != "passed" else None,
            }
        )

    def pytest_terminal_summary(self, terminalreporter):
        if self.bar is not None:
            self.bar.close()
        text = self.text()
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "report.txt").write_text(text)
        (self.folder / "report.json").write_text(json.dumps(self.results, indent=1))
        terminalreporter.write_line("")
        terminalreporter.write_line(text)

    def pytest_sessionfinish(self, session):
        if session.exitstatus == 0 and self.short_of():
            session.exitstatus = 1

    def counts(self, result):
        exclusion = exclusion_of(result["kind"], result["dtype"], result["entry"]) or {}
        return result["status"] not in ("passed", "skipped") and exclusion.get("failed", True)

    def share(self, results):
        """How many entries passed, of how many that the CPU carries out. An entry fails with any of its kinds."""
        entries = defaultdict(lambda: [False, False])
        for result in results:
            state = entries[result["suite"], result["dtype"], result["entry"]]
            state[0] |= bool(result["compared"]) or self.counts(result)
            state[1] |= self.counts(result)
        there = [failed for applies, failed in entries.values() if applies]
        return there.count(False), len(there)

    def carried_out(self, results):
        """By what the entries were carried out: the number of each of BY, an entry with the last that it needed."""
        entries = defaultdict(int)
        for result in results:
            if result["compared"] and result["by"]:
                name = result["suite"], result["dtype"], result["entry"]
                entries[name] = max(entries[name], BY.index(result["by"]))
        return [list(entries.values()).count(index) for index in range(len(BY))]

    def groups(self):
        grouped = defaultdict(list)
        for result in self.results:
            name = result["dtype"] if result["suite"] == "opinfo" else result["suite"]
            grouped[name].append(result)
        return grouped

    def short_of(self):
        """The groups in which less passed than is wanted, if all of them was run."""
        if not is_whole(self.config) or any(map(self.config.getoption, ("--ops", "--kinds"))):
            return []
        shares = {name: self.share(results) for name, results in self.groups().items()}
        return [name for name, (passed, there) in shares.items() if there and 100 * passed / there < WANTED[name]]

    def text(self):
        lines = [
            f"{'':24}{'passed':>8}{'of':>7}{'percent':>10}   failed  crashed  excluded  skipped"
            + "".join(f"{name:>10}" for name in BY)
        ]
        for name, results in self.groups().items():
            lines.append(self.line(name, results))
            kinds = dict.fromkeys(result["kind"] for result in results)
            lines += [
                self.line(f"  {kind}", [result for result in results if result["kind"] == kind])
                for kind in kinds
                if len(kinds) > 1
            ]
        lines += [f"Less than the {WANTED[name]} % that are wanted: {name}" for name in self.short_of()]
        for status in ("crashed", "failed", "excluded"):
            of_status = [result for result in self.results if result["status"] == status]
            lines += ["", f"{status}: {len(of_status)}"] if of_status else []
            for result in of_status:
                first = [line for line in (result["error"] or "").splitlines() if line.strip()][:6]
                lines.append(f"  {result['kind']}-{result['dtype']}-{result['entry']}")
                lines += [f"      {line[:240]}" for line in first]
        return "\n".join(lines) + "\n"

    def line(self, name, results):
        passed, there = self.share(results)
        states = [result["status"] for result in results]
        percent = f"{100 * passed / there:.2f}" if there else "-"
        numbers = "".join(f"{states.count(status):9}" for status in ("failed", "crashed", "excluded", "skipped"))
        numbers += "".join(f"{count:10}" for count in self.carried_out(results))
        return f"{name:24}{passed:8}{there:7}{percent:>10}{numbers}"


def error_of(text):
    lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    return "\n".join(lines or text.splitlines()[-3:])
