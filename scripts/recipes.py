#!/usr/bin/env python3
"""Fills in the recipes of packaging/ for the sdist in build/dist, into build/recipes, and checks them as
far as tools on PyPI do: the YAML of conda-forge, the Python of Spack, the easyconfig of EasyBuild.

usage: scripts/recipes.py
"""

import ast
import pathlib
import shutil
import subprocess
import sys

import environments
import release_tools

SOURCE = environments.ROOT / "packaging"
RECIPES = environments.BUILD / "recipes"
# EasyBuild reads the file as `eb` does: unknown parameters and wrong types are errors.
EASYBUILD = """
import sys
from easybuild.tools.options import set_up_configuration
set_up_configuration(args=[], silent=True)
from easybuild.framework.easyconfig.easyconfig import EasyConfig
parsed = EasyConfig(sys.argv[1], validate=False)
print(parsed["name"], parsed["version"], len(parsed.dependencies()), "dependencies")
"""
YAML = """
import sys, yaml
recipe = yaml.safe_load(open(sys.argv[1]))
assert set(recipe) == {"schema_version", "context", "package", "source", "build", "requirements", "tests", "about"}
assert len(recipe["source"]["sha256"]) == 64
print(recipe["package"]["name"], recipe["context"]["version"], len(recipe["requirements"]["host"]), "packages")
"""


def filled(version: str, sdist: pathlib.Path) -> list[pathlib.Path]:
    shutil.rmtree(RECIPES, ignore_errors=True)
    written = []
    for template in sorted(SOURCE.rglob("*.in")):
        place = RECIPES / template.relative_to(SOURCE).with_suffix("")
        # The name of an easyconfig has the version in it.
        place = place.with_name(place.name.replace("timeloom-gfbf", f"timeloom-{version}-gfbf"))
        place.parent.mkdir(parents=True, exist_ok=True)
        text = template.read_text().replace("@VERSION@", version)
        place.write_text(text.replace("@SHA256@", release_tools.sha256(sdist)))
        written.append(place)
    return written


def check(recipe: pathlib.Path) -> None:
    """SystemExit if one is not as its tool takes it."""
    if recipe.suffix == ".py":
        ast.parse(recipe.read_text())
        print(f"{recipe.name}: Python that can be read; Spack is not on PyPI")
        return
    script = EASYBUILD if recipe.suffix == ".eb" else YAML
    python = release_tools.made_environment(environments.BUILD / "venv-recipes", SOURCE / "requirements.txt")
    done = subprocess.run([str(python), "-c", script, str(recipe)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{recipe}: {done.stderr}")
    print(f"{recipe.name}: {done.stdout.strip()}")


def main() -> int:
    version = release_tools.version()
    for recipe in filled(version, release_tools.DIST / f"timeloom-{version}.tar.gz"):
        check(recipe)
    return 0


if __name__ == "__main__":
    sys.exit(main())
