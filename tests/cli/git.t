#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# git(1) in a box works on a project of the host: it finds the owner right
# (ID-04), and what is protected of a repository stops nothing but changes of
# its configuration.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need git
P=$T/project
identity='-c user.name=a -c user.email=b@c'

# as_owner COMMAND...: on the host, as who owns the project
as_owner()
{
	if is_root; then
		setpriv --reuid=12345 --regid=12345 --clear-groups \
			env HOME="$T" "$@"
	else
		env HOME="$T" "$@"
	fi
}
mkdir "$P"
chmod 755 "$T"
is_root && chown 12345:12345 "$P"
# shellcheck disable=SC2086 # words
as_owner sh -c "cd '$P' && git init -q . && echo one >file && git add file &&
	git $identity commit -q -m first" || exit 1

for user in root 1000; do
	for access in ro rw overlay; do
		# git may write its index, which an overlay's end tells of.
		run box -q -u "$user" -C "$P:$access" -- git status --short
		is "-u $user, $access: no dubious ownership" "$RC$OUT$ERR" 0
		run box -u "$user" -C "$P:$access" -- git log --format=%s --max-parents=0
		is "-u $user, $access: log" "$OUT" first
	done
	run box -u "$user" -C "$P:rw" -- sh -c "echo $user >made && git add made &&
		git $identity commit -q -m 'by $user' && git checkout -q -b b-$user &&
		git checkout -q - && git clone -q . clone && git -C clone log \
		--format=%s -1 && git worktree list | wc -l && git gc -q"
	is "-u $user: add, commit, branch, clone into, gc" "$RC$OUT" "0by $user
1"
	is "-u $user: files are the owner's" \
		"$(find "$P" ! -user "$(stat -c %u "$P")" | wc -l)" 0
	ok "-u $user: and git works on them outside" \
		as_owner git -C "$P" fsck --strict
	rm -rf "$P/clone"
done
before=$(cat "$P/.git/config")
run box -C "$P:rw" -- git config core.fsmonitor evil
isnt 'git config fails' "$RC" 0
like 'and says why' "$ERR" 'busy'
is 'and changed nothing' "$(cat "$P/.git/config")" "$before"
run box -C "$P:rw" -- sh -c 'echo x >.git/hooks/pre-commit'
like 'a hook can not be made' "$ERR" 'Read-only'
# shellcheck disable=SC2012 # plain names
is 'no placeholder remains' "$(as_owner git -C "$P" status --short --ignored
	ls -A "$P" | tr '\n' ' ')" '.git file made '

run box -C "$P:overlay" -- sh -c 'git config a.b c && git config a.b'
is 'with overlay all of it can be changed, for the box' "$OUT" c

mkdir "$T/empty"
is_root && chown 12345 "$T/empty"
run box -C "$T/empty:rw" -- git init .
isnt 'git init in a writable source fails' "$RC" 0
like 'and says why' "$ERR" 'Read-only'
run box -C "$T/empty:rw" -- git init -q sub
is 'below it, it works' "$RC$(ls -A "$T/empty")" 0sub
run box -C "$T/empty:overlay" -- git init -q .
is 'and with overlay' "$RC" 0
done_testing
