"""A short soak of scripts/trials/soak.py: it finds nothing, and it would find errors."""

import pytest
from scripts.trials import soak

pytestmark = pytest.mark.any_python


@pytest.fixture(autouse=True)
def program(monkeypatch, timeloom_program):
    monkeypatch.setattr(soak, "TIMELOOM", timeloom_program)


@pytest.mark.parametrize("seed", [2, 3, 5])
def test_random_programs(seed):
    figures = soak.soak_one(seed, keep=None)
    assert figures["events"] > 0 and sum(figures["endings"].values()) == figures["processes"]


def test_a_wrong_count_is_found(monkeypatch):
    known = soak.known
    monkeypatch.setattr(soak, "options_of", lambda rng: (["--follow", "workers"], "workers"))
    monkeypatch.setattr(soak, "known", lambda counts: {p: [n[0] + 1, n[1] + 1] for p, n in known(counts).items()})
    with pytest.raises(soak.Wrong, match=r"seed 2 .* are recorded"):
        soak.soak_one(2, keep=None)
