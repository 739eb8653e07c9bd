#!/usr/bin/env bash
# What checks the Lua files: StyLua (from npm, as WebAssembly) and luacheck (from
# Debian's packages).
#   lua.sh           installs StyLua below the peers folder (see cache.sh): lua/node_modules
# A second call does nothing. Prints the folder.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/cache.sh"

dest=$peers/lua
want=$(cksum < "$here/lua/package-lock.json")
if [ "$(cat "$dest/.stamp" 2>/dev/null)" != "$want" ]; then
  command -v npm >/dev/null || { echo "lua.sh: npm is missing; install Node.js 20 or newer" >&2; exit 1; }
  lock lua
  install_stylua() {
    rm -rf "$dest" && mkdir -p "$dest" && cp "$here"/lua/package*.json "$dest/" &&
      (cd "$dest" && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error >&2)
  }
  [ "$(cat "$dest/.stamp" 2>/dev/null)" = "$want" ] || retry install_stylua
  echo "$want" > "$dest/.stamp"
fi
if ! command -v luacheck >/dev/null; then
  install_luacheck() { apt-get install -y --no-install-recommends lua-check >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y --no-install-recommends lua-check >/dev/null; }; }
  retry install_luacheck
fi
echo "$dest"
