"""Every option of the rules in a plain sentence, with the source text that wants it."""

from typing import Final

from referee.options import Combination, Rules

SOURCES: Final[dict[str, str]] = {
    "S0": "the Russian encyclopaedia article on Bura and Burkozyol, the fullest text",
    "S1": "a Russian guide to Bura played for a bank, and to Kozel",
    "S3": "a Bulgarian version of an older S0",
    "S4": "a Belarusian description of Bura and Burkozyol",
    "D": "a decision of this project, where the texts are silent or disagree",
}
"""What the letters in brackets after a sentence stand for."""

SENTENCES: Final[dict[tuple[str, str | int], str]] = {
    ("deck", 36): "The deck has 36 cards, 6 to ace in four suits. [S0 S1 S3]",
    ("deck", 32): "The deck has 32 cards, 7 to ace in four suits. [S0 S1]",
    ("low_rank_order", "6789"): "From low to high: 6 7 8 9 J Q K T A; the ten beats the king. [D]",
    ("low_rank_order", "9876"): "From low to high: 9 8 7 6 J Q K T A; the ten beats the king. [S0]",
    ("hand_size", 3): "A hand is three cards. [S0 S1 S3 S4]",
    ("hand_size", 4): "A hand is four cards. [S0 S1 S4]",
    ("hand_size", 5): "A hand is five cards. [S0]",
    ("trump", "indicator"): "A card turned up after the deal fixes the trump suit. [S0 S1 S3 S4]",
    ("trump", "none"): "There are no trumps. [S4]",
    ("indicator", "bottom"): "The indicator lies face up under the stock and is drawn last. [D]",
    ("indicator", "top"): "The indicator lies face up on the stock and is drawn first. [D]",
    ("indicator", "shuffled"): "The indicator goes back into the stock at a random place. [D]",
    ("end_indicator", "keep"): "An ace or a ten as indicator is treated like any other. [D]",
    ("end_indicator", "bury"): (
        "An ace or a ten as indicator goes back into the stock at a random place; its suit stays"
        " trump. [S0]"
    ),
    ("end_indicator", "redraw"): (
        "An ace or a ten as indicator goes back into the stock and another card is turned. [S0]"
    ),
    ("first_lead", "left_of_dealer"): "The dealer's left neighbour leads first. [S0 S1 S3]",
    ("first_lead", "high_card"): "Each side cuts a card, and the higher leads first. [S0]",
    ("first_lead", "colour_guess"): (
        "A seat, by lot, names the colour of the trump card unseen: right, and it leads first, else"
        " the next seat of the other side does. [S0]"
    ),
    ("next_lead", "last_taker"): "Later deals are led by who took the last trick. [S0 S3]",
    ("next_lead", "left_of_dealer"): "Later deals are led by the dealer's left neighbour. [S1]",
    ("next_lead", "alternate"): "Later deals are led by the next seat clockwise. [D]",
    ("next_dealer", "winner"): "The winner of a deal deals next. [S0 S3]",
    ("next_dealer", "rotate"): "The deal passes clockwise. [D]",
    ("next_dealer", "same"): "The same seat deals again. [D]",
    ("dealt_combination", "redeal"): (
        "If a combination is dealt, the cards are dealt again without consequences. [S0 S3]"
    ),
    ("dealt_combination", "stands"): "A combination that is dealt counts like any other. [S1 S4 D]",
    ("hands", "private"): "Each seat sees its own hand only. [S0 S1 S3 S4]",
    ("hands", "open"): "All hands lie face up. [S4]",
    ("trump_immune_suit", "none"): "A trump beats every card that is no trump. [S1]",
    ("trump_immune_suit", "spades"): "Trumps do not beat spades; only higher spades do. [S0]",
    ("discards", "open"): "All cards are played face up. [S0 S1 S4]",
    ("discards", "closed_all"): "Cards that do not beat are played face down. [S1]",
    ("discards", "closed_optional"): (
        "An answer may be laid face down; it does not beat then, and stays closed. [S0 S3]"
    ),
    ("discards", "taker_looks"): (
        "An answer may be laid face down; it does not beat then, and only the taker may look at it"
        " while a draw is still to come. [S0 D]"
    ),
    ("draw_order", "round_robin"): (
        "After a trick hands are refilled one card at a time, the taker first. [S0 S1 S3]"
    ),
    ("draw_order", "fill_in_turn"): (
        "After a trick each seat fills its hand in turn, the taker first, clockwise. [D]"
    ),
    ("short_stock", "set_aside"): (
        "A stock that cannot serve every seat once more stays undrawn. [D]"
    ),
    ("short_stock", "deal_out"): "The stock is drawn to the last card. [D]",
    ("short_hand", "give_all"): (
        "A seat with fewer cards than were led plays all it has and cannot beat. [D]"
    ),
    ("short_hand", "cap_lead"): "A lead is at most as large as the smallest hand. [D]",
    ("leftover_points", "last_taker"): "Undrawn cards count for the last taker. [D]",
    ("leftover_points", "nobody"): "Undrawn cards count for nobody. [D]",
    (
        "goal",
        "claim",
    ): "Whoever claims with enough points in captured cards wins. [S0 S1 S3 S4]",
    ("goal", "points"): "All cards are played, and most points win. [S0 S1 S4]",
    ("claim_window", "on_lead"): "A seat may claim instead of leading. [S0 S3 S4]",
    ("claim_window", "on_any_turn"): "A seat may claim instead of leading or answering. [D]",
    ("claim_window", "after_taking"): "A taker may claim before the draw. [D]",
    ("false_claim", "lose"): "A false claim loses the deal. [S0 S3 S4]",
    ("false_claim", "lose_double"): "A false claim loses the deal doubly. [S0 S3 S4]",
    ("false_claim", "double_bank"): (
        "A false claim pays as much as the bank holds into it, and the deal is void. [S1]"
    ),
    ("claim_vs_combination", "claim_first"): (
        "A claim by the seat due to lead is settled before combinations and stops. [D]"
    ),
    ("claim_vs_combination", "combination_first"): (
        "Combinations and stops are settled before a claim. [D]"
    ),
    ("final_claim", "yes"): "The taker of the last trick may still claim. [D]",
    ("final_claim", "no"): "After the last trick nobody may claim. [D]",
    ("no_claim", "void"): "A deal without a claim is void. [S1]",
    ("no_claim", "most_points"): "Without a claim most points win; equal tops are a draw. [D]",
    ("top_tie", "zero_each"): "If some share the top, they are charged nothing. [D]",
    ("top_tie", "two_each"): "If some share the top, each of them loses too. [D]",
    ("top_tie", "draw"): "If some share the top, the deal is a draw. [D]",
    ("top_tie", "split"): "Equal tops share the win, also if all are level. [S1]",
    ("fault_cost", "deal"): "An offence loses the deal. [S0 S3 D]",
    ("fault_cost", "match"): "An offence loses the match. [S0 S3 D]",
    ("bura_tie", "leader_unless_covered"): (
        "Of two buras that of the seat due to lead wins, unless the other covers it. [S0]"
    ),
    ("bura_tie", "highest_card"): "Of two buras the one with the highest card wins. [S1 S3 S4]",
    ("bura_tie", "leader"): "Of two buras the first clockwise from the leader wins. [S1]",
    ("stop_block", "declared"): "Only declared combinations stand against a stop. [D]",
    ("stop_block", "held"): "A stronger combination held in silence voids a stop. [S0 S3 S4]",
    ("same_rank_leads", "no"): "Leads are of one suit. [S0 S1 S3 S4]",
    ("same_rank_leads", "ask"): (
        "Two to four cards of one rank may be offered face down; the left neighbour accepts them as"
        " a lead or refuses. [S0]"
    ),
    ("raise_", "no"): "The stake of a deal is not raised. [S0 S1 S3 S4]",
    ("raise_", "dave"): (
        "Before a lead the stake may be raised, up to 6; who declines loses the stake as it stood."
        " [S4 D]"
    ),
    ("sides", "each"): "Each seat plays for itself. [S0 S1 S3 S4]",
    ("sides", "pairs"): "Seats 0 and 2 play against 1 and 3, their captured cards together. [S0]",
    ("match_format", "series"): "The match is a series of decks, each in every rotation. [D]",
    ("match_format", "robber"): "The match is a robber, a race to a number of deals won. [S0 S3]",
    ("match_format", "penalty"): "A loss costs two penalty points, a double one four. [S0 S3 S4]",
    ("match_format", "burkozyol_penalty"): (
        "Most points cost nothing, the pass mark (31 for two, else 21) reached two penalty points,"
        " less four. [S4]"
    ),
    ("match_format", "burkozyol_double"): (
        "A loss below the pass mark counts double; the mark is 31 for two sides, 21 for three. [S0]"
    ),
    ("match_format", "eyes"): "The match is a race of opened eyes. [S0]",
    ("match_format", "bank"): "All put the same ante into a bank, and the winner takes it. [S1]",
    ("on_limit", "match_over"): "Who reaches the limit of penalty points loses the match. [S0 S3]",
    ("on_limit", "eliminate"): "Who reaches the limit is out; the last one in wins. [S4]",
    ("double_as", "penalty"): "It is played for penalty points. [S0]",
    ("double_as", "robber"): "It is played as a robber. [S0]",
    ("four_singles_mark", 31): "For four single players the pass mark is 31. [S0]",
    ("four_singles_mark", 21): "For four single players the pass mark is 21. [S4]",
    ("six_for", "zero_points"): "No points at all cost six penalty points. [S4]",
    ("six_for", "no_tricks"): "No trick at all costs six penalty points. [D]",
    ("six_for", "off"): "Nothing costs six penalty points. [S0]",
    ("eyes", "each_side"): "Each side opens two with 31 points and four with 61. [S0]",
    ("eyes", "winner_only"): "The winners open two, or four if the others stay under 31. [D]",
    ("draw_carry", "double_once"): "After drawn deals the next decided one counts double. [S0]",
    ("draw_carry", "geometric"): "Each drawn deal doubles the next decided one once more. [S0]",
    ("draw_carry", "none"): "A drawn deal has no consequences. [D]",
}

_NUMBERS: Final[dict[str, str]] = {
    "players": "{} play. [S0 S1 S4]",
    "lead_sizes": "A lead is {} cards. [S0 S1 S3 S4 D]",
    "target": "A claim is right with {} points or more. [S0 S1 S3 S4]",
    "max_void": "At most {} deals in a row are void; the next goes to most points. [D]",
    "robber_target": "The robber goes to {} deals won. [S0 S3]",
    "robber_margin": "It needs a margin of {} over each other seat. [S0 S3]",
    "penalty_limit": "The limit is {} penalty points. [S0 S3 S4]",
    "eyes_target": "The race goes to {} eyes. [S0]",
    "ante": "The ante is {} from each seat. [S1]",
    "max_deals": "A match has at most {} deals. [D]",
}

_CARDS: Final[dict[Combination, str]] = {
    Combination.BURA: "Bura, all trumps, wins. [S0 S1 S3 S4]",
    Combination.BURA_LEADS: "Bura, all trumps, may be led out of turn. [S0 S4]",
    Combination.MOLODKA: "Molodka, one suit but trumps, may be led out of turn. [S0 S1 S3 S4]",
    Combination.MOLODKA_WAITS: (
        "Molodka, one suit but trumps, waits its turn; it may be led out of turn if an ace or"
        " a ten was turned. [S0]"
    ),
    Combination.MOSCOW: "Moscow, three aces, wins. [S0 S3 S4]",
    Combination.MOSCOW_LEADS: (
        "Moscow, aces and tens with an ace and a trump, may be led out of turn. [S0]"
    ),
    Combination.MOSCOW_OF_THREE: "Moscow, three aces of four cards, may be led out of turn. [S4]",
    Combination.LITTLE_MOSCOW: "Little Moscow, three tens, may be led out of turn. [S0 S3 S4]",
    Combination.THREE_ACES: "Three aces may be led out of turn. [S1]",
    Combination.THREE_ACES_WIN: "Three aces win. [S1]",
    Combination.GOLDEN_MOSCOW: "Golden Moscow, four aces, may be led out of turn. [S4]",
    Combination.FOUR_ACES: "Four aces win. [S1]",
    Combination.COMPLECT: "A complect, all aces or tens, may be led out of turn. [S0]",
}


def number_sentence(option: str, value: int | tuple[int, ...]) -> str:
    """Return the sentence of an option whose value is a number or several."""
    if isinstance(value, int):
        return _NUMBERS[option].format(value)
    *others, last = map(str, value)
    return _NUMBERS[option].format(f"{', '.join(others)} or {last}" if others else last)


def combination_sentence(rules: Rules, combination: Combination) -> str:
    """Return the sentence of a combination as these rules read it."""
    if combination is Combination.MOSCOW:
        if rules.hand_size == 4:  # noqa: PLR2004 - the game's own size
            return "Moscow, aces and tens with an ace and a trump, wins doubly. [S0]"
        if rules.moscow == "with_trump_ace":
            return "Moscow, three aces with that of trumps, wins. [S0 S3]"
    if combination is Combination.LITTLE_MOSCOW and rules.little_moscow == "sixes_with_trump":
        return "Little Moscow, three sixes with that of trumps, may be led out of turn. [S0 S3]"
    return _CARDS[combination]


_CLAIMS: Final = frozenset(
    {
        "claim_window",
        "target",
        "false_claim",
        "claim_vs_combination",
        "final_claim",
        "no_claim",
        "raise_",
    }
)
_PENALTIES: Final = frozenset({"penalty", "burkozyol_penalty", "burkozyol_double"})


def matters(rules: Rules, option: str) -> bool:
    """Tell whether the option makes a difference in a game with these rules."""
    form = rules.match_format
    robber = form == "robber" or (form == "burkozyol_double" and rules.double_as == "robber")
    penalty = form in _PENALTIES and not robber
    listed = rules.combinations
    buras = Combination.BURA in listed
    irrelevant = {
        "moscow": True,
        "little_moscow": True,
        "indicator": rules.trump == "none",
        "end_indicator": rules.trump == "none",
        "trump_immune_suit": rules.trump == "none",
        "short_hand": rules.short_stock == "set_aside",
        "leftover_points": rules.goal == "claim" or rules.short_stock == "deal_out",
        "max_void": rules.goal == "points" or rules.no_claim != "void" or form == "series",
        "top_tie": rules.goal == "claim",
        "bura_tie": not buras,
        "dealt_combination": not listed,
        "stop_block": not listed,
        "robber_target": not robber,
        "robber_margin": not robber,
        "penalty_limit": not penalty,
        "on_limit": not penalty,
        "double_as": form != "burkozyol_double",
        "four_singles_mark": form != "burkozyol_double",
        "six_for": form != "burkozyol_penalty",
        "eyes": form != "eyes",
        "eyes_target": form != "eyes",
        "ante": form != "bank",
        "draw_carry": form == "series",
        "max_deals": form == "series",
    }
    return not (irrelevant.get(option) or (option in _CLAIMS and rules.goal == "points"))
