# shellcheck shell=dash
# Prints the user id of the shell behind sudo, after a line by which its beginning is known: startup files of the login may
# print something before, and sudo may refuse after that.
echo 'the check of root begins here'
id -u
