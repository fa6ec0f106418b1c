"""How good a run is, without labels: decoys tell how many links are wrong.

The partners of some links are taken away and the rest is aligned again. Whatever their left
(or right) entities are linked with now is wrong, and shows how often, and with what confidence,
an entity without a counterpart is linked.
"""
