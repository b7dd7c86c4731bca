# bash completion of cordon; the program's own --help is what it offers.
_cordon() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} i sub="" help values
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -- ]] && break
		[[ ${COMP_WORDS[i]} == -* ]] || { sub=${COMP_WORDS[i]}; break; }
	done
	if [[ ${COMP_WORDS[i]} == -- ]]; then
		COMP_OFFSET=$((i + 1))
		_command_offset $((i + 1)) 2>/dev/null
		return
	fi
	# `cordon help` runs nothing; for a program, as in `cordon make`, it prints another usage.
	help=$(cordon help "${sub:-run}" 2>/dev/null)
	[[ -z $sub || $sub == run || $help == "usage: cordon $sub "* || $help == "usage: cordon $sub"$'\n'* ]] || help=
	if [[ $cur == -* ]]; then
		values=$(sed -n 's/^  \(--[a-z-]*\).*/\1/p' <<<"$help" | sort -u)
	elif [[ $prev == --* ]]; then
		values=$(sed -n "s/^  $prev \([a-z0-9-]*|[a-z0-9|-]*\).*/\1/p" <<<"$help" | tr '|' ' ')
	elif [[ -z $sub ]]; then
		values=$(cordon --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *[^ ].*/\1/p')
	elif [[ $prev == approve || $prev == deny ]]; then
		values=$(cordon pending 2>/dev/null | sed -n 's/^\([0-9a-f]*-[0-9]*\)  .*/\1/p')
	elif [[ $prev == "$sub" ]]; then # the words of its usage that are no option's value
		values=$(sed '/^$/,$d' <<<"$help" | tr -s '\n ' ' ' |
			sed "s/^usage: //; s/cordon $sub//g; s/--[a-z-]*\( [^] ]*\)\{0,1\}//g" |
			tr '[]| ' '\n' | grep -x '[a-z][a-z]*' | grep -vx "$sub")
	fi
	mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
	[[ $cur == -* || -z $sub || ${#COMPREPLY[@]} -gt 0 ]] || mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}
complete -o filenames -o bashdefault -F _cordon cordon
