// A check of an exported folder, written from docs/export.md and docs/shuffle.md: the manifest and its
// chain, the commitment, the promised strings, and every deck in every record.
//
//   node export.mjs DIR   prints {"head": hex, "decks": how many were right} or fails with what is not;
//                         of an unfinished tournament, whose seed is secret, the manifest alone
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answers, sha256 } from "./shuffle.mjs";

const hex = (bytes) => sha256(bytes).toString("hex");
const folder = process.argv[2];
const read = (path) => readFileSync(join(folder, path));
const document = (path) => JSON.parse(read(path).toString("utf8"));

function expect(what, expected, found) {
  if (expected !== found) throw new Error(`${what}: expected ${expected}, found ${found}`);
}

const manifest = document("manifest.json");
let chain = hex(Buffer.from("bura-arena/export/1"));
for (const { path, size, sha256: listed, chain: link } of manifest.files) {
  const bytes = read(path);
  expect(`size of ${path}`, size, bytes.length);
  expect(`hash of ${path}`, listed, hex(bytes));
  chain = hex(Buffer.from(`${chain} ${listed} ${size} ${path}`));
  expect(`chain of ${path}`, chain, link);
}
expect("head", chain, manifest.head);

const { seed: secret, commitment, entropy, promises } = document("tournament.json");
const kinds = { open: "open", promised: "promised", revealed: "promised", known: "known", forgone: "promised" };
const listed = entropy.filter(({ state }) => state in kinds);
const strings = listed.map(({ entrant, state, digest }) => [entrant, kinds[state], digest]);
expect("promises", answers.promises({ commitment, strings }), promises);
const told = listed.filter(({ text }) => text !== null);
for (const { entrant, text, digest } of told) expect(`string of ${entrant}`, hex(Buffer.from(text, "utf8")), digest);
let seed = null;
if (secret !== null) {
  expect("commitment", answers.commitments({ seed: secret }), commitment);
  const texts = (isOpen) => told.filter(({ state }) => (state === "open") === isOpen).map(({ text }) => text);
  seed = told.length === 0 ? secret : answers.mixed({ secret, entropy: texts(true), promised: texts(false) });
}

const shown = (card) => "6789JQKTA"[card % 9] + "CDHS"[Math.floor(card / 9)];
let decks = 0;
for (const { record } of seed === null ? [] : document("results.json")) {
  const lines = read(record).toString("utf8").trim().split("\n").map((text) => JSON.parse(text));
  const [{ match, rules }] = lines;
  for (const line of lines.filter(({ type }) => type === "deal")) {
    line.decks.forEach((found, attempt) => {
      const made = answers.decks({ seed, match, deal: line.deck, cards: Number(rules.deck), attempt });
      expect(`deck ${line.deck} in ${record}`, made.map(shown).join(" "), found);
      decks += 1;
    });
  }
}
process.stdout.write(JSON.stringify({ head: chain, decks }));
