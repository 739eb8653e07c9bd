#!/usr/bin/env bash
# Real agents for the tests, in the versions of agents/package-lock.json.
#   agents.sh        installs them below the peers folder (see cache.sh): agents/node_modules
# A second call does nothing. Needs node and npm. No package's scripts are run:
# every binary comes inside a package.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/cache.sh"

dest=$peers/agents
want="$(cksum < "$here/agents/package-lock.json") $(uname -sm)"
if [ "$(cat "$dest/.stamp" 2>/dev/null)" = "$want" ]; then exit 0; fi
command -v npm >/dev/null || { echo "agents.sh: npm is missing; install Node.js 20 or newer" >&2; exit 1; }

lock agents
if [ "$(cat "$dest/.stamp" 2>/dev/null)" = "$want" ]; then exit 0; fi
new=$peers/agents.new
install_agents() {
  # Joined by &&: "set -e" does not hold inside of retry.
  rm -rf "$new" && mkdir -p "$new" &&
    cp "$here/agents/package.json" "$here/agents/package-lock.json" "$new/" &&
    fill
}
fill() {
  # The lock names no registry: the machine's own is asked, the hashes are checked.
  # "npm ci" refuses this lock because one agent lists optional packages that no
  # registry has; so: install, then see that the lock said everything.
  (cd "$new" && npm install --ignore-scripts --omit-lockfile-registry-resolved --no-audit --no-fund --no-update-notifier --loglevel=error >&2) &&
    cmp "$new/package-lock.json" "$here/agents/package-lock.json" >&2
}
retry install_agents
# Whole only now: the stamp comes last, and the folder by one rename.
echo "$want" > "$new/.stamp"
rm -rf "$dest"
mv "$new" "$dest"
echo "agents.sh: installed in $dest" >&2
