# shellcheck shell=dash
# Functions that look into the images of a node; the calls follow. Values: INSIDE, the script for containers, LIMIT and
# KILL_AFTER in seconds. No image is pulled, and no container stays, however this ends.
work=$(mktemp -d) || exit 1
name=''
within_limit() { timeout -k "$KILL_AFTER" "$LIMIT" "$@" </dev/null; }
# What docker began before its limit may be there only a moment later.
remove_container() {
  [ -n "$name" ] || return 0
  within_limit docker rm -f "$name" || { sleep 1; within_limit docker rm -f "$name"; }
  name=''
} >/dev/null 2>&1
trap 'remove_container; rm -rf -- "$work"' EXIT
trap 'exit 130' HUP INT TERM

# docker calls this program of the NVIDIA container toolkit for the GPUs.
has_gpu_runtime() { command -v nvidia-container-runtime-hook || command -v nvidia-container-runtime; } >/dev/null

# The answer begins with one word for how far it came, and a number that docker ended with.
check_image() { # INDEX NAME IMAGE FLAG…
  frame "image.$1"
  own=$2; image=$3; shift 3
  command -v docker >/dev/null || { echo no-docker; return; }
  if ! within_limit docker image inspect --format '{{.Id}}' "$image" >"$work/id" 2>"$work/err"; then
    rc=0
    within_limit docker version >/dev/null 2>"$work/err" || rc=$?
    if [ "$rc" = 0 ]; then echo missing; else echo "no-answer $rc"; head -c 2000 "$work/err" >&2; fi
    return
  fi
  for flag do
    shift
    case $flag in
      --gpus=*) has_gpu_runtime || continue ;;
      --device=/dev/infiniband) [ -e /dev/infiniband ] || continue ;;
    esac
    set -- "$@" "$flag"
  done
  name=$own
  # In the background, because a trap waits for what runs in the foreground.
  within_limit docker run --rm --pull=never --name "$name" "$@" --entrypoint sh "$image" -c "$INSIDE" >"$work/out" 2>"$work/err" &
  rc=0
  wait $! || rc=$?
  if [ "$rc" = 0 ]; then name=''; else remove_container; fi
  echo "ran $rc"
  printf 'id %s\n' "$(head -c 200 "$work/id")"
  head -c 60000 "$work/out"
  head -c 2000 "$work/err" >&2
}
