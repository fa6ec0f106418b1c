"""Until the branch of reading is merged."""

from sameas.rdf.rules import _IRI as IRI
from sameas.rdf.rules import RdfKind, Reading

__all__ = ["IRI", "RdfKind", "Reading"]
