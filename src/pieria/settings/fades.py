"""The settings for fading, review, reinforcement, promotion and clustering.

`settings` decides where their values come from.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pieria.errors import InputError
from pieria.language.index_terms import compared
from pieria.record.decay import Fading
from pieria.record.usage import Habits

LONGEST_DAYS = 100_000.0


def _halflives(value: str) -> str:
    return ", ".join(f"{name}={days:g}" for name, days in halflives_of(value).items())


def halflives_of(value: str) -> dict[str, float]:
    """Return days by kind or tag, from a text such as `decision=7, preference=14`."""
    found = {}
    for part in filter(None, map(str.strip, value.split(","))):
        name, _, written = part.rpartition("=")
        try:
            days = float(written)
        except ValueError:
            days = 0.0
        if not name.strip() or not 0 < days <= LONGEST_DAYS:
            expected = "kinds or tags with days above 0, such as decision=7, preference=14"
            raise ValueError(InputError("decay_halflives", expected, part))
        found[compared(name)] = days
    return found


def number(default: float, least: float, most: float, description: str, *, above: bool = False) -> Any:
    """Return a field for a finite number, from `least`, or `above` it, to `most`."""
    low: dict[str, Any] = {"gt" if above else "ge": least}
    return Field(default=default, le=most, allow_inf_nan=False, description=description, **low)


class Fades(BaseModel):
    # Never built alone: the validator is built once, with all settings.
    model_config = ConfigDict(defer_build=True)

    decay_model: Literal["power_law", "exponential", "two_component"] = Field(
        default="power_law", description="the decay model of memories"
    )
    decay_halflife_days: float = number(3.0, 0, LONGEST_DAYS, "power_law: half-life in days", above=True)
    decay_alpha: float = number(1.1, 0.05, 20, "power_law: the rate of decay after that")
    decay_lambda: float = number(2.673e-6, 0, 1, "exponential: the decay per second", above=True)
    decay_lambda_fast: float = number(1.603e-5, 0, 1, "two_component: the fast decay per second", above=True)
    decay_lambda_slow: float = number(1.147e-6, 0, 1, "two_component: the slow decay per second", above=True)
    decay_weight_fast: float = number(0.7, 0, 1, "two_component: the share with fast decay")
    decay_beta: float = number(0.6, 0, 5, "how much each further use strengthens a memory")
    decay_halflives: Annotated[str, AfterValidator(_halflives)] | None = Field(
        default=None, description="half-lives in days, by kind or tag, separated by commas"
    )
    decay_spacing: float = number(0.0, 0, 3, "how much longer spaced use makes a memory last")
    forget_threshold: float = number(0.05, 0, 1, "the score below which upkeep removes a memory")
    promote_threshold: float = number(0.65, 0, 100, "the lowest score for promoting a used memory")
    promote_uses: int = Field(default=5, ge=1, le=10**6, description="the lowest number of uses for promotion")
    promote_days: float = number(14.0, 0, LONGEST_DAYS, "the days in which these uses count", above=True)
    review_from: float = number(0.15, 0, 1, "the score at which it is too late for a review")
    review_to: float = number(0.35, 0, 1, "the score below which a review is due")
    review_share: float = number(0.3, 0, 1, "due memories added to an answer, as a share of its size")
    reinforce: bool = Field(default=True, description="whether memories that helped in an answer are reinforced")
    crossing_boost: float = number(0.1, 0, 2, "the strength gained by a use in another context")
    cluster_threshold: float = number(0.83, 0, 1, "the lowest similarity of memories in a cluster")
    cluster_most: int = Field(default=12, ge=2, le=1_000, description="the most memories in a cluster")
    duplicate_threshold: float = number(0.88, 0, 1, "the lowest similarity of duplicates")
    preview_chars: int = Field(default=300, ge=0, le=5_000, description="characters of a text shown by searches")
    enrich: bool = Field(default=True, description="whether to read missing names and strength from the text")
    search_by_meaning: bool = Field(default=False, description="whether search_memory searches by meaning by default")
    short_term_weight: float = number(1.0, 0, 2, "the weight of memories in search_unified")
    long_term_weight: float = number(0.7, 0, 2, "the weight of the vault's notes in search_unified")

    @property
    def fading(self) -> Fading:
        return Fading(
            model=self.decay_model,
            halflife_days=self.decay_halflife_days,
            alpha=self.decay_alpha,
            rate=self.decay_lambda,
            rate_fast=self.decay_lambda_fast,
            rate_slow=self.decay_lambda_slow,
            weight_fast=self.decay_weight_fast,
            beta=self.decay_beta,
            halflives=halflives_of(self.decay_halflives or ""),
            forget=self.forget_threshold,
            promote=self.promote_threshold,
            promote_uses=self.promote_uses,
            promote_days=self.promote_days,
            review_from=self.review_from,
            review_to=self.review_to,
            review_share=self.review_share,
            spacing=self.decay_spacing,
        )

    @property
    def habits(self) -> Habits:
        return Habits(**{name: getattr(self, name) for name in Habits.__dataclass_fields__})
