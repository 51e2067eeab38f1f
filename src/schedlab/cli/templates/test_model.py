"""So many jobs, the same for the same seed."""

from mine import Bursts

from schedlab.generate.base import generate


def test_bursts():
    one, same, other = (generate(Bursts(every=600), jobs=50, seed=seed) for seed in (1, 1, 2))
    assert len(one) == 50
    assert one.jobs.equals(same.jobs)
    assert not one.jobs.equals(other.jobs)
    assert set(one.jobs["submit"] % 600) == {0}
