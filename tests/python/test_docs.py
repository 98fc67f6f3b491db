"""The pages of docs/: every one has its place on the site, measurements say when, links lead somewhere."""

import re

import pytest

from program import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
READ = [*PAGES, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCED = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def anchors(page):
    """Those that headings make, as GitHub and MkDocs write them, and those that are written out."""
    text = page.read_text()
    made = {re.sub(r"[^\w\- ]", "", line.lower()).strip().replace(" ", "-")
            for line in re.findall(r"^#+ (.+)$", FENCED.sub(lambda block: block[0].strip("`"), text), re.MULTILINE)}  # fmt: skip
    return made | set(re.findall(r'<a id="([\w-]+)">', text))


def test_the_site_shows_every_page_once_by_purpose():
    nav = (ROOT / "mkdocs.yml").read_text().partition("nav:\n")[2].partition("validation:")[0]
    assert re.findall(r"^  - (\w+):$", nav, re.MULTILINE) == ["Guides", "Reference", "Explanation", "Measurements"]
    shown = re.findall(r"(\S+\.md)$", nav, re.MULTILINE)
    assert sorted(shown) == sorted(page.relative_to(DOCS).as_posix() for page in PAGES)
    measured = nav.partition("- Measurements:\n")[2]
    assert {page for page in shown if page.startswith("measurements/")} == set(re.findall(r"(\S+\.md)$", measured, re.MULTILINE))


@pytest.mark.parametrize("page", sorted(set((DOCS / "measurements").glob("*.md"))), ids=lambda page: page.stem)
def test_measurements_say_when(page):
    assert page.stem == "index" or re.search(r"\b20\d\d-\d\d-\d\d\b", page.read_text())


@pytest.mark.parametrize("page", READ, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for link in LINK.findall(FENCED.sub("", page.read_text())):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), link


GLOSSARY = (DOCS / "glossary.md").read_text()


def test_a_word_of_the_glossary_means_one_thing():
    words = re.findall(r"^\| (?:<a id=\"[\w-]+\"></a>)?([^|]+?) \| ", GLOSSARY, re.MULTILINE)
    words = [word for entry in words if entry != "word" for word in entry.split(", ")]
    assert len(words) >= 40 and len(set(words)) == len(words)


def test_nobody_uses_the_other_phrases():
    """Single words have other meanings, too; whole phrases that the glossary rules out have not."""
    others = [word.strip() for row in re.findall(r"^\|.*\| ([^|]*) \|$", GLOSSARY, re.MULTILINE) for word in row.split(",")]
    phrase = re.compile(r"\b(" + "|".join(re.escape(word) for word in others if re.fullmatch(r"[\w-]+ [\w-]+", word)) + r")s?\b")
    assert phrase.search("the remaining requirements")
    pages = [page for page in READ if page.name not in ("glossary.md", "CHANGELOG.md")]
    sources = [file for folder in ("include", "src", "apps", "python") for file in (ROOT / folder).rglob("*.*")]
    texts = [*pages, *(file for file in sources if file.suffix in {".h", ".cc", ".py"})]
    assert [(str(file.relative_to(ROOT)), found[0]) for file in texts if (found := phrase.search(file.read_text()))] == []
