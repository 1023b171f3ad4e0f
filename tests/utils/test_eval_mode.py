"""Evaluation mode for a while."""

from threading import Barrier, Thread

import pytest

from kedge.utils.eval_mode import evaluating

torch = pytest.importorskip("torch", reason="needs torch: pip install 'kedge[torch]'")


def network():
    """In training mode, but for a batch normalisation that its owner froze."""
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5)).train()
    net[1].eval()
    return net


def modes(net):
    return [part.training for part in net.modules()]


def test_every_part_gets_its_own_mode_back():
    """A frozen part stays frozen: its running statistics are not the next batch's."""
    net = network()
    before, statistics = modes(net), net[1].running_mean.clone()
    with evaluating(net):
        assert not any(modes(net))
        assert torch.equal(net(torch.ones(3, 4)), net(torch.ones(3, 4)))
    assert modes(net) == before
    net(torch.randn(3, 4))
    assert torch.equal(net[1].running_mean, statistics)


def test_an_error_inside_does_not_change_the_modes():
    """The owner's modes come back whatever happens."""
    net = network()
    before = modes(net)
    with pytest.raises(RuntimeError), evaluating(net):
        net(torch.ones(3, 5))
    assert modes(net) == before


def test_a_module_in_evaluation_mode_is_not_touched():
    """Nothing is set, so nothing can go wrong in other threads."""
    net = network().eval()
    net.eval = net.train = lambda *_: pytest.fail("the mode was changed")
    with evaluating(net):
        assert not any(modes(net))
    assert not any(modes(net))


def test_threads_that_ask_together_never_see_training_mode():
    """The first to leave does not switch dropout on for the others."""
    net, answers, start = network(), [], Barrier(4)
    before, row = modes(net), torch.ones(1, 4)

    def ask():
        start.wait()
        for _ in range(200):
            with evaluating(net), torch.inference_mode():
                answers.append(tuple(net(row)[0].tolist()))

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 800
    assert len(set(answers)) == 1
    assert modes(net) == before
