# bash completion of cordon; the program's own --help is what it offers.
_cordon() {
	local cur=${COMP_WORDS[COMP_CWORD]} i sub=
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -- ]] && break
		[[ ${COMP_WORDS[i]} == -* ]] || { sub=${COMP_WORDS[i]}; break; }
	done
	if [[ ${COMP_WORDS[i]} == -- ]]; then
		COMP_OFFSET=$((i + 1))
		_command_offset $((i + 1)) 2>/dev/null
		return
	fi
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(cordon ${sub:-run} --help 2>/dev/null |
			sed -n 's/^  *\(--[a-z-]*\).*/\1/p' | sort -u)" -- "$cur")
	elif [[ -z $sub ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(cordon --help 2>/dev/null |
			sed -n 's/^  \([a-z][a-z-]*\)  *[^ ].*/\1/p')" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}
complete -o filenames -o bashdefault -F _cordon cordon
