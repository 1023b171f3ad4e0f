"""The scripts of continuous integration fail where they should."""

import importlib.util
import io
import subprocess
import sys
import tarfile
import zipfile

import pytest
from needs import PROJECT
from places import ROOT


@pytest.fixture
def release(monkeypatch):
    spec = importlib.util.spec_from_file_location("release", ROOT / ".ci" / "release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.chdir(ROOT)
    return module


def test_a_wheel_is_the_package_and_nothing_else(release, tmp_path, capsys):
    """A template that was left out, and a test that slipped in, are named."""
    folder = ROOT / "src"
    files = [p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    wheel = tmp_path / "kedge-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("kedge-1.dist-info/METADATA", "")
        for path in files:
            archive.write(path, path.relative_to(folder).as_posix())
    assert release.main([wheel]) == 0
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tests/test_all.py", "")
        for path in files:
            if path.name != "py.typed":
                archive.write(path, path.relative_to(folder).as_posix())
    assert release.main([wheel]) == 2
    assert (
        capsys.readouterr().err == f"{wheel.name} has tests/test_all.py\n{wheel.name} lacks kedge/py.typed\n"
    )


def test_an_sdist_has_all_that_is_listed(release, tmp_path, capsys):
    """A file or folder of the list that is not in it is named."""
    sdist = tmp_path / "kedge-1.tar.gz"
    listed = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    with tarfile.open(sdist, "w:gz") as archive:
        for name in listed:
            if name != "/LICENSE":
                archive.addfile(tarfile.TarInfo(f"kedge-1{name}"), io.BytesIO())
    assert release.main([sdist]) == 1
    assert capsys.readouterr().err == "kedge-1.tar.gz lacks /LICENSE\n"


@pytest.mark.parametrize(("floor", "code"), [(80, 0), (81, 1)])
def test_a_floor_that_is_missed_is_an_error_with_the_missing_lines(tmp_path, floor, code):
    """Four of five lines: enough for 80, not for 81."""
    (tmp_path / "pyproject.toml").write_text(
        f"[tool.kedge.floors]\nsrc = {floor}\n[tool.coverage.report]\nshow_missing = true\n", encoding="utf-8"
    )
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "some.py").write_text(
        "def f():\n    return 1\n\n\nx = 1\ny = x\nz = y\n", encoding="utf-8"
    )
    python = [sys.executable, "-m", "coverage", "run", "--source=src", "src/some.py"]
    subprocess.run(python, cwd=tmp_path, check=True)
    done = subprocess.run(
        [sys.executable, ROOT / ".ci" / "floors.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert "branch coverage of src: 80.00%" in done.stdout
    assert ("some.py" in done.stdout) == bool(code)
