"""Names in, rows of numbers out; both graphs in one space."""

from sameas.features.embeddings import embedding_rows
from sameas.features.folding import folded, in_blocks, sounded
from sameas.features.ngrams import Trigrams, ngram_rows, ngrams_of, trigrams_of_all
from sameas.features.words import WordVectors, phrase_rows, word_rows, words_of

__all__ = [
    "Trigrams",
    "WordVectors",
    "embedding_rows",
    "folded",
    "in_blocks",
    "ngram_rows",
    "ngrams_of",
    "phrase_rows",
    "sounded",
    "trigrams_of_all",
    "word_rows",
    "words_of",
]
