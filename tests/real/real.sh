# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# One identity with real software: everything of packages.txt is installed in
# one box, the box's tree becomes an archive, and the programs run in boxes of
# that. Sourced, with IDENTITY set; the three tests can run at the same time.
#
# An installation takes minutes, so there is one for each identity, and each
# box runs all checks that its network and profile allow.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check-real}/tests/lib/box.sh"

case $IDENTITY-$(id -u) in
shifted-0) ;;
*-0 | shifted-*)
	inapplicable "$IDENTITY" 'it is not an identity of this caller'
	done_testing
	;;
range-*)
	has_range ||
		skip_all 'there are no subordinate ids, or no newuidmap'
	;;
esac
[ -n "${DEBIAN-}" ] || skip_all 'there is no Debian tree'
[ -d "${DEBS-}" ] || skip_all 'there are no packages'
PACKAGES=$(tr '\n' ' ' <"$LLMBOX_SRC/tests/real/packages.txt")

# A box's checks become results. Without the last line it stopped in between.
relay()
{
	relay_end=
	while IFS= read -r line; do
		case $line in
		'ok '*) tap_result 0 "$IDENTITY: ${line#ok }" ;;
		'not ok '*) tap_result 1 "$IDENTITY: ${line#not ok }" ;;
		'# '*) printf '%s\n' "$line" ;;
		'llmbox: '*) diag "$line" ;;
		end) relay_end=yes ;;
		esac
	done <"$1"
	is "$IDENTITY: ${1##*/} went to its end" "$relay_end" yes
}

# Changes go to memory, as they do by default, if there is enough of it.
writes()
{
	if [ "$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)" -gt \
		$((6 << 20)) ]; then
		echo memory
	else
		echo disk
	fi
}

# npm's registry and authorities are this machine's. Prints options of a box.
npm_options()
{
	command -v npm >/dev/null 2>&1 || return 0
	echo "-e npm_config_registry=$(npm config get registry)"
	echo '-e NPM_PACKAGE=left-pad'
	ca=$(npm config get cafile)
	[ ! -f "$ca" ] ||
		echo "-e npm_config_cafile=/ca.crt -v $ca:/ca.crt:ro"
}

real_box()
{
	box --identity "$IDENTITY" -e IDENTITY="$IDENTITY" \
		-v "$LLMBOX_SRC/tests/real:/real:ro" "$@"
}

# The box's standard output is the archive; results come by way of its
# standard error, and so do llmbox's own words.
# shellcheck disable=SC2046 # options, word by word
install_all()
{
	real_box -r "$DEBIAN" --network host --writes "$(writes)" --disk 5g \
		-v "$DEBS:/archives:ro" -e PACKAGES="$PACKAGES" \
		-e NPM_PACKAGE= $(npm_options) -- bash -c '
		exec 3>&2
		bash /real/install.sh >&2
		rm -f /var/cache/apt/archives/*.deb
		tar -C / --one-file-system -cf - .' \
		2>"$T/install" >"$T/installed.tar"
}

# An archive that may still be written to is not taken for known.
is_settled()
{
	[ $(($(date +%s) - $(stat -c %Z "$T/installed.tar"))) -gt 3 ]
}

# check_in SCRIPT OPTION...: the checks of a script, in a box of the installed
# tree.
check_in()
{
	check_script=$1
	shift
	run real_box -r "$T/installed.tar" "$@" -- \
		bash -c "exec 3>&1 >&2; . /real/$check_script"
	cp "$T/run.out" "$T/$check_script"
	relay "$T/$check_script"
}

run install_all
relay "$T/install"
is "$IDENTITY: the tree becomes an archive" "$RC" 0
[ "$RC" -eq 0 ] || done_testing
wait_until is_settled
check_in programs.sh
check_in debug.sh --syscalls debug
done_testing
