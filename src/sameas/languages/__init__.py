"""The languages of names, and what names of another language mean in English."""

from sameas.languages.detection import Language, detect, word_shares
from sameas.languages.dictionaries import Resource, resources
from sameas.languages.glosses import glosses
from sameas.languages.translation import translate

__all__ = ["Language", "Resource", "detect", "glosses", "resources", "translate", "word_shares"]
