"""Part 10, with the defaults of parts 1 to 9: every named variant as a plain dict.

Combinations are a list of levels, strongest first; what stands in one level is on a par. Each
entry is a name and an effect: wins, wins_double, stop, none, or stop_after_end (part 6, molodka
waits: none, unless an end was turned).
"""

from typing import Any

DEFAULTS: dict[str, Any] = {
    # Part 1
    "deck": 36,  # 36 | 32
    "low_rank_order": "6789",  # 6789 | 9876, low to high
    # Part 2
    "players": [2, 3, 4, 5, 6],
    "hand_size": 3,  # 3 | 4 | 5
    "next_dealer": "winner",  # winner | rotate | same
    "trump": "indicator",  # indicator | none
    "indicator": "bottom",  # bottom | top | shuffled
    "end_indicator": "keep",  # keep | bury | redraw
    "first_lead": "left_of_dealer",  # left_of_dealer | high_card | colour_guess
    "next_lead": "last_taker",  # last_taker | left_of_dealer | alternate
    "dealt_combination": "redeal",  # redeal | stands
    "hands": "private",  # private | open
    # Part 3
    "lead_sizes": [1, 2, 3],
    "trump_immune_suit": "none",  # none | spades
    "discards": "open",  # open | closed_all | closed_optional | taker_looks
    "draw_order": "round_robin",  # round_robin | fill_in_turn
    "short_stock": "set_aside",  # set_aside | deal_out
    "leftover_points": "last_taker",  # last_taker | nobody; only with goal points
    "short_hand": "give_all",  # give_all | cap_lead
    # Part 4
    "goal": "claim",  # claim | points
    "claim_window": "on_lead",  # on_lead | on_any_turn | after_taking
    "target": 31,
    "false_claim": "lose",  # lose | lose_double | double_bank
    "claim_vs_combination": "claim_first",  # claim_first | combination_first
    "final_claim": "yes",  # yes | no
    "no_claim": "void",  # void | most_points
    "max_void": 3,
    "top_tie": "zero_each",  # zero_each | two_each | draw; split: Kozel, the tops share
    # Part 5
    "fault_cost": "deal",  # deal | match
    # Part 6
    "combinations": [],
    "moscow": "three_aces",  # three_aces | with_trump_ace; high_cards: S0's moscow of four
    "little_moscow": "sixes_with_trump",  # sixes_with_trump | tens
    "bura_tie": "leader_unless_covered",  # leader_unless_covered | highest_card | leader
    "stop_block": "declared",  # declared | held
    # Part 7
    "same_rank_leads": "no",  # no | ask
    "raise": "no",  # no | dave
    # Part 8
    "sides": "each",  # each | pairs
    # Part 9
    "draw_carry": "double_once",  # double_once | geometric | none
    "match_format": "series",  # series robber penalty burkozyol_penalty burkozyol_double eyes bank
    "played_as": "penalty",  # penalty | robber; how burkozyol_double is played
    "robber_target": 21,
    "margin": 2,
    "limit": 12,
    "on_limit": "match_over",  # match_over | eliminate
    "six_for": "zero_points",  # zero_points | no_tricks | off
    "four_singles_mark": 31,  # 31 | 21
    "eyes": "each_side",  # each_side | winner_only
    "ante": 1,
    "max_deals": 1000,
}


def with_changes(options: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Copy options with some of them changed; an unknown name is an error."""
    for name in changes:
        if name not in DEFAULTS:
            raise KeyError(name)
    return {**options, **changes}


BURA = with_changes(
    DEFAULTS,
    discards="closed_optional",
    false_claim="lose_double",
    combinations=[
        [["moscow", "wins"]],
        [["bura", "wins"]],
        [["little_moscow", "stop"]],
        [["molodka", "stop"]],
    ],
)
BURA_BASIC = with_changes(
    DEFAULTS, combinations=[[["bura", "wins"]]], dealt_combination="stands", false_claim="lose"
)
BURA_BY = with_changes(
    BURA,
    discards="open",
    little_moscow="tens",
    bura_tie="highest_card",
    dealt_combination="stands",
    match_format="penalty",
)
BURA_BANK = with_changes(
    DEFAULTS,
    match_format="bank",
    false_claim="double_bank",
    combinations=[[["bura", "wins"]], [["three_aces", "stop"]], [["molodka", "stop"]]],
    bura_tie="leader",
    dealt_combination="stands",
    next_lead="left_of_dealer",
)
BURA_5 = with_changes(
    DEFAULTS,
    players=[2],
    hand_size=5,
    lead_sizes=[1, 2, 3, 4, 5],
    goal="points",
    trump_immune_suit="spades",
    combinations=[[["bura", "wins"]], [["molodka", "stop"]]],
    dealt_combination="stands",
)
BURKOZYOL = with_changes(
    DEFAULTS,
    players=[2, 3, 4],
    hand_size=4,
    lead_sizes=[1, 2, 3, 4],
    goal="points",
    discards="taker_looks",
    end_indicator="bury",
    moscow="high_cards",
    combinations=[[["moscow", "wins_double"]], [["bura", "wins"]], [["molodka", "stop"]]],
    dealt_combination="stands",
    match_format="burkozyol_double",
    first_lead="high_card",
)

VARIANTS: dict[str, dict[str, Any]] = {
    "bura": BURA,
    "bura-basic": BURA_BASIC,
    "bura-bg": with_changes(BURA, bura_tie="highest_card"),
    "bura-by": BURA_BY,
    "bura-bank": BURA_BANK,
    "bura-no-molodka": with_changes(
        BURA_BANK, combinations=[[["bura", "wins"]], [["three_aces", "stop"]]]
    ),
    "bura-three-aces": with_changes(
        BURA_BANK, combinations=[[["three_aces", "wins"]], [["molodka", "stop"]]]
    ),
    "bura-32": with_changes(BURA_BANK, deck=32),
    "bura-closed": with_changes(BURA_BANK, discards="closed_all"),
    "bura-open": with_changes(BURA_BY, hands="open"),
    "bura-no-trumps": with_changes(
        BURA_BY,
        trump="none",
        combinations=[[["moscow", "wins"]], [["little_moscow", "stop"]], [["molodka", "stop"]]],
    ),
    "bura-dave": with_changes(BURA_BY, **{"raise": "dave"}),
    "bura-5": BURA_5,
    "burkozyol": BURKOZYOL,
    "burkozyol-pairs": with_changes(BURKOZYOL, players=[4], sides="pairs"),
    "burkozyol-eyes": with_changes(
        BURKOZYOL,
        players=[4],
        sides="pairs",
        deck=32,
        match_format="eyes",
        draw_carry="geometric",
    ),
    "burkozyol-queue": with_changes(
        BURKOZYOL,
        end_indicator="redraw",
        combinations=[
            [["moscow", "stop"]],
            [["bura", "stop"], ["complect", "stop"], ["molodka", "stop_after_end"]],
        ],
    ),
    "burkozyol-same-rank": with_changes(BURKOZYOL, same_rank_leads="ask"),
    "burkozyol-by": with_changes(
        BURKOZYOL,
        discards="open",
        end_indicator="keep",
        moscow="three_aces",
        combinations=[
            [["golden_moscow", "stop"]],
            [["bura", "stop"]],
            [["moscow", "stop"]],
            [["molodka", "stop"]],
        ],
        match_format="burkozyol_penalty",
        on_limit="eliminate",
        draw_carry="none",
        first_lead="left_of_dealer",
    ),
    "kozel": with_changes(
        DEFAULTS,
        players=[2, 3, 4, 5],
        hand_size=4,
        lead_sizes=[1, 3],
        goal="points",
        combinations=[[["bura", "wins"]], [["four_aces", "wins"]]],
        bura_tie="leader",
        dealt_combination="stands",
        next_lead="left_of_dealer",
        match_format="bank",
        top_tie="split",
    ),
}


def combination_names(options: dict[str, Any]) -> list[str]:
    """Part 6: the names of this game's combinations, strongest first."""
    return [name for level in options["combinations"] for name, _ in level]


def refusals(options: dict[str, Any], seats: int) -> list[str]:
    """Part 9, refused with the reason: the impossible combinations of options."""
    return trump_refusals(options) + goal_refusals(options) + seat_refusals(options, seats)


def trump_refusals(options: dict[str, Any]) -> list[str]:
    """Part 9: no trumps with what needs trumps; 32 cards with sixes."""
    names = combination_names(options)
    little = "little_moscow" in names and options["little_moscow"] == "sixes_with_trump"
    reasons = []
    if options["trump"] == "none":
        wanted = {
            "bura": "bura" in names,
            "moscow of four": "moscow" in names and options["moscow"] == "high_cards",
            "with_trump_ace": "moscow" in names and options["moscow"] == "with_trump_ace",
            "sixes_with_trump": little,
            "colour_guess": options["first_lead"] == "colour_guess",
            "bury or redraw": options["end_indicator"] != "keep",
        }
        reasons = [f"no trumps with {what}" for what, found in wanted.items() if found]
    if options["deck"] == 32 and little:
        reasons.append("32 cards with sixes_with_trump")
    return reasons


def goal_refusals(options: dict[str, Any]) -> list[str]:
    """Part 9: claim or dave options with goal points."""
    asked = ["claim_window", "false_claim", "claim_vs_combination", "final_claim"]
    claims = [*asked, "no_claim", "target", "max_void"]
    if options["goal"] != "points":
        return []
    changed = [name for name in [*claims, "raise"] if options[name] != DEFAULTS[name]]
    return [f"{name} with goal points" for name in changed]


def seat_refusals(options: dict[str, Any], seats: int) -> list[str]:
    """Part 9: pairs with other than four seats, eyes, more cards than the deck; lead sizes."""
    reasons = []
    if options["sides"] == "pairs" and seats != 4:
        reasons.append("pairs with other than four seats")
    eyes_fit = options["sides"] == "pairs" and options["deck"] == 32
    if options["match_format"] == "eyes" and not eyes_fit:
        reasons.append("eyes without pairs and 32 cards")
    turned = 1 if options["trump"] == "indicator" else 0
    if seats * options["hand_size"] + turned > options["deck"]:
        reasons.append("more cards than the deck has")
    if 1 not in options["lead_sizes"]:
        reasons.append("lead sizes without 1 can leave no lead")
    return reasons
