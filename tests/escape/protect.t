#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names on writable volumes that the box may not write: those that exist, those
# that don't, links, hard links, and what becomes of placeholders. Each attack
# is tried outside too, where it works.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need_file "$BUSYBOX" 'is busybox-static installed?'
is_root && allow=--allow-root-volume || allow=
P=$T/p

bb()
{
	# shellcheck disable=SC2086 # none or one word
	box -r "$BUSYBOX" $allow "$@"
}

# bare_project: an empty one; fresh: one with a repository and more
bare_project()
{
	chmod -R u+rwX "$P" 2>/dev/null
	rm -rf "$P"
	mkdir -p "$P"
}
fresh()
{
	bare_project
	mkdir -p "$P/.git/hooks" "$P/sub" "$P/a/b/c"
	echo config >"$P/.git/config"
	echo secret >"$P/.env"
	echo secret >"$P/a/b/.env"
	echo old >"$P/a/b/c/file"
}
cat >"$T/protect.json" <<'JSON'
{ "mounts": [ { "source": "p", "target": "/p", "access": "rw",
	"protect": ["a/b/c", "new/deep/name"], "hide": ["**/.env", "sub"] } ] }
JSON

# in_box COMMAND: with that policy, in the volume
in_box()
{
	run bb --policy "$T/protect.json" -w /p -- sh -c "$1"
}

# attack COMMAND: fails in the box; the same works outside, on a copy
attack()
{
	in_box "$1"
	isnt "$1 fails" "$RC" 0
	rm -rf "$T/copy"
	cp -r "$P" "$T/copy"
	ok "$1 works outside" sh -c "cd '$T/copy' && $1"
}

# ---- names that exist

fresh
attack ': > .git/hooks/post-checkout'
attack 'echo more >> .git/config'
attack 'mv .git g'
attack 'rm -r .git/hooks'
attack 'mv a x'
attack 'mv a/b x'
attack ': > a/b/c/new'
attack 'rm -r a'
attack 'chmod 777 .git/hooks'
attack 'ln -s /etc/passwd .git/hooks/x'
attack 'ln .git/config other'
attack 'rm -rf d; mkdir d && mv -T d .git/hooks'
attack ': > f && mv -f f .git/config'
attack 'rm -f sub/x; : > sub/x'
fresh
in_box 'echo new > plain; echo x > .git/x; mkdir a/b/d && mv a/b/d a/b/e'
is 'the rest can be written' "$(cat "$P/plain" "$P/.git/x"; ls -d "$P/a/b/e")" \
	"new
x
$P/a/b/e"
is 'and nothing protected was' "$(cat "$P/.git/config" "$P/a/b/c/file")" \
	'config
old'

# ---- names that do not exist

missing='.git .git/config .envrc .mcp.json .claude .vscode .github/workflows new/deep/name'
bare_project
# shellcheck disable=SC2016 # for the shell in the box, and the one outside
for way in ': >$n' 'mkdir -p $n/d && : >$n/d/f' 'ln -s / $n' \
	': >f; mv -T f $n' 'mkdir d; mv -T d $n && : >$n/f' \
	'rmdir $n; mkdir $n && : >$n/f'; do
	each='for n in '$missing'; do mkdir -p $(dirname $n)
		(rm -rf d f; '$way') 2>/dev/null && echo $n made; done; rm -rf d f'
	in_box "$each"
	is "missing names, $way: none" "$OUT" ''
	is "missing names, $way: nothing remains" \
		"$(cd "$P" && find . ! -path .)" ''
	rm -rf "$T/copy"
	mkdir "$T/copy"
	run sh -c "cd '$T/copy' && $each"
	like "missing names, $way: outside" "$OUT" made
done
attack 'mkdir x x/workflows && mv .github y; mv -T x .github'
attack 'mkdir x; mkdir -p new/deep; mv new/deep z; mv x new/deep && mkdir new/deep/name'
attack 'mkdir -p .git/hooks && rm -rf .git && mkdir .git'
bare_project
in_box 'ls -A . .git; ls -A .github; echo mine > .github/dependabot.yml
	mkdir -p new/other; echo mine > new/other/file'
is 'other names beside them can be made, and stay' \
	"$(cd "$P" && find . ! -path . | sort | tr '\n' ' ')" \
	'./.github ./.github/dependabot.yml ./new ./new/other ./new/other/file '
bare_project
mkdir "$P/.git"
in_box ': > .git/HEAD'
isnt 'a .git without a config is held as a whole' "$RC" 0
bare_project
bb -v "$P:/p" -- true
is 'nothing is left after a run' "$(ls -A "$P")" ''
bb -v "$P:/p" -- /not/there 2>/dev/null
is 'nor after a command that is not there' "$(ls -A "$P")" ''
bb -v "$P:/p" -v "$P/none:/q" -- true 2>/dev/null
is 'nor after a run that is refused' "$(ls -A "$P")" ''
bb -v "$P:/p" --dry-run -- true >"$T/plan.json"
is '--dry-run makes nothing' "$(ls -A "$P")" ''
is '--dry-run tells what would be made' \
	"$(json "$T/plan.json" 'd["mounts"][0]["placeholders"][:2]')" \
	'[".git", ".envrc"]'
mkdir "$P/ro"
chmod 555 "$P/ro"
sed 's|new/deep/name|ro/name|' "$T/protect.json" >"$T/ro.json"
run bb --policy "$T/ro.json" -w /p -- sh -c 'chmod 755 ro; mkdir ro/name/x'
isnt 'in a directory that only root in the box can write' "$RC" 0
chmod 755 "$P/ro"
is 'it is held too, and gone after' "$(ls -A "$P/ro")" ''
if is_root; then
	bare_project
	chown 12345:12346 "$P"
	chmod 755 "$T"
	run box -r "$BUSYBOX" -u someone -v "$P:/p" -w /p -- \
		sh -c 'mkdir .claude/x; touch .envrc; touch mine; ls -ld .claude'
	is '-u: both refused' "$(grep -c 'Read-only' "$T/run.err")" 2
	like '-u: a placeholder is the user'"'"'s' "$OUT" 'someone +someone'
	is '-u: what is left' "$(ls -A "$P")" mine
	chmod 700 "$T"
else
	inapplicable '-u on another user'"'"'s volume' 'needs the host root'
fi

# ---- placeholders: several boxes, crashes, other writers

# start NAME ARG...: a box that runs until its standard input ends; what it
# reads there, it executes. $T/NAME.pid is llmbox.
start()
{
	name=$1
	shift
	mkfifo "$T/$name.in"
	# shellcheck disable=SC2086
	"$LLMBOX" run -r "$BUSYBOX" $allow "$@" -- \
		sh -c 'echo up; exec sh' <"$T/$name.in" \
		>"$T/$name.out" 2>"$T/$name.err" &
	echo $! >"$T/$name.pid"
}
# finish FD NAME: by a word, as others may hold the pipe open too
finish()
{
	echo exit >&"$1"
	wait "$(cat "$T/$2.pid")"
}
is_up()
{
	grep -q up "$T/$1.out"
}
bare_project
start one -v "$P:/p"
exec 8>"$T/one.in"
wait_until is_up one
# shellcheck disable=SC2012 # plain names
is 'while a box runs they are there' "$(ls -A "$P" | tr '\n' ' ')" \
	'.claude .envrc .git .github .mcp.json .vscode '
XDG_STATE_HOME=$T/other start two -v "$P:/p"
exec 9>"$T/two.in"
wait_until is_up two
finish 8 one
echo 'mkdir -p /p/.claude/x; echo x >/p/.envrc; echo done' >&9
wait_until grep -q '^done' "$T/two.out"
is 'the end of one box does not end what another holds' \
	"$(ls -A "$P/.claude"; test -d "$P/.envrc" && echo held)" held
finish 9 two
bb -- true
is 'the last one, or the next start, removes them' "$(ls -A "$P")" ''
rm "$T"/one.* "$T"/two.*

start one -v "$P:/p"
exec 8>"$T/one.in"
wait_until is_up one
kill -9 "$(cat "$T/one.pid")"
wait "$(cat "$T/one.pid")" 2>/dev/null
exec 8>&-
ok 'a killed llmbox leaves them' test -d "$P/.envrc"
mkdir "$P/.vscode/mine"
swept()
{
	bb -- true && test ! -e "$P/.envrc"
}
ok 'the next start removes them' wait_until swept
is 'but not one that somebody uses' "$(ls -A "$P")" .vscode
is 'and forgets them' "$(ls -A "$XDG_STATE_HOME/llmbox/placeholders")" ''
rm "$T"/one.*

bare_project
start one -v "$P:/p"
exec 8>"$T/one.in"
wait_until is_up one
echo '{}' >"$P/.vscode/settings.json"
echo 'cat /p/.vscode/settings.json; rm /p/.vscode/settings.json; echo done' >&8
wait_until grep -q '^done' "$T/one.out"
finish 8 one
is 'what the host writes there stays, and the box can but read it' \
	"$(find "$P" -type f; grep -c '{}' "$T/one.out")" \
	"$P/.vscode/settings.json
1"
rm "$T"/one.*

# A place of another mount is made for the time of the run too.
bare_project
echo x >"$T/file"
run bb -v "$P:/p" --tmpfs /p/cache/tmp -v "$T/file:/p/conf/file:ro" -- \
	sh -c 'touch /p/cache/tmp/x; cat /p/conf/file; touch /p/cache/y'
is 'mounts on a writable volume: there' "$RC$OUT" 0x
is 'mounts on a writable volume: only what was written stays' \
	"$(cd "$P" && find . ! -path . | sort | tr '\n' ' ')" './cache ./cache/y '

# ---- links

# linked NAME...: fails with these links; outside it works
bare_project
mkdir -p "$P/conf/hooks" "$P/real.git/hooks"
echo old >"$P/conf/rc"
echo config >"$P/real.git/config"
ln -s conf/rc "$P/.envrc"
ln -s real.git "$P/.git"
ln -s "$P/conf" "$P/.claude"
ln -s nowhere/yet "$P/.mcp.json"
ln -s ../outside "$P/.vscode"
mkdir "$T/outside"
attack 'rm .envrc'
attack 'ln -sf x .envrc'
attack 'mv .envrc x'
attack 'echo x > .envrc'
attack 'echo x > conf/rc'
attack 'mv conf x'
attack 'rm conf/rc && echo x > conf/rc'
attack 'rm -f .git'
attack ': > real.git/hooks/x'
attack ': > .git/hooks/x'
attack 'echo x >> real.git/config'
attack 'mv real.git x && mkdir real.git'
attack ': > conf/new'
attack 'rm .mcp.json'
attack 'mkdir nowhere && : > nowhere/yet'
attack 'rm .vscode'
in_box 'touch real.git/HEAD; cat .envrc .git/config'
is 'links: the rest can be written, and they lead where they did' \
	"$OUT$(ls "$P/real.git/HEAD")" "old
config$P/real.git/HEAD"
is 'links: nothing remains of what was missing' "$(ls -d "$P"/nowhere* 2>&1)" \
	"ls: cannot access '$P/nowhere*': No such file or directory"
bare_project
echo "gitdir: $T/elsewhere" >"$P/.git"
attack 'echo "gitdir: /tmp/evil" > .git'
attack 'rm .git; mkdir -p .git/hooks'
bare_project
ln -s . "$P/.claude"
in_box true
is 'a link that makes it all of the volume is refused' "$RC" 125
like 'and named' "$ERR" 'protect .claude'
ln -sfn .claude "$P/.claude"
attack 'rm .claude && mkdir .claude'

# ---- one volume in another

fresh
mkdir "$T/p/inner" "$T/p/inner/.git" "$T/p/inner/.git/hooks"
echo x >"$T/p/inner/.git/config"
run bb -v "$P:/p" -v "$P/inner:/i" -- sh -c ': > /p/inner/.git/hooks/x
	echo y > /p/inner/.git/config; mkdir /p/inner/.claude/x; mv /p/inner /p/y'
is 'of a volume in another the names hold by both ways' \
	"$(find "$P/inner" -type f; cat "$P/inner/.git/config")" \
	"$P/inner/.git/config
x"

# ---- hard links, unnamed files, races

fresh
ln "$P/.git/config" "$P/second"
echo hook >"$P/third"
ln "$P/third" "$P/.git/hooks/post-commit"
attack 'echo x >> second'
attack 'echo x >> sub/../third'
in_box 'rm second third'
isnt 'other names of what is protected can not go either' "$RC" 0
fresh
if command -v python3 >/dev/null 2>&1; then
	cat >"$P/tmpfile.py" <<'PY'
import os, sys
fd = os.open('.', os.O_TMPFILE | os.O_RDWR)
os.write(fd, b'evil')
for name in sys.argv[1:]:
    try: # by linkat(2), as src_dir_fd makes it
        os.link('/proc/self/fd/%d' % fd, name, src_dir_fd=fd)
        print('made', name)
    except OSError as e:
        print(e.strerror)
PY
	# shellcheck disable=SC2086
	run box $allow -v "$P:/p" -w /p -- python3 tmpfile.py \
		.envrc .git/hooks/x .git/config unnamed
	like 'an unnamed file can be linked elsewhere' "$OUT" 'made unnamed'
	unlike 'but not to a protected name' "$OUT" 'made \.'
	cat >"$P/race.py" <<'PY'
import os, threading, time
def spin():
    while not done:
        for a, b in (('.git', 'x'), ('x', '.git'), ('d', '.claude')):
            try: os.rename(a, b)
            except OSError: pass
            try: os.mkdir('d')
            except OSError: pass
            try: os.mkdir('.git')
            except OSError: pass
done = False
t = [threading.Thread(target=spin) for _ in range(2)]
[x.start() for x in t]
time.sleep(0.3)
done = True
[x.join() for x in t]
for name in ('.git/hooks/x', '.claude/x', '.git/config'):
    try: open(name, 'w'); print('made', name)
    except OSError as e: print(e.strerror)
PY
	# shellcheck disable=SC2086
	run box $allow -v "$P:/p" -w /p -- python3 race.py
	unlike 'renaming in a race makes none' "$OUT" made
	ok 'and does run' test -n "$OUT"
else
	skip 'unnamed files and races' 'python3 is not installed'
fi

# ---- hidden names

fresh
attack 'grep -q secret .env'
attack 'grep -q secret a/b/.env'
attack 'ln .env other && grep -q secret other'
attack 'mv .env other'
attack 'mv a/b/.env other && grep -q secret other'
ln "$P/.env" "$P/copy-of-env"
attack 'grep -q secret copy-of-env'
mkdir "$P/vault"
echo secret >"$P/vault/key"
ln -s ../vault/key "$P/a/.env"
attack 'grep -q secret a/.env'
attack 'grep -q secret vault/key'
in_box 'wc -c < .env; ls -A sub | wc -l'
is 'hidden names are there, and empty' "$(echo "$OUT" | tr '\n' ' ')" '0 0 '
for access in ro overlay; do
	sed "s/\"rw\"/\"$access\"/; s/\"protect\".*\"hide\"/\"hide\"/" \
		"$T/protect.json" | tr -d '\n' |
		sed 's/"protect": \[[^]]*\],//' >"$T/hide.json"
	run bb --policy "$T/hide.json" -w /p -- sh -c 'cat .env a/b/.env a/.env
		cat vault/key; ls -A sub; mv a x; cat x/b/.env; cp -r . /tmp/all
		grep -r secret /tmp/all; echo end'
	is "$access: hidden too" "$OUT" end
done
is 'and the source is as it was' "$(cat "$P/.env")" secret
done_testing
