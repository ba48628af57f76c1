# shellcheck shell=dash
# A name in an earlier folder hides the same name in a later one, a link to nothing too. The unit does not fail for a module
# that is not there at all. modprobe -n says nothing about one that is built in.
state=$(systemctl show --no-pager --property=ActiveState --value systemd-modules-load.service) || exit 1
echo "state $state"
[ "$state" = failed ] || exit 0
seen='|'
for folder in /etc /run /usr/local/lib /usr/lib; do
  for file in "$folder"/modules-load.d/*.conf; do
    name=${file##*/}
    case $seen in *"|$name|"*) continue ;; esac
    [ -e "$file" ] || [ -L "$file" ] || continue
    seen="$seen$name|"
    [ -f "$file" ] || continue
    number=0
    while read -r module rest || [ -n "$module" ]; do
      number=$((number + 1))
      case $module in '' | '#'* | ';'*) continue ;; esac
      grep -qsx live "/sys/module/$(printf '%s' "$module" | tr - _)/initstate" && continue
      said=$(modprobe -n -v -- "$module" 2>/dev/null) && [ -n "$said" ] || continue
      echo "entry $file:$number $module"
    done <"$file"
  done
done
exit 0
