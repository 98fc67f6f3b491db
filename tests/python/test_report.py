"""The report page in a real browser: Chromium of Debian, driven by Playwright, without any network."""

import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import redoubt as rd
from program import ROOT, refused, run

pytest.importorskip("jinja2")
CHROMIUM = shutil.which("chromium")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
EVIL = "<script>alert(1)</script>"
# Screenshots are kept here, for people to look at.
ARTEFACTS = Path(os.environ.get("REDOUBT_SCREENSHOTS", ROOT / "build" / "screenshots"))


def evil_problem():
    """Names that want to be code."""
    P = np.array([[[0.8, 0.2], [1.0, 0.0]], [[0.1, 0.9], [0.7, 0.3]]])
    return rd.Problem(P, reward=[[1.0, 0.0], [3.0, 0.0]], signals={"<b>wear</b>": [[0.0, 0.0], [1.0, 0.2]]}, order="sas",
                      states=[EVIL, "'\"&amp;--></style>"], actions=["<img src=x onerror=alert(2)>", "rest"],
                      constraints=[rd.at_most("<b>wear</b>", 3.0)], uncertainty=rd.KL(0.05), horizon=10)  # fmt: skip


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    river = rd.make("river_swim(horizon=10,start=3)")
    grid = rd.make("grid(size=4,horizon=8)")
    made = {"river": rd.solve(river), "grid": rd.solve(grid), "evil": rd.solve(evil_problem())}
    for name, solution in made.items():
        places = np.argwhere(np.ones((4, 4))) if name == "grid" else None
        solution.report(folder / f"{name}.html", time_limit=1.5, coordinates=places)
    rd.compare(river, ["frontier", "rcvi"]).report(folder / "compared.html", time_limit=0)
    return folder


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, pages):
    """Opens a page; at the end there must have been no error, no dialogue and no request."""
    contexts, wrong = [], []

    def open_page(name, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith("file:") or wrong.append(request.url))
        page.goto((pages / f"{name}.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


def kept(page, name):
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png", full_page=True)


def test_the_slider_moves_the_bound(opened):
    page = opened("river")
    value = lambda field: page.locator(f".slider [data-of={field}]").inner_text()
    before = {field: value(field) for field in ("shown", "reward", "first", "command")}
    assert float(before["shown"]) == pytest.approx(4) and float(before["reward"]) == pytest.approx(0.9576, abs=2e-3)
    marker = page.locator("#chosen0")
    x = float(marker.get_attribute("cx"))
    page.locator("#slider0").focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    assert float(value("shown")) < 4 and float(value("reward")) < float(before["reward"])
    assert float(marker.get_attribute("cx")) < x
    assert f"--bounds {value('shown')[:4]}" in value("command")


def test_the_commands_of_the_page_work(opened, tmp_path):
    page = opened("river")
    page.locator("#slider0").focus()
    page.keyboard.press("Home")
    command = page.locator(".slider [data-of=command]").inner_text()
    bounds = re.search(r"--bounds (\S+)", command)[1]
    problem = rd.make("river_swim(horizon=10,start=3)")
    rd.save_solution(rd.solve(problem), tmp_path / "river.h5")
    from redoubt.__main__ import main

    arguments = ["policy", "river_swim(horizon=10,start=3)", str(tmp_path / "river.h5"), "--bounds", bounds]
    assert main([*arguments, "-o", str(tmp_path / "policy.json")]) == 0
    assert json.loads((tmp_path / "policy.json").read_text())["format"] == "redoubt-policy"
    assert main(["policy", *arguments[1:3], "--bounds", "1,2", "-o", str(tmp_path / "other.json")]) == 2
    assert not (tmp_path / "other.json").exists()


def test_step_by_step(opened):
    page = opened("river")
    page.locator("#step-now button").first.click()
    said = page.locator("#step-now").inner_text()
    assert "s3" in said and "right" in said and "promised reward" in said and "promised cost" in said
    for _ in range(10):
        page.locator("#step-now button").last.click()
    assert "The horizon is over." in page.locator("#step-now").inner_text()
    page.locator("#step-back").click()
    assert "The horizon is over." not in page.locator("#step-now").inner_text()
    page.locator("#step-start").click()
    assert "Where does the episode begin?" in page.locator("#step-now").inner_text()


def test_search_and_sort(opened):
    page = opened("river")
    cells = lambda column: page.locator(f"#decisions tbody td:nth-child({column})").all_inner_texts()
    every = page.locator("#found").inner_text()
    page.locator("#search").fill("s5")
    assert set(cells(2)) == {"s5"} and page.locator("#found").inner_text() != every
    page.locator("#search").fill("")
    button = page.locator("#decisions th button", has_text="promised cost")
    for order, sign in (("ascending", 1), ("descending", -1)):
        button.click()
        assert page.locator("#decisions th").nth(6).get_attribute("aria-sort") == order
        shown = [sign * float(cell) for cell in cells(7)]
        assert shown == sorted(shown)
    page.locator("#after").click()
    assert page.locator("#page-of").inner_text().startswith("page 2")


def test_by_keyboard_alone(opened):
    page = opened("river")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    assert {"slider0", "step-start", "search", "after", "SUMMARY"} <= reached
    page.locator("#step-now button").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.closest('#step-now') !== null")  # the next choice has the focus
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.get_attribute("open") is not None


def test_names_are_text(opened):
    page = opened("evil")
    assert EVIL in page.locator("#decisions").inner_text()
    assert page.locator("main script, main img, main b").count() == 0
    page.locator("#step-now button").first.click()
    assert EVIL in page.locator("#step-now").inner_text()
    assert "<img src=x onerror=alert(2)>" in page.locator("#policy").inner_text()
    assert "<b>wear</b>" in page.locator("#verdict").inner_text()


def test_a_map_where_states_have_places(opened):
    page = opened("grid")
    assert page.locator("#board .cell").count() == 16
    before = page.locator("#board").inner_html()
    page.locator("#map-stage").focus()
    page.keyboard.press("End")
    assert page.locator("#map-at").inner_text() == "7"
    assert page.locator("#board").inner_html() != before
    kept(page, "grid")


def test_methods_side_by_side(opened):
    page = opened("compared")
    table = page.locator("#methods table").inner_text()
    assert "frontier" in table and "rcvi" in table
    assert "For want of time" in page.locator("#radius").inner_text()


@pytest.mark.parametrize(("name", "options"), [
    ("light", {"viewport": {"width": 1100, "height": 800}}),
    ("dark", {"viewport": {"width": 1100, "height": 800}, "color_scheme": "dark"}),
    ("phone", {"viewport": {"width": 375, "height": 800}, "is_mobile": True, "has_touch": True}),
])  # fmt: skip
def test_it_fits(opened, name, options):
    page = opened("river", **options)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")  # nothing sticks out
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (name != "dark")
    assert page.locator("figure > svg").count() == page.locator("figure details table").count()  # every one has its numbers
    kept(page, f"river-{name}")
    page.emulate_media(media="print")
    assert not page.locator("#slider0").is_visible()


def test_small_and_without_addresses(pages):
    for path in pages.iterdir():
        text = path.read_text()
        assert len(text) < 1_000_000
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_a_solution_of_another_problem_is_refused(tmp_path):
    rd.save_solution(rd.solve(rd.make("river_swim(horizon=10,start=3)")), tmp_path / "river.h5")
    said = refused("report", "river_swim(horizon=10,start=3,radius=0.2)", tmp_path / "river.h5", "-o", tmp_path / "r.html")
    assert "must be a solution of it" in said
    assert "policy is for 6 states" in refused("report", "fork", tmp_path / "river.h5", "-o", tmp_path / "r.html")
    for output in ("r.pdf", "nowhere/r.html"):
        assert output.split("/")[-1] in refused("report", "river_swim(horizon=10,start=3)", tmp_path / "river.h5",
                                                "--time-limit", "0", "-o", tmp_path / output)  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["river.h5"]


def test_the_program_makes_the_page(tmp_path):
    run("solve", "river_swim(horizon=5,start=3)", "-o", tmp_path / "river.h5")
    done = run("report", "river_swim(horizon=5,start=3)", "river.h5", "-o", "r.html", "--time-limit", "0", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout == "Report written to r.html\n", done.stderr
    text = (tmp_path / "r.html").read_text()
    assert "redoubt report &#34;river_swim(horizon=5,start=3)&#34; river.h5 -o r.html" in text
    run("solve", "grid(size=3,horizon=4)", "-o", tmp_path / "grid.h5")
    done = run("report", "grid(size=3,horizon=4)", "grid.h5", "-o", "g.html", "--time-limit", "0", cwd=tmp_path)
    assert done.returncode == 0 and 'id="board"' in (tmp_path / "g.html").read_text()


def test_what_is_left_out_is_said(monkeypatch, tmp_path):
    from redoubt.report import _nodes

    monkeypatch.setattr(_nodes, "MOST_NODES", 20)
    rd.solve(rd.make("river_swim(horizon=10,start=3)")).report(tmp_path / "r.html", time_limit=0)
    assert re.search(r"20 decisions of \d+: those that episodes", (tmp_path / "r.html").read_text())


def test_other_answers_have_a_page_too(tmp_path):
    plain = rd.make("river_swim(horizon=4,start=3)")
    for problem, method in ((plain.replace(constraints=[]), "robust"), (plain, "rcvi"), (plain, "robust"),
                            (plain.replace(uncertainty=rd.Nominal()), "frontier"), (rd.make("machine_replacement"), "frontier"),
                            (plain.replace(constraints=[rd.at_most("cost", -1.0)]), "frontier"),
                            (plain.replace(uncertainty=rd.TV(0.05)), "frontier"),
                            (plain.replace(constraints=[rd.chance("cost", at_most=2, probability=0.5)]), "frontier")):  # fmt: skip
        solution = rd.solve(problem, method)
        solution.report(tmp_path / "r.html", time_limit=0)
        assert solution.status.capitalize() in (tmp_path / "r.html").read_text()


def test_explanations_and_notebooks():
    solution = rd.solve(evil_problem())
    said = solution.explain(0)
    assert str(said).startswith(f"{EVIL} at stage 0") and "promised reward" in str(said)
    assert EVIL not in said._repr_html_() and "&lt;script&gt;" in said._repr_html_()
    shown = solution._repr_html_()
    assert "<svg" in shown and EVIL not in shown and "<b>wear" not in shown
    assert "certified" in shown and "worth" in shown
