// conductor.mjs CONDUCTOR COMMAND ARGS...
// npm's @thinkwell/conductor (the folder CONDUCTOR) between stdio and an agent.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

const [folder, command, ...args] = process.argv.slice(2);
const { Conductor, fromCommands } = await import(pathToFileURL(join(folder, 'dist/index.js')));
const client = {
  async connect() {
    return {
      send(m) { process.stdout.write(JSON.stringify(m) + '\n'); },
      messages: (async function* () { for await (const line of createInterface({ input: process.stdin })) yield JSON.parse(line); })(),
      async close() {},
    };
  },
};
await new Conductor({ instantiator: fromCommands([{ command, args }]) }).connect(client);
process.exit(0);
