# shellcheck shell=dash
# Versions of what programs on GPUs and containers need: "driver VERSION" and so on. What is not there is left out.
export LC_ALL=C
show() { # TOOL TEXT
  version=$(printf '%s\n' "$2" | sed -n 's/^[^0-9]*\([0-9][0-9A-Za-z.+~-]*\).*/\1/p' | sed -n 1p)
  if [ -n "$version" ]; then echo "$1 $version"; else echo "$1 ?"; fi
}
if [ -r /sys/module/nvidia/version ]; then show driver "$(cat /sys/module/nvidia/version)"; fi
if [ -r /usr/local/cuda/version.json ]; then
  show cuda "$(awk '/"cuda"/ { found = 1 } found && /"version"/ { print; exit }' /usr/local/cuda/version.json)"
elif nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc); then
  show cuda "$("$nvcc" --version 2>/dev/null | sed -n 's/.* release [^,]*, V//p')"
fi
if command -v docker >/dev/null 2>&1; then show docker "$(docker --version 2>/dev/null)"; fi
if command -v nvidia-ctk >/dev/null 2>&1; then show container_toolkit "$(nvidia-ctk --version 2>/dev/null | sed -n '/version/p')"; fi
