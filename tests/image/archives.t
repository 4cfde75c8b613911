#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Archives that other people's tools stumbled over, run as root filesystems.
# tests/lib/make_inputs.py says what is in each; nothing outside the box may
# appear or change: every escape would make a file named llmbox-canary.
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$INPUTS/RF-13-noext" 'is python3 installed?'
rm -rf /tmp/llmbox-canary* 2>/dev/null

# prints ARCHIVE WANT COMMAND...: runs, with this output
prints()
{
	prints_archive=$1
	prints_want=$2
	shift 2
	run box -q -r "$INPUTS/$prints_archive" -- "$@"
	is "$prints_archive: $*" "$RC $OUT" "0 $prints_want"
}

# refused ARCHIVE REGEX: an error that says why; nothing is left
refused()
{
	run box -r "$INPUTS/$1" -- /bin/ok
	is "$1 is refused" "$RC" 125
	like "$1: why" "$ERR" "$2"
}

# ---- entries that leave the root
refused RF-01-dotdot.tar '\.\.'
for name in abs symlink-parent symlink-rel symlink-chain file-over-symlink \
	dir-over-symlink; do
	prints "RF-01-$name.tar" ok /bin/ok
done

# ---- hard links
prints RF-03-link-to-symlink.tar ok /bin/ok3
prints RF-03-link-absolute.tar ok /bin/ok-abs
prints RF-03-link-dot-prefix.tar ok /bin/ok-dot
prints RF-03-link-dot-prefix.tar ok /bin/ok-nodot
prints RF-03-link-forward.tar ok /bin/early

# ---- merged /usr, and entries that change their type
for command in /usr/bin/ok /bin/tool /bin/ok; do
	prints RF-05-usrmerge-dir-after-link.tar ok $command
done
prints RF-05-usrmerge-link-after-dir.tar ok /usr/bin/ok
prints RF-05-type-changes.tar ok /x
prints RF-05-same-file-twice.tar two /bin/cat /etc/v

# ---- modes, whatever the caller's umask
for mask in 077 022; do
	umask $mask
	run box -q -r "$INPUTS/RF-06-modes.tar" -- stat -c %a /locked \
		/locked/in /ro /root /etc/gshadow /etc/open /var/shared
	is "umask $mask: modes are exact" "$(echo "$OUT" | tr '\n' ' ')" \
		'0 111 555 550 0 666 2775 '
	"$LLMBOX" image prune >/dev/null 2>&1 || :
done
prints RF-06-modes.tar 'inner
v2' /bin/busybox cat /locked/in/secret /etc/gshadow

# ---- owners that no box has
for form in pax gnu; do
	run box -r "$INPUTS/RF-07-high-ids-$form.tar" -- \
		stat -c %u:%g /etc/huge /etc/max
	is "$form: ids that can't be mapped are root's" \
		"$(echo "$OUT" | tr '\n' ' ')" '0:0 0:0 '
	ok "$form: at most one line tells of it" \
		[ "$(printf '%s' "$ERR" | grep -c .)" -le 1 ]
done

# ---- devices, set-id bits, attributes
run box -r "$INPUTS/RF-08-devices-suid.tar" -- sh -c \
	'ls /etc/chr; [ -c /dev/null ] && /bin/suid'
like 'nodes: left out' "$ERR" 'left out'
like 'nodes: the box has its own, and programs run' "$OUT" '^ok$'
is 'nodes: none on the host' \
	"$(find "$XDG_DATA_HOME" -type c -o -type b 2>/dev/null | wc -l)" 0
is 'the store is closed to others' \
	"$(stat -c %a "$XDG_DATA_HOME/llmbox")" 700
prints RF-08-xattrs.tar ok /bin/ping

# ---- sparse files and sizes in pax records
prints RF-10-sparse-oldgnu.tar '1048576 /etc/sparse-old' wc -c /etc/sparse-old
prints RF-10-sparse-oldgnu.tar TAIL dd if=/etc/sparse-old bs=1 skip=1048571 \
	status=none
prints RF-10-pax-size.tar 'size comes from the pax record
after' /bin/busybox cat /etc/paxsize /etc/after

# ---- the format is told by the content
for name in RF-13-two-members.tar.gz RF-13.tar.bz2 RF-13.tar.xz RF-13.tar.zst \
	RF-13-gzip-named.tar RF-13-noext RF-13-no-trailer.tar; do
	prints "$name" ok /bin/ok
done
prints RF-13-concatenated.tar 'second archive' cat /etc/second
refused RF-13-trailing-garbage.tar.gz 'behind|trailing|after'
refused RF-13-empty-file.tar 'not a rootfs archive'
refused RF-13-no-entries.tar 'not a rootfs archive'
refused RF-13-not-a-tar 'not a rootfs archive'
run sh -c '"$LLMBOX" image import - piped < "$1"' sh "$INPUTS/RF-13-noext"
is 'from standard input' "$RC" 0
run box -r piped -- /bin/ok
is 'and by its name' "$OUT" ok

# ---- mount points that are missing, files, or links to the host
prints RF-15-bare.tar ok /bin/ok
prints RF-15-file-only.tar ok /ok
prints RF-15-mountpoints-are-files.tar ok /bin/ok
prints RF-15-hostile-mountpoints.tar ok /bin/ok
run box -q -r "$INPUTS/RF-15-dangling.tar" -- /bin/busybox cat /etc/resolv.conf \
	/etc/hosts
is "dangling resolv.conf: the box has its own" "$RC" 0
like 'and /etc/hosts' "$OUT" localhost

# ---- what is no plain root filesystem
prints RF-16-docker-save.tar ok /bin/ok
prints RF-16-oci-layout.tar ok /bin/ok
refused RF-16-one-dir-deeper.tar 'myroot'

is 'nothing appeared outside' \
	"$(find /tmp -maxdepth 1 -name 'llmbox-canary*' | wc -l)" 0
done_testing
