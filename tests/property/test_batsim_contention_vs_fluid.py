"""Jobs that meet on hosts and links: the incremental model against one that shares everything anew at every event."""

import random
from math import inf

import pytest
from tests.batsim_platforms import STAR, save

from schedlab.bridge.batsim.contention import Contention
from schedlab.bridge.batsim.course import Task
from schedlab.bridge.batsim.fluid import Capacity, Flow, share
from schedlab.bridge.batsim.platform import Platform
from schedlab.bridge.batsim.profiles import Profiles

SLACK = 1e-9


def capacity(platform, resource):
    if isinstance(resource, int):
        return Capacity(platform.speed(resource) * platform.hosts[resource].cores)
    link = platform.routing.links[resource]
    return Capacity(link.bandwidth, link.sharing == "fatpipe")


def tasks(course):
    """All of them, one after the other."""
    if isinstance(course, Task):
        return [course]
    return [task for _ in range(course.repeat) for part in course.parts for task in tasks(part)]


def all_anew(platform, jobs):
    """When each of these jobs (start, course) ends: every step on its own, all rates found at every event."""
    now, ends, steps, current = 0.0, {}, {}, {}
    waiting = sorted(((start, job) for job, (start, _) in enumerate(jobs)), reverse=True)

    def next_step(job):
        task = next(steps[job], None)
        if task is None:
            ends[job] = now
            current.pop(job, None)
        elif task.demand is None:
            current[job] = Flow((), latency=task.seconds)
        else:
            demands = (*task.demand.flops, *task.demand.bytes.items())
            current[job] = Flow(demands, task.demand.most(platform.speed), task.demand.latency)

    while waiting or current:
        using = [flow for flow in current.values() if flow.latency <= 0]
        share(using, lambda resource: capacity(platform, resource))
        then = min([now + flow.ends_in() for flow in current.values()] + [start for start, _ in waiting[-1:]])
        for flow in current.values():
            if flow.latency > 0:
                flow.latency = max(flow.latency - (then - now), 0.0)
                flow.latency = flow.latency if flow.latency > SLACK else 0.0
            else:
                flow.remaining -= flow.rate * (then - now)
        now = then
        for job, flow in list(current.items()):
            if flow.latency == 0 and (not flow.demands or flow.remaining <= 1e-10):
                next_step(job)
        while waiting and waiting[-1][0] <= now:
            _, job = waiting.pop()
            steps[job] = iter(tasks(jobs[job][1]))
            next_step(job)
    return ends


def step_by_step(platform, jobs):
    """The same by the model that jobs have in the engine."""
    contention = Contention(platform, platform.speed)
    now, ends, done, factor, due = 0.0, {}, {}, {}, {}
    waiting = sorted(((start, job) for job, (start, _) in enumerate(jobs)), reverse=True)
    while waiting or done:
        ending = [now + (jobs[job][1].seconds - done[job]) / factor[job] for job in done]
        then = min([*ending, *(due[job] for job in done), *(start for start, _ in waiting[-1:])])
        for job in done:
            done[job] += factor[job] * (then - now)
        now = then
        for job in list(done):
            if done[job] >= jobs[job][1].seconds - SLACK:
                ends[job] = now
                del done[job]
                contention.stop(job)
            elif due[job] <= now:
                contention.at_next_step(job)
        while waiting and waiting[-1][0] <= now:
            _, job = waiting.pop()
            done[job], factor[job], due[job] = 0.0, 1.0, inf
            contention.start(job, jobs[job][1])
        for job, pace in contention.settle(done.__getitem__, SLACK).items():
            factor[job], due[job] = pace.factor, now + pace.seconds
    return ends


@pytest.mark.parametrize("seed", range(12))
def test_both_agree(tmp_path, seed):
    chance = random.Random(seed)
    platform = Platform.read(save(tmp_path, STAR))
    table = {
        "work": {"type": "parallel_homogeneous", "cpu": 3e9, "com": 0},
        "send": {"type": "parallel_homogeneous", "cpu": 0, "com": 7e7},
        "both": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 4e7},
        "load": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 5e6, "bytes_to_write": 2e6},
        "wait": {"type": "delay", "delay": 1.5},
        "some": {"type": "composed", "seq": ["send", "wait", "work"], "repeat": 3},
        "more": {"type": "composed", "seq": ["load", "some", "both"], "repeat": 2},
    }
    known = Profiles(table, platform, None, "w0")
    jobs = []
    for _ in range(10):
        hosts = sorted(chance.sample(range(4), chance.randint(1, 4)))
        mapping = [chance.randrange(len(hosts)) for _ in range(3)] if chance.random() < 0.3 else None
        start = chance.choice([0.0, 2.5, chance.uniform(0, 20)])
        jobs.append((start, known.course(chance.choice(list(table)), hosts, mapping)))
    expected = all_anew(platform, jobs)
    assert len(expected) == len(jobs)
    assert step_by_step(platform, jobs) == pytest.approx(expected, rel=1e-6)
