"""The vocabulary the authors' networks were trained on.

Of several words that occur equally often, those that share the last of ``max_features=1000`` places are
decided by how ``argsort`` breaks ties. Today's numpy sorts with vector instructions, older ones with a
scalar quicksort; the published weights need the order of the latter.
"""

from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from kedge.search.lucb import scalar_order

__all__ = ["FEATURES", "tfidf"]

FEATURES = 1_000


def tfidf(texts: Sequence[str]) -> TfidfVectorizer:
    """TF-IDF without normalisation on the 1,000 most frequent words, ties as an older numpy breaks them."""
    counter = CountVectorizer()
    sums = np.asarray(counter.fit_transform(texts).sum(axis=0)).ravel()
    names = counter.get_feature_names_out()
    chosen = sorted(names[i] for i in scalar_order(-sums.astype(float))[:FEATURES])
    return TfidfVectorizer(norm=None, vocabulary=chosen).fit(texts)
