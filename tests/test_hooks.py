"""What runs while a project is made: nothing. Otherwise users would have to trust it."""

import variants
import yaml


def test_nothing_is_executed():
    settings = yaml.safe_load((variants.ROOT / "copier.yml").read_text(encoding="utf-8"))
    assert not settings.keys() & {"_tasks", "_jinja_extensions", "_external_data"}
    # Without a version a migration asks for trust on every update, not only on the one that crosses it.
    assert all("version" in migration for migration in settings.get("_migrations", []))


def test_validators_come_from_hooks():
    macros = (variants.ROOT / "hooks" / "checks.jinja").read_text(encoding="utf-8")
    for name, entry in variants.questions().items():
        if entry["type"] == "str" and "choices" not in entry:
            called = entry["validator"].split("import ")[1].split(" ")[0]
            assert f"{{% macro {called}(" in macros, name


def test_readme_tells_of_every_file():
    folder = variants.ROOT / "hooks"
    table = (folder / "README.md").read_text(encoding="utf-8")
    for path in folder.iterdir():
        assert path.name in ("README.md", "__pycache__") or f"`{path.name}`" in table
