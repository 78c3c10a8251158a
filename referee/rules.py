"""The one door to the rules: options, actions, the state of a deal and its outcome."""

from referee.actions import Action, ActionError, ActionKind
from referee.dealing import DealSource, FixedSource
from referee.events import Event, EventKind
from referee.options import Combination, Rules, RulesError
from referee.outcomes import Outcome, Reason, highest_weight
from referee.state import IllegalActionError, State, TurnKind, deal, fault_outcome

__all__ = [
    "Action",
    "ActionError",
    "ActionKind",
    "Combination",
    "DealSource",
    "Event",
    "EventKind",
    "FixedSource",
    "IllegalActionError",
    "Outcome",
    "Reason",
    "Rules",
    "RulesError",
    "State",
    "TurnKind",
    "deal",
    "fault_outcome",
    "highest_weight",
]
