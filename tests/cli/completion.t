#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The scripts run in their shells; what is asked is what the user would see.
# shellcheck source=tests/lib/box.sh
. "${LLMBOX_SRC:?run it by make check}/tests/lib/box.sh"

for shell in bash zsh fish; do
	run "$LLMBOX" completion $shell
	is "$shell: status" "$RC" 0
	cp "$T/run.out" "$T/llmbox.$shell"
done
mkdir "$T/bin" "$T/home" "$T/files"
ln -s "$LLMBOX" "$T/bin/llmbox"
PATH=$T/bin:$PATH
: >"$T/files/one.json"
mkdir "$T/files/dir"

# Words as bash splits them; the last one is to be completed.
cat >"$T/ask.bash" <<'EOF'
source "$1"
shift
COMP_WORDS=(llmbox "$@")
COMP_CWORD=$#
_llmbox llmbox "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" \
	2>/dev/null
printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' '
EOF
bash_offers()
{
	wanted=$1
	shift
	is "bash: $*" "$(bash --norc "$T/ask.bash" "$T/llmbox.bash" "$@")" \
		"$wanted"
}
if command -v bash >/dev/null; then
	ok 'bash: syntax' bash -n "$T/llmbox.bash"
	bash_offers 'image ' im
	bash_offers 'import inspect list prune remove ' image ''
	bash_offers '--memory ' run --me
	bash_offers 'allowlist host none ' run --network ''
	bash_offers 'host ' run --network = h
	bash_offers '--writes ' run --memory = 5m -it --wri
	bash_offers 'disk ' run --json --writes d
	bash_offers '--json ' image list --j
	bash_offers "$T/files/one.json " run --policy "$T/files/o"
	bash_offers "$T/files/dir " run -C "$T/files/"
	bash_offers "$T/files/one.json " policy check "$T/files/o"
	bash_offers 'llmbox ' run -q llmbo
	bash_offers 'llmbox ' run -- llmbo
	bash_offers ' ' run llmbox --wri
	bash_offers 'bash fish zsh ' completion ''
	bash_offers 'policy ' help po
else
	skip 'bash' 'not installed'
fi

fish_offers()
{
	is "fish: $2" "$(HOME=$T/home fish -c "source '$T/llmbox.fish'
complete -C '$2'" 2>&1 | cut -f1 | sort | tr '\n' ' ')" "$1"
}
if command -v fish >/dev/null; then
	fish_offers 'image ' 'llmbox im'
	fish_offers 'import inspect list prune remove ' 'llmbox image '
	fish_offers '--memory ' 'llmbox run --me'
	fish_offers 'allowlist host none ' 'llmbox run --network '
	fish_offers 'disk ' 'llmbox run --json --writes d'
	fish_offers 'bash fish zsh ' 'llmbox completion '
	fish_offers "$T/files/one.json " "llmbox policy check $T/files/o"
else
	skip 'fish' 'not installed'
fi

# A zsh at a terminal of its own; the line after the key press is what counts.
cat >"$T/ask.zsh" <<'EOF'
zmodload zsh/zpty
zpty z 'zsh -f -i'
zpty -w z "PS1='%%'; autoload -U compinit; compinit -u -D; source '$1'
echo loa''ded"
zpty -r z out '*loaded*'
zpty -n -w z "$2"$'\t'
zpty -r z out "*$3*" && print -r -- found
zpty -d z
EOF
zsh_completes()
{
	is "zsh: $1" "$(HOME=$T/home TERM=dumb timeout 60 \
		zsh -f "$T/ask.zsh" "$T/llmbox.zsh" "$1" "$2")" found
}
if command -v zsh >/dev/null; then
	ok 'zsh: syntax' zsh -n "$T/llmbox.zsh"
	zsh_completes 'llmbox im' image
	zsh_completes 'llmbox image rem' remove
	zsh_completes 'llmbox run --me' memory
	zsh_completes 'llmbox run --network=al' allowlist
	zsh_completes 'llmbox completion f' fish
else
	skip 'zsh' 'not installed'
fi
done_testing
