# shellcheck shell=dash
# What a container has that NCCL needs, a line each. The shell is the image's own, as are all programs here.
LC_ALL=C
echo "memlock $(ulimit -l)"
for file in /dev/infiniband/uverbs*; do
  [ -e "$file" ] || continue
  if (: <>"$file") 2>/dev/null; then echo "device yes $file"; else echo "device no $file"; fi
done

# The library that programs load: one that the image names, then that of a Python package, which PyTorch prefers, then the
# loader's.
find_library() {
  IFS=' :'
  for lib in ${LD_PRELOAD-} ${VLLM_NCCL_SO_PATH-}; do
    case $lib in *libnccl*) [ ! -e "$lib" ] || return 0 ;; esac
  done
  unset IFS
  for folder in "${VIRTUAL_ENV:-/usr/local}" "${CONDA_PREFIX:-/usr/local}" /usr/local /opt/venv /opt/conda /usr; do
    for lib in "$folder"/lib/python3*/*-packages/nvidia/nccl/lib/libnccl.so.2; do
      [ ! -e "$lib" ] || return 0
    done
  done
  IFS=:
  for folder in ${LD_LIBRARY_PATH-}; do
    lib=$folder/libnccl.so.2
    [ ! -e "$lib" ] || return 0
  done
  unset IFS
  for ldconfig in ldconfig /sbin/ldconfig; do
    lib=$($ldconfig -p 2>/dev/null | sed -n 's/^[[:space:]]*libnccl\.so\.2 .* => //p' | head -n 1)
    [ -z "$lib" ] || [ ! -e "$lib" ] || return 0
  done
  return 1
}

# Of a libnccl that is part of another library only the header is there.
read_header() { # FILE
  while read -r define name number _; do
    [ "$define" = '#define' ] || continue
    case $name in
      NCCL_MAJOR) major=$number ;;
      NCCL_MINOR) minor=$number ;;
      NCCL_PATCH) patch=$number ;;
    esac
  done <"$1"
  echo "nccl $1"
  echo "NCCL version ${major-}.${minor-}.${patch-}"
}

if find_library; then
  echo "nccl $lib"
  grep -aohE 'NCCL version [0-9]+[.][0-9]+[.][0-9]+|NCCL_IB_SUBNET_AWARE_ROUTING' -- "$lib" | sort -u
else
  for header in /usr/include/nccl.h /usr/local/include/nccl.h /usr/local/cuda/include/nccl.h; do
    [ ! -e "$header" ] || { read_header "$header"; break; }
  done
fi
echo end
