"""What a scheduler says, done: starts, rejections, kills, jobs and profiles of its own, states, questions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schedlab._core import View
from schedlab.bridge.batsim import messages as said
from schedlab.bridge.batsim.live import (
    AT_WALLTIME,
    FAILED,
    KILLED,
    REJECTED,
    RUNNING,
    SUBMITTED,
    SUCCESSFULLY,
    Live,
)
from schedlab.bridge.batsim.resources import parse_hosts
from schedlab.bridge.batsim.stage import Refused, Stage
from schedlab.bridge.batsim.starts import Starts

ENDS = (SUCCESSFULLY, FAILED, AT_WALLTIME, KILLED)


class Decisions:
    def __init__(self, stage: Stage, starts: Starts) -> None:
        self._stage, self._starts = stage, starts
        self._handlers: dict[type, Callable[[View, Any], None]] = {
            said.ExecuteJob: self._starts.execute,
            said.RejectJob: self._reject,
            said.KillJob: self._kill,
            said.RegisterJob: self._register_job,
            said.RegisterProfile: self._register_profile,
            said.SetJobMetadata: self._set_metadata,
            said.ChangeJobState: self._change_state,
            said.SetResourceState: self._set_resource_state,
            said.Notify: self._notify,
            said.Query: self._query,
            said.Answer: self._answer,
            said.ToJobMessage: self._message,
        }
        self._kill_asked: set[str] = set()

    def do(self, view: View, what: said.Said) -> None:
        self._handlers[type(what)](view, what.data)

    def _reject(self, view: View, data: said.OneJob) -> None:
        live = self._waiting(data.job_id, "rejected")
        view.reject(live.job)
        self._stage.rejected.append(live.job.id)
        self._stage.leave(live, REJECTED, -1)

    def _kill(self, view: View, data: said.SomeJobs) -> None:
        """One JOB_KILLED for all, also for those that have ended by themselves before they could be killed."""
        stage = self._stage
        if not data.job_ids:
            raise Refused("there is no job to be killed")
        jobs = [job for job in dict.fromkeys(data.job_ids) if job not in self._kill_asked]
        progress = {}
        for job in jobs:
            live = stage.live.get(job)
            if live is None:
                self._has_run(job)
                continue
            if live.state != RUNNING or not live.hosts:
                raise Refused(f"job '{job}' cannot be killed: it does not run")
            progress[job] = live.progress()
            view.kill(live.job)
            stage.killed(live)
        self._kill_asked.update(jobs)
        if jobs:
            stage.news.append(said.job_killed(stage.now, jobs, progress))

    def _has_run(self, job: str) -> None:
        if job not in self._stage.registered and not self._stage.source.knows(job):
            raise Refused(f"there is no job '{job}'")

    # ---- jobs and profiles of its own ----

    def _may_register(self) -> None:
        if not self._stage.rules.dynamic:
            raise Refused("schedulers may not register anything here (--enable-dynamic-jobs lets them)")
        if not self._stage.registering:
            raise Refused("the scheduler has said that its registration is finished")

    def _register_profile(self, view: View, data: said.RegisterProfileData) -> None:
        self._may_register()
        self._stage.workload(data.workload_name).add_profile(data.profile_name, data.profile)

    def _register_job(self, view: View, data: said.RegisterJobData) -> None:
        self._may_register()
        stage, identity = self._stage, data.job_id
        workload, mark, name = identity.partition("!")
        if not (workload and mark and name) or "!" in name:
            raise Refused(f"'{identity}' is not the id of a job, such as w0!1")
        if workload not in stage.documents:
            raise Refused(f"there is no workload '{workload}': a profile has to be registered first")
        if identity in stage.registered or stage.source.knows(identity):
            raise Refused(f"there is a job '{identity}' already")
        stage.enter(view, identity, data.job, tell=stage.rules.acknowledge)

    def _notify(self, view: View, data: said.NotifyData) -> None:
        if data.type not in ("registration_finished", "continue_registration"):
            raise Refused(f"NOTIFY of type '{data.type}' is not known")
        self._stage.registering = self._stage.rules.dynamic and data.type == "continue_registration"

    # ---- states ----

    def _set_metadata(self, view: View, data: said.MetadataData) -> None:
        if '"' in data.metadata:
            raise Refused("metadata may have no double quotes")
        self._stage.find(data.job_id).metadata = data.metadata

    def _change_state(self, view: View, data: said.JobStateData) -> None:
        """Jobs that run elsewhere, as far as the scheduler is concerned: here they have no hosts."""
        stage, live, state = self._stage, self._stage.find(data.job_id), data.job_state
        if live.state == SUBMITTED and state == RUNNING:
            view.hold(live.job)
            live.state, live.start = RUNNING, view.now
        elif live.state == SUBMITTED and state == REJECTED:
            self._reject(view, said.OneJob(live.id))
        elif live.state == RUNNING and state in ENDS and not live.hosts:
            view.withdraw(live.job)
            stage.leave(live, state, 0 if state == SUCCESSFULLY else -1)
        else:
            more = " on hosts; it can be killed" if live.hosts else ""
            raise Refused(f"job '{live.id}' cannot become {state}: it is {live.state}{more}")

    def _set_resource_state(self, view: View, data: said.StateData) -> None:
        stage = self._stage
        if stage.power is None:
            raise Refused("hosts have no power states here (--energy gives them some)")
        try:
            hosts, state = parse_hosts(data.resources), int(data.state)
        except ValueError as error:
            raise Refused(f"a state of hosts cannot be read: {error}") from None
        if hosts[-1] >= len(stage.platform.hosts):
            raise Refused(f"there is no host {hosts[-1]}: there are {len(stage.platform.hosts)}, from 0 on")
        request = stage.power.ask(view, hosts, state)
        if request is not None:
            stage.tell_state(request)

    # ---- questions ----

    def _query(self, view: View, data: said.QueryData) -> None:
        for request in data.requests:
            if request != "consumed_energy":
                raise Refused(f"'{request}' cannot be asked")
            if self._stage.power is None:
                raise Refused("energy is not added up here (--energy lets it be)")
            joules = self._stage.power.joules(view.now)
            self._stage.news.append(said.consumed_energy(self._stage.now, joules))

    def _answer(self, view: View, data: dict[str, Any]) -> None:
        """Nothing was asked; Batsim takes these and does nothing with them, too."""
        for name in data:
            if name != "estimate_waiting_time":
                raise Refused(f"'{name}' is no answer")

    def _message(self, view: View, data: said.JobMessageData) -> None:
        """Jobs that read messages are refused when they are loaded; others do not look. It is counted."""
        self._stage.find(data.job_id)
        self._stage.unread += 1

    def _waiting(self, identity: str, done: str) -> Live:
        live = self._stage.find(identity)
        if live.state != SUBMITTED:
            raise Refused(f"job '{identity}' cannot be {done}: it is {live.state}")
        return live
