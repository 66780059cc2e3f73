"""scripts/check/check_layers.py on made-up trees: each rule reports violations, and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest
from scripts.check.check_layers import Tree, find_cycle
from scripts.check.layers import table

pytestmark = pytest.mark.any_python

ROOT = Path(__file__).resolve().parents[3]

CORE = "timeloom_library(core SOURCES a.cpp USES os)"
OS = "timeloom_library(os SOURCES a.cpp)"
SPOOL = "timeloom_library(spool SOURCES a.cpp USES core os)"


def violations(directory: Path, files: dict[str, str]) -> list[str]:
    (directory / "src").mkdir()
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [str(violation) for violation in Tree(directory).check()]


def test_the_table_has_no_cycle():
    graph = {}
    for folder, used in table.ALLOWED.items():
        graph[folder] = {name for other in used for name in ([other] if other != "formats" else
                         [row for row in table.ALLOWED if row.startswith("formats/")])}  # fmt: skip
    assert find_cycle(graph) == []


def test_a_tree_that_keeps_the_rules_passes(tmp_path):
    files = {
        "src/os/CMakeLists.txt": OS,
        "src/core/CMakeLists.txt": CORE,
        "src/spool/CMakeLists.txt": SPOOL,
        "src/python/CMakeLists.txt": (
            "Python_add_library(timeloom_python_core MODULE a.cpp)\n"
            "target_link_libraries(timeloom_python_core PRIVATE timeloom_options timeloom_core)"
        ),
        "src/formats/otf2/CMakeLists.txt": (
            "add_library(timeloom_otf2_library INTERFACE)\n"
            "timeloom_library(otf2 SOURCES a.cpp USES core LINKS timeloom_otf2_library)"
        ),
        "src/weave/CMakeLists.txt": "timeloom_library(weave SOURCES a.cpp USES spool otf2 core)",
        "src/os/clock.hpp": "#if defined(__linux__)\n#endif\n",
        "src/core/a.cpp": '#include "core/ids.hpp"\n#include "os/clock.hpp"\n#include <vector>\n',
        "src/core/ids.hpp": "// #include <Python.h>\n#if __cplusplus > 1  // not __linux__\n#endif\n",
        "src/spool/a.cpp": '#include "core/ids.hpp"\n#include "os/clock.hpp"\n',
        "src/formats/otf2/read/reader.cpp": '#include <otf2/otf2.h>\n#include "formats/otf2/writer.hpp"\n',
        "src/formats/otf2/writer.hpp": '#include "core/ids.hpp"\n',
        "src/python/interpreter/compat.hpp": "#include <Python.h>\n#if PY_VERSION_HEX > 0x030c0000\n#endif\n",
        "src/python/interpreter/compat_frame.hpp": "#if PY_VERSION_HEX > 0x030c0000\n#endif\n",
        "src/python/a.cpp": '#include "core/ids.hpp"\n#include "python/compat.hpp"\n',
        "src/preload/mpi.cpp": "#include <mpi.h>\n",
        "src/weave/mpi_gather.cpp": "#include <mpi.h>\n",
        "src/weave/a.cpp": '#include "formats/otf2/writer.hpp"\n#include "spool/a.hpp"\n',
        "tests/unit/weave/a_test.cpp": '#include "record/a.hpp"\n',
        "tests/unit/spool/a_test.cpp": '#include "spool/a.hpp"\n#include "os/clock.hpp"\n',
        "python/timeloom/a.py": "from timeloom import _core\nfrom . import b\nimport os\n",
        "python/doors/scorep/a.py": "import timeloom\n",
    }
    assert violations(tmp_path, files) == []


RULES = {
    "an include upwards": (
        {"src/core/a.cpp": '// first line\n#include "record/a.hpp"\n'},
        "src/core/a.cpp:2: src/core may not include src/record (allowed: os)",
    ),
    "a header with space before its name": (
        {"src/core/a.hpp": ' #  include  "profile/a.hpp"\n'},
        "src/core/a.hpp:1: src/core may not include src/profile (allowed: os)",
    ),
        "an include between formats": (
        {"src/formats/chrome/a.cpp": '#include "formats/otf2/a.hpp"\n'},
        "src/formats/chrome/a.cpp:1: src/formats/chrome may not include src/formats/otf2 (allowed: exchange, profile, core)",
    ),
    "tools that touch record": (
        {"src/tools/a.cpp": '#include "record/a.hpp"\n'},
        "src/tools/a.cpp:1: src/tools may not include src/record (allowed: weave, view, exchange, formats, profile, settings, run, core, os)",
    ),
    "python that reads spools": (
        {"src/python/a.cpp": '#include "spool/reader.hpp"\n'},
        "src/python/a.cpp:1: src/python may not include src/spool (allowed: sample, record, settings, run, core, os)",
    ),
    "a name that came by another header": (
        {"src/profile/a.cpp": "// os::now()\nauto text = \"os::now\";\nauto now = os::now();\n"},
        "src/profile/a.cpp:3: src/profile may not use names of src/os (allowed: core)",
    ),
    "settings of another door": (
        {"src/doors/scorep/launch/a.cpp": '#include "doors/omnitrace/settings/a.hpp"\n'},
        "src/doors/scorep/launch/a.cpp:1: src/doors/scorep/launch may not include src/doors/omnitrace/settings "
        "(allowed: python, sample, record, settings, run, core, os, doors/scorep/settings)",
    ),
    "a layer of a door that nobody knows": (
        {"src/doors/scorep/other/a.cpp": ""},
        "src/doors/scorep/other:1: src/doors/scorep/other is not in the table of layers",
    ),
    "a door in the rest of the house": (
        {"src/tools/a.cpp": '#include "doors/scorep/settings/a.hpp"\n'},
        "src/tools/a.cpp:1: src/tools may not include src/doors/scorep/settings (allowed: weave, view, exchange, "
        "formats, profile, settings, run, core, os)",
    ),
    "a header named from beside it": (
        {"src/core/a.cpp": '#include "b.hpp"\n', "src/core/b.hpp": ""},
        'src/core/a.cpp:1: "b.hpp" is to be written from src/: "core/b.hpp"',
    ),
    "two headers of one name": (
        {"src/core/a.hpp": "", "src/os/a.hpp": ""},
        "src/os/a.hpp:1: a.hpp is the name of src/core/a.hpp, too",
    ),
    "a header that leaves a header of the standard library to others": (
        {"src/core/a.hpp": "#include <span>\n// std::map\nstd::span<int> a();\nstd::vector<int> b();\n"},
        "src/core/a.hpp:4: uses std::vector and does not include <vector>",
    ),
    "a folder in which nobody finds anything": (
        {f"src/core/a{number}.cpp": "" for number in range(41)},
        "src/core:1: has 41 files beside each other; more than 40 want folders",
    ),
    "a folder of tests in which nobody finds anything": (
        {f"tests/python/view/test_a{number}.py": "" for number in range(41)},
        "tests/python/view:1: has 41 files beside each other; more than 40 want folders",
    ),
    "a folder nobody knows": (
        {"src/utils/a.cpp": ""},
        "src/utils:1: src/utils is not in the table of layers",
    ),
    "Python.h in record": (
        {"src/record/a.cpp": "#include <Python.h>\n"},
        "src/record/a.cpp:1: CPython's header <Python.h> may be included only in src/python and src/doors/*/launch",
    ),
    "a header of CPython's inside in a test": (
        {"tests/unit/core/a.cpp": "#include <internal/pycore_frame.h>\n"},
        "tests/unit/core/a.cpp:1: CPython's header <internal/pycore_frame.h> may be included only in src/python and src/doors/*/launch",
    ),
    "OTF2 in weave": (
        {"src/weave/a.cpp": "#include <otf2/otf2.h>\n"},
        "src/weave/a.cpp:1: OTF2's header <otf2/otf2.h> may be included only in src/formats/otf2",
    ),
    "MPI in a part of weave that is not for MPI": (
        {"src/weave/clock.cpp": "#include <mpi.h>\n"},
        "src/weave/clock.cpp:1: MPI's header <mpi.h> may be included only in src/preload and src/weave/mpi*",
    ),
    "a version outside the compat header": (
        {"src/python/observe/hooks/frame.cpp": "#if PY_VERSION_HEX >= 0x030c0000\n#endif\n"},
        "src/python/observe/hooks/frame.cpp:1: #if on the version of CPython (PY_VERSION_HEX) belongs in src/python/interpreter/compat*",
    ),
    "a version on the second line of a condition": (
        {"src/python/observe/hooks/frame.cpp": "\n#if defined(X) && \\\n    PY_MINOR_VERSION > 11\n#endif\n"},
        "src/python/observe/hooks/frame.cpp:2: #if on the version of CPython (PY_MINOR_VERSION) belongs in src/python/interpreter/compat*",
    ),
    "a platform outside os": (
        {"src/record/a.hpp": "#ifdef X\n#elif defined(__aarch64__)\n#endif\n"},
        "src/record/a.hpp:2: #if on the platform (__aarch64__) belongs in src/os",
    ),
    "a platform after ifdef": (
        {"src/core/a.hpp": "#ifdef _WIN32\n#endif\n"},
        "src/core/a.hpp:1: #if on the platform (_WIN32) belongs in src/os",
    ),
    "the public header that shows the inside": (
        {"include/timeloom/timeloom.h": '#include "core/ids.hpp"\n'},
        "include/timeloom/timeloom.h:1: include/ is public and may not include src/core",
    ),
    "a test of record that needs weave": (
        {"tests/unit/record/a_test.cpp": '#include "weave/run.hpp"\n'},
        "tests/unit/record/a_test.cpp:1: tests of src/record may not include src/weave "
        "(allowed: record, spool, symbols, core, os)",
    ),
    "USES upwards": (
        {
            "src/os/CMakeLists.txt": "timeloom_library(os SOURCES a.cpp\n  USES core)",
            "src/core/CMakeLists.txt": "timeloom_library(core SOURCES a.cpp)",
        },
        "src/os/CMakeLists.txt:2: src/os may not use src/core (allowed: nothing)",
    ),
    "record that uses OTF2": (
        {
            "src/record/CMakeLists.txt": "timeloom_library(record SOURCES a.cpp USES otf2)",
            "src/formats/otf2/CMakeLists.txt": "timeloom_library(otf2 SOURCES a.cpp)",
        },
        "src/record/CMakeLists.txt:1: src/record may not use src/formats/otf2 (allowed: spool, symbols, core, os)",
    ),
    "record that links the OTF2 library": (
        {"src/record/CMakeLists.txt": "timeloom_library(record SOURCES a.cpp\n LINKS ${OTF2_LIBRARY})"},
        "src/record/CMakeLists.txt:2: src/record must build without ${OTF2_LIBRARY}",
    ),
    "an extension that links weave": (
        {
            "src/python/CMakeLists.txt": "target_link_libraries(x PRIVATE\n timeloom_weave)",
            "src/weave/CMakeLists.txt": "timeloom_library(weave SOURCES a.cpp)",
        },
        "src/python/CMakeLists.txt:2: src/python may not use src/weave (allowed: sample, record, settings, run, core, os)",
    ),
    "USES of a target that is none": (
        {"src/tools/CMakeLists.txt": "timeloom_library(tools SOURCES a.cpp USES formats_otf2)"},
        "src/tools/CMakeLists.txt:1: uses timeloom_formats_otf2, but no folder of src has that name",
    ),
    "an include that USES does not name": (
        {
            "src/core/CMakeLists.txt": "timeloom_library(core SOURCES a.cpp)",
            "src/core/a.cpp": '#include "os/clock.hpp"\n',
        },
        "src/core/a.cpp:1: src/core/CMakeLists.txt does not name src/os in USES",
    ),
    "the package that imports a door": (
        {"python/timeloom/a.py": "def f():\n    from scorep import user\n"},
        "python/timeloom/a.py:2: python/timeloom may not import scorep (allowed: none of our other packages)",
    ),
    "the package that imports the kernel by its name": (
        {"python/timeloom/a.py": "import importlib\nimportlib.import_module('timeloom_kernel.x')\n"},
        "python/timeloom/a.py:2: python/timeloom may not import timeloom_kernel "
        "(allowed: none of our other packages)",
    ),
    "a stub that imports a door": (
        {"python/timeloom/a.pyi": "import omnitrace\n"},
        "python/timeloom/a.pyi:1: python/timeloom may not import omnitrace (allowed: none of our other packages)",
    ),
    "a door that imports another": (
        {"python/doors/scorep/a.py": "import omnitrace.user\n"},
        "python/doors/scorep/a.py:1: python/doors/scorep may not import omnitrace (allowed: timeloom)",
    ),
    "a module that is not Python": (
        {"python/timeloom/a.py": "def\n"},
        "python/timeloom/a.py:1: is not Python: invalid syntax",
    ),
}


@pytest.mark.parametrize("files, expected", RULES.values(), ids=RULES.keys())
def test_each_rule_fires(tmp_path, files, expected):
    assert violations(tmp_path, files) == [expected]


def test_a_circle_is_shown(tmp_path):
    found = violations(
        tmp_path,
        {"src/core/a.hpp": '#include "spool/b.hpp"\n', "src/spool/b.hpp": '#include "core/a.hpp"\n'},
    )
    assert found == [
        "src/core/a.hpp:1: folders use each other in a circle: src/core -> src/spool -> src/core",
        "src/core/a.hpp:1: src/core may not include src/spool (allowed: os)",
    ]


def run(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "scripts.check.check_layers", *arguments], capture_output=True, text=True, cwd=ROOT)


def test_the_exit_status_tells(tmp_path):
    assert run(tmp_path).returncode == 2
    (tmp_path / "src" / "core").mkdir(parents=True)
    assert run(tmp_path).returncode == 0
    (tmp_path / "src" / "core" / "a.cpp").write_text('#include "tools/a.hpp"\n')
    bad = run(tmp_path)
    assert bad.returncode == 1
    assert bad.stdout.splitlines() == [
        "src/core/a.cpp:1: src/core may not include src/tools (allowed: os)",
        "check_layers: 1 against scripts/check/layers/table.py",
    ]
