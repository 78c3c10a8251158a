"""Says Hello on two streams at once, and plays on the one that is welcomed."""

from concurrent.futures import ThreadPoolExecutor

from raw import Stream, connect


def welcome(_: int) -> tuple[Stream, bool]:
    """Open a stream and wait for the first message on it."""
    stream = Stream(connect())
    stream.hello()
    return stream, next(iter(stream)).HasField("welcome")


with ThreadPoolExecutor(2) as pool:
    streams = list(pool.map(welcome, range(2)))
print([welcomed for _, welcomed in streams].count(True), "welcomed", flush=True)
next(stream for stream, welcomed in streams if welcomed).play()
