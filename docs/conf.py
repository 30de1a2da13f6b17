"""The guide. `make docs` builds it with warnings as errors; code that it shows is taken from a fresh render."""

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS / "_extensions"), str(DOCS.parent / "tools")]

project = "torch-backend-template"
copyright = "the torch-backend-template authors"
extensions = [
    "myst_parser",
    "sphinx_copybutton",
    "rendered",
    "torch_headers",
    "core_operators",
    "kernel_order",
    "optional_functions",
    "without_kernel",
]
exclude_patterns = ["_extensions"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = "torch-backend-template"
nitpicky = True
