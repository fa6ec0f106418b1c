"""Why a pair is linked, why another one is not, why an entity has no partner."""
