"""Names in, rows of numbers out; both graphs in one space."""

from sameas.features.embeddings import embedding_rows
from sameas.features.folding import folded, in_blocks, sounded
from sameas.features.ngrams import ngram_rows, ngrams_of
from sameas.features.words import WordVectors, word_rows, words_of

__all__ = [
    "WordVectors",
    "embedding_rows",
    "folded",
    "in_blocks",
    "ngram_rows",
    "ngrams_of",
    "sounded",
    "word_rows",
    "words_of",
]
