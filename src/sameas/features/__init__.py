"""Names in, rows of numbers out; both graphs in one space."""

from sameas.features.embeddings import read_embeddings
from sameas.features.folding import folded, sounded
from sameas.features.ngrams import ngram_rows, ngrams_of
from sameas.features.words import WordVectors, load_word_vectors, word_rows, words_of

__all__ = [
    "WordVectors",
    "folded",
    "load_word_vectors",
    "ngram_rows",
    "ngrams_of",
    "read_embeddings",
    "sounded",
    "word_rows",
    "words_of",
]
