#!/usr/bin/env bash
# Real editors for the tests, beside the system's own: Neovim 0.10 and 0.12 and
# Helix, unpacked from Debian's packages, and tmux from the system's.
#   editors.sh       below the peers folder (see cache.sh):
#                    nvim-0.10/bin/nvim, nvim-0.12/bin/nvim, helix/bin/hx
# A second call does nothing. Needs Debian or a kind of it, and root for what
# apt-get installs (patchelf, tmux).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/cache.sh"

stamp=$peers/.editors.stamp
want="1 $(cat "$here"/get-*.sh "$here/apt-closure.sh" | cksum) $peers"
ready() {
  [ "$(cat "$stamp" 2>/dev/null)" = "$want" ] && command -v tmux >/dev/null &&
    [ -x "$peers/nvim-0.10/bin/nvim" ] && [ -x "$peers/nvim-0.12/bin/nvim" ] && [ -x "$peers/helix/bin/hx" ]
}
if ready; then exit 0; fi
command -v apt-get >/dev/null || { echo "editors.sh: apt-get is missing: the editors come from Debian's packages" >&2; exit 1; }

lock editors
if ready; then exit 0; fi
rm -f "$stamp"
if ! command -v tmux >/dev/null; then
  install_tmux() { apt-get install -y --no-install-recommends tmux >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y --no-install-recommends tmux >/dev/null; }; }
  retry install_tmux
fi
retry "$here/get-neovim.sh" "$peers/nvim-0.10" trixie >&2
retry "$here/get-neovim.sh" "$peers/nvim-0.12" sid >&2
retry "$here/get-terminal-editors.sh" "$peers/helix" helix >&2
echo "$want" > "$stamp"
