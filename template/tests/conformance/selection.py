"""Which entries of torch's databases are run, and which of them are known to fail, by exclusions.yaml."""

import zlib
from pathlib import Path

import pytest
import yaml

EXCLUSIONS = yaml.safe_load((Path(__file__).parent / "exclusions.yaml").read_text())
UNDEFINED = set(EXCLUSIONS["undefined"])
# Of what a quick run leaves out, one in so many entries is in it, the same ones each time.
ONE_IN = 16


def parameters(config, found):
    """pytest's parameters for those of `found` that are to run: (kind, dtype's name, entry's name, values)."""
    selected = []
    chosen = {option: (config.getoption(option, None) or "").split() for option in ("--kinds", "--dtypes", "--ops")}
    for kind, dtype, name, values in found:
        exclusion = exclusion_of(kind, dtype, name)
        given = zip((kind, dtype, name), chosen.values(), strict=True)
        if not all(not choices or value in choices for value, choices in given):
            continue
        if not is_whole(config) and (exclusion or not is_quick(kind, dtype, name)):
            continue
        # One that passes in spite of its mark fails: the exclusion is stale.
        marks = [excluded(**exclusion)] if exclusion else []
        selected.append(pytest.param(*values, id=f"{kind}-{dtype}-{name}", marks=marks))
    return selected


def excluded(reason, run=True, **_):
    return pytest.mark.xfail(reason=reason, run=run, strict=True)


def is_whole(config):
    return config.getoption("--whole", False)


def is_quick(kind, dtype, name):
    wide = dtype == "float32" and kind in ("forward", "backward", "train")
    return wide or zlib.crc32(f"{kind}-{dtype}-{name}".encode()) % ONE_IN == 0


def exclusion_of(kind, dtype, name):
    for exclusion in EXCLUSIONS["excluded"]:
        fits = zip((kind, dtype, name), ("kinds", "dtypes", "ops"), strict=True)
        if all(value in exclusion.get(key, [value]) for value, key in fits):
            return exclusion
    return None
