# shellcheck shell=dash
# What the services in a folder of units, and what an administrator has others run or do for a port (a hook), say of this node's
# interfaces. Of the files' texts nothing is printed but names of interfaces that are there or given, numbers of lines, names of
# units that timers start, and folders of [Install]. Arguments: the folder, that of the interfaces, a pattern of the bytes that
# only programs hold, /etc, names of interfaces, and NAME=WORD for what else means one in rules of udev: its PCI function. Lines,
# each word of plain signs:
#   service NAME file|link      install NAME FOLDER    wanted NAME FOLDER|TIMER    part NAME PATH
#   names PATH INTERFACE LINE   sets PATH              digest HEX  PATH            large PATH
#   hook PATH                   runs PATH PROGRAM
# and of each service Id=NAME, ActiveState=STATE and which units would be stopped with it. A template is a service, and what
# is wanted may be one of its instances.
# What has other signs in its name is passed over, and so are our own units, and files of more than 64 KiB or with the bytes of programs.
export LC_ALL=C
newline='
'
folder=$1; nets=$2; binary=$3; etc=$4; shift 4
interfaces=' '; aliases=' '
for word in "$@"; do
  case $word in *=*) aliases="$aliases$word " ;; *) interfaces="$interfaces$word " ;; esac
done
for path in "$nets"/*; do
  case ${path##*/} in *[!A-Za-z0-9:_.@-]*) continue ;; esac
  interfaces="$interfaces${path##*/} "
  mac=''; address=$path/bonding_slave/perm_hwaddr # a rule is for the port's own one, which it has at boot
  [ -r "$address" ] || address=$path/address
  { [ -r "$address" ] && read -r mac <"$address"; } 2>/dev/null
  case $mac in '' | *[!0-9a-f:]* | 00:00:00:00:00:00) ;; *) aliases="$aliases${path##*/}=$mac " ;; esac
done

is_plain() { # NAME, of a unit that is not ours
  case $1 in '' | *[!A-Za-z0-9:_.@-]* | [!A-Za-z0-9]* | spark-reconcile*) return 1 ;; esac
}
is_text() { [ -f "$1" ] && [ -r "$1" ]; }
is_wanted() { # NAME
  for link in "$folder"/*.wants/"$1" "$folder"/*.requires/"$1" "$folder"/*.upholds/"$1"; do
    [ ! -L "$link" ] || return 0
  done
  return 1
}
print_wanted() { # NAME: the folders that link to it
  for link in "$folder"/*.wants/"$1" "$folder"/*.requires/"$1" "$folder"/*.upholds/"$1"; do
    [ -L "$link" ] || continue
    link=${link%/*}; link=${link##*/}
    case $link in *[!A-Za-z0-9:_.@-]*) link=other ;; esac
    echo "wanted $1 $link"
  done
}

# What NetworkManager and networkd-dispatcher run, where they are there; what ifupdown reads and runs; rules of udev. 256 at most.
is_program() { # NAME
  command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || [ -x "/usr/bin/$1" ]
}
hooks=' '; count=0
add_hook() { # PATH [run]
  case $1 in *spark-reconcile* | *[!A-Za-z0-9/:_.@+-]*) return 0 ;; esac
  if [ $count -ge 256 ] || ! is_text "$1" || { [ "${2-}" = run ] && [ ! -x "$1" ]; }; then return 0; fi
  hooks="$hooks$1 "; count=$((count + 1))
  echo "hook $1"
}
for path in "$etc"/NetworkManager/dispatcher.d/* "$etc"/NetworkManager/dispatcher.d/pre-up.d/* \
  "$etc"/NetworkManager/dispatcher.d/no-wait.d/*; do
  add_hook "$path" run
done
if is_program networkd-dispatcher; then
  for path in "$etc"/networkd-dispatcher/*.d/*; do add_hook "$path" run; done
fi
if is_program ifup; then
  for path in "$etc"/network/interfaces "$etc"/network/interfaces.d/*; do add_hook "$path"; done
  for path in "$etc"/network/if-pre-up.d/* "$etc"/network/if-up.d/*; do add_hook "$path" run; done
fi
for path in "$etc"/udev/rules.d/*.rules; do add_hook "$path"; done

set --
services=' '
for path in "$folder"/*.service; do
  name=${path##*/}
  if ! is_plain "$name" || ! is_text "$path"; then continue; fi
  if [ -L "$path" ]; then echo "service $name link"; else echo "service $name file"; fi
  case $name in *@.service) ;; *) services="$services$name "; print_wanted "$name" ;; esac
  set -- "$@" "$path"
  for part in "$path".d/*.conf; do
    case ${part##*/} in *[!A-Za-z0-9:_.@-]*) continue ;; esac
    ! is_text "$part" || set -- "$@" "$part"
  done
done
[ "$# $hooks" != '0  ' ] || return 0

# What is enabled of templates, and what enabled timers start.
for path in "$folder"/*.wants/*@?*.service "$folder"/*.requires/*@?*.service "$folder"/*.upholds/*@?*.service; do
  name=${path##*/}
  case $services in *" $name "*) continue ;; esac
  if [ ! -L "$path" ] || ! is_plain "$name" || ! is_text "$folder/${name%%@*}@.service"; then continue; fi
  services="$services$name "
  print_wanted "$name"
  for part in "$folder/$name".d/*.conf; do
    case ${part##*/} in *[!A-Za-z0-9:_.@-]*) continue ;; esac
    ! is_text "$part" || set -- "$@" "$part"
  done
done
for path in "$folder"/*.timer; do
  name=${path##*/}
  if ! is_plain "$name" || ! is_text "$path" || ! is_wanted "$name"; then continue; fi
  unit=$(sed -n 's/^[[:blank:]]*Unit[[:blank:]]*=[[:blank:]]*//p' "$path" | sed -n '$p')
  unit=${unit:-${name%.timer}.service}
  ! is_plain "$unit" || echo "wanted $unit $name"
done

# The files that the Exec lines and EnvironmentFile name by absolute paths: "part NAME PATH". Continued lines belong to the
# key of the first one.
relations=''
[ $# -eq 0 ] || relations=$(awk '
  FNR == 1 {
    name = FILENAME; section = ""; key = ""; more = 0
    drop = sub(/\.d\/[^\/]*$/, "", name); sub(/.*\//, "", name)
    ours = /^# Written by spark-reconcile for cluster /
    if (!ours) print "part", name, FILENAME
  }
  ours { next }
  { line = $0; continued = more; more = line ~ /\\$/ }
  !continued && line ~ /^[ \t]*[#;]/ { more = 0; next }
  !continued && line ~ /^[ \t]*\[/ { section = line; gsub(/[ \t\r]/, "", section); key = ""; next }
  !continued { key = line; sub(/[ \t]*=.*/, "", key); sub(/^[ \t]*/, "", key); sub(/^[^=]*=/, "", line) }
  section == "[Install]" && key != "" && line ~ /[^ \t\r\\]/ {
    suffix = key == "WantedBy" ? ".wants" : key == "RequiredBy" ? ".requires" : key == "UpheldBy" ? ".upholds" : ""
    n = split(line, word, /[ \t\r\\]+/)
    for (i = 1; i <= n; i++) {
      if (word[i] == "") continue
      plain = suffix != "" && !drop && word[i] !~ /[^A-Za-z0-9:_.@-]/
      print "install", name, plain ? word[i] suffix : "other"
    }
  }
  section == "[Service]" && key ~ /^(Exec[A-Za-z]*|EnvironmentFile)$/ {
    n = split(line, word, /[^A-Za-z0-9\/:_.@+-]+/)
    for (i = 1; i <= n; i++) {
      sub(/^[-@:+]+/, "", word[i])
      if (word[i] ~ /^\/./ && word[i] !~ /^\/(dev|proc|sys)\// && !((name, word[i]) in said)) {
        said[name, word[i]] = 1
        print "part", name, word[i]
      }
    }
  }' "$@")

[ "$relations$hooks" != ' ' ] || return 0

# Into `unread`: the files of `relations`, 256 at most, and the hooks; each once, and none that `seen` has.
list_unread() {
  unread=' '; count=0
  # shellcheck disable=SC2086 # lines of three words of plain signs
  set -- $relations
  while [ $# -gt 2 ] && [ $count -lt 256 ]; do
    if [ "$1" = part ]; then
      case $unread$seen in *" $3 "*) ;; *) unread="$unread$3 "; count=$((count + 1)) ;; esac
    fi
    shift 3
  done
  for path in $hooks; do
    case $unread$seen in *" $path "*) ;; *) unread="$unread$path " ;; esac
  done
}

# A program that shows something, and what comments and descriptions say, configures nothing; `ip` shows unless a word says that
# it changes something. Variables that name interfaces for NCCL and the like configure none.
# A rule of udev may mean an interface by its MAC or PCI address too; it does something where it assigns one of these. Of a line
# of ifupdown with "iface" that is clear without a program.
# Lines of FILE: "names FILE INTERFACE LINE", "sets FILE", "call FILE PATH run|read", "runs FILE PROGRAM" of one that sets what a
# restart loses, and "large FILE" or "program FILE" alone.
# What scripts call or read by absolute paths is a part too, but no program of a package.
read_files() { # FILE…; it takes the place of the shell that calls it
  export interfaces aliases binary folder hooks
  exec awk '
  function say_name(name, line) {
    if (!(name in said)) names = names "names " file " " name " " line "\n"
    said[name] = 1
  }
  function list_calls(  i, n, word, how) {
    n = split($0, word, /[^A-Za-z0-9\/:_.@+-]+/)
    for (i = 1; i <= n; i++) {
      if (word[i] !~ /^\/./ || word[i] ~ /^\/((usr\/)?(s?bin|lib[^\/]*|share)|dev|proc|sys)\//) continue
      if (word[i] in called) continue
      called[word[i]] = 1
      how = word[i - 1] == "." || word[i - 1] == "source" ? "read" : "run"
      if (++found <= 256) calls = calls "call " file " " word[i] " " how "\n"
    }
  }
  function end_file() {
    if (kind != "") print kind, file
    else if (file != "") printf "%s%s%s%s", names, sets ? "sets " file "\n" : "", calls, besides
  }
  BEGIN {
    pairs = split(ENVIRON["aliases"], list, " ")
    for (i = 1; i <= pairs; i++) { alias[i] = list[i]; sub(/^[^=]*=/, "", alias[i]); of[i] = list[i]; sub(/=.*/, "", of[i]) }
    n = split(ENVIRON["interfaces"], list, " "); for (i = 1; i <= n; i++) interface[list[i]] = 1
    n = split("ip ifconfig nmcli netplan networkctl ifup ifdown dhclient dhcpcd dcb", list, " ")
    for (i = 1; i <= n; i++) program[list[i]] = 1
    n = split("--trust --pfc --dscp2prio --prio_tc --tsa --ratelimit --cable_len --buffer_size -p -f -t -s -r", list, " ")
    for (i = 1; i <= n; i++) tunes[list[i]] = 1
    n = split("sysctl modprobe tc ethtool mlnx_qos", list, " "); for (i = 1; i <= n; i++) other[list[i]] = 1
    n = split("show list ls monitor status get", list, " "); for (i = 1; i <= n; i++) shows[list[i]] = 1
    n = split("add append -b -batch change del delete flush replace set", list, " "); for (i = 1; i <= n; i++) changes[list[i]] = 1
  }
  FNR == 1 {
    end_file()
    file = FILENAME; kind = ""; bytes = 0; names = ""; calls = ""; sets = 0; more = 0; split("", said); split("", called)
    besides = ""; split("", ran)
    rules = file ~ /\/udev\/rules\.d\//; stanzas = file ~ /\/network\/interfaces/
    script = index(ENVIRON["hooks"], " " file " ") == 0 && index(file, ENVIRON["folder"] "/") != 1
  }
  END { end_file() }
  $0 ~ ENVIRON["binary"] { kind = "program"; nextfile }
  { bytes += length($0) + 1 }
  bytes > 65536 { kind = "large"; nextfile }
  script && !/^[ \t]*#/ { list_calls() }
  stanzas && $1 == "iface" && $2 in interface { say_name($2, FNR); sets = 1 }
  stanzas && $1 !~ /^(pre-up|up|post-up)$/ { next }
  rules {
    if (!more && /^[ \t]*#/) next
    if (!more) { rule = ""; first = FNR }
    line = $0; more = sub(/\\$/, "", line); rule = rule line
    if (more || rule !~ /(^|[ \t,])(NAME|RUN([{][a-z]*[}])?|(ATTR|SYSCTL)[{][^}]*[}]|ENV[{](NM_UNMANAGED|ID_NET_NAME[A-Z_]*)[}])[ \t]*[+:]?=[^=]/) next
    n = split(rule, word, /[^A-Za-z0-9_-]+/)
    for (i = 1; i <= n; i++) if (word[i] in interface) { say_name(word[i], first); sets = 1 }
    for (i = 1; i <= pairs; i++) if (index(tolower(rule), alias[i] "\"")) { say_name(of[i], first); sets = 1 }
    next
  }
  /^[ \t]*([#;]|Description[ \t]*=|Documentation[ \t]*=)/ { next }
  {
    acts = $0 ~ />[ \t"]*\/sys\/class\/net\//
    command_line = script || /^[ \t]*Exec/
    commands = split($0, command, /[;|&]+/)
    for (c = 1; c <= commands; c++) {
      runs = 0; looks = 0; qos = 0; variable = 0
      n = split(command[c], word, /[^A-Za-z0-9_-]+/)
      for (i = 1; i <= n; i++) {
        if (word[i] ~ /^(NCCL|GLOO|UCX|OMPI|TP)_/) variable = 1
        else if (!(word[i] in interface)) variable = 0
        else if (!variable) say_name(word[i], FNR)
        if (command_line && word[i] in other && !(word[i] in ran)) {
          ran[word[i]] = 1
          besides = besides "runs " file " " word[i] "\n"
        }
        if (word[i] == "mlnx_qos") qos = 1
        if (qos && word[i] in tunes) acts = 1
        if (word[i] in program) { runs = 1; looks = word[i] == "ip" }
        else if (runs && word[i] in shows) looks = 1
        else if (runs && word[i] in changes) looks = 0
      }
      if (runs && !looks) acts = 1
    }
    if (acts) sets = 1
  }' "$@"
}

# Takes the lines of read_files and prints what they say; calls become `relations`. `found` is set where there is anything, and
# `others` are the files that are large or programs.
take_lines() { # WORD…
  while [ $# -gt 1 ]; do
    case $1 in
      names) echo "names $2 $3 $4"; found=yes; shift 4 ;;
      call) add_call "$2" "$3" "$4"; shift 4 ;;
      runs) echo "runs $2 $3"; shift 3 ;;
      sets) echo "sets $2"; found=yes; shift 2 ;;
      large) echo "large $2"; others="$others$2 "; shift 2 ;;
      *) others="$others$2 "; shift 2 ;;
    esac
  done
}
add_call() { # SCRIPT PATH run|read
  if [ $follows = no ] || ! is_text "$2" || { [ "$3" = run ] && [ ! -x "$2" ]; }; then return 0; fi
  script=$1; path=$2
  # shellcheck disable=SC2086 # lines of three words of plain signs
  set -- $relations
  while [ $# -gt 2 ]; do
    if [ "$1 $3" = "part $script" ]; then
      case $newline$relations$newline in
        *"${newline}part $2 $path$newline"*) ;;
        *) relations="$relations${newline}part $2 $path" ;;
      esac
    fi
    shift 3
  done
}
# The rest is added to `texts`.
read_unread() {
  list_unread
  seen="$seen$unread"; others=' '
  set --
  for path in $unread; do
    ! is_text "$path" || set -- "$@" "$path"
  done
  [ $# -gt 0 ] || return 0
  # shellcheck disable=SC2046 # plain signs only
  take_lines $(read_files "$@")
  for path do
    case $others in *" $path "*) ;; *) texts="$texts$path " ;; esac
  done
}

seen=' '; texts=' '; found=''; follows=yes
read_unread
follows=no # and nothing further
read_unread
[ -z "$relations" ] || printf '%s\n' "$relations"
[ -n "$found" ] || return 0
# shellcheck disable=SC2046,SC2086 # plain signs only
set -- $(sha256sum -- $texts)
while [ $# -gt 1 ]; do echo "digest $1  $2"; shift 2; done
# shellcheck disable=SC2086 # plain signs only
[ "$services" = ' ' ] || systemctl show --no-pager --property=Id,ActiveState,RequiredBy,RequisiteOf,BoundBy,ConsistsOf -- $services
