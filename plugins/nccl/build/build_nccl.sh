# shellcheck shell=dash
# Builds NCCL on this node for its GPU. Arguments: FOLDER TAG URL ARCHITECTURE ("121" for compute capability 12.1). FOLDER is
# there when the build is complete, and not before: its file `built` has the arguments, and the commit of the tag below them.
set -eu
folder=$1 tag=$2 url=$3 architecture=$4
new=$folder.new
umask 022
export LC_ALL=C GIT_TERMINAL_PROMPT=0

# What is built is not built again.
if read -r built <"$folder/built" && [ "$built" = "$tag $url $architecture" ]; then exit 0; fi 2>/dev/null

trap 'rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM
rm -rf "$new"
mkdir -p "$new"
git init -q "$new/source"
# A branch may have the name of a tag, and moves.
git -C "$new/source" fetch -q --depth 1 "$url" "refs/tags/$tag"
git -C "$new/source" -c advice.detachedHead=false checkout -q FETCH_HEAD
commit=$(git -C "$new/source" rev-parse HEAD)

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
make -C "$new/source" -j "$(nproc)" src.build BUILDDIR="$new/build" CUDA_HOME="${nvcc%/bin/nvcc}" \
  NVCC_GENCODE="-gencode=arch=compute_$architecture,code=sm_$architecture" >"$new/log" 2>&1 </dev/null || {
  tail -n 20 "$new/log" >&2
  exit 1
}
[ -e "$new/build/lib/libnccl.so.2" ] || {
  echo "the build of $tag made no libnccl.so.2" >&2
  exit 1
}
for part in lib include; do
  [ ! -e "$new/build/$part" ] || mv "$new/build/$part" "$new/$part"
done
printf '%s %s %s\n%s\n' "$tag" "$url" "$architecture" "$commit" >"$new/built"
rm -rf "$new/source" "$new/build" "$new/log"
sync -f "$new"
rm -rf "$folder"
mv -T "$new" "$folder"
