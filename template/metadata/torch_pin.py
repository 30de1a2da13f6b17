"""Pins the wheel's torch: what is compiled against one minor release of torch does not load into another."""

import importlib.metadata
from collections.abc import Mapping
from typing import Any

NO_TORCH = """
There is no torch here to compile for. An isolated build never sees the torch that is installed; this one does:

    pip install scikit-build-core cmake ninja pyyaml
    pip install --no-build-isolation .

If that says the same, install torch first."""


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, list[str]]:
    try:
        major, minor = importlib.metadata.version("torch").split(".")[:2]
    except importlib.metadata.PackageNotFoundError:
        raise SystemExit(NO_TORCH) from None
    return {"dependencies": [f"torch=={major}.{minor}.*"]}


def dynamic_wheel(settings: Mapping[str, Any]) -> dict[str, bool]:
    return {"dependencies": True}
