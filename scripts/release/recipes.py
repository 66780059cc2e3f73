"""Fills in the recipes of packaging/ for the sdist in build/dist, into build/recipes, and checks them as
far as tools on PyPI can: rattler-build renders conda-forge's recipe for each Python and architecture,
EasyBuild reads its easyconfig and finds the dependencies among its own; of Spack's the Python is read.

usage: python3 -m scripts.release.recipes
"""

import ast
import os
import pathlib
import shutil
import subprocess
import sys

from scripts import environments
from scripts.release import release_tools

SOURCE = environments.ROOT / "packaging"
RECIPES = environments.BUILD / "recipes"
# EasyBuild reads the file as `eb` does: unknown parameters and wrong types are errors; and each dependency has an
# easyconfig in EasyBuild's collection. This needs no module system, and root installs nothing here.
EASYBUILD = """
import sys
from easybuild.tools import modules
from easybuild.tools.options import set_up_configuration
place = sys.prefix + "/easybuild/easyconfigs"
set_up_configuration(args=["--robot-paths=" + place, "--allow-use-as-root-and-accept-consequences"], silent=True)
from easybuild.framework.easyconfig.easyconfig import EasyConfig, det_full_ec_version, robot_find_easyconfig
modules.get_modules_tool = lambda: None
parsed = EasyConfig(sys.argv[1], validate=False)
needed = {f"{one['name']} {det_full_ec_version(one)}": one for one in parsed.dependencies()}
missing = [name for name, one in needed.items() if not robot_find_easyconfig(one["name"], det_full_ec_version(one))]
if missing:
    sys.exit("EasyBuild has no easyconfig of " + ", ".join(missing))
print(f"{parsed['name']} {parsed['version']} with {len(needed)} dependencies, all of which EasyBuild has")
"""
# rattler-build reads the recipe and renders it for each Python.
RATTLER = """
import sys
from rattler_build import RenderConfig, Stage0Recipe, VariantConfig
from rattler_build.tool_config import PlatformConfig
compilers = {"c_compiler": ["gcc"], "cxx_compiler": ["gxx"], "c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"]}
variants = VariantConfig({"python": [f"3.{minor}.* *_cp3{minor}" for minor in range(11, 15)], **compilers})
for platform in ("linux-64", "linux-aarch64"):
    config = RenderConfig(platform=PlatformConfig(target_platform=platform))
    for one in Stage0Recipe.from_file(sys.argv[1]).render(variants, config):
        recipe = one.recipe.to_dict() if not callable(one.recipe) else one.recipe().to_dict()
        assert recipe["package"]["name"] == "timeloom" and len(recipe["source"][0]["sha256"]) == 64
        print(platform, recipe["package"]["version"], recipe["build"]["string"])
"""


def filled(version: str, sdist: pathlib.Path) -> list[pathlib.Path]:
    shutil.rmtree(RECIPES, ignore_errors=True)
    written = []
    for template in sorted(SOURCE.rglob("*.in")):
        place = RECIPES / template.relative_to(SOURCE).with_suffix("")
        # The name of an easyconfig includes the version.
        place = place.with_name(place.name.replace("timeloom-gfbf", f"timeloom-{version}-gfbf"))
        place.parent.mkdir(parents=True, exist_ok=True)
        text = template.read_text().replace("@VERSION@", version)
        place.write_text(text.replace("@SHA256@", release_tools.sha256(sdist)))
        written.append(place)
    return written


def check(recipe: pathlib.Path) -> None:
    """SystemExit if a tool does not accept its recipe."""
    if recipe.suffix == ".py":
        ast.parse(recipe.read_text())
        print(f"{recipe.name}: Python that can be read; Spack is not on PyPI")
        return
    script = EASYBUILD if recipe.suffix == ".eb" else RATTLER
    python = release_tools.made_environment(environments.BUILD / "venv-recipes", SOURCE / "requirements.txt")
    # EasyBuild searches for the program eb.
    env = {**os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([str(python), "-c", script, str(recipe)], capture_output=True, text=True, env=env)
    if done.returncode != 0:
        sys.exit(f"{recipe}: {done.stderr}")
    for line in done.stdout.splitlines():
        if not line.startswith("== "):  # EasyBuild's messages about itself
            print(f"{recipe.name}: {line}")


def main() -> int:
    version = release_tools.version()
    for recipe in filled(version, release_tools.DIST / f"timeloom-{version}.tar.gz"):
        check(recipe)
    return 0


if __name__ == "__main__":
    sys.exit(main())
