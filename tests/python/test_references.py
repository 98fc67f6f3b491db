"""docs/references.md says where everything comes from, and every page that speaks of the paper says which one."""

import re

import pytest

from program import ROOT

PAGES = sorted((ROOT / "docs").rglob("*.md"))
REFERENCES = (ROOT / "docs" / "references.md").read_text()
NAMED = re.compile(r"\[Ganguly and Ghosh 2025\]\((\.\./)?references\.md#the-paper\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_that_speaks_of_the_paper_names_it_once(page):
    text = page.read_text()
    speaks = re.search(r"\bthe paper\b", text, re.IGNORECASE) and page.name != "references.md"
    assert len(NAMED.findall(text)) == (1 if speaks else 0)


def test_every_method_set_and_environment_has_an_origin():
    rd = pytest.importorskip("redoubt", reason="built without the Python module")
    methods = {name.replace("_", "-") for name in rd.methods()} - {"nominal"}
    environments = {environment.name for environment in rd.environments()}
    sets = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "uncertainty.md").read_text(), re.MULTILINE)) - {"none"}
    assert methods and environments and len(sets) >= 5
    origins = {*re.findall(r"`([\w-]+)`", "".join(re.findall(r"^\| (`.*?) \|", REFERENCES, re.MULTILINE)))}
    assert methods | environments | sets <= origins
    assert origins <= methods | environments | sets  # nothing that is gone


def test_the_citation_names_the_paper():
    citation = (ROOT / "CITATION.cff").read_text()
    title = re.search(r"^    title: (.+)$", citation, re.MULTILINE)[1]
    assert title == "Provably Efficient Sample Complexity for Robust CMDP" and f"*{title}*" in REFERENCES
