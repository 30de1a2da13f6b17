"""Pins the wheel's torch: what is compiled against one minor release of torch does not load into another."""

import importlib.metadata
from collections.abc import Mapping
from typing import Any


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, list[str]]:
    major, minor = importlib.metadata.version("torch").split(".")[:2]
    return {"dependencies": [f"torch=={major}.{minor}.*"]}


def dynamic_wheel(settings: Mapping[str, Any]) -> dict[str, bool]:
    return {"dependencies": True}
