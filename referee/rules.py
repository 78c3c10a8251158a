"""The one door to the rules: options, actions, the state of a deal and its outcome."""

from referee.actions import Action, ActionError, ActionKind
from referee.dealing import DealSource, FixedSource
from referee.events import Event, EventKind
from referee.options import Combination, Rules, RulesError
from referee.outcomes import Outcome, Reason, highest_weight

__all__ = [
    "Action",
    "ActionError",
    "ActionKind",
    "Combination",
    "DealSource",
    "Event",
    "EventKind",
    "FixedSource",
    "Outcome",
    "Reason",
    "Rules",
    "RulesError",
    "highest_weight",
]
