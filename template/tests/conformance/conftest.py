import pytest
from summary import Summary


def pytest_addoption(parser):
    group = parser.getgroup("conformance")
    group.addoption("--whole", action="store_true", help="all entries and all their samples, and not a quick slice")
    group.addoption("--ops", help="the names of entries, separated by spaces")
    group.addoption("--dtypes", help="the names of dtypes, separated by spaces")
    group.addoption(
        "--kinds",
        help="forward, backward, in_place, out, out_strided, noncontiguous, special, strides, train, eval, gradcheck, "
        "gradgradcheck, errors, operator_writes, module_writes, small, lazy",
    )
    group.addoption("--report", metavar="FOLDER", help="where report.txt and report.json are written")


def pytest_configure(config):
    if config.getoption("--report", None) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Summary(config))


@pytest.fixture
def sample_count(request):
    """How many of an entry's samples are compared; None for all."""
    return None if request.config.getoption("--whole", False) else 1


def pytest_collection_modifyitems(config, items):
    # A test of whose parameters none was chosen.
    empty = [item for item in items if item.name.endswith("[NOTSET]")]
    config.hook.pytest_deselected(items=empty)
    items[:] = [item for item in items if item not in empty]
