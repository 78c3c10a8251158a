// A second implementation of docs/shuffle.md, written from the document with Node's own crypto.
//
// Reads one JSON request on standard input, writes one JSON answer on standard output:
//   {"decks": [{"seed": hex, "match": n, "deal": n, "cards": 36 | 32, "attempt": k}...],
//    "integers": [{"seed": hex, "purpose": word, "match": n, "deal": n, "below": [n...]}...]}
//   -> {"decks": [[card...]...], "integers": [[n...]...]}
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";

const WORD_VALUES = 2 ** 32;
const LOWEST_RANK = { 36: 0, 32: 1 };

class Stream {
  constructor(seed, purpose, match, deal) {
    this.seed = Buffer.from(seed, "hex");
    this.prefix = `bura-arena/1/${purpose}/${match}/${deal}/`;
    this.block = 0;
    this.words = [];
  }

  word() {
    if (this.words.length === 0) {
      const digest = createHmac("sha256", this.seed).update(this.prefix + this.block).digest();
      for (let at = 0; at < 32; at += 4) this.words.push(digest.readUInt32BE(at));
      this.block += 1;
    }
    return this.words.shift();
  }

  below(n) {
    const limit = WORD_VALUES - (WORD_VALUES % n);
    let word = this.word();
    while (word >= limit) word = this.word();
    return word % n;
  }

  shuffled(items) {
    const order = [...items];
    for (let last = order.length - 1; last > 0; last -= 1) {
      const chosen = this.below(last + 1);
      [order[last], order[chosen]] = [order[chosen], order[last]];
    }
    return order;
  }
}

function fullDeck(size) {
  const cards = [];
  for (let suit = 0; suit < 4; suit += 1)
    for (let rank = LOWEST_RANK[size]; rank < 9; rank += 1) cards.push(9 * suit + rank);
  return cards;
}

function deck({ seed, match, deal, cards, attempt }) {
  if (attempt === 0) return new Stream(seed, "deck", match, deal).shuffled(fullDeck(cards));
  const redeals = new Stream(seed, "redeal", match, deal);
  let order = [];
  for (let redeal = 0; redeal < attempt; redeal += 1) order = redeals.shuffled(fullDeck(cards));
  return order;
}

function integers({ seed, purpose, match, deal, below }) {
  const stream = new Stream(seed, purpose, match, deal);
  return below.map((n) => stream.below(n));
}

const request = JSON.parse(readFileSync(0, "utf8"));
const answer = { decks: request.decks.map(deck), integers: request.integers.map(integers) };
process.stdout.write(JSON.stringify(answer));
