"""The paper's perturbation, in its two forms and in place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chi2_contingency, chisquare

from kedge import Document, Masking, tokenize
from kedge.errors import OptionError
from kedge.perturb.masking import coins, three_steps


def masked(text, kept, **options):
    document = Document(text, tokenize.words(text))
    return Masking(**options).writer(document)(np.array([kept], dtype=bool))[0]


@given(st.text(min_size=1, max_size=60))
def test_nothing_masked_is_the_text_byte_for_byte(text):
    """With every position kept the model gets the caller's own text."""
    document = Document(text, tokenize.words(text))
    assert Masking().writer(document)(np.ones((1, len(document)), dtype=bool)) == [text]


@pytest.mark.parametrize(
    ("text", "kept", "expected"),
    [
        ("Good,  very\tgood!", [1, 0, 1], "Good,  UNK\tgood!"),
        ("great😀😀", [1, 0, 0], "great UNK  UNK"),
        ("😀great", [0, 1], "UNK great"),
        ("the UNK beer", [1, 0, 1], "the UNK beer"),
        ("one", [0], "UNK"),
    ],
)
def test_only_the_masked_spans_change(text, kept, expected):
    """Everything between the units stays, and a mask never merges with its neighbour."""
    assert masked(text, kept) == expected


def test_mask_string_is_configurable():
    """Any string can stand for a removed word."""
    assert masked("so good", [0, 1], mask="[MASK]") == "[MASK] good"


@pytest.mark.parametrize("form", [coins, three_steps])
def test_both_forms_have_the_law_of_proposition_1(form):
    """The count of a word is a_j + Bin(m_j - a_j, keep), in both forms (chi-square at 1e-4)."""
    sizes, kept, n = np.array([4, 1]), np.array([1, 0]), 4000
    counts = form(sizes, kept, n, 0.5, np.random.default_rng(1))
    for j, free in enumerate(sizes - kept):
        seen = np.bincount(counts[:, j] - kept[j], minlength=free + 1)
        assert chisquare(seen, n * binom.pmf(np.arange(free + 1), free, 0.5)).pvalue > 1e-4


def test_the_two_forms_agree_in_distribution():
    """Joint counts of several words are the same law in both forms (chi-square at 1e-4)."""
    sizes, kept, n = np.array([2, 1, 1]), np.array([0, 0, 1]), 4000
    tables = []
    for form in (coins, three_steps):
        # Copies of one batch share B_k in the three-step form: many small batches, not one large.
        rng = np.random.default_rng(2)
        drawn = np.concatenate([form(sizes, kept, 20, 0.3, rng) for _ in range(n // 20)])
        tables.append(np.bincount(drawn[:, 0] * 2 + drawn[:, 1], minlength=6))
        assert (drawn[:, 2] == 1).all()
    assert chi2_contingency(tables).pvalue > 1e-4


def test_three_steps_draws_the_number_of_removals_once_per_position():
    """Removals of a position over n copies follow Bin(n, 1/2): mean n/2, variance n/4."""
    rng = np.random.default_rng(3)
    removed = [16 - three_steps(np.array([1]), np.array([0]), 16, 0.5, rng).sum() for _ in range(2000)]
    assert abs(np.mean(removed) - 8) < 0.3
    assert abs(np.var(removed) - 4) < 0.6


@pytest.mark.parametrize("keep", [0, 1, -0.1, 2])
def test_keep_must_leave_something_to_chance(keep):
    """A keep-probability of 0 or 1 makes no perturbation and is refused."""
    with pytest.raises(OptionError, match="strictly between 0 and 1"):
        Masking(keep=keep)


def test_unknown_form_is_refused():
    """The message lists the forms there are."""
    with pytest.raises(OptionError, match="three_steps"):
        Masking(form="dice")
