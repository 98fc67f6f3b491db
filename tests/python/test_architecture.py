"""The dependency table of the architecture, and the size of files, over what is really there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"

# Layer -> the layers of src/ that it may include, besides itself.
MAY_INCLUDE = {
    "support": set(),
    "numerics": set(),
    "model": {"support"},
    "sets": {"support", "numerics", "model"},
    "parallel": {"support", "model"},
    "bellman": {"support", "numerics", "model", "sets", "parallel"},
    "policy": {"support", "numerics", "model", "parallel", "bellman"},
    "chance": {"support", "model", "parallel", "bellman", "policy"},
    "evaluation": {"support", "numerics", "model", "sets", "parallel", "bellman", "policy", "chance"},
    "runtime": {"support", "numerics", "model", "parallel", "bellman", "policy", "evaluation", "solvers"},
    "solvers": {"support", "numerics", "model", "sets", "parallel", "bellman", "policy", "chance", "evaluation"},
    "sampling": {"support", "numerics", "model", "parallel", "bellman", "policy", "evaluation", "solvers"},
    "abstraction": {"support", "model"},
    "environments": {"support", "numerics", "model"},
    "io": {"support", "model", "parallel", "policy", "evaluation"},
}
# Layer -> the public headers that it implements: including one of them is including the layer.
PUBLIC_HEADERS = {
    "support": {"error", "advanced/file"},
    "numerics": {"choice"},
    "model": {"execution", "explore", "goal", "model", "objective", "problem", "advanced/merged_states", "advanced/ranks", "reorder", "uncertainty"},
    "sets": {"worst_case"},
    "policy": {"advanced/checkpoint", "given_policy", "policy", "advanced/stage_store"},
    "chance": {"chance"},
    "evaluation": {"evaluate", "advanced/explain", "induced_model", "simulate", "solution", "verify", "worst_kernel"},
    "runtime": {"controller", "deployed", "shield"},
    "solvers": {"compare", "frontier", "gradient", "solve"},
    "sampling": {"estimate", "learn", "samples", "simulator"},
    "abstraction": {"advanced/abstraction", "advanced/product_rows"},
    "environments": {"environments"},
    "io": {"io", "advanced/io"},
}
PUBLIC_OWNER = {header: layer for layer, headers in PUBLIC_HEADERS.items() for header in headers}
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^">]+)[">]', re.MULTILINE)


def sources(*folders):
    found = [f for folder in folders for f in sorted((ROOT / folder).rglob("*")) if f.suffix in {".cc", ".h"}]
    assert found
    return found


def included_layers(file):
    for header in INCLUDE.findall(file.read_text()):
        first, _, rest = header.partition("/")
        if first == "redoubt":
            name = rest.removesuffix(".h")
            assert name in PUBLIC_OWNER, f"{file}: public header {header} has no layer in this test"
            yield header, PUBLIC_OWNER[name]
        elif rest and (SRC / first).is_dir():
            yield header, first


def test_every_folder_of_the_library_is_a_layer():
    assert {folder.name for folder in SRC.iterdir() if folder.is_dir()} <= set(MAY_INCLUDE)


@pytest.mark.parametrize("layer", sorted(folder.name for folder in SRC.iterdir() if folder.is_dir()))
def test_dependencies_point_one_way(layer):
    wrong = [
        f"{file.relative_to(ROOT)} includes {header}"
        for file in sources(f"src/{layer}")
        for header, owner in included_layers(file)
        if owner != layer and owner not in MAY_INCLUDE[layer]
    ]
    assert wrong == []


def test_one_header_includes_them_all():
    public = {f"redoubt/{file.name}" for file in (ROOT / "include/redoubt").glob("*.h")} - {"redoubt/redoubt.h"}
    assert set(INCLUDE.findall((ROOT / "include/redoubt/redoubt.h").read_text())) == public


def test_stable_headers_stand_without_the_advanced_ones():
    wrong = [
        f"{file.name} includes {header}"
        for file in (ROOT / "include/redoubt").glob("*.h")
        for header in INCLUDE.findall(file.read_text())
        if header.startswith("redoubt/advanced/")
    ]
    assert wrong == []


def test_the_program_uses_public_headers_only():
    wrong = [
        f"{file.relative_to(ROOT)} includes {header}"
        for file in sources("apps")
        for header, _ in included_layers(file)
        if not header.startswith("redoubt/")
    ]
    assert wrong == []


def test_files_fit_a_reader():
    long = {
        str(file.relative_to(ROOT)): lines
        for file in sources("src", "apps", "include")
        if (lines := len(file.read_text().splitlines())) > 400
    }
    assert long == {}


def functions(file):
    """(name, lines) of each function body: what stands between a line that opens a brace after a ')' and its end."""
    lines = [re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'|//.*', "", line) for line in file.read_text().splitlines()]
    opening = re.compile(r"^(\s*)(?!\s|else|if|for|while|switch|do|try|catch|return|case)[^=;]*?([\w:~]+|operator\S+)\(.*")
    start = None
    for number, line in enumerate(lines):
        if start is None and (match := opening.match(line)):
            signature, end = line, number
            while not re.search(r"[;{}]\s*$", signature) and end + 1 < len(lines):
                end += 1
                signature += lines[end]
            if signature.rstrip().endswith("{"):
                start, indent, name = number, match[1], match[2]
        elif start is not None and line.startswith(indent + "}"):
            yield name, number - start + 1
            start = None


def test_functions_fit_a_screen():
    long = {
        f"{file.relative_to(ROOT)}: {name}": lines
        for file in sources("src", "apps", "include", "mpi")
        for name, lines in functions(file)
        if lines > 60
    }
    assert long == {}


def test_the_length_of_functions_is_seen(tmp_path):
    file = tmp_path / "long.cc"
    file.write_text("namespace a {\nint f(int x,\n      int y) {\n" + "  if (x) {\n  }\n" * 30 + "}\nint g();\n}\n")
    assert list(functions(file)) == [("f", 63)]


def test_internal_names_are_internal():
    opened = re.compile(r"^(?:inline )?namespace (redoubt[\w:]*) \{", re.MULTILINE)
    wrong = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in sources("src")
        if file.suffix == ".h"
        for name in opened.findall(file.read_text())
        if not name.startswith("redoubt::internal")
    ]
    assert wrong == []
    assert [str(file.relative_to(ROOT)) for file in sources("include") if "internal" in file.read_text()] == []


PAGE = (ROOT / "docs/architecture.md").read_text()


def test_the_page_has_the_table_of_layers():
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", PAGE, re.MULTILINE)
    assert {layer: set(re.findall(r"`(\w+)`", others)) for layer, others in rows} == MAY_INCLUDE


def test_every_file_on_the_page_is_there():
    named = set(re.findall(r"`((?:src|apps|include|python|mpi|tests)/[\w./]+)`", PAGE))
    assert len(named) > 30
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_the_walks_of_the_page_are_short():
    rcvi, frontier = re.findall(r"^## From a file to an answer by (.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
    file = re.compile(r"`((?:src|apps)/[\w./]+\.cc)`")
    shared = {name for row in re.findall(r"^\| [1-7] \|.*$", rcvi, re.MULTILINE) for name in file.findall(row)}
    assert shared and len(set(file.findall(rcvi))) <= 20 and len(shared.union(file.findall(frontier))) <= 20


def test_no_two_types_of_one_namespace_share_a_name():
    """A linker takes one of two inline functions of the same name for both."""
    defined = {}
    for file in sources("include", "src"):
        namespace = re.search(r"^namespace (redoubt\S*) {", file.read_text(), re.MULTILINE)
        for name in re.findall(r"^(?:struct|class|enum class|union) (\w+)[^;()]*{", file.read_text(), re.MULTILINE):
            if file.suffix == ".h" and namespace:
                defined.setdefault((namespace[1], name), []).append(str(file.relative_to(ROOT)))
    assert len(defined) > 300
    assert not {key: files for key, files in defined.items() if len(files) > 1}
