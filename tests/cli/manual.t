#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The manuals against the program: verbs, options, fields of policies and of
# reports, groups of system calls. What one of them has, the other has too.
# (tests/lint/manuals.t has mandoc's own lint.)
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"
need mandoc python3

MAN=$LLMBOX_SRC/man
POLICY=$MAN/llmbox-policy.5
REPORT=$MAN/llmbox-report.5

# same NAME GOT WANT: as sets of lines; tells what only one of them has.
same()
{
	printf '%s\n' "$2" | sort -u >"$T/got"
	printf '%s\n' "$3" | sort -u >"$T/want"
	is "$1" "$(diff "$T/want" "$T/got")" ''
}

# items PAGE MACRO: the first arguments of its ".It MACRO", one a line.
items()
{
	sed -n "s/^\.It $2 //p" "$1" | sed -e 's/ P[qo] .*//' -e 's/ , /\n/g'
}

# section PAGE NAME: the source of one section or subsection.
section()
{
	awk -v name="$2" '
	/^\.S[hs] / { inside = substr($0, 5) == name; next }
	inside' "$1"
}

# entry PAGE MACRO NAME: the source of one entry of a list.
entry()
{
	awk -v head=".It $2 $3" '
	/^\.It / || /^\.El/ { inside = index($0 " ", head " ") == 1; next }
	inside' "$1"
}

# ---- each page

for page in "$MAN"/*.[15]; do
	name=$(basename "$page")
	for part in NAME DESCRIPTION 'EXIT STATUS' EXAMPLES \
		'SECURITY CONSIDERATIONS'; do
		ok "$name has $part" grep -qx ".Sh $part" "$page"
	done
done

# ---- verbs and their options

# "-r, --rootfs IMAGE", one a line
options_of_help()
{
	# shellcheck disable=SC2086
	"$LLMBOX" $1 --help | sed -n '/^  *-/{s/^ *//;s/   *.*//;p;}'
}

options_of_page()
{
	sed -n 's/^\.It Fl //p' "$MAN/$1" |
		sed -e 's/^/-/' -e 's/ , Fl /, -/' -e 's/ Ar / /'
}

synopsis()
{
	mandoc -T utf8 -O width=400 "$MAN/$1" | col -b |
		sed -n '/^SYNOPSIS/,/^DESCRIPTION/s/^ *//p'
}

"$LLMBOX" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]* \{0,1\}[a-z]*\).*/\1/p' |
	sed 's/ *$//' >"$T/verbs"
isnt 'there are verbs' "$(cat "$T/verbs")" ''
while read -r verb; do
	# shellcheck disable=SC2086
	usage=$("$LLMBOX" $verb --help | sed -n 's/^Usage: //p')
	page=llmbox-${verb%% *}.1
	[ -e "$MAN/$page" ] || page=llmbox.1
	for in in "$page" llmbox.1; do
		ok "$in: has $usage" grep -qxF -e "$usage" <<-EOF
			$(synopsis "$in")
		EOF
	done
	options_of_help "$verb" >>"$T/options.$page"
done <"$T/verbs"
is 'llmbox.1: no other synopses' \
	"$(synopsis llmbox.1 | grep -c '^llmbox [a-z]')" \
	"$(wc -l <"$T/verbs" | tr -d ' ')"

same 'llmbox-run.1: options' "$(options_of_page llmbox-run.1)" \
	"$(options_of_help run)"
same 'llmbox-image.1: options' "$(options_of_page llmbox-image.1)" \
	"$(cat "$T/options.llmbox-image.1")"
same 'policy show: options of run, but those of its sections' \
	"$(options_of_help 'policy show')" \
	"$(for s in Files Command Network Limits Security; do
		section "$MAN/llmbox-run.1" $s
	done >"$T/sections"
	MAN=$T options_of_page sections |
		grep -vxE -e '-[tTi], .*|--allow-root-volume'
	echo --help)"
same 'shell: options of run but --json' "$(options_of_help shell)" \
	"$(options_of_help run | grep -vx -e --json)"
ok 'llmbox-shell.1 says so' grep -q '^\.Fl -json' "$MAN/llmbox-shell.1"

# ---- doctor

same 'llmbox-doctor.1: options' "$(options_of_page llmbox-doctor.1)" \
	"$(options_of_help doctor)"
"$LLMBOX" doctor --json >"$T/doctor.json"
is 'llmbox-doctor.1: checks, in their order' \
	"$(items "$MAN/llmbox-doctor.1" Ic | sed 's/ No \*//' |
		if is_root; then cat; else grep -vx idmapped_mounts; fi)" \
	"$(json "$T/doctor.json" '"\n".join(c["name"] for c in d["checks"])')"
is 'llmbox-doctor.1: those that are needed' \
	"$(items "$MAN/llmbox-doctor.1" Ic | sed -n 's/ No \*//p')" \
	"$(json "$T/doctor.json" \
		'"\n".join(c["name"] for c in d["checks"] if c["needed"])')"
is 'llmbox-doctor.1: JSON' \
	"$(items "$MAN/llmbox-doctor.1" Va)" \
	"$(json "$T/doctor.json" '"\n".join(d["checks"][0])')"

# ---- policies

"$LLMBOX" policy schema >"$T/schema.json"
cat >"$T/fields.py" <<'EOF'
import json, sys

def walk(prefix, node):
    for key, value in node["properties"].items():
        if key in ("$schema", "comment"):
            continue
        doc = value.get("description", "")
        if "properties" in value and not doc:
            yield from walk(prefix + key + ".", value)
        else:
            yield prefix + key, value, doc

fields = list(walk("", json.load(open(sys.argv[1]))))
for name, value, doc in fields:
    words = value.get("enum", [])
    if sys.argv[2] == "names":
        print(name)
    elif sys.argv[2] == "choices":
        for word in words:
            print(name, word)
    elif sys.argv[2] == "defaults" and "; default: " in doc:
        print(name, doc.split("; default: ")[1].split(",")[0])
    elif sys.argv[2] == "mount" and name == "mounts":
        text = json.dumps(value)
        for item in [value["items"]] + value["items"].get("oneOf", []):
            for key in item.get("properties", {}):
                if key != "comment":
                    print(key)
EOF
fields()
{
	python3 "$T/fields.py" "$T/schema.json" "$1"
}
same 'llmbox-policy.5: fields' \
	"$(items "$POLICY" Cm | grep -v '^@')" "$(fields names)"
fields choices >"$T/choices"
while read -r field word; do
	ok "llmbox-policy.5: $field can be $word" grep -q "^\.Cm $word\>" <<-EOF
		$(entry "$POLICY" Cm "$field")
	EOF
done <"$T/choices"
fields defaults >"$T/defaults"
while read -r field value; do
	ok "llmbox-policy.5: $field is $value by default" \
		grep -qF -e "$value" <<-EOF
		$(entry "$POLICY" Cm "$field" | sed -n '/^Default:/,$p')
	EOF
done <"$T/defaults"
same 'llmbox-policy.5: keys of mounts' "$(items "$POLICY" Ic)" \
	"$(fields mount)"

# Each group with its calls and its error, from the table of the filter.
cat >"$T/groups.py" <<'EOF'
import re, sys

text = open(sys.argv[1]).read()
text = text[text.index("call_group groups[]"):]
text = text[:text.index("\n};")]
for name, error, calls in re.findall(
        r'\{ "(@[\w-]+)", [A-Z_]+(?:\((\w+)\))?,\s*((?:"[^"]*"\s*)+)\}', text):
    calls = "".join(re.findall(r'"([^"]*)"', calls)).split()
    print(name, error or "-", *calls)
EOF
python3 "$T/groups.py" "$LLMBOX_SRC/core/sandbox/seccomp_rules.c" >"$T/groups"
isnt 'there are groups of system calls' "$(cat "$T/groups")" ''
same 'llmbox-policy.5: groups of system calls' \
	"$(section "$POLICY" 'SYSTEM CALLS' | awk '
	/^\.It Cm @/ { line = $3 " " ($6 ? $6 : "-"); next }
	/^\.El/ { line = "" }
	!line { next }
	{ print line, $0 }' | awk '
	{
		key = $1 " " $2
		if (!(key in calls))
			keys[++n] = key
		$1 = $2 = ""
		sub(/^ */, " ")
		calls[key] = calls[key] $0
	}
	END { for (i = 1; i <= n; i++) print keys[i] calls[keys[i]] }')" \
	"$(cat "$T/groups")"

# ---- images

"$LLMBOX" image import -q "$HELPER" helper >"$T/id"
"$LLMBOX" image inspect helper >"$T/image.json"
# The user is that of a tree of a range, which root's are not.
same 'llmbox-image.1: what inspect prints' \
	"$(sed -n 's/^\.Ic \([a-z_]*\).*/\1/p' "$MAN/llmbox-image.1")" \
	"$(json "$T/image.json" '"\n".join([*d, *d["trees"][0], "user"])')"

# ---- reports

cat >"$T/keys.py" <<'EOF'
import json, sys

def walk(node):
    for key, value in node.items():
        print(key)
        if isinstance(value, dict) and key != "isolation":
            walk(value)

for name in sys.argv[1:]:
    walk(json.load(open(name)))
EOF
mkdir "$T/project"
! is_root || chown 54321 "$T/project"
box --json -C "$T/project" -- sh -c 'echo text >&2' >"$T/text.json"
box --json -C "$T/project" -- sh -c 'printf "\377"; printf "\377" >&2' \
	>"$T/bytes.json"
same 'llmbox-report.5: fields' \
	"$(items "$REPORT" Ic; sed -n 's/^\.Ic \([a-z_]*\).*/\1/p' "$REPORT")" \
	"$(python3 "$T/keys.py" "$T/text.json" "$T/bytes.json")"
same 'llmbox-report.5: the order of fields' \
	"$(items "$REPORT" Ic | grep -nxE \
		'outcome|exit_code|signal|signal_name|message|limits_hit|wall_ms|cpu_ms|max_rss|output|changes|isolation|soft|denied' |
		sed 's/.*://' | cat -n)" \
	"$(json "$T/text.json" '"\n".join(list(d)[:-2])' | cat -n)"
same 'llmbox-report.5: outcomes' \
	"$(section "$REPORT" Outcomes >"$T/outcomes"
	items "$T/outcomes" Cm)" \
	"$(sed -n 's/^.*\[OUTCOME_[A-Z_]*\] = "\([a-z_]*\)".*/\1/p' \
		"$LLMBOX_SRC/core/super/result.c")"

# Means that are told are told of in the table.
for means in $(json "$T/text.json" '" ".join(set(d["isolation"].values()))'); do
	ok "llmbox-run.1: means $means" grep -q "$means" <<-EOF
		$(section "$MAN/llmbox-run.1" 'Which limits hold' | grep '^\.It')
	EOF
done
done_testing
