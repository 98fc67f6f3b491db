"""What scripts/try_wheel runs where a wheel was installed: import, solve, prove, read and write every format.

The wheel brings what it needs: here is no compiler, no shell, and none of its libraries.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ID = "river_swim(horizon=10,start=3)"
CARRIED = re.compile(r"lib(hdf5|archive|fmt|lzma)")


def nothing_but_python():
    for tool in ("cc", "gcc", "g++", "clang", "ld", "sh"):
        assert not shutil.which(tool), tool
    for folder in ("/lib", "/lib64", "/usr"):
        found = [path for path in Path(folder).rglob("*") if CARRIED.match(path.name)]
        assert not found, found


def endings(write, path):
    """Those that a writer knows; it says so when asked for another one."""
    import redoubt as rd

    try:
        write(str(path / "x.unknown"))
    except rd.Error as error:
        return re.findall(r"\.\w+\b", str(error).partition("must be")[2])
    raise AssertionError("an unknown ending was accepted")


def program(*arguments):
    done = subprocess.run(["/venv/bin/redoubt", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def main(version):
    nothing_but_python()
    import redoubt as rd

    assert rd.__version__ == version
    assert program("--version").startswith(f"redoubt {version}\n")
    folder = Path("/tmp")
    problem = rd.make(ID)
    solution = rd.solve(problem, method="frontier")
    assert solution.status == "certified"

    stored = endings(lambda path: rd.save(problem, path), folder)
    for ending in stored:
        rd.save(problem, folder / f"from_python{ending}")
        program("convert", folder / f"from_python{ending}", folder / f"from_program{ending}")
        again = rd.solve(rd.load(folder / f"from_program{ending}"), method="frontier")
        assert again.reward.worst == solution.reward.worst, ending
    markov = rd.solve(problem, method="robust").policy  # one that every format can hold
    exported = endings(markov.export, folder)
    for ending in exported:
        markov.export(folder / f"policy{ending}")
        assert (folder / f"policy{ending}").stat().st_size > 0

    rd.save_solution(solution, folder / "from_python.h5")
    assert "agrees with this one" in program("verify", ID, folder / "from_python.h5")
    program("solve", ID, "--method", "frontier", "-o", folder / "from_program.h5")
    loaded = rd.load_solution(problem, folder / "from_program.h5")
    assert rd.verify(problem, loaded.policy).reward.worst == rd.verify(problem, solution.policy).reward.worst
    print(f"solved, proved; problems {' '.join(stored)}, solutions .h5, policies {' '.join(exported)}")


main(sys.argv[1])
