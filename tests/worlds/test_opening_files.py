"""The door for files of means: what is no file, what does not open, and whatever a library raises."""

import os

import pytest
from fuzzing import is_own
from hostile_files import refusal

import ns_mab_gym as nsb
from ns_mab_gym.experiments.arm_headers import header_of
from ns_mab_gym.worlds import Table, means_files, read_means


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_what_is_no_file_is_refused_without_waiting(tmp_path, suffix):
    (tmp_path / f"folder{suffix}").mkdir()
    os.mkfifo(tmp_path / f"pipe{suffix}")
    (tmp_path / f"zeros{suffix}").symlink_to("/dev/zero")
    (tmp_path / f"round{suffix}").symlink_to(tmp_path / f"round{suffix}")
    (tmp_path / f"gone{suffix}").symlink_to(tmp_path / "nowhere")
    expected = {
        "folder": (ValueError, "is a folder; give a file of means"),
        "pipe": (ValueError, "is a pipe or a device; give a file of means"),
        "zeros": (ValueError, "is a pipe or a device; give a file of means"),
        "round": (ValueError, "cannot be opened: Too many levels of symbolic links"),
        "gone": (FileNotFoundError, "no file of means at"),
        "folder.csv/inside": (FileNotFoundError, "no file of means at"),
        "nul\0": (ValueError, "cannot be opened: embedded null byte"),
        "\ud800": (ValueError, "cannot be opened: 'utf-8' codec can't encode"),
        "é" * 300: (ValueError, "cannot be opened: File name too long"),
    }
    for stem, (kind, words) in expected.items():
        path = f"{tmp_path}/{stem}{suffix}"
        for read in (read_means, lambda path: Table(path=path), lambda path: nsb.simulate(path, "ts", runs=1)):
            with pytest.raises(kind, match=words) as caught:
                read(path)
            assert is_own(caught.value)


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(5, "Input/output error")])
def test_a_file_that_does_not_open(tmp_path, monkeypatch, error):
    def refuse(*_, **__):
        raise error

    (tmp_path / "t.csv").write_text("0.1,0.2\n")
    monkeypatch.setattr(means_files.Path, "open", refuse)
    with pytest.raises(ValueError, match=rf"t\.csv' cannot be opened: {error.strerror}; ask its owner"):
        read_means(tmp_path / "t.csv")


def test_a_file_that_vanishes_while_it_is_read(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("0.1,0.2\n")
    monkeypatch.setattr(means_files, "ensure_fits", lambda *_: (tmp_path / "t.csv").unlink())
    with pytest.raises(FileNotFoundError, match="no file of means at"):
        read_means(tmp_path / "t.csv")
    assert header_of(tmp_path / "t.csv") is None


@pytest.mark.parametrize("path", [5, b"t.csv", ["t.csv"], object(), True])
def test_a_path_is_text(path):
    with pytest.raises(TypeError, match="the path of a file of means must be text, got "):
        Table(path=path)
    with pytest.raises(TypeError, match="the path of a file of means must be text, got "):
        read_means(path)


def test_whatever_a_library_raises_comes_out_as_our_own_error(tmp_path, monkeypatch):
    for error in (
        MemoryError(),
        RecursionError("deep"),
        KeyError("x"),
        OSError(5, "broken"),
        SystemError("\x1b\nb"),
    ):

        def raises(*_, error=error):
            raise error

        monkeypatch.setitem(means_files.READERS, ".csv", ("CSV", raises))
        said = refusal(tmp_path / "t.csv", "0.1,0.2\n")
        assert "cannot be read as CSV: " in said
        assert said.isprintable()
