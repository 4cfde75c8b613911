#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# doctor says what a run then finds: on this host as it is, and on hosts that
# are worse, made by namespaces and limits of the test's own. Nothing is left.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need python3 unshare

# state NAME: of the last run, from $T/run.out
state()
{
	json "$T/run.out" \
		"[c['state'] for c in d['checks'] if c['name'] == '$1'][0]"
}
detail()
{
	json "$T/run.out" \
		"[c['detail'] for c in d['checks'] if c['name'] == '$1'][0]"
}
cure()
{
	json "$T/run.out" \
		"[c['cure'] for c in d['checks'] if c['name'] == '$1'][0] or ''"
}

right="[c['name'] for c in d['checks'] if c['state'] == 'yes'"
amiss="[c['name'] for c in d['checks'] if c['state'] != 'yes'"

# ---- here

groups()
{
	find /sys/fs/cgroup -type d -name 'llmbox-doctor*' 2>/dev/null
}

run "$LLMBOX" doctor --json
here=$RC
cp "$T/run.out" "$T/here.json"
is 'here: nothing on stderr' "$ERR" ''
is 'here: ok says what the status says' "$(json "$T/run.out" 'd["ok"]')" \
	"$([ "$here" -eq 0 ] && echo true || echo false)"
is 'here: a state is one of four' "$(json "$T/run.out" \
	"$amiss and c['state'] not in ('soft', 'no', 'untried')]")" '[]'
is 'here: no cure where there is nothing to cure' "$(json "$T/run.out" \
	"$right and (c['cure'] or c['effect'])]")" '[]'
is 'here: what is amiss has an effect' "$(json "$T/run.out" \
	"$amiss and not c['effect']]")" '[]'
is 'here: nothing took too long or broke' "$(json "$T/run.out" \
	"$amiss and ('still not' in c['detail'] or 'early' in c['detail'])]")" \
	'[]'
run box -- true
is 'here: a run agrees' "$RC" "$([ "$here" -eq 0 ] && echo 0 || echo 125)"
is 'here: no control group is left' "$(groups)" ''
is 'here: no file is left' \
	"$(find "$T/data" "$T/state" "$T/config" -mindepth 2 ! -name idrange)" ''
unlike 'here: no mount is left' "$(cat /proc/self/mountinfo)" 'llmbox-doctor'

run "$LLMBOX" doctor
is 'for people: the same status' "$RC" "$here"
is 'for people: a line for each check' \
	"$(printf '%s\n' "$OUT" | grep -cE '^(yes|soft|no|untried) ')" \
	"$(json "$T/here.json" 'len(d["checks"])')"
like 'for people: the last line' "$(printf '%s\n' "$OUT" | tail -n 1)" \
	"^this host (can|can't) run llmbox's default policy"
run "$LLMBOX" doctor -q
unlike 'quiet: nothing that is right' "$OUT" '^yes '

run "$LLMBOX" doctor --attack
is 'an unknown option: status' "$RC" 125
run "$LLMBOX" doctor now
is 'an argument: status' "$RC" 125

# The image that a run uses, and the check of it, agree.
run box -r "$HELPER" -- /bin/helper true
image=$RC
[ "$image" -eq 0 ] || [ "$image" -eq 1 ] || image=125
is 'an image: a run agrees' "$image" "$(
	cp "$T/here.json" "$T/run.out"
	[ "$(state image)" = no ] && echo 125 || echo "$image")"

# ---- without a store

run env -u XDG_DATA_HOME HOME=/nowhere "$LLMBOX" doctor --json
if is_root; then
	inapplicable 'no place for a store' "root's does not depend on HOME"
else
	is 'no place for a store' "$(state store)" no
	is 'no place for a store: the default policy needs none' "$RC" "$here"
fi
mkdir -m 755 "$T/data/llmbox" 2>/dev/null || chmod 755 "$T/data/llmbox"
run "$LLMBOX" doctor --json
is 'a store that others may enter' "$(state store)" no
like 'a store that others may enter: the cure' "$(cure store)" '^chmod 700 '
chmod 700 "$T/data/llmbox"

# ---- worse hosts

if [ "$here" -ne 0 ]; then
	skip 'worse hosts' 'this one can run no box'
	done_testing
fi

# worse NAME CHECK COMMAND...: COMMAND runs its arguments on the worse host,
# where CHECK says no, with doctor's and run's words on it.
worse()
{
	worse_name=$1
	worse_check=$2
	shift 2
	run "$@" "$LLMBOX" run -- true
	worse_run=$RC
	run "$@" "$LLMBOX" doctor --json
	is "$worse_name: $worse_check" "$(state "$worse_check")" no
	is "$worse_name: doctor's status" "$RC" 1
	is "$worse_name: a run agrees" "$worse_run" 125
}

cat >"$T/no-userns.sh" <<'SH'
echo 0 >/proc/sys/user/max_user_namespaces || exit 9
exec "$@"
SH
worse 'max_user_namespaces 0' user_namespaces \
	unshare -Ur sh "$T/no-userns.sh"
like 'max_user_namespaces 0: the setting' "$(detail user_namespaces)" \
	'/proc/sys/user/max_user_namespaces is 0'
like 'max_user_namespaces 0: the cure' "$(cure user_namespaces)" \
	'sysctl user.max_user_namespaces='
is 'max_user_namespaces 0: the rest is untried' "$(state proc)" untried

cat >"$T/no-netns.sh" <<'SH'
echo 0 >/proc/sys/user/max_net_namespaces || exit 9
exec "$@"
SH
worse 'max_net_namespaces 0' namespaces unshare -Ur sh "$T/no-netns.sh"
like 'max_net_namespaces 0: the cure' "$(cure namespaces)" \
	'sysctl user.max_net_namespaces='

# As container engines do it (CASES: a masked /proc).
cat >"$T/masked.sh" <<'SH'
mount --bind /dev/null /proc/keys || exit 9
exec "$@"
SH
worse 'a masked /proc' proc unshare -Urm sh "$T/masked.sh"
like 'a masked /proc: what covers it' "$(detail proc)" '/proc/keys'
like 'a masked /proc: the cure' "$(cure proc)" 'systempaths=unconfined'
run env KUBERNETES_SERVICE_HOST=10.0.0.1 unshare -Urm sh "$T/masked.sh" \
	"$LLMBOX" doctor --json
like 'a masked /proc in a pod: the cure' "$(cure proc)" 'procMount: Unmasked'

# /proc/sys can't be made to have the setting of another kernel, so it is shown
# one that has; what then fails is the same.
cat >"$T/apparmor.sh" <<'SH'
echo 0 >/proc/sys/user/max_user_namespaces || exit 9
mount -t tmpfs none /proc/sys || exit 9
mkdir -p /proc/sys/kernel
echo 1 >/proc/sys/kernel/apparmor_restrict_unprivileged_userns
exec "$@"
SH
worse 'AppArmor' user_namespaces unshare -Urm sh "$T/apparmor.sh"
cure user_namespaces >"$T/cure"
like 'AppArmor: a profile of this binary' "$(cat "$T/cure")" \
	"^profile llmbox \"$LLMBOX\" flags=\(unconfined\) \{\$"
like 'AppArmor: it has userns' "$(cat "$T/cure")" '^  userns,$'
# Older parsers do not know the rule.
profile()
{
	apparmor_parser -Q -K "$1" 2>&1
}
printf 'abi <abi/4.0>,\nprofile a /a { userns, }\n' >"$T/known"
if command -v apparmor_parser >/dev/null && profile "$T/known" >/dev/null; then
	sed -n '/^abi/,/^}/p' "$T/cure" >"$T/profile"
	is 'AppArmor: its parser takes the profile' "$(profile "$T/profile" |
		grep -i error)" ''
else
	inapplicable 'AppArmor: its parser' 'no parser that knows userns'
fi
like 'AppArmor: how to load it' "$(cat "$T/cure")" '^as root: apparmor_parser -r '

if is_root; then
	inapplicable 'a chroot' 'root may make user namespaces in one'
else
	inapplicable 'a chroot' 'only root can enter one; see tests/fault'
fi

# ---- worse kernels: whatever is refused, both say the same

agree()
{
	run "$DEGRADE" "$1" -- "$LLMBOX" run -- true
	agree_run=$RC
	run "$DEGRADE" "$1" -- "$LLMBOX" doctor --json
	is "$1: doctor and a run agree" "$RC" \
		"$([ $agree_run -eq 0 ] && echo 0 || echo 1)"
}
for spec in userns=EPERM ns:0x40000000=EPERM ns:0x08000000=EINVAL \
	mount=EACCES pivot_root=EPERM openat2=ENOSYS pidfd_open=ENOSYS \
	memfd_create=ENOSYS fsopen=ENOSYS mount_setattr=ENOSYS keyctl=EPERM \
	landlock_create_ruleset=ENOSYS seccomp=EPERM listener=EINVAL \
	socket:2=EAFNOSUPPORT setns=EPERM write:uid_map=EPERM; do
	agree $spec
done
run "$DEGRADE" userns=EPERM -- "$LLMBOX" doctor --json
like 'a filter: the flag of a container engine' "$(cure user_namespaces)" \
	'--security-opt seccomp=docker-seccomp\.json'
run "$DEGRADE" landlock_create_ruleset=ENOSYS -- "$LLMBOX" doctor --json
is 'no Landlock' "$(state landlock)" no
run "$DEGRADE" listener=EINVAL -- "$LLMBOX" doctor --json
is 'no notifications' "$(state seccomp_notify)" no

# ---- the rest

# A limit that keeps every probe from forking is no reason to hang or to lie.
run sh -c 'ulimit -f 0; exec "$0" doctor --json >/dev/null' "$LLMBOX"
is 'no file may grow: doctor ends' "$RC" "$(
	sh -c 'ulimit -f 0; exec "$0" run -- true' "$LLMBOX" >/dev/null 2>&1 &&
		echo 0 || echo 1)"

# An interrupted one leaves nothing.
"$LLMBOX" doctor >/dev/null 2>&1 &
doctor=$!
made()
{
	[ -n "$(find "$T/data" -name '.llmbox-doctor*')" ] ||
		! kill -0 "$doctor" 2>/dev/null
}
wait_until made
kill -TERM "$doctor"
wait "$doctor"
is 'interrupted: by the signal' $? 143
is 'interrupted: no file is left' \
	"$(find "$T/data" -name '.llmbox-doctor*')" ''
is 'interrupted: no control group is left' "$(groups)" ''
done_testing
