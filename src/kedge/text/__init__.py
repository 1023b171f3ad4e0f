"""The text: a document of words with their places, and what users give."""
