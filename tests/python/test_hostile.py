"""Files and ids made to do harm: each is refused with one line that names the thing, within 1 s of processor time and
100 MB of address space. The fuzz targets look for what nobody thought of; these are what anybody would try first."""

import gzip
import io
import json
import resource
import struct
import subprocess
import tarfile

import h5py
import numpy
import pytest

from program import PROGRAM

SECONDS = 1
BYTES = 100_000_000


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def refusal(*arguments):
    before = processor_seconds()
    result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=600,
                            preexec_fn=limit_memory)
    assert processor_seconds() - before < SECONDS
    assert result.returncode == 2, (result.returncode, result.stderr[:500])
    assert result.stderr.startswith("redoubt: ") and result.stderr.count("\n") == 1
    assert len(result.stderr) < 1000
    return result.stderr[len("redoubt: "):].rstrip("\n")


def problem(**changes):
    """A JSON problem of one state, with some of its keys replaced."""
    keys = {"format": "redoubt-problem", "version": 1, "states": 1, "actions": 1, "horizon": 1,
            "transitions": [[0, 0, 0, 1.0]], "reward": 0}
    return json.dumps(keys | changes)


TERMS = '{"format": "redoubt-terms", "version": 1, %s}'
HEADER = "idstatefrom,idaction,idstateto,probability,reward\n"


@pytest.mark.parametrize("text, named", [
    (problem(states=10**9), "1000000000 states"),
    (problem(states=2**31), "states = 2147483648"),
    (problem(states=10**30), "states = 1e+30"),
    (problem(states=-1), "states = -1"),
    (problem(actions=10**9), "1000000000 actions"),
    (problem(horizon=10**10), "horizon = 10000000000"),
    (problem(horizon=2 * 10**9, transitions=[dict(stage=0, state=0, action=0, next=0, p=1)]), "2000000000 states of all stages"),
    (problem(transitions=[[0, 0, 10**9, 1.0]]), "transitions[0]"),
    ("[" * 1_000_000, "nested more than 16 deep"),
    ('{"a":' * 1_000_000, "nested more than 16 deep"),
    (problem(reward=[[[[[[[1]]]]]]]), "reward = a list of 1"),
    ('{"format": "' + "x" * 5_000_000 + '"}', "format = "),
    (problem(**{"k" * 5_000_000: 1}), "unknown key 'kkk"),
    (problem(signals={f"s{i}": 0 for i in range(100_000)}), "signals = an object of 100000"),
    ('{"format": 1e' + "9" * 1000 + "}", "number overflow"),
    ("\x00" * 1000, "line 1"),
], ids=range(16))
def test_json(tmp_path, text, named):
    path = tmp_path / "p.json"
    path.write_text(text)
    message = refusal("info", path)
    assert message.startswith(f"{path}: ") and named in message


@pytest.mark.parametrize("text, terms, named", [
    (HEADER + "1000000000,0,0,1,0\n", None, "1000000001 states"),
    (HEADER + "0,0,99999999999999999999,1,0\n", None, "idstateto = 99999999999999999999"),
    (HEADER + "0,4294967296,0,1,0\n", None, "idaction = 4294967296"),
    (HEADER + "0,0,0,1e999,0\n", None, "probability = 1e999"),
    (HEADER + "0,0,0,nan,0\n", None, "probability = nan"),
    ("step," + HEADER + "2000000000,0,0,0,1,0\n", None, "2000000001 states of all stages"),
    (HEADER + "0,0,0,1,0\n", TERMS % '"states": 1000000000', "1000000000 states"),
    (HEADER + '0,0,0,1,"' + "0" * 5_000_000, None, "a quote is never closed"),
    (HEADER + "0,0,0,1," + "9" * 5_000_000 + "\n", None, "reward = 999"),
    ("," * 1_000_000 + "\n", None, "columns"),
    (",".join(f"c{i}" for i in range(100_000)) + "\n", None, "columns"),
], ids=range(11))
def test_csv(tmp_path, text, terms, named):
    path = tmp_path / "p.csv"
    path.write_text(text)
    if terms:
        (tmp_path / "p.terms.json").write_text(terms)
    assert named in refusal("info", path)


def archive(members, packed=True):
    """A tar file; members are (name, content), or headers of which nothing follows."""
    out = io.BytesIO()
    for member in members:
        if isinstance(member, tarfile.TarInfo):
            out.write(member.tobuf(tarfile.GNU_FORMAT))
            continue
        name, content = member
        header = tarfile.TarInfo(name)
        header.size = len(content)
        out.write(header.tobuf(tarfile.PAX_FORMAT) + content + bytes(-len(content) % 512))
    out.write(bytes(1024))
    return gzip.compress(out.getvalue()) if packed else out.getvalue()


def header(name, **fields):
    result = tarfile.TarInfo(name)
    for key, value in fields.items():
        setattr(result, key, value)
    return result


def index(**counts):
    system = {"time": "discrete", "#players": 1, "#states": 1, "#initial-states": 1, "#choices": 1, "#choice-actions": 0,
              "#branches": 1, "branch-probability-type": {"type": "double"}}
    system |= {"#" + key.replace("_", "-"): value for key, value in counts.items()}
    text = json.dumps({"format-version": 1, "format-revision": 0, "transition-system": system})
    return ("index.json", text.encode())


ONE = ("branch-to-probability.bin", struct.pack("<d", 1.0))


@pytest.mark.parametrize("content, named", [
    (archive([("../../etc/passwd", b"x")]), "member '../../etc/passwd'"),
    (archive([("/etc/passwd", b"x")]), "member '/etc/passwd'"),
    (archive([("a/../../b", b"x")]), "member 'a/../../b'"),
    (archive([header("link", type=tarfile.SYMTYPE, linkname="/etc/passwd")]), "member 'link' is not a file"),
    (archive([header("link", type=tarfile.LNKTYPE, linkname="index.json")]), "member 'link' is not a file"),
    (archive([header("device", type=tarfile.CHRTYPE)]), "member 'device' is not a file"),
    (archive([index(), index()]), "member 'index.json' is given twice"),
    (archive([header("index.json", size=2**62)]), "member 'index.json' of 4611686018427387904 bytes"),
    (archive([header("index.json", size=10_000_000)], packed=False), "member 'index.json' ends after"),
    (archive([("index.json", bytes(300_000_000))]), "member 'index.json' of 300000000 bytes"),
    (archive([index(states=10**9)]), "branch-to-probability.bin is missing"),
    (archive([index(states=10**9), ONE]), "state-to-choices.bin is missing"),
    (archive([index(states=10**9, choices=10**9, branches=10**9), ONE]), "branch-to-probability.bin has 8 bytes"),
    (archive([index(states=10**9, choices=0, branches=0)]), "state-to-choices.bin is missing"),
    (archive([index(choice_actions=10**9), ONE, ("actions/choices/string-mapping.bin", bytes(8)),
              ("actions/choices/strings.bin", b"")]), "string-mapping.bin has 8 bytes, must have 8000000008"),
    (archive([index(branches=2**64)]), "#branches"),
    (archive([("index.json", b"[" * 1_000_000)]), "index.json: values are nested"),
    (gzip.compress(gzip.compress(archive([("index.json", bytes(300_000_000))]))), "index.json"),
    (b"\x1f\x8b" + bytes(1000), "tar archive"),
], ids=range(19))
def test_umb(tmp_path, content, named):
    path = tmp_path / "p.umb"
    path.write_bytes(content)
    message = refusal("info", path)
    assert message.startswith(f"{path}: ") and named in message


@pytest.mark.parametrize("id, named", [
    ("garnet(states=1000000000)", "states = 1000000000"),
    ("garnet(states=99999999999999999999)", "states = 99999999999999999999"),
    ("garnet(states=10000000,actions=10000)", "outcomes"),
    ("garnet(states=1000000,actions=10,successors=10)", "memory"),
    ("grid(width=100000,height=100000)", "grid"),
    ("river_swim(horizon=99999999999)", "horizon = 99999999999"),
    ("river_swim(" * 10_000, "environment id"),
    ("x" * 100_000, "environment"),
], ids=range(8))
def test_environment_ids(id, named):
    assert named in refusal("info", id)


def seal(path):
    """Ends the file as the program ends its own (src/io/solution/seal.cc): without it nothing is read at all."""
    content = path.read_bytes()
    total = 0x5851F42D4C957F2D
    for (word,) in struct.iter_unpack("<Q", content + bytes(-len(content) % 8)):
        total = (total ^ word) * 0x9E3779B97F4A7C15 % 2**64
        total = (total << 29 | total >> 35) % 2**64
    path.write_bytes(content + b"redoubt1" + struct.pack("<QQ", len(content), total))


def replace_summary(file, **changes):
    summary = json.loads(file["summary"][:].tobytes())
    summary["policy"] |= changes.pop("policy", {})
    replace(file, "summary", numpy.frombuffer(json.dumps(summary | changes).encode(), numpy.uint8))


def replace(file, name, values, **storage):
    del file[name]
    file.create_dataset(name, data=values, **storage)


def claim(file, name, size):
    """An array of any size that takes no room: nothing of it is ever written."""
    kind = file[name].dtype
    del file[name]
    file.create_dataset(name, shape=(size,), dtype=kind, chunks=(1024,))


def lies_elsewhere(file, name, external=None, virtual=None):
    """An array whose values are those of another file."""
    shape, kind = file[name].shape, file[name].dtype
    del file[name]
    if external:
        file.create_dataset(name, shape, kind, external=[(external, 0, h5py.h5f.UNLIMITED)])
    else:
        layout = h5py.VirtualLayout(shape, kind)
        layout[:] = h5py.VirtualSource(virtual, name, shape, kind)
        file.create_virtual_dataset(name, layout)


@pytest.mark.parametrize("change, named", [
    (lambda f: claim(f, "summary", 10**9), "summary has 1000000000 values"),
    (lambda f: claim(f, "policy/stages/memory", 10**12), "policy/stages/memory has 1000000000000 values"),
    (lambda f: claim(f, "policy/stages/mixed", 2**61), f"policy/stages/mixed has {2**61} values"),
    (lambda f: replace(f, "summary", numpy.full(10**6, ord("["), numpy.uint8)), "nested more than 16 deep"),
    (lambda f: replace(f, "summary", numpy.zeros(8 * 10**6, numpy.uint8), compression=9), "summary has 8000000 values"),
    (lambda f: replace_summary(f, trace_columns=10**9), "trace_columns = 1000000000"),
    (lambda f: replace_summary(f, policy={"states": 2**31 - 1}), "must have 2147483647"),
    (lambda f: replace(f, "policy/stages/memory", numpy.full(len(f["policy/stages/memory"]), 2**31 - 1, numpy.int32)),
     "must have 8589934588"),
    (lambda f: replace(f, "policy/stages/memory", numpy.zeros((1, 1), numpy.int32)), "policy/stages/memory has 2 dimensions"),
    (lambda f: lies_elsewhere(f, "summary", external="/etc/passwd"), "summary has its values in another file"),
    (lambda f: lies_elsewhere(f, "summary", virtual="other.h5"), "summary has its values in another file"),
    (lambda f: f.move("summary", "moved") or f.update({"summary": h5py.ExternalLink("other.h5", "summary")}), "summary is a link"),
    (lambda f: f.move("policy/stages", "moved") or f.update({"policy/stages": h5py.SoftLink("/policy")}),
     "policy/stages is a link"),
], ids=range(13))
def test_solutions(tmp_path, change, named):
    path = tmp_path / "s.h5"
    subprocess.run([PROGRAM, "solve", "--method", "rcvi", "fork", "-o", path], check=True, capture_output=True)
    path.write_bytes(path.read_bytes()[:-24])
    with h5py.File(path, "r+") as file:
        change(file)
    seal(path)
    message = refusal("evaluate", "fork", path)
    assert message.startswith(f"{path}: ") and named in message
