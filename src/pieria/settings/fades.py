"""The settings for fading, review, reinforcement, promotion and clustering.

`settings` decides where their values come from.
"""

from __future__ import annotations

from typing import Annotated, Literal

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


class Fades(BaseModel):
    # Never built alone: the validator is built once, with all settings.
    model_config = ConfigDict(defer_build=True)

    decay_model: Literal["power_law", "exponential", "two_component"] = Field(
        default="power_law", description="the decay model of memories"
    )
    decay_halflife_days: float = Field(
        default=3.0, gt=0, le=LONGEST_DAYS, allow_inf_nan=False, description="power_law: half-life in days"
    )
    decay_alpha: float = Field(
        default=1.1, ge=0.05, le=20, allow_inf_nan=False, description="power_law: the rate of decay after that"
    )
    decay_lambda: float = Field(
        default=2.673e-6, gt=0, le=1, allow_inf_nan=False, description="exponential: the decay per second"
    )
    decay_lambda_fast: float = Field(
        default=1.603e-5, gt=0, le=1, allow_inf_nan=False, description="two_component: the fast decay per second"
    )
    decay_lambda_slow: float = Field(
        default=1.147e-6, gt=0, le=1, allow_inf_nan=False, description="two_component: the slow decay per second"
    )
    decay_weight_fast: float = Field(
        default=0.7, ge=0, le=1, allow_inf_nan=False, description="two_component: the share with fast decay"
    )
    decay_beta: float = Field(
        default=0.6, ge=0, le=5, allow_inf_nan=False, description="how much each further use strengthens a memory"
    )
    decay_halflives: Annotated[str, AfterValidator(_halflives)] | None = Field(
        default=None, description="half-lives in days, by kind or tag, separated by commas"
    )
    decay_spacing: float = Field(
        default=0.0, ge=0, le=3, allow_inf_nan=False, description="how much longer spaced use makes a memory last"
    )
    forget_threshold: float = Field(
        default=0.05, ge=0, le=1, allow_inf_nan=False, description="the score below which upkeep removes a memory"
    )
    promote_threshold: float = Field(
        default=0.65, ge=0, le=100, allow_inf_nan=False, description="the lowest score for promoting a used memory"
    )
    promote_uses: int = Field(default=5, ge=1, le=10**6, description="the lowest number of uses for promotion")
    promote_days: float = Field(
        default=14.0, gt=0, le=LONGEST_DAYS, allow_inf_nan=False, description="the days in which these uses count"
    )
    review_from: float = Field(
        default=0.15, ge=0, le=1, allow_inf_nan=False, description="the score at which it is too late for a review"
    )
    review_to: float = Field(
        default=0.35, ge=0, le=1, allow_inf_nan=False, description="the score below which a review is due"
    )
    review_share: float = Field(
        default=0.3,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="due memories added to an answer, as a share of its size",
    )
    reinforce: bool = Field(default=True, description="whether memories that helped in an answer are reinforced")
    crossing_boost: float = Field(
        default=0.1, ge=0, le=2, allow_inf_nan=False, description="the strength gained by a use in another context"
    )
    cluster_threshold: float = Field(
        default=0.83, ge=0, le=1, allow_inf_nan=False, description="the lowest similarity of memories in a cluster"
    )
    cluster_most: int = Field(default=12, ge=2, le=1_000, description="the most memories in a cluster")
    duplicate_threshold: float = Field(
        default=0.88, ge=0, le=1, allow_inf_nan=False, description="the lowest similarity of duplicates"
    )
    preview_chars: int = Field(default=300, ge=0, le=5_000, description="characters of a text shown by searches")
    enrich: bool = Field(default=True, description="whether to read missing names and strength from the text")
    search_by_meaning: bool = Field(default=False, description="whether search_memory searches by meaning by default")
    short_term_weight: float = Field(
        default=1.0, ge=0, le=2, allow_inf_nan=False, description="the weight of memories in search_unified"
    )
    long_term_weight: float = Field(
        default=0.7, ge=0, le=2, allow_inf_nan=False, description="the weight of the vault's notes in search_unified"
    )

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
