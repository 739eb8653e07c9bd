#!/usr/bin/env bash
# ACP clients, and a proxy to be measured against, for the tests, in the versions
# of clients/package-lock.json; with a Node that is new enough for all of them.
#   clients.sh       installs them below the peers folder (see cache.sh): clients/node_modules
# A second call does nothing. Needs npm. No package's scripts are run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/cache.sh"

dest=$peers/clients
want="$(cksum < "$here/clients/package-lock.json") $(uname -sm)"
if [ "$(cat "$dest/.stamp" 2>/dev/null)" = "$want" ]; then exit 0; fi
command -v npm >/dev/null || { echo "clients.sh: npm is missing; install Node.js 20 or newer" >&2; exit 1; }

lock clients
new=$peers/clients.new
install_clients() {
  # As in agents.sh: "npm ci" refuses the lock because of optional packages that no
  # registry has, and "set -e" does not hold inside of retry.
  rm -rf "$new" && mkdir -p "$new" &&
    cp "$here/clients/package.json" "$here/clients/package-lock.json" "$new/" &&
    (cd "$new" && npm install --ignore-scripts --omit-lockfile-registry-resolved --no-audit --no-fund --no-update-notifier --loglevel=error >&2) &&
    cmp "$new/package-lock.json" "$here/clients/package-lock.json" >&2
}
if [ "$(cat "$dest/.stamp" 2>/dev/null)" = "$want" ]; then exit 0; fi
retry install_clients
echo "$want" > "$new/.stamp"
rm -rf "$dest"
mv "$new" "$dest"
echo "clients.sh: installed in $dest" >&2
