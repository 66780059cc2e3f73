"""Like test_ranks.py, with so many ranks that one machine needs a while."""

import pytest
from launchers import door, ranks  # noqa: F401
from process_runs import Run

MEASURE = door("timeloom", "-o", "run")


@pytest.mark.any_python
@pytest.mark.many_ranks
@pytest.mark.timeout(900)
@pytest.mark.parametrize("number", [16, 64])
def test_ranks_share_one_run(ranks, timeloom_program, number):
    done = ranks.start(number, *MEASURE, "app.py", timeout=800)
    assert ranks.names == ["run"], done.stderr
    run = Run(ranks.directory / "run", timeloom_program)
    assert run.names == [f"MPI Rank {rank}" for rank in range(number)]
    assert run.visits("__main__.step") == [10 + rank for rank in range(number)]
    assert done.stderr.count("next: timeloom report run") == 1 and len(done.stderr.splitlines()) == 2
