"""Ratings: folds of finished matches in the order of the schedule, never of arrival."""

from arena.ratings.base import Rating, RatingSystem, Skill
from arena.ratings.folding import Change, changes, fold
from arena.ratings.groups import tie_groups
from arena.ratings.open_skill import OpenSkill
from arena.ratings.systems import RATINGS, find_rating, with_parameters
from arena.ratings.true_skill import TrueSkill

__all__ = [
    "RATINGS",
    "Change",
    "OpenSkill",
    "Rating",
    "RatingSystem",
    "Skill",
    "TrueSkill",
    "changes",
    "find_rating",
    "fold",
    "tie_groups",
    "with_parameters",
]
