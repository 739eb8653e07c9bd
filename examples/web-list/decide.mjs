// Web list is a decider without any library: it lets pages of known hosts
// through, refuses those that are fetched in the clear, and leaves the rest to
// the user. Any language does that reads and writes lines.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

// The rules are read at the start, not while an agent waits.
const known = new Set(JSON.parse(readFileSync(new URL("hosts.json", import.meta.url), "utf8")).allow);

function decide({ request }) {
  if (request?.tool !== "WebFetch" || typeof request.input?.url !== "string") return { decision: "ask" };
  if (request.input.sallyport_cut?.url) return { decision: "ask" }; // only a part of it is here
  if (!URL.canParse(request.input.url)) return { decision: "ask" };
  const page = new URL(request.input.url);
  if (page.protocol === "http:") return { decision: "deny", message: "Pages are fetched by https here." };
  const plain = page.protocol === "https:" && page.username === "" && page.password === "" && page.port === "";
  return { decision: plain && known.has(page.hostname) ? "allow" : "ask" };
}

function answer({ method, params }) {
  switch (method) {
    case "initialize":
      return { result: { protocolVersion: 1, capabilities: {} } };
    case "permissions/decide":
      return { result: decide(params) };
    case "shutdown":
      return { result: null };
    default:
      return { error: { code: -32601, message: "method not found" } };
  }
}

const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

for await (const line of createInterface({ input: process.stdin })) {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    say({ id: null, error: { code: -32700, message: "parse error" } });
    continue;
  }
  if (message.id === undefined) continue; // a notification
  try {
    say({ id: message.id, ...answer(message) });
  } catch (problem) {
    say({ id: message.id, error: { code: -32603, message: String(problem) } });
  }
  if (message.method === "shutdown") break;
}
