# shellcheck shell=dash
# shellcheck disable=SC2013,SC2062,SC2086 # words of files of /proc
# Ends every process of the sessions in which a shell has $TOKEN among its arguments. The token comes to grep through its
# input: in an argument it would find grep itself. Fields of /proc/PID/stat after the name, which may hold anything but
# ends at the last ')': state, parent, process group, session. Session 0 means that its leader is outside this container.
{
sessions=' '
for file in $(grep -lsF -f - /proc/[0-9]*/cmdline <<END
$TOKEN
END
); do
  read -r stat <"${file%cmdline}stat" || continue
  set -- ${stat##*) }
  [ "$4" = 0 ] || sessions="$sessions$4 "
done
for file in /proc/[0-9]*/stat; do
  read -r stat <"$file" || continue
  set -- ${stat##*) }
  pid=${file#/proc/}
  case $sessions in *" $4 "*) kill -KILL "${pid%/stat}" ;; esac
done
exit 0
} 2>/dev/null
