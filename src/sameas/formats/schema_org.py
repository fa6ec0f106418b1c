"""The JSON-LD context of schema.org, put into files that refer to it by its address.

It says what schema.org's own says (version 12): terms are those of schema.org, some properties
lead to resources, some hold dates. Nothing is fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain

from sameas.graph.iri import OWL, RDF, RDFS, XSD

VOCABULARY = "http://schema.org/"
LEAD_TO_RESOURCES = (
    "acquireLicensePage actionableFeedbackPolicy additionalType afterMedia beforeMedia "
    "benefitsSummaryUrl codeRepository colleague contentUrl correctionsPolicy discussionUrl "
    "diseasePreventionInfo diseaseSpreadStatistics diversityPolicy diversityStaffingReport "
    "documentation downloadUrl duringMedia embedUrl ethicsPolicy gameLocation gettingTestedInfo "
    "hasMap healthPlanMarketingUrl image inCodeSet inDefinedTermSet installUrl isBasedOn "
    "isBasedOnUrl isPartOf labelDetails layoutImage license logo mainEntityOfPage map maps "
    "masthead merchantReturnLink missionCoveragePrioritiesPolicy newsUpdatesAndGuidelines "
    "noBylinesPolicy paymentUrl prescribingInfo productReturnLink publicTransportClosuresInfo "
    "publishingPrinciples quarantineGuidelines relatedLink replyToUrl sameAs schoolClosuresInfo "
    "screenshot sdLicense season serviceUrl shippingSettingsLink significantLink "
    "significantLinks speakable targetUrl thumbnailUrl tourBookingPage trackingUrl travelBans "
    "unnamedSourcesPolicy url usageInfo verificationFactCheckingPolicy webFeed"
)
HOLD_DATES = (
    "applicationDeadline applicationStartDate availabilityEnds availabilityStarts birthDate "
    "commentTime dateCreated dateDeleted dateIssued dateModified datePosted datePublished "
    "dateRead dateVehicleFirstRegistered deathDate dissolutionDate endDate exceptDate "
    "expectedArrivalFrom expectedArrivalUntil expires foundingDate guidelineDate lastReviewed "
    "legislationDate legislationDateVersion modelDate orderDate paymentDueDate "
    "previousStartDate priceValidUntil productionDate purchaseDate releaseDate "
    "scheduledPaymentDate sdDatePublished startDate uploadDate validFrom validThrough "
    "validUntil vehicleModelDate"
)
TERMS = {
    **dict.fromkeys(LEAD_TO_RESOURCES.split(), "@id"),
    **dict.fromkeys(HOLD_DATES.split(), f"{VOCABULARY}Date"),
}
"""The properties whose values are not plain text, and the type of these."""
PREFIXES = {"schema": VOCABULARY, "rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD}

_ADDRESS = rb'"https?://(?:www\.)?schema\.org/?(?:docs/jsonldcontext\.jsonld?)?"'
_OBJECT = rb"\{(?:[^{}]|\{[^{}]*\})*\}"
_REFERENCE = re.compile(
    rb'("@context"\s*:\s*(?:\[(?:\s*(?:"[^"\\]*"|' + _OBJECT + rb")\s*,)*\s*)?)" + _ADDRESS
)


def with_context(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """JSON-LD whose references to schema.org's context are replaced by the context.

    A file that refers to it in its first piece is read as a whole; others are passed on.
    """
    first = next(pieces, b"")
    if not _REFERENCE.search(first):
        return chain([first], pieces)
    return iter([_replaced(b"".join(chain([first], pieces)))])


def _replaced(content: bytes) -> bytes:
    context = json.dumps(_context(content)).encode()
    return _REFERENCE.sub(lambda match: match[1] + context, content)


def _context(content: bytes) -> dict[str, object]:
    """The context, of which only the properties that occur are written out."""
    used = {term: kind for term, kind in TERMS.items() if f'"{term}"'.encode() in content}
    properties = {
        term: {"@id": f"{VOCABULARY}{term}", "@type": kind} for term, kind in used.items()
    }
    return {"@vocab": VOCABULARY, "id": "@id", "type": "@type", **PREFIXES, **properties}
