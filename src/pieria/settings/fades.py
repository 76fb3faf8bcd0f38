"""The settings for fading, review, reinforcement, promotion and clustering.

`settings` decides where their values come from.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pieria.errors import InputError
from pieria.language.index_terms import compared
from pieria.record.decay import Fading
from pieria.record.habits import Habits

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
        default="power_law", description="the shape in which memories fade"
    )
    decay_halflife_days: float = Field(
        default=3.0, gt=0, le=LONGEST_DAYS, allow_inf_nan=False, description="power_law: days until half is left"
    )
    decay_alpha: float = Field(
        default=1.1, ge=0.05, le=20, allow_inf_nan=False, description="power_law: how fast the rest goes after that"
    )
    decay_lambda: float = Field(
        default=2.673e-6, gt=0, le=1, allow_inf_nan=False, description="exponential: what goes each second"
    )
    decay_lambda_fast: float = Field(
        default=1.603e-5, gt=0, le=1, allow_inf_nan=False, description="two_component: what goes each second, at first"
    )
    decay_lambda_slow: float = Field(
        default=1.147e-6, gt=0, le=1, allow_inf_nan=False, description="two_component: what goes each second, later"
    )
    decay_weight_fast: float = Field(
        default=0.7, ge=0, le=1, allow_inf_nan=False, description="two_component: how much goes fast"
    )
    decay_beta: float = Field(
        default=0.6, ge=0, le=5, allow_inf_nan=False, description="how much each further use strengthens a memory"
    )
    decay_halflives: Annotated[str, AfterValidator(_halflives)] | None = Field(
        default=None, description="days until half is left, by kind or tag, with commas between"
    )
    decay_spacing: float = Field(
        default=0.0, ge=0, le=3, allow_inf_nan=False, description="how much longer spaced use makes a memory last"
    )
    forget_threshold: float = Field(
        default=0.05, ge=0, le=1, allow_inf_nan=False, description="the score below which a memory is collected"
    )
    promote_threshold: float = Field(
        default=0.65, ge=0, le=100, allow_inf_nan=False, description="the score from which a used memory is promoted"
    )
    promote_uses: int = Field(default=5, ge=1, le=10**6, description="the uses from which a memory is promoted")
    promote_days: float = Field(
        default=14.0, gt=0, le=LONGEST_DAYS, allow_inf_nan=False, description="the days within which they count"
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
        description="how many due memories come with an answer, of its size",
    )
    reinforce: bool = Field(default=True, description="whether memories that were of use in an answer are reinforced")
    crossing_boost: float = Field(
        default=0.1, ge=0, le=2, allow_inf_nan=False, description="the strength gained by being of use elsewhere"
    )
    cluster_threshold: float = Field(
        default=0.83, ge=0, le=1, allow_inf_nan=False, description="how alike memories of one cluster are"
    )
    cluster_most: int = Field(default=12, ge=2, le=1_000, description="memories that one cluster may have")
    duplicate_threshold: float = Field(
        default=0.88, ge=0, le=1, allow_inf_nan=False, description="how alike duplicates are"
    )
    preview_chars: int = Field(default=300, ge=0, le=5_000, description="characters of a text that searches show")
    enrich: bool = Field(default=True, description="whether names and strength are read from texts that come without")
    search_by_meaning: bool = Field(
        default=False, description="whether search_memory goes by meaning where the call does not say"
    )
    short_term_weight: float = Field(
        default=1.0, ge=0, le=2, allow_inf_nan=False, description="what memories weigh in search_unified"
    )
    long_term_weight: float = Field(
        default=0.7, ge=0, le=2, allow_inf_nan=False, description="what notes of the vault weigh in search_unified"
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
