"""Which bounds can be met, alone and together."""

import pytest
from program import run, run_json

RIVER = "river_swim(horizon=10,start=3)"


def test_info_says_which_bounds_can_be_met():
    info = run_json("info", RIVER)
    constraint = info["constraints"][0]
    assert constraint["best"] < 4 < constraint["worst"] and constraint["verdict"] == "can be met"
    assert info["rcvi"]["axes"] == [{"name": "cost", "step": pytest.approx(0.005), "exact": True}]
    low = run_json("info", RIVER, "--bound", f"cost<={constraint['best'] - .01}")
    assert low["constraints"][0]["verdict"] == "no policy meets it"
    high = run_json("info", RIVER, "--bound", f"cost<={constraint['worst'] + .01}")
    assert high["constraints"][0]["verdict"] == "every policy meets it"
    rounded = run_json("info", RIVER, "--budget-step", ".05")
    assert rounded["rcvi"]["axes"][0] == {"name": "cost", "step": pytest.approx(0.05), "exact": False}
    assert rounded["rcvi"]["bytes"] < info["rcvi"]["bytes"]


def test_info_says_whether_all_bounds_can_be_met_together():
    assert "together" not in run_json("info", RIVER)
    terms = (RIVER, "--set", "none", "--budget-step", ".1")  # under one kernel, any cost in between can be mixed
    cannot = run_json("info", *terms, "--bound", "cost<=1.5", "--bound", "cost>=1.6")
    assert [c["verdict"] for c in cannot["constraints"]] == ["can be met", "can be met"]
    assert cannot["together"] == "no policy meets them together"
    both = ("--bound", "cost<=1.6", "--bound", "cost>=1.5")
    assert run_json("info", *terms, *both)["together"] == "can be met together"
    assert "All constraints: can be met together" in run("info", *terms, *both).stdout
    never = run_json("info", *terms, "--bound", "cost<=0", "--bound", "cost<=9")
    assert never["together"] == "no policy meets them together"
    always = run_json("info", *terms, "--bound", "cost<=8", "--bound", "cost<=9")
    assert always["together"] == "every policy meets them together"
