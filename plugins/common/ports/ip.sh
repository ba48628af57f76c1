# shellcheck shell=dash
# Addresses, on the next line the routes of the main table of IPv4, and then those of all tables of IPv6: as JSON and by one
# process. Only of all tables does a batch show routes of another family than IPv4.
ip -d -j -batch - <<END
addr show
route show
route show table all root ::/0
END
return $?
