"""One thread for linear algebra while kedge works."""

import subprocess
import sys
import time
from threading import Event, Thread

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  (brings linear algebra of its own)
from threadpoolctl import threadpool_info, threadpool_limits

import kedge
from kedge.utils.threads import one_thread


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture
def two_threads():
    """As on any machine of today; this one may have a single core."""
    with threadpool_limits(2, user_api="blas"):
        yield


@pytest.mark.usefixtures("two_threads")
def test_the_limit_holds_inside_and_is_lifted_after():
    """Nested as well, and after an error."""
    before = blas_threads()
    with one_thread():
        with one_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    with pytest.raises(ZeroDivisionError), one_thread():
        1 / 0  # noqa: B018
    assert blas_threads() == before


def test_the_one_who_set_it_lifts_it():
    """Explaining in several threads at once shares the limit, and none is left behind."""
    before, inside, leave = blas_threads(), Event(), Event()

    def stay():
        with one_thread():
            inside.set()
            leave.wait(10)

    thread = Thread(target=stay)
    thread.start()
    inside.wait(10)
    with one_thread():
        pass
    assert set(blas_threads()) == {1}
    leave.set()
    thread.join()
    assert blas_threads() == before


@pytest.mark.usefixtures("two_threads")
def test_a_model_is_asked_in_one_thread_of_linear_algebra():
    """From the first question to the last; afterwards the user's own limit is back."""
    seen, before = set(), blas_threads()

    def model(texts):
        seen.update(blas_threads())
        return ["good" in text for text in texts]

    kedge.explain(model, "a good day for all of us and them")
    kedge.precision(model, "a good day", ["good"])
    kedge.Explainer(model).partial("a good day")
    assert seen == {1}
    assert blas_threads() == before


def test_what_is_loaded_later_is_limited_too():
    """The first explanation of a process may be the one that loads scipy."""
    code = (
        "import sys, kedge\n"
        "from kedge.utils.threads import limit_scipy, one_thread\n"
        "from threadpoolctl import threadpool_info\n"
        "with one_thread():\n"
        "    assert 'scipy.linalg' not in sys.modules\n"
        "    import scipy.linalg\n"
        "    limit_scipy()\n"
        "    limit_scipy()\n"
        "    print({x['num_threads'] for x in threadpool_info() if x['user_api'] == 'blas'})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "{1}\n"


def test_it_costs_next_to_nothing():
    """Less than a tenth of a millisecond, once the libraries are found."""
    np.linalg.norm(np.ones(3))
    times = []
    for _ in range(200):
        start = time.perf_counter()
        with one_thread():
            pass
        times.append(time.perf_counter() - start)
    assert np.median(times) < 1e-4
