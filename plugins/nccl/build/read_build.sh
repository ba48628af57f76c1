# shellcheck shell=dash
# What a build of NCCL needs and what was built. $1: the folder of all builds. Lines: "tool NAME", "gpu 12.1" (compute capability),
# "built FOLDER TEXT".
PATH=$PATH:/usr/local/cuda/bin
for tool in git make g++ nvcc; do
  if command -v "$tool" >/dev/null 2>&1; then echo "tool $tool"; fi
done
nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sed -n '1s/^/gpu /p'
for file in "$1"/*/built; do
  if read -r text <"$file"; then echo "built ${file%/*} $text"; fi
done 2>/dev/null
exit 0
