"""What is in the file of a solution; tests share it."""

import json

import h5py
import numpy as np


def contents(path):
    """What a file of a solution says, times apart."""
    with h5py.File(path) as file:
        found = {}
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    found.pop("trace/seconds", None)
    summary = json.loads(found.pop("summary").tobytes())
    del summary["seconds"]
    return summary, found


def same_solution(a, b):
    (summary_a, arrays_a), (summary_b, arrays_b) = contents(a), contents(b)
    assert summary_a == summary_b
    assert arrays_a.keys() == arrays_b.keys()
    for name, values in arrays_a.items():
        assert np.array_equal(values, arrays_b[name]), name
