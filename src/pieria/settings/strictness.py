"""Which settings an untrusted folder may tighten, and the order of their values.

`files` reads the files, and `trust` decides which folders are trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

TIGHTENS: Mapping[str, tuple[object, ...]] = {
    "secrets": ("flag", "redact", "refuse"),
    "capture": (True, False),
}
"""Settings that an untrusted file may tighten, with their values from loosest to strictest."""
REFUSED: Mapping[str, Sequence[str]] = {
    "chooses which memories an agent reads and where new ones go": ("data", "bank", "user", "local"),
    "names the author, and so decides who may read what": ("session", "channel", "author", "author_type"),
    "sends texts to a model, or loads one": (
        *("embedder", "embedder_url", "embedder_key", "embedder_threads", "models"),
        *("reranker", "reranker_url", "reranker_key", "reranker_seconds"),
        *("llm", "llm_url", "llm_key", "llm_seconds", "llm_steps", "nlp"),
    ),
    "costs money, or stops work that the user wants to pay for": ("budget_tokens_per_day", "budget_calls_per_day"),
    "says which key opens banks, and may run a command for it": ("seal_key",),
    "gives access to a server": ("token", "paths", "row_security"),
    "names folders in which Pieria writes": ("vault", "vault_folder"),
    "accepts lessons without a person": ("accept_above",),
    "bounds what a server does for one request": ("request_seconds", "request_memory"),
    "makes writes fail or weakens them": ("durability", "busy_seconds", "connections", "session_lease"),
    "hides memories from recall, or their uses from the count": ("text_budget", "count_uses", "preview_chars"),
    "decides which memories fade, and no value is stricter than another": (
        *("upkeep_fades", "decay_model", "decay_halflife_days", "decay_alpha", "decay_lambda", "decay_lambda_fast"),
        *("decay_lambda_slow", "decay_weight_fast", "decay_beta", "decay_halflives", "decay_spacing"),
        *("forget_threshold", "promote_threshold", "promote_uses", "promote_days"),
        *("review_from", "review_to", "review_share", "reinforce", "crossing_boost"),
    ),
    "decides how memories are grouped, read and ranked": (
        *("cluster_threshold", "cluster_most", "duplicate_threshold", "enrich", "search_by_meaning", "time_zone"),
        *("short_term_weight", "long_term_weight"),
    ),
}
"""All other settings, by effect. None of their values is stricter, so an untrusted file cannot set them."""


def is_stricter(setting: str, value: object, held: object) -> bool:
    """Return whether the value is stricter than the current one; False for unknown values."""
    order = TIGHTENS.get(setting, ())
    return value in order and held in order and order.index(value) > order.index(held)
