"""Small pipelines of every kind that kedge reads, fitted on random words with random labels."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

VOCABULARY = ["good", "bad", "food", "slow", "nice", "cold", "soup"]

_STEPS = {
    "logistic": lambda: [TfidfVectorizer(norm=None), LogisticRegression()],
    "naive": lambda: [CountVectorizer(), MultinomialNB()],
    "binary": lambda: [CountVectorizer(binary=True), LogisticRegression()],
    "sublinear": lambda: [TfidfVectorizer(norm=None, sublinear_tf=True), LogisticRegression()],
    "sublinear margins": lambda: [TfidfVectorizer(norm=None, sublinear_tf=True), LinearSVC()],
    "bernoulli": lambda: [CountVectorizer(), BernoulliNB()],
    "tree": lambda: [CountVectorizer(), DecisionTreeClassifier(random_state=0)],
    "pairs": lambda: [CountVectorizer(ngram_range=(1, 2)), LogisticRegression()],
    "triples": lambda: [TfidfVectorizer(norm=None, ngram_range=(1, 3)), LogisticRegression()],
    "normalised": lambda: [TfidfVectorizer(), LogisticRegression()],
    "normalised logarithms": lambda: [TfidfVectorizer(sublinear_tf=True), LogisticRegression()],
    "normalised pairs": lambda: [TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression()],
    "forest": lambda: [CountVectorizer(), RandomForestClassifier(5, random_state=0)],
}


def fitted(kind, seed, classes=2):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(VOCABULARY, 6)) for _ in range(60)]
    labels = rng.integers(classes, size=60)
    labels[:classes] = range(classes)
    return make_pipeline(*_STEPS[kind]()).fit(texts, labels)
