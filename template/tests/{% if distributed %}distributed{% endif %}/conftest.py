from pathlib import Path

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config, items):
    # Each starts processes, which takes seconds: all of them run where this folder or a file of it is named.
    named = any(Path(argument.partition("::")[0]).resolve().is_relative_to(HERE) for argument in config.args)
    left_out = [
        item
        for item in items
        if not named and item.path.is_relative_to(HERE) and item.get_closest_marker("quick") is None
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
