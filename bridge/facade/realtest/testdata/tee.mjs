// tee.mjs WIRE COMMAND ARGS...
// Runs COMMAND in its own place and appends every line of its input to WIRE behind
// "> ", and every line of its output behind "< ".
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const [wire, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const noted = (from, to, mark) => {
  let rest = Buffer.alloc(0);
  from.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const end = rest.lastIndexOf(10) + 1;
    const lines = rest.subarray(0, end).toString().split('\n').slice(0, -1);
    if (lines.length > 0) appendFileSync(wire, lines.map((l) => `${mark}${l}\n`).join(''));
    rest = rest.subarray(end);
  });
  from.pipe(to); // noted first, so that what comes of it is noted after it
};
child.stdin.on('error', () => {}); // it has ended
process.stdout.on('error', () => {});
noted(process.stdin, child.stdin, '> ');
noted(child.stdout, process.stdout, '< ');
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (e) => { console.error(`tee.mjs: ${e.message}`); process.exit(127); });
child.on('close', (code, signal) => process.exit(code ?? (signal ? 128 + 15 : 1)));
