// Formats the Lua files below this folder, or with --check says which are not formatted (exit status 1).
//   node stylua.mjs FOLDER-WITH-node_modules [--check]
// StyLua comes from npm as WebAssembly; the settings are those of stylua.toml.
import { createRequire } from "node:module";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [modules, mode] = process.argv.slice(2);
const { Config, IndentType, OutputVerification, formatCode } = createRequire(join(modules, "node_modules/"))(
  "@johnnymorganz/stylua",
);

const here = dirname(fileURLToPath(import.meta.url));
const settings = Object.fromEntries(
  readFileSync(join(here, "stylua.toml"), "utf8")
    .split("\n")
    .map((line) => line.split("#")[0].split("=").map((part) => part.trim()))
    .filter((pair) => pair.length === 2),
);

function config() {
  const c = Config.new();
  c.column_width = Number(settings.column_width);
  c.indent_type = IndentType[JSON.parse(settings.indent_type)];
  c.indent_width = Number(settings.indent_width);
  return c;
}

let bad = 0;
for (const name of readdirSync(here, { recursive: true }).filter((n) => n.endsWith(".lua")).sort()) {
  const path = join(here, name);
  const before = readFileSync(path, "utf8");
  const after = formatCode(before, config(), undefined, OutputVerification.Full);
  if (after === before) continue;
  if (mode === "--check") {
    console.error(`not formatted: ${name}`);
    bad = 1;
  } else {
    writeFileSync(path, after);
  }
}
process.exit(bad);
