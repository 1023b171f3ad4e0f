"""The 44 numbers that the paper's tables print."""

__all__ = ["EXHAUSTIVE", "INFILL", "RANKING"]

# Jaccard of empirical exhaustive Anchors with the official procedure: data set -> model -> mean.
EXHAUSTIVE = {
    "restaurants": {"indicator": 1.00, "tree": 1.00, "logistic": 0.90, "perceptron": 0.87, "forest": 0.93},
    "yelp": {"indicator": 1.00, "tree": 1.00, "logistic": 0.71, "perceptron": 0.68, "forest": 0.75},
}

# Jaccard of the official anchor with the first words of the ranking by coefficient (or gradient) times
# IDF: model -> subset -> data set -> (mean, printed +-); None where the paper has no documents.
RANKING: dict[str, dict[str, dict[str, tuple[float, float] | None]]] = {
    "logistic": {
        "full": {"restaurants": (0.69, 0.2), "yelp": (0.35, 0.2), "imdb": (0.32, 0.2)},
        "pr<0.85": {"restaurants": (0.78, 0.2), "yelp": (0.74, 0.2), "imdb": (0.45, 0.2)},
        "pr<0.75": {"restaurants": (0.82, 0.1), "yelp": (0.80, 0.2), "imdb": (0.59, 0.1)},
    },
    "3 layers": {
        "full": {"restaurants": (0.68, 0.2), "yelp": (0.50, 0.3), "imdb": (0.45, 0.3)},
        "pr<0.85": {"restaurants": (0.68, 0.2), "yelp": (0.88, 0.1), "imdb": (0.52, 0.3)},
        "pr<0.75": {"restaurants": (0.74, 0.2), "yelp": (0.82, 0.1), "imdb": (0.68, 0.2)},
    },
    "10 layers": {
        "full": {"restaurants": (0.76, 0.2), "yelp": (0.56, 0.2), "imdb": (0.55, 0.2)},
        "pr<0.85": {"restaurants": (0.80, 0.2), "yelp": (0.78, 0.1), "imdb": (0.79, 0.2)},
        "pr<0.75": {"restaurants": (0.83, 0.1), "yelp": (0.69, 0.2), "imdb": (0.81, 0.2)},
    },
    "20 layers": {
        "full": {"restaurants": (0.73, 0.1), "yelp": (0.60, 0.3), "imdb": (0.63, 0.2)},
        "pr<0.85": {"restaurants": None, "yelp": (0.81, 0.2), "imdb": (0.69, 0.2)},
        "pr<0.75": {"restaurants": None, "yelp": None, "imdb": (0.74, 0.1)},
    },
}

# Masked-language-model replacement, 3 layers, 50 Restaurants reviews.
INFILL = (0.83, 0.2)
