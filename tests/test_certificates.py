"""A cluster whose members show each other certificates, made as docs/cluster.md says: strangers are kept out."""

import shlex
import shutil
import subprocess

import pytest
from clusters import Cluster
from pages_read import blocks
from shared_jobs import Squares

from ns_mab_gym.parallel import ExecutorError, executor, map_unordered

pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
SETTING = "distributed.comm.tls"


def make_certificates(folder):
    """Carry out the commands of the page."""
    lines = [line for block in blocks("docs/cluster.md", "sh") for line in block.replace("\\\n", " ").splitlines()]
    commands = [shlex.split(line, comments=True) for line in lines if line.startswith("openssl")]
    assert len(commands) == 3
    folder.mkdir()
    for command in commands:
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def ours(tmp_path):
    return make_certificates(tmp_path / "ours")


@pytest.fixture
def guarded(tmp_path, ours):
    options = ["--tls-ca-file", ours / "ca.pem", "--tls-cert", ours / "cert.pem", "--tls-key", ours / "key.pem"]
    found = Cluster(tmp_path, list(map(str, options)))
    yield found
    found.close()


def showing(authority, shown):
    """The settings of a client that trusts an authority, and shows certificates."""
    import dask

    files = {"ca-file": authority / "ca.pem", "client.cert": shown / "cert.pem", "client.key": shown / "key.pem"}
    return dask.config.set({f"{SETTING}.{name}": str(file) for name, file in files.items()})


@pytest.mark.slow
def test_who_shows_a_certificate_is_let_in_and_nobody_else(guarded, ours, tmp_path):
    guarded.add_worker()
    assert guarded.address.startswith("tls://")
    with showing(ours, ours), executor("dask", scheduler=guarded.address) as pool:
        arrived = [square for each in map_unordered(pool, Squares(tmp_path), range(20)) for square in each.results]
    assert sorted(arrived) == [number**2 for number in range(20)]
    theirs = make_certificates(tmp_path / "theirs")
    with showing(ours, theirs), pytest.raises(ExecutorError, match="there is no Dask scheduler at 'tls://"):
        executor("dask", scheduler=guarded.address)
    with pytest.raises(ExecutorError, match="there is no Dask scheduler at 'tcp://"):
        executor("dask", scheduler=guarded.address.replace("tls", "tcp"))


def test_certificates_that_are_missing_are_asked_for_before_anything_is_tried(ours):
    with pytest.raises(ExecutorError, match=r"asks for certificates, and there are none; name the files in DASK_"):
        executor("dask", scheduler="tls://127.0.0.1:1")
    (ours / "key.pem").unlink()
    with showing(ours, ours), pytest.raises(ExecutorError, match=r"cannot be read .*No such file"):
        executor("dask", scheduler="tls://127.0.0.1:1")
