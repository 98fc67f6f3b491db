"""`redoubt` is the module of the distribution redoubt-mdp; the distribution called redoubt is another project."""

from pathlib import Path


def refuse_the_other_redoubt(package: str) -> None:
    """Raises ImportError where the other project's redoubt.py lies beside this package, whose folder hides it.

    Whichever of the two was meant, the importing program would otherwise fail later, at a name the other one has.
    """
    other = Path(package).with_name("redoubt.py")
    if other.exists():
        raise ImportError(
            f"two projects are installed under the name redoubt: redoubt-mdp ({package}) and redoubt ({other}), "
            "must be one; remove the other one (pip uninstall redoubt, or pip uninstall redoubt-mdp)"
        )
