// client.mjs SDK PROJECT COMMAND ARGS...
// A client on the official TypeScript SDK (the folder SDK). Plays the scenes that are
// named on its input, one a line with its arguments, with an agent, in one session, and prints one JSON
// object a scene. It ends with its input.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Writable, Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const [sdk, project, command, ...args] = process.argv.slice(2);
const acp = await import(pathToFileURL(join(sdk, 'dist/v1/stable/acp.js')));

const agent = spawn(command, args, { cwd: project, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
let stderr = '';
agent.stderr.on('data', (d) => { stderr += d; });
agent.on('exit', (code, signal) => { if (!leaving) { console.log(JSON.stringify({ scene: 'died', code, signal, stderr: stderr.slice(-2000) })); process.exit(1); } });
let leaving = false;

const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));

const notes = join(project, 'notes.txt');
const buffers = new Map();
let now = { asked: 0, said: '', kinds: {} };
const M = acp.methods;
const app = acp.client({ name: 'realtest' })
  .onRequest(M.client.session.requestPermission, ({ params }) => {
    now.asked++;
    now.called?.(); // for some agents this is the first word of a call
    const kind = now.reject ? 'reject_once' : 'allow_once';
    const option = params.options.find((o) => o.kind === kind);
    return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
  })
  .onRequest(M.client.fs.readTextFile, ({ params }) => {
    if (buffers.has(params.path)) return { content: buffers.get(params.path) };
    if (!existsSync(params.path) && process.env.MISSING_IS_EMPTY) return { content: '' };
    if (!existsSync(params.path)) throw acp.RequestError.resourceNotFound(params.path);
    return { content: readFileSync(params.path, 'utf8') };
  })
  .onRequest(M.client.fs.writeTextFile, ({ params }) => {
    if (buffers.has(params.path)) buffers.set(params.path, params.content);
    writeFileSync(params.path, params.content);
    return {};
  })
  .onNotification(M.client.session.update, ({ params }) => {
    const u = params.update;
    now.kinds[u.sessionUpdate] = (now.kinds[u.sessionUpdate] ?? 0) + 1;
    if (u.sessionUpdate === 'agent_message_chunk' && u.content.type === 'text') { now.said += u.content.text; now.heard?.(); }
    if (u.sessionUpdate === 'tool_call' || u.sessionUpdate === 'tool_call_update') now.called?.(u);
  });

const fresh = (more) => { now = { asked: 0, said: '', kinds: {}, ...more }; };
const text = (script) => [{ type: 'text', text: `script:${script} cwd=${project} please` }];
await app.connectWith(stream, async (ctx) => {
  const init = await ctx.request(M.agent.initialize, {
    protocolVersion: 1, clientInfo: { name: 'realtest', version: '1' },
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
  });
  let last, options = [];
  const session = async () => {
    if (last !== undefined) return last;
    const made = await ctx.request(M.agent.session.new, { cwd: project, mcpServers: [] });
    options = made.configOptions ?? [];
    return last = made.sessionId;
  };
  const set = async (o) => {
    const id = await session();
    return ctx.request(M.agent.session.setConfigOption, { sessionId: id, configId: o.id, value: o.currentValue });
  };
  const slash = async (words) => {
    const id = await session();
    let heard; const answer = new Promise((ok) => { heard = ok; });
    fresh({ heard });
    const r = await ctx.request(M.agent.session.prompt, { sessionId: id, prompt: [{ type: 'text', text: words }] });
    await answer; // this SDK handles an update that came before an answer after it
    return r;
  };
  const prompt = (id, script) => ctx.request(M.agent.session.prompt, { sessionId: id, prompt: text(script) });
  const play = {
    plain: async () => { fresh(); return prompt(await session(), 'text'); },
    write: async () => { fresh(); return prompt(await session(), 'write'); },
    edit: async () => { // with unsaved text in the buffer
      fresh(); writeFileSync(notes, 'alpha\nbeta\ngamma\n'); buffers.set(notes, 'alpha\nbeta\ngamma UNSAVED\n');
      const r = await prompt(await session(), 'edit'); now.buffer = buffers.get(notes); buffers.delete(notes); return r;
    },
    reject: async () => { fresh({ reject: true }); return prompt(await session(), 'asked'); },
    allow: async () => { fresh(); return prompt(await session(), 'asked'); },
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
    undo: () => slash('/undo'),
    redo: () => slash('/redo'),
    turns: () => slash('/turns'),
    posture: () => slash('/posture'),
    receipt: () => slash('/receipt'),
    options: async () => { // all again as they are, the agent's own and ours; its mode is not for us to agree to
      await session();
      fresh({ options: options.map((o) => o.id) });
      for (const o of options.filter((o) => o.id !== 'mode' && o.id !== 'sallyport.mode')) now.answered = (await set(o)).configOptions.map((o) => o.id);
      return {};
    },
    mode: async (modeId) => { const id = await session(); fresh(); return ctx.request(M.agent.session.setMode, { sessionId: id, modeId }); },
    pick: async (agent) => {
      await session();
      fresh();
      now.answered = (await set({ id: 'sallyport.agent', currentValue: agent })).configOptions.map((o) => `${o.id}=${o.currentValue}`);
      return {};
    },
    killed: async () => { fresh(); return prompt(await session(), 'sleep'); }, // this process is killed in it
    load: async () => {
      if (!init.agentCapabilities?.loadSession) return { stopReason: 'not offered' };
      fresh(); const id = await session();
      await ctx.request(M.agent.session.load, { sessionId: id, cwd: project, mcpServers: [] });
      return prompt(id, 'text');
    },
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const [scene, ...more] = line.split(' ');
    let report;
    try { report = { scene, ...(await play[scene](...more)) }; } catch (e) { report = { scene, error: { code: e.code, message: String(e.message), data: e.data } }; }
    delete report._meta; delete report.usage;
    console.log(JSON.stringify({ ...report, asked: now.asked, said: now.said.slice(0, 4000), kinds: now.kinds, buffer: now.buffer, options: now.options, answered: now.answered }));
  }
  leaving = true;
  agent.stdin.end();
});
leaving = true;
await new Promise((ok) => { agent.exitCode !== null || agent.signalCode ? ok() : agent.on('exit', ok); });
process.exit(agent.exitCode ?? 1);
