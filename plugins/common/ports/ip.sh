# shellcheck shell=dash
# Addresses, and on the next line the routes of the main table of IPv4, both as JSON and by one process.
ip -d -j -batch - <<END
addr show
route show
END
return $?
