#!/bin/sh
# A tournament of the sample bots from nothing to rankings, in about a minute: `make demo`.
#
# Everything goes to build/demo, which is made anew each time.
set -eu
cd "$(dirname "$0")/.."

arena=${ARENA:-.venv/bin/arena}
export ARENA_HOME=build/demo
rm -rf "$ARENA_HOME"

run() {
    printf '\n$ arena %s\n' "$*"
    "$arena" "$@"
}

sandbox=docker
echo "building the first bot; where no base image can be fetched, one is made, which takes a minute"
if said=$("$arena" bot submit random sample_bots/random 2>&1); then
    :
elif [ $? -eq 3 ]; then
    sandbox=process
    echo "no container engine or no base image here: going on with plain processes"
else
    echo "$said" >&2
    exit 1
fi

for bot in random greedy counter; do
    run bot submit "$bot" "sample_bots/$bot" --sandbox "$sandbox"
done
run tournament create demo random greedy counter --sandbox "$sandbox" --decks 30
run tournament run demo
run match show demo/1
run match record demo/1 --deal 0
run verify "$("$arena" match record demo/1)"
run rankings

cat <<'END'

What to do next: write a bot of your own, see "Your first bot" in README.md.
END
