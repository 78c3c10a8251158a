"""Bots behind real sockets: what each misbehaving program brings on itself."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from bots.raw import Stream, connect
from hostile.http2 import ACK, PREFACE, SETTINGS, frame
from hostiles import descriptors
from legs import EXPLAIN_SECONDS, Played, play, spec

from referee import remote
from referee.players import FaultKind, PlatformStalledError
from referee.remote import CONNECTIONS, SPARE_CHOICES, Reception, SocketError, _SeatServer
from referee.results import TimeControl

if TYPE_CHECKING:
    from collections.abc import Callable

STEADY = ("steady",)
# The bank is gone with the first silence; who is not silent has it in every round.
IMPATIENT = TimeControl(move_time_ms=500, bank_ms=3_500, startup_ms=60_000)
SILENT_HTTP2 = PREFACE + frame(SETTINGS) + frame(SETTINGS, flags=ACK)
# By itself gRPC waits for two minutes for a connection's first bytes, and for ever for a stream.
PATIENCE_SECONDS = 40.0
SPARE_DESCRIPTORS = 4


def faults(played: Played) -> list[tuple[FaultKind, int | None, int]]:
    """The faults of a leg as kind, deal and seat."""
    return [(each.fault.kind, each.deal, each.fault.seat) for each in played.leg.faults]


def test_two_bots_play_a_leg_and_exit() -> None:
    """A leg without a fault ends in Goodbye, and both programs end by themselves."""
    played = play(spec(decks=3), STEADY, STEADY)
    assert not played.leg.faults
    assert [result.number for result in played.leg.deals] == [0, 1, 2]
    assert all(traffic.sent_bytes > traffic.received_bytes > 0 for traffic in played.leg.traffic)


def test_the_same_bots_make_the_same_leg_at_any_number_of_tables() -> None:
    """Batches of turns change nothing in what is played."""
    one = play(spec(decks=6), STEADY, STEADY)
    many = play(spec(decks=6, tables=4), STEADY, STEADY)
    assert [each.scores for each in one.leg.deals] == [each.scores for each in many.leg.deals]
    assert many.leg.traffic[0].sent_messages < one.leg.traffic[0].sent_messages


@pytest.mark.parametrize(
    ("bot", "kind"),
    [
        (("illegal_index",), FaultKind.ILLEGAL_ACTION),
        (("unissued_turn",), FaultKind.OUT_OF_TURN),
        (("hasty",), FaultKind.OUT_OF_TURN),
        (("double_answer",), FaultKind.DOUBLE_ACTION),
    ],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_a_wrong_choice_loses_one_deal(bot: tuple[str, ...], kind: FaultKind, seat: int) -> None:
    """The deal is lost at the highest weight, and the next one is played."""
    bots = [bot, STEADY] if seat == 0 else [STEADY, bot]
    played = play(spec(), *bots)
    assert faults(played) == [(kind, 0, seat)]
    assert played.leg.deals[0].outcome.losers == ((seat, 2),)
    assert not played.leg.deals[1].lost_by


def test_a_slow_answer_loses_one_deal() -> None:
    """An answer after the move time is late, and the bot plays on."""
    control = TimeControl(move_time_ms=4_000, startup_ms=60_000)
    played = play(spec(time_control=control), STEADY, ("slow", "20"))
    assert (FaultKind.TIMEOUT, 0, 1) in faults(played)


def test_sending_what_nobody_answers_is_in_nobodys_time() -> None:
    """Only messages that were answered count as sending, as only they have a time."""
    played = play(spec(decks=20, time_control=IMPATIENT), STEADY, ("silent",))
    assert played.leg.traffic[1].sent_messages > 1
    assert played.leg.traffic[1].sending_us == 0


def test_a_silent_bot_loses_the_leg_in_three_move_times() -> None:
    """Silence is three late answers, and no more time than that."""
    played = play(spec(decks=20, time_control=IMPATIENT), STEADY, ("silent",))
    assert faults(played).count((FaultKind.TIMEOUT, None, 1)) == 1
    assert all(result.lost_by == (1,) for result in played.leg.deals)
    assert len(played.leg.clocks[1].answers_us) == 3


@pytest.mark.parametrize(
    ("bot", "kind"),
    [
        (("crash", "exit"), FaultKind.CRASH),
        (("crash", "raise"), FaultKind.CRASH),
        (("crash", "SIGKILL"), FaultKind.CRASH),
        (("crash", "SIGSEGV"), FaultKind.CRASH),
        (("disconnect", "half"), FaultKind.DISCONNECTED),
        (("disconnect", "cancel"), FaultKind.DISCONNECTED),
        (("garbage", "random"), FaultKind.PROTOCOL),
        (("garbage", "empty"), FaultKind.PROTOCOL),
        (("garbage", "unknown"), FaultKind.PROTOCOL),
        (("garbage", "nested"), FaultKind.PROTOCOL),
        (("oversized", "65537"), FaultKind.PROTOCOL),
        (("oversized", "1048577"), FaultKind.PROTOCOL),
        # gRPC cuts such a stream by itself and tells the bot why, which ends this one.
        (("oversized", "16000000"), FaultKind.CRASH),
        (("many_choices", "68"), FaultKind.PROTOCOL),
        (("hello_twice",), FaultKind.PROTOCOL),
        (("flood",), FaultKind.PROTOCOL),
        (("no_hello",), FaultKind.PROTOCOL),
        (("unknown_protocol",), FaultKind.PROTOCOL),
        (("exits_at_once",), FaultKind.START_FAILED),
    ],
)
def test_a_broken_bot_loses_the_leg(bot: tuple[str, ...], kind: FaultKind) -> None:
    """Whatever breaks the conversation loses every deal left, and is called by its name."""
    lives_on = bot[0] == "disconnect"
    match = spec(decks=4)
    played = play(match, STEADY, bot, explain_seconds=0 if lives_on else EXPLAIN_SECONDS)
    assert (kind, None, 1) in faults(played)
    assert all(result.lost_by == (1,) for result in played.leg.deals)
    assert played.leg.clocks[0].max_us < match.time_control.move_time_ms * 1_000


@pytest.mark.parametrize("bot", ["never_connects", "no_grpc"])
def test_a_bot_that_never_says_hello_did_not_connect(bot: str) -> None:
    """After the start-up time the seat is lost without a deal being played.

    On a busy machine three seconds may be too short for the other bot as well.
    """
    control = TimeControl(move_time_ms=5_000, startup_ms=3_000)
    played = play(spec(time_control=control), STEADY, (bot,))
    assert (FaultKind.NO_CONNECT, None, 1) in faults(played)
    assert {kind for kind, _, _ in faults(played)} == {FaultKind.NO_CONNECT}
    assert [clock.count for clock in played.leg.clocks] == [0, 0]
    assert all(1 in result.lost_by for result in played.leg.deals)


def test_a_largest_message_is_read() -> None:
    """64 KiB are allowed: what such a message lacks is content, not room."""
    played = play(spec(), STEADY, ("oversized", "65536"))
    (offence,) = played.leg.faults
    assert offence.fault.kind is FaultKind.PROTOCOL
    assert "expected at most" not in offence.fault.detail


@pytest.mark.parametrize("size", ["0", "65536"])
@pytest.mark.parametrize("compression", ["Gzip", "Deflate"])
def test_compressed_messages_are_read(compression: str, size: str) -> None:
    """A bot may let its library compress what it says, up to 64 KiB before that."""
    played = play(spec(), STEADY, ("packed", compression, size))
    assert [str(each.fault) for each in played.leg.faults] == []


@pytest.mark.parametrize("size", ["65537", "65538", "64000000"])
@pytest.mark.parametrize("compression", ["Gzip", "Deflate"])
def test_compressed_message_that_is_too_long_is_named(compression: str, size: str) -> None:
    """A message that has more than 64 KiB unpacked loses the leg, however short it came."""
    played = play(spec(), STEADY, ("packed", compression, size))
    (offence,) = played.leg.faults
    assert (offence.fault.kind, offence.deal) == (FaultKind.PROTOCOL, None)
    assert "a compressed message of more than 65536" in offence.fault.detail


def test_a_message_of_many_choices_is_judged_choice_by_choice_up_to_a_number() -> None:
    """With one table 67 choices are read, and one of them is for a turn that was never sent."""
    played = play(spec(decks=1), STEADY, ("many_choices", "67"))
    assert faults(played) == [(FaultKind.OUT_OF_TURN, 0, 1)]


def test_a_bot_that_was_late_may_answer_old_turns_with_the_new_ones() -> None:
    """Two late answers at many tables cost their deals, and catching up costs nothing more."""
    # What is not late gains a bank that outlasts whatever holds it up later.
    control = TimeControl(move_time_ms=10, bank_ms=2_000, increment_ms=25, startup_ms=60_000)
    match = spec(decks=240, tables=80, time_control=control)
    played = play(match, STEADY, ("catches_up", "2"))
    assert int(played.outputs[1].split()[0]) > match.tables + SPARE_CHOICES
    assert {(kind, seat) for kind, _, seat in faults(played) if seat} == {(FaultKind.TIMEOUT, 1)}
    assert all(deal is not None for _, deal, seat in faults(played) if seat)


def test_a_message_that_grpc_cuts_off_is_named_as_a_cause() -> None:
    """What cannot be told from a cancelled stream is not taken for one that was ended."""
    played = play(spec(), STEADY, ("cut_off",), explain_seconds=0)
    (offence,) = played.leg.faults
    assert offence.fault.kind is FaultKind.DISCONNECTED
    assert "a message of more than 2 MiB" in offence.fault.detail


def test_a_cancellation_is_heard_by_a_referee_that_stood_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pause between the end of a stream and what gRPC says of it changes nothing."""
    read = remote._read_from

    async def read_from(context: remote._Context) -> bytes | None:
        raw = await read(context)
        if raw is None:
            asyncio.get_running_loop().call_soon(time.sleep, 1)
        return raw

    monkeypatch.setattr(remote, "_read_from", read_from)
    played = play(spec(), STEADY, ("cut_off",), explain_seconds=0)
    (offence,) = played.leg.faults
    assert offence.fault.detail == remote.BROKEN_OFF


def test_a_second_stream_is_refused_without_penalty() -> None:
    """The first stream plays on; the others are told that the seat is taken."""
    played = play(spec(), STEADY, ("second_stream",))
    assert not played.leg.faults
    assert played.outputs[1].splitlines() == ["['GOODBYE_REFUSED'] ALREADY_EXISTS"] * 2


def test_nobody_connects_once_the_bot_is_in(
    short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever would dial again and again, to keep the referee busy, finds no socket."""
    door = short_folder / "referee.sock"
    monkeypatch.setenv("ARENA_ADDRESS", f"unix:{door}")

    with Reception(spec(), 0) as reception, ThreadPoolExecutor(1) as pool:
        reception.listen(door)
        assert door.exists()
        coming = pool.submit(come_in)
        reception.wait_for_bots()
        assert not door.exists()
        while not coming.done():
            reception.inbox.let_run(0.01)
        assert coming.result()


@pytest.mark.parametrize("said", [b"", SILENT_HTTP2], ids=["silent", "speaks HTTP/2 only"])
def test_connections_that_open_no_stream_are_few_and_are_closed(
    said: bytes, short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A seat has eight at most, for seconds, and meanwhile another seat's bot comes in."""
    doors = [short_folder / f"{seat}.sock" for seat in range(2)]
    monkeypatch.setenv("ARENA_ADDRESS", f"unix:{doors[1]}")
    with (
        Reception(spec(), 0) as reception,
        ExitStack() as stack,
        ThreadPoolExecutor(1) as pool,
    ):
        for door in doors:
            reception.listen(door)
        before = descriptors()
        held = [stack.enter_context(dial(doors[0])) for _ in range(5 * CONNECTIONS)]
        for one in held:
            # Those that are one too many are closed, at any moment.
            with suppress(OSError):
                one.sendall(said)
        coming = pool.submit(come_in)
        run_until(reception, coming.done)
        assert coming.result()
        greeted: set[socket.socket] = set()
        run_until(reception, lambda: not any(is_open(one, greeted) for one in held))
        # On a machine that stood still for seconds some were closed before they were greeted, and
        # others came after the first.
        assert 0 < len(greeted) < len(held)
        limit = before + len(held) + SPARE_DESCRIPTORS
        run_until(reception, lambda: descriptors() <= limit)


def come_in() -> bool:
    """Say Hello, and tell whether it was welcome."""
    with connect() as channel:
        stream = Stream(channel)
        stream.hello()
        is_welcome = next(iter(stream)).HasField("welcome")
        stream.close()
    return is_welcome


def dial(door: Path) -> socket.socket:
    """Connect, and say nothing."""
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(str(door))
    return peer


def is_open(peer: socket.socket, greeted: set[socket.socket]) -> bool:
    """Tell whether the other end still holds a connection; note whom it has sent something."""
    try:
        while peer.recv(1 << 16, socket.MSG_DONTWAIT):
            greeted.add(peer)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def run_until(reception: Reception, holds: Callable[[], bool]) -> None:
    """Let a reception's loop run until something holds, for less than what gRPC would wait."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < until
        reception.inbox.let_run(0.05)


def test_over_tcp_only_the_token_opens_the_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger is refused, and the bot that knows the token still gets its Welcome."""

    def try_token(token: str) -> str | None:
        with connect() as channel:
            stream = Stream(channel)
            stream.hello(token=token)
            first = next(iter(stream))
            stream.close()
        return "welcome" if first.HasField("welcome") else first.goodbye.text

    with Reception(spec(), 0) as reception, ThreadPoolExecutor(1) as pool:
        port = reception.listen_tcp("127.0.0.1", "secret")
        monkeypatch.setenv("ARENA_ADDRESS", f"127.0.0.1:{port}")
        for token, answer in (("guess", "not yours"), ("", "not yours"), ("secret", "welcome")):
            trying = pool.submit(try_token, token)
            while not trying.done():
                reception.inbox.let_run(0.01)
            assert answer in str(trying.result())


def test_a_process_that_was_kept_from_running_waits_for_no_bot(
    monkeypatch: pytest.MonkeyPatch, short_folder: Path
) -> None:
    """When the machine slept through the start-up, no bot is blamed for it."""
    with Reception(spec(), 0) as reception:
        reception.listen(short_folder / "seat.sock")
        monkeypatch.setattr(reception.inbox, "let_run", lambda _: time.sleep(0.05))
        monkeypatch.setattr(reception.inbox, "LONGEST_STALL_NS", 1_000_000)
        with pytest.raises(PlatformStalledError, match="did not run"):
            reception.wait_for_bots()
        assert reception.inbox.waiting() == 0


def test_an_unknown_protocol_is_refused_in_words() -> None:
    """The bot reads which version is spoken here."""
    played = play(spec(), STEADY, ("unknown_protocol",), let_end=True)
    assert faults(played) == [(FaultKind.PROTOCOL, None, 1)]
    assert played.outputs[1] == (
        "GOODBYE_UNKNOWN_PROTOCOL protocol 99 is not spoken here: expected protocol = 1 in Hello\n"
    )


def test_nothing_is_left_of_a_reception(short_folder: Path) -> None:
    """Sockets and threads are gone when it closes, also with a bot that never came."""
    before = threading.active_count()
    for number in range(3):
        with Reception(spec(), 0) as reception:
            reception.listen(short_folder / f"{number}.sock")
            assert (short_folder / f"{number}.sock").stat().st_mode & 0o777 == 0o666
        assert not (short_folder / f"{number}.sock").exists()
    # gRPC keeps one thread of its own for all asyncio servers of a process.
    assert threading.active_count() <= before + 1


def test_interrupt_while_a_reception_closes_leaves_no_server(
    monkeypatch: pytest.MonkeyPatch, short_folder: Path
) -> None:
    """Ctrl-C at that moment is passed on after the servers have been stopped all the same."""
    stop, interrupts = _SeatServer.stop, iter([KeyboardInterrupt()])

    async def interrupted(server: _SeatServer) -> None:
        for interrupt in interrupts:
            raise interrupt
        await stop(server)

    monkeypatch.setattr(_SeatServer, "stop", interrupted)
    reception = Reception(spec(), 0)
    for number in range(2):
        reception.listen(short_folder / f"{number}.sock")
    with pytest.raises(KeyboardInterrupt), reception:
        pass
    assert list(short_folder.iterdir()) == []
    assert reception._loop.is_closed()


def test_what_runs_when_a_reception_closes_comes_to_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tasks are waited for, and given up after a while: else gRPC never frees their servers."""
    monkeypatch.setattr("referee.remote.END_SECONDS", 1.0)
    with Reception(spec(), 0) as reception:
        loop = reception._loop
        ending = loop.create_task(asyncio.sleep(0.05))
        endless = loop.create_task(asyncio.sleep(3600))
    assert ending.done()
    assert not ending.cancelled()
    assert endless.cancelled()


def test_a_socket_that_cannot_be_is_a_failure_of_the_platform(tmp_path: Path) -> None:
    """A path that is too long or a folder that is missing is said in one line."""
    with Reception(spec(), 0) as reception:
        with pytest.raises(SocketError, match="over 100 bytes"):
            reception.listen(tmp_path / ("x" * 100))
        with pytest.raises(SocketError, match="cannot listen"):
            reception.listen(Path("/nowhere/seat.sock"))
