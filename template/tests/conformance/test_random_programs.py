"""Random programs: what one step makes or writes, the next ones read, in views of the same memory.

Samples of torch's databases call one operator with tensors of their own.
"""

import random

import pytest
import torch
from parity import DEVICE, check_form, check_values, described, needs_cpu_kernel
from random_programs import OPERATORS, OVERLAPPING, VIEWS, WRITES, make_tensor
from selection import parameters

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.requires_ops("full")]

STEPS = 25
TENSORS = 8
# The device's kernels have more dtypes than the CPU's, which divide whole numbers by zero in a way of their own.
ONLY_THE_CPU = ("not implemented for", "ZeroDivisionError", "not supported", "does not support")


def pytest_generate_tests(metafunc):
    found = [("program", "mixed", str(number), (number,)) for number in range(480)]
    metafunc.parametrize("number", parameters(metafunc.config, found))


def raised_by(call, *arguments):
    """What a call gives, and the error that it raises instead."""
    try:
        return call(*arguments), None
    except Exception as error:
        return None, error


def shares_memory(x, y):
    return x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()


def write_over(x, values):
    if torch._debug_has_internal_overlap(x) != 1:
        x.copy_(values)


class Program:
    """Pairs of tensors, one of the CPU and one of the device, on which each step is done alike."""

    def __init__(self, number):
        self.random = random.Random(number)
        made = [make_tensor(self.random) for _ in range(4)]
        self.pairs = [(x, x.to(DEVICE)) for x in made]

    def step(self):
        kind = self.random.choice(["view", *["operator"] * 4, *["write"] * 2])
        name, call = self.choose({"view": VIEWS, "operator": OPERATORS, "write": WRITES}[kind])
        view, see = self.choose(VIEWS | (OVERLAPPING if kind == "operator" else {}))
        if self.random.random() < 0.3:
            view, see = "itself", VIEWS["itself"]
        (x, _), (y, _) = pair = self.random.choice(self.pairs), self.random.choice(self.pairs)
        seed = self.random.random()

        def run(x, y):
            chosen = random.Random(seed)
            seen = see(x, y, chosen.randrange(max(1, x.dim())), chosen)
            if kind == "write" and shares_memory(seen, y):
                y = y.clone()  # else it isn't said which of its elements are read before they are written
            result = call(seen, y, chosen.randrange(max(1, seen.dim())), chosen)
            return result.clone() if view in OVERLAPPING and isinstance(result, torch.Tensor) else result

        what = f"{name} of {view} with {described((x, y))}"
        (theirs, refusal), (ours, our_refusal) = raised_by(run, *(a for a, _ in pair)), raised_by(run, *(b for _, b in pair))
        if refusal or our_refusal:
            known = any(words in repr(refusal) for words in ONLY_THE_CPU)
            known = known or (our_refusal and needs_cpu_kernel(our_refusal))
            assert known or (refusal and our_refusal), f"{what}: {our_refusal!r}, on the CPU {refusal!r}"
            # A write that fails may have written something.
            for theirs, ours in self.pairs:
                write_over(ours, theirs)
            return
        self.keep(theirs, ours, what)

    def choose(self, table):
        name = self.random.choice(list(table))
        return name, table[name]

    def keep(self, theirs, ours, what):
        try:
            check_form(ours, theirs)
            for one, other in [(ours, theirs), *((b, a) for a, b in self.pairs)]:
                check_values(one, other, atol=1e-3)
        except AssertionError as error:
            raise AssertionError(f"{what}: {error}") from None
        result = theirs if isinstance(theirs, torch.Tensor) else None
        if result is None or result.numel() > 20_000:
            return
        # The next step begins with the same numbers, so that it doesn't matter how far rounding can take a program.
        write_over(ours, theirs)
        if len(self.pairs) == TENSORS:
            self.pairs.pop(self.random.randrange(TENSORS))
        self.pairs.append((theirs, ours))


def test_random_program(number):
    program = Program(number)
    for _ in range(STEPS):
        program.step()
