"""Check that a built wheel and sdist hold what they should, and nothing else.

usage: python .ci/release.py dist/*   (from the project's root)
"""

import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path


def wheel_faults(file: Path) -> list[str]:
    """The wheel is the package, file by file."""
    paths = (path for path in Path("src").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    package = {path.relative_to("src").as_posix() for path in paths}
    inside = {name for name in zipfile.ZipFile(file).namelist() if ".dist-info/" not in name}
    return [f"lacks {name}" for name in package - inside] + [f"has {name}" for name in inside - package]


def sdist_faults(file: Path) -> list[str]:
    """The sdist has every folder and file that pyproject.toml lists."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    with tarfile.open(file) as archive:
        inside = [f"/{name.partition('/')[2]}/" for name in archive.getnames()]
    listed = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    return [f"lacks {name}" for name in listed if not any(path.startswith(f"{name}/") for path in inside)]


def main(files: list[Path]) -> int:
    """Print what is wrong; gives how much that is."""
    wrong = [
        f"{file.name} {fault}\n"
        for file in files
        for fault in (wheel_faults if file.suffix == ".whl" else sdist_faults)(file)
    ]
    sys.stderr.writelines(sorted(wrong))
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]]))
