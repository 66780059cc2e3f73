"""Makes all parts of a release: wheels, the sdist, checksums, the list of components. Into build/dist.

usage: python3 -m scripts.release.release [--only 3.X[,3.Y]] [--arch x86_64[,aarch64]]

Starts with an empty build/dist, and ends with a list of its files. Fails if a wheel that can be made
was not, or if PyPI would not accept the names, versions or texts of the package.
docs/releasing.md describes the steps before and after.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tarfile
from typing import Any

from scripts import environments, pythons
from scripts.release import bundled, old_glibc, release_tools

# The tool that writes the list in CycloneDX format and checks it; runs in the environment of the tools.
SBOM = """
import json, sys
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.factory.license import LicenseFactory
from cyclonedx.output.json import JsonV1Dot5
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

def component(facts, kind):
    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=facts["sha256"])] if facts.get("sha256") else []
    link = ExternalReferenceType.DISTRIBUTION
    links = [ExternalReference(type=link, url=XsUri(facts["url"]))] if facts.get("url") else []
    return Component(name=facts["name"], version=facts["version"], type=kind, hashes=hashes,
                     external_references=links, licenses=[LicenseFactory().make_from_string(facts["licence"])])

facts = json.load(sys.stdin)
bom = Bom()
bom.metadata.component = component(facts["program"], ComponentType.APPLICATION)
parts = [component(part, ComponentType.LIBRARY) for part in facts["parts"]]
bom.components.update(parts)
bom.register_dependency(bom.metadata.component, parts)
text = JsonV1Dot5(bom).output_as_string(indent=2)
problem = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
if problem:
    sys.exit(f"the list of parts is not valid: {problem}")
print(text)
"""


def version_of_package(name: str) -> str:
    """The upstream version of a Debian package of this machine."""
    command = ["dpkg-query", "-W", "-f", "${source:Upstream-Version}", name]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def parts() -> list[dict[str, Any]]:
    """The parts of the wheels besides Timeloom."""
    listed: list[dict[str, Any]] = [
        {
            "name": library.name,
            "version": library.version,
            "licence": library.licence,
            "sha256": library.sha256,
            "url": f"http://deb.debian.org/debian/{library.place}",
        }
        for library in bundled.LIBRARIES
    ]
    for headers in bundled.HEADERS:
        package = version_of_package(headers.package)
        listed.append({"name": headers.name, "version": package, "licence": headers.licence})
    return listed


def write_sbom() -> None:
    version = release_tools.version()
    program = {"name": "timeloom", "version": version, "licence": "BSD-3-Clause"}
    made = subprocess.run(
        [str(release_tools.tools()), "-c", SBOM],
        input=json.dumps({"program": program, "parts": parts()}), text=True, check=True, capture_output=True,
    )  # fmt: skip
    (release_tools.DIST / f"timeloom-{version}.cdx.json").write_text(made.stdout)


def write_sums() -> None:
    files = sorted(path for path in release_tools.DIST.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{release_tools.sha256(path)}  {path.name}\n" for path in files]
    (release_tools.DIST / "SHA256SUMS").write_text("".join(lines))


def make_sdist() -> None:
    """Includes the source of OTF2, which is built where the library is missing; git does not contain it. Made from a
    copy of the tree, because the tool reads everything in it, including the systems below build/chroots."""
    tree = release_tools.copy_of_tree(release_tools.WHEELS / "tree")
    (otf2,) = (library for library in bundled.LIBRARIES if library.name == "otf2")
    source = release_tools.download(otf2.place, otf2.sha256)
    shutil.copy(source, tree / "packaging" / "otf2")
    tool("build", "--sdist", "--no-isolation", "--outdir", str(release_tools.DIST), str(tree))
    (made,) = release_tools.DIST.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        name = f"timeloom-{release_tools.version()}/packaging/otf2/{source.name}"
        if name not in archive.getnames():
            sys.exit(f"release: {made.name} lacks {name}")


def tool(*words: str) -> None:
    command = [str(release_tools.tools()), "-m", *words]
    subprocess.run(command, check=True, cwd=environments.ROOT, env=release_tools.environment())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = ",".join(pythons.SUPPORTED + pythons.FREE_THREADED)
    parser.add_argument("--only", default=every, help="versions, separated by commas")
    parser.add_argument("--arch", default=",".join(old_glibc.ARCHITECTURES), help="architectures, separated by commas")
    arguments = parser.parse_args()
    shutil.rmtree(release_tools.DIST, ignore_errors=True)
    release_tools.DIST.mkdir(parents=True)
    wheels = [sys.executable, "-m", "scripts.release.wheels", f"--only={arguments.only}", f"--arch={arguments.arch}"]
    made = subprocess.run(wheels, cwd=environments.ROOT)
    make_sdist()
    packages = [str(path) for path in sorted(release_tools.DIST.iterdir())]
    tool("twine", "check", "--strict", *packages)
    subprocess.run([sys.executable, "-m", "scripts.release.recipes"], check=True, cwd=environments.ROOT)
    write_sbom()
    write_sums()
    release_tools.say("build/dist")
    print((release_tools.DIST / "SHA256SUMS").read_text(), end="")
    return made.returncode


if __name__ == "__main__":
    sys.exit(main())
