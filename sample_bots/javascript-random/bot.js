// Plays random legal actions. Everything a bot must do is here: connect, say Hello, answer turns.
const path = require("node:path");
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const address = process.env.ARENA_ADDRESS || "unix:/run/arena/referee.sock";
const definition = loader.loadSync(path.join(__dirname, "bot.proto"), {
  enums: String,
  defaults: true,
});
const { burabot } = grpc.loadPackageDefinition(definition);

// turn.actions holds what the rules allow, turn.view all that this seat may know.
function choose(turn) {
  return Math.floor(Math.random() * turn.actions.length);
}

// A Unix socket has no host name; without this option servers refuse the one that gRPC makes up.
const client = new burabot.Referee(address, grpc.credentials.createInsecure(), {
  "grpc.default_authority": "localhost",
});
const stream = client.Play();

stream.on("data", (message) => {
  if (message.turns.length > 0) {
    const choices = message.turns.map((turn) => ({ turn: turn.id, action: choose(turn) }));
    stream.write({ choices: { choices } });
  }
  if (message.goodbye) {
    stream.end();
  }
});
stream.on("error", (error) => {
  console.error(`the referee ended the stream: ${error.message}`);
  process.exitCode = 1;
});
stream.on("end", () => client.close());

stream.write({
  hello: {
    name: "javascript-random",
    version: "1.0.0",
    protocol: 1,
    token: process.env.ARENA_TOKEN || "",
  },
});
