"""Builds the C++ tests for arm64 with Debian's cross compiler and runs them under qemu-user.

usage: python3 -m scripts.test.test_arm64 [arguments of ctest]

Needs the group release of scripts/install_deps.sh. Skips no test itself: a test that cannot work
under an emulator fails here, and docs/platforms.md lists it.
"""

import os
import pathlib
import subprocess
import sys

from scripts import environments
from scripts.release import old_glibc, release_tools, wheels

ARM64 = old_glibc.ARCHITECTURES["aarch64"]
BUILD = environments.BUILD / "arm64"
EMULATOR = f"qemu-aarch64-static;-L;/usr/{ARM64.triplet}"


def configure(source: pathlib.Path, build: pathlib.Path, env: dict[str, str], **values: str) -> None:
    values |= {"CMAKE_BUILD_TYPE": "Release", "CMAKE_SYSTEM_NAME": "Linux", "CMAKE_SYSTEM_PROCESSOR": ARM64.name}
    words = [f"-D{name}={value}" for name, value in values.items()]
    subprocess.run(["cmake", "-G", "Ninja", "-S", str(source), "-B", str(build), *words], check=True, env=env)


def make_googletest(env: dict[str, str]) -> pathlib.Path:
    prefix = release_tools.WHEELS / ARM64.name / "googletest"
    if not (prefix / "lib").exists():
        build = prefix.with_name("googletest-build")
        configure(pathlib.Path("/usr/src/googletest"), build, env, CMAKE_INSTALL_PREFIX=str(prefix))
        subprocess.run(["cmake", "--build", str(build), "--target", "install"], check=True, env=env)
    return prefix


def main() -> int:
    shop = wheels.workshop(ARM64)
    # The tests are linked with the glibc of the cross compiler, as any program of arm64.
    env = {key: value for key, value in shop.env.items() if key != "LDFLAGS"}
    libraries = {name: value for name, value in wheels.libraries(shop).items() if "PYTHON" not in name}
    configure(
        environments.ROOT, BUILD, env, **libraries,
        TIMELOOM_BUILD_TESTS="ON",
        CMAKE_CROSSCOMPILING_EMULATOR=EMULATOR,
        GTest_DIR=str(make_googletest(env) / "lib" / "cmake" / "GTest"),
    )  # fmt: skip
    subprocess.run(["cmake", "--build", str(BUILD)], check=True, env=env)
    tests = ["ctest", "--test-dir", str(BUILD), "--output-on-failure", "-j", str(os.cpu_count()), *sys.argv[1:]]
    return subprocess.run(tests).returncode


if __name__ == "__main__":
    sys.exit(main())
