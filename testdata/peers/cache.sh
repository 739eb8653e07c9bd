# Sourced by the scripts beside it: where peers are kept, and how two of them
# at once wait for each other. Not a program of its own.
#
#   peers   the folder: $SALLYPORT_PEERS, else sallyport/peers below the user's cache folder
#   lock NAME   waits until nobody else works on NAME; held until the script ends

peers=${SALLYPORT_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/sallyport/peers}
mkdir -p "$peers"

lock() {
  # Where there is no flock (macOS), nothing of this runs twice at once either.
  command -v flock >/dev/null || return 0
  exec 9>"$peers/.$1.lock"
  flock 9
}

# Runs a command, and again when it fails: mirrors have bad moments.
retry() {
  local n
  for n in 1 2 3; do
    "$@" && return 0
    echo "$(basename "$0"): try $n of 3 failed: $1" >&2
  done
  return 1
}
