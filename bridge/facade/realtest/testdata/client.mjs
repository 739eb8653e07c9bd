// client.mjs SDK PROJECT SCENES... -- COMMAND ARGS...
// A client on the official TypeScript SDK (the folder SDK). Plays scenes with an
// agent, in one session, and prints one JSON object a scene.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { Writable, Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const [sdk, project, ...rest] = process.argv.slice(2);
const cut = rest.indexOf('--');
const scenes = rest.slice(0, cut), [command, ...args] = rest.slice(cut + 1);
const acp = await import(pathToFileURL(join(sdk, 'dist/v1/stable/acp.js')));

const agent = spawn(command, args, { cwd: project, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
let stderr = '';
agent.stderr.on('data', (d) => { stderr += d; });
agent.on('exit', (code, signal) => { if (!leaving) { console.log(JSON.stringify({ scene: 'died', code, signal, stderr: stderr.slice(-2000) })); process.exit(1); } });
let leaving = false;

const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));

const notes = join(project, 'notes.txt');
const disk = (name) => existsSync(join(project, name)) ? readFileSync(join(project, name), 'utf8') : null;
const buffers = new Map();
let now = {};
const M = acp.methods;
const app = acp.client({ name: 'realtest' })
  .onRequest(M.client.session.requestPermission, ({ params }) => {
    now.asked++;
    now.called?.(); // for some agents this is the first word of a call
    const kind = now.reject ? 'reject_once' : 'allow_once';
    if (now.stall) { now.stalled?.(); return new Promise((ok) => { now.release = () => ok({ outcome: { outcome: 'cancelled' } }); }); }
    const option = params.options.find((o) => o.kind === kind);
    return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
  })
  .onRequest(M.client.fs.readTextFile, ({ params }) => {
    now.read++;
    if (buffers.has(params.path)) return { content: buffers.get(params.path) };
    if (!existsSync(params.path)) throw acp.RequestError.resourceNotFound(params.path);
    return { content: readFileSync(params.path, 'utf8') };
  })
  .onRequest(M.client.fs.writeTextFile, ({ params }) => {
    now.wrote++;
    if (buffers.has(params.path)) buffers.set(params.path, params.content);
    writeFileSync(params.path, params.content);
    return {};
  })
  .onNotification(M.client.session.update, ({ params }) => {
    const u = params.update;
    now.kinds[u.sessionUpdate] = (now.kinds[u.sessionUpdate] ?? 0) + 1;
    if (u.sessionUpdate === 'agent_message_chunk' && u.content.type === 'text') now.said += u.content.text;
    if (u.sessionUpdate === 'tool_call' || u.sessionUpdate === 'tool_call_update') now.called?.(u);
  });

const fresh = (more) => { now = { asked: 0, read: 0, wrote: 0, said: '', kinds: {}, ...more }; };
const text = (script) => [{ type: 'text', text: `script:${script} cwd=${project} please` }];
await app.connectWith(stream, async (ctx) => {
  const init = await ctx.request(M.agent.initialize, {
    protocolVersion: 1, clientInfo: { name: 'realtest', version: '1' },
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
  });
  let last;
  const session = async () => (last ??= (await ctx.request(M.agent.session.new, { cwd: project, mcpServers: [] })).sessionId);
  const prompt = (id, script) => ctx.request(M.agent.session.prompt, { sessionId: id, prompt: text(script) });
  const play = {
    plain: async () => { fresh(); return prompt(await session(), 'text'); },
    write: async () => { fresh(); return prompt(await session(), 'write'); },
    edit: async () => { // with unsaved text in the buffer
      fresh(); writeFileSync(notes, 'alpha\nbeta\ngamma\n'); buffers.set(notes, 'alpha\nbeta\ngamma UNSAVED\n');
      const r = await prompt(await session(), 'edit'); now.buffer = buffers.get(notes); buffers.delete(notes); return r;
    },
    reject: async () => { fresh({ reject: true }); return prompt(await session(), 'shell'); },
    outside: async () => { fresh(); return prompt(await session(), 'outside'); },
    cancel: async () => {
      fresh();
      const id = await session();
      let running; const began = new Promise((ok) => { running = ok; });
      now.called = () => running();
      const turn = prompt(id, 'sleep');
      await Promise.race([began, turn]);
      await ctx.notify(M.agent.session.cancel, { sessionId: id });
      return turn;
    },
    undo: async () => {
      const id = await session(), wrote = disk('created.txt'); // what the scene before wrote
      fresh();
      const r = await ctx.request(M.agent.session.prompt, { sessionId: id, prompt: [{ type: 'text', text: '/undo' }] });
      now.before = wrote; return r;
    },
    load: async () => {
      if (!init.agentCapabilities?.loadSession) return { stopReason: 'not offered' };
      fresh(); const id = await session();
      await ctx.request(M.agent.session.load, { sessionId: id, cwd: project, mcpServers: [] });
      return prompt(id, 'text');
    },
  };
  for (const scene of scenes) {
    let report; const began = Date.now();
    try { report = { scene, ...(await play[scene]()) }; } catch (e) { report = { scene, error: { code: e.code, message: String(e.message), data: e.data } }; }
    delete report._meta; delete report.usage;
    console.log(JSON.stringify({ ...report, ms: Date.now() - began, asked: now.asked, read: now.read, wrote: now.wrote, said: now.said.slice(0, 4000), kinds: now.kinds, buffer: now.buffer, before: now.before,
      notes: disk('notes.txt'), created: disk('created.txt'), outside: disk('../outside.txt'), shell: disk('by-shell.txt') }));
  }
  leaving = true;
  agent.stdin.end();
});
leaving = true;
await new Promise((ok) => { agent.exitCode !== null || agent.signalCode ? ok() : agent.on('exit', ok); setTimeout(ok, 20000).unref(); });
const stayed = agent.exitCode === null && !agent.signalCode;
if (stayed) process.kill(-agent.pid, 'SIGKILL'); // its group is its own: an agent may ignore the end of its input
console.log(JSON.stringify({ scene: 'end', code: agent.exitCode, signal: agent.signalCode, stayed, stderr: stderr.slice(-2000) }));
process.exit(0);
