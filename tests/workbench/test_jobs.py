"""The queue of a server: threads that are used again, and interruptions that hit nobody else."""

import asyncio
import threading
import time

import pytest

pytest.importorskip("fastapi")

from kedge.workbench.jobs import Jobs


def spin(began):
    """Work that only an exception from outside ends."""
    began.set()
    while True:
        time.sleep(0.001)


def where(_job):
    return threading.current_thread()


def test_a_thread_does_one_job_after_the_other():
    """Short answers do not pay for a thread each; of an interrupted one nothing more is asked."""

    async def run():
        jobs = Jobs(workers=1, waiting=4, seconds=60)
        first, second = [await jobs.submit(where).task for _ in range(2)]
        began = threading.Event()
        stopped = jobs.submit(lambda _: spin(began))
        await asyncio.to_thread(began.wait)
        stopped.task.cancel()
        third = await jobs.submit(where).task
        return first, second, third, jobs.busy

    first, second, third, busy = asyncio.run(run())
    assert first is second
    assert third is not first
    assert busy == 0
    first.join(60)
    assert not first.is_alive()


@pytest.mark.parametrize("pause", [0.0, 0.0001, 0.0005, 0.002])
def test_an_interruption_never_hits_the_next_job(pause):
    """Cancelled before, while and after it works, fifty times: the next job has its answer."""

    async def run():
        jobs = Jobs(workers=1, waiting=4, seconds=60)
        answers = []
        for k in range(50):
            cancelled = jobs.submit(lambda _: sum(range(20_000)))
            await asyncio.sleep(pause * (k % 5))
            cancelled.task.cancel()
            answers.append(await jobs.submit(lambda _, k=k: sum(range(5_000)) + k).task)
        return answers, jobs.busy

    answers, busy = asyncio.run(run())
    assert answers == [sum(range(5_000)) + k for k in range(50)]
    assert busy == 0


def test_what_is_raised_is_told_and_the_thread_goes_on():
    """An error is its own job's; a job after it is done by the same thread."""

    async def run():
        jobs = Jobs(workers=1, waiting=4, seconds=60)
        before = await jobs.submit(where).task
        with pytest.raises(ZeroDivisionError):
            await jobs.submit(lambda _: 1 / 0).task
        return before, await jobs.submit(where).task

    before, after = asyncio.run(run())
    assert before is after
