// A second implementation of docs/shuffle.md, written from the document with Node's own crypto.
//
// Reads one JSON request on standard input and writes one JSON answer on standard output. A request
// maps kinds to lists of rows, as the vectors of the document do; the answer has for each row what
// the row asks for:
//   commitments {seed}                                -> hex
//   words       {seed, purpose, match, deal, words}   -> as many words as the list is long
//   integers    {seed, purpose, match, deal, below}   -> an integer below each
//   decks       {seed, match, deal, cards, attempt}   -> cards as numbers
//   orders      {seed, match, leg, n}                 -> numbers of decks
//   mixed       {secret, entropy, promised}           -> hex
//   promises    {commitment, strings}                 -> hex
// Seeds are hex, entropy is text, a string is [entrant, kind, digest].
import { createHash, createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

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

export const sha256 = (bytes) => createHash("sha256").update(bytes).digest();

export const answers = {
  commitments: ({ seed }) => sha256(Buffer.from(seed, "hex")).toString("hex"),

  words({ seed, purpose, match, deal, words }) {
    const stream = new Stream(seed, purpose, match, deal);
    return words.map(() => stream.word());
  },

  integers({ seed, purpose, match, deal, below }) {
    const stream = new Stream(seed, purpose, match, deal);
    return below.map((n) => stream.below(n));
  },

  decks({ seed, match, deal, cards, attempt }) {
    if (attempt === 0) return new Stream(seed, "deck", match, deal).shuffled(fullDeck(cards));
    const redeals = new Stream(seed, "redeal", match, deal);
    let order = [];
    for (let redeal = 0; redeal < attempt; redeal += 1) order = redeals.shuffled(fullDeck(cards));
    return order;
  },

  orders: ({ seed, match, leg, n }) =>
    new Stream(seed, "order", match, leg).shuffled([...Array(n).keys()]),

  mixed({ secret, entropy, promised = [] }) {
    const texts = [...entropy, ...promised.map((text) => `bura-arena/1/promised/${text}`)];
    const digests = texts.map((text) => sha256(Buffer.from(text, "utf8")));
    digests.sort(Buffer.compare);
    const message = Buffer.concat([Buffer.from("bura-arena/1/mix"), ...digests]);
    return createHmac("sha256", Buffer.from(secret, "hex")).update(message).digest("hex");
  },

  promises({ commitment, strings }) {
    const lines = strings.map((words) => Buffer.from(`${words.join(" ")}\n`, "utf8"));
    lines.sort(Buffer.compare);
    const head = Buffer.from(`bura-arena/1/promises ${commitment}\n`, "utf8");
    return sha256(Buffer.concat([head, ...lines])).toString("hex");
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const request = JSON.parse(readFileSync(0, "utf8"));
  const answer = Object.entries(request).map(([kind, rows]) => [kind, rows.map(answers[kind])]);
  process.stdout.write(JSON.stringify(Object.fromEntries(answer)));
}
