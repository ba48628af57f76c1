# shellcheck shell=dash
# $1 says whether the symbols are always looked through, the others are modules.
# Prints "symbol ANSWER", the kernel's settings as its build wrote them (64BIT is one that every
# machine of ours has: without it nothing was read) and "module NAME ANSWER".
# A module that is built in has no initstate. With -n modprobe loads nothing: it says nothing about
# what is built in, and last what it would do for the module itself.
gb10() { grep -qs GB10 /proc/driver/nvidia/gpus/*/information; }
if [ "$1" != always ] && { [ ! -e /proc/driver/nvidia/version ] || gb10; }; then
  echo 'symbol not read'
elif [ -r /proc/kallsyms ]; then
  if grep -qw ib_register_peer_memory_client /proc/kallsyms; then echo 'symbol yes'
  else echo 'symbol no'; fi
fi
shift
{ cat "/boot/config-$(uname -r)" || zcat /proc/config.gz; } 2>/dev/null |
  grep -xE 'CONFIG_(64BIT|DMA_SHARED_BUFFER|PCI_P2PDMA)=[ym]'
for module do
  if grep -qsx live "/sys/module/$module/initstate"; then echo "module $module loaded"; continue; fi
  said=$(modprobe -n -v -- "$module" 2>&1); code=$?
  said=$(printf '%s' "$said" | tail -n 1)
  if [ $code != 0 ]; then echo "module $module failed $said"
  elif [ -z "$said" ]; then echo "module $module built in"
  else echo "module $module would $said"; fi
done
exit 0
