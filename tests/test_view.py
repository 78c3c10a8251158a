import pytest
from positions import deck_of, endgame, play, position

from referee.cards import Cards, parse_card
from referee.rules import Combination, EventKind, FixedSource, Rules, TurnKind, deal
from referee.variants import VARIANTS
from referee.view import Pile, SeenEvent, TablePlay, events_for, observe

QUIET = Rules(combinations=(), dealt_combination="stands", discards="closed_optional")
HANDS = ("6C 7D AS", "7C 8D 9S")


def test_a_view_holds_what_the_seat_may_know() -> None:
    """Own hand, trump, indicator, counts of the rest; nothing of the other's hand."""
    view = observe(position(QUIET, *HANDS), 1)

    assert view.hand == Cards.parse("7C 8D 9S")
    assert (view.trump, view.indicator, view.stock) == (2, parse_card("6H"), 30)
    assert view.hand_counts == (3, 3)
    assert view.known == (Cards(0), Cards(0))
    assert view.captured == (Pile(Cards(0), 0), Pile(Cards(0), 0))
    assert (view.kind, view.leader, view.deal_over) == (None, 0, False)


def test_a_closed_answer_is_known_to_its_owner_only() -> None:
    """On the table and in the pile a closed card is a count to all but its owner."""
    state = play(position(QUIET, *HANDS), "0 lead 6C", "1 hide 9S")
    taker, owner = observe(state, 0), observe(state, 1)

    assert taker.captured[0] == Pile(Cards.parse("6C"), 1)
    assert owner.captured[0] == Pile(Cards.parse("6C 9S"), 0)
    assert taker.last_trick[1] == TablePlay(1, Cards(0), 1, beats=False)
    assert owner.last_trick[1] == TablePlay(1, Cards.parse("9S"), 0, beats=False)


def test_closed_cards_are_opened_when_the_deal_is_over() -> None:
    """After the claim every captured card is known to all, unplayed hands are not."""
    state = play(position(QUIET, *HANDS), "0 lead 6C", "1 hide 9S", "0 claim")
    view = observe(state, 0)

    assert view.deal_over
    assert view.captured[0] == Pile(Cards.parse("6C 9S"), 0)
    assert view.known[1] == 0


def test_a_taker_looks_while_a_draw_is_to_come() -> None:
    """Under taker_looks the taker sees closed cards, others do not, and after the stock nobody."""
    rules = QUIET.replace(discards="taker_looks")
    early = play(position(rules, *HANDS), "0 lead 6C", "1 hide 9S")
    late = play(endgame(rules, "6C 7D", "8D 9S", captured=["", ""]), "0 lead 6C", "1 hide 9S")

    assert observe(early, 0).captured[0] == Pile(Cards.parse("6C 9S"), 0)
    assert observe(late, 0).captured[0] == Pile(Cards.parse("6C"), 1)


def drawn_indicator() -> tuple[Rules, tuple[str, ...]]:
    """Return rules under which the taker draws the indicator from the top."""
    return QUIET.replace(indicator="top"), ("AC 7D AS", "7C 8D 9S")


def test_a_drawn_indicator_is_known_in_the_hand_that_drew_it() -> None:
    """All know who drew the open indicator, and it no longer lies in the stock."""
    rules, hands = drawn_indicator()
    state = play(position(rules, *hands), "0 lead AC", "1 hide 7C")
    view = observe(state, 1)

    assert view.known[0] == Cards.parse("6H")
    assert view.indicator is None


def test_a_closed_answer_hides_whether_the_indicator_is_still_held() -> None:
    """Once its holder lays cards closed, nobody is told where the indicator is."""
    rules, hands = drawn_indicator()
    kept, laid = (
        play(
            position(rules, *hands, then="KS QS JS"),
            *("0 lead AC", "1 hide 7C", "0 lead 7D", "1 play 8D", "1 lead 9S", f"0 hide {card}"),
        )
        for card in ("AS", "6H")
    )

    assert observe(kept, 1) == observe(laid, 1)
    assert observe(kept, 1).known[0] == 0


def test_open_hands_are_known_to_all() -> None:
    """With open hands every view names every card of every hand."""
    view = observe(position(QUIET.replace(hands="open"), *HANDS), 1)

    assert view.known == (Cards.parse(HANDS[0]), Cards(0))


def test_nobody_sees_a_card_before_the_colour_is_named() -> None:
    """While the colour is guessed there is no hand, trump, indicator or event to see."""
    rules = QUIET.replace(first_lead="colour_guess")
    deck = deck_of(rules, HANDS, dealer=1, turned="AH")
    state = deal(rules, seats=2, dealer=1, source=FixedSource([deck], {"lot": [0]}))
    views = [observe(state, seat) for seat in (0, 1)]

    assert views[0].kind is TurnKind.COLOUR
    for seat, view in enumerate(views):
        assert (view.hand, view.trump, view.indicator, view.end_turned) == (0, None, None, False)
        assert events_for(state, seat, 0) == ()
    play(state, "0 red")
    assert observe(state, 0).hand == Cards.parse(HANDS[0])


def test_an_offer_shows_its_number_only() -> None:
    """The neighbour is told how many cards are offered, not which; they stay in the hand."""
    state = position(VARIANTS["burkozyol-same-rank"], "8C 8D 8S 7C", "9C 6H JS 7D", turned="9H")
    play(state, "0 offer 8C 8D 8S", "1 pass")
    view = observe(state, 1)

    assert (view.offered, view.hand_counts, view.table) == (3, (4, 4), ())
    assert events_for(state, 1, 0)[-1] == SeenEvent(EventKind.OFFER, 0, Cards(0), 3, None, 0)


def test_events_show_draws_to_their_owner() -> None:
    """A drawn card is a count to the others."""
    state = play(position(QUIET, *HANDS, then="KC KD"), "0 lead AS", "1 play 9S")
    drawn = [event for event in events_for(state, 0, 0) if event.kind is EventKind.DRAW]

    assert [(each.seat, str(each.cards), each.hidden) for each in drawn] == [
        (0, "KC", 0),
        (1, "", 1),
    ]


def test_events_start_where_they_are_asked_to() -> None:
    """The events from a place on leave out what came before it."""
    state = position(QUIET, *HANDS)
    told = len(state.events)
    play(state, "0 lead AS")

    assert [event.kind for event in events_for(state, 1, told)] == [EventKind.LEAD]


def test_a_declared_combination_is_named() -> None:
    """A stop and its lead name the combination; raises name their stake."""
    rules = VARIANTS["bura-by"]
    state = position(rules, "6C 7D 8S", "7S TS AS")
    told = len(state.events)
    play(state, "0 lead 6C", "1 stop 7S TS AS")

    stop, lead = events_for(state, 0, told)
    assert (stop.kind, stop.combination, stop.cards) == (
        EventKind.STOP,
        Combination.MOLODKA,
        Cards(0),
    )
    assert (lead.combination, lead.cards) == (Combination.MOLODKA, Cards.parse("7S TS AS"))


def test_a_raise_names_its_stake_and_who_left() -> None:
    """The view tells the stake in force, the one proposed, and who is out of the deal."""
    state = position(VARIANTS["bura-dave"], "6C 8D 9S", "7C 9D JS", "8C JD QS")
    told = len(state.events)
    play(state, "0 lead 6C", "1 pass", "2 pass", "0 raise", "1 decline")
    view = observe(state, 2)

    assert (view.stake, view.proposed, view.out) == (1, 2, (1,))
    assert [(event.kind, event.stake) for event in events_for(state, 2, told)] == [
        (EventKind.RAISE, 2),
        (EventKind.DECLINE, 1),
    ]


@pytest.mark.parametrize("hand", ["6S 7C 8D", "TS AS 7S"])
def test_a_window_looks_the_same_whatever_others_hold(hand: str) -> None:
    """The leader's view and options do not tell whether the other seat could stop it."""
    rules = VARIANTS["bura-by"]
    plain = position(rules, "6C 7D 8S", "6S 7C 8D")
    state = position(rules, "6C 7D 8S", hand)

    assert state.asked == plain.asked == (0, 1)
    assert observe(state, 0) == observe(plain, 0)
    assert state.legal_actions(0) == plain.legal_actions(0)
    assert state.kind_of_turn(1) is TurnKind.STOP


def test_a_holder_of_bura_is_asked_whatever_others_hold() -> None:
    """That a stronger combination is held elsewhere does not show in who is asked."""
    rules = VARIANTS["bura-by"]
    alone = position(rules, "6H 9H TH", "7C 8D 9S", turned="8H")
    beaten = position(rules, "6H 9H TH", "AC AD AS", turned="8H")

    assert alone.asked == beaten.asked == (0, 1)
    assert observe(alone, 0) == observe(beaten, 0)
    assert alone.legal_actions(0) == beaten.legal_actions(0)
