# shellcheck shell=dash
# The primary group of the user $1, then one line per file that is there; stat names on stderr those that are not. Only
# mode and owner of the private key are read.
entry=$(getent passwd -- "$1") || exit 3
id -gn -- "$1" || exit 4
IFS=: read -r _ _ _ _ _ home _ <<END
$entry
END
cd -- "$home" || exit 5
exec stat -L -c '%n|%a|%U' .ssh .ssh/id_ed25519_spark
