#compdef cordon
# zsh completion of cordon; the program's own --help is what it offers.
_cordon() {
	local sub=${words[2]} before=${words[CURRENT-1]} line help
	local -a found values
	if (( CURRENT == 2 )) && [[ ${words[2]} != -* ]]; then
		for line in ${(f)"$(cordon --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\([^ ].*\)/\1:\2/p')"}; do
			found+=("$line")
		done
		_describe command found
		_command_names -e
		return
	fi
	[[ $sub == -* ]] && sub=run
	# `cordon help` runs nothing; for a program, as in `cordon make`, it prints another usage.
	help=$(cordon help "$sub" 2>/dev/null)
	[[ $sub == run || ${help[(f)1]}' ' == "usage: cordon $sub "* ]] || help=
	if [[ ${words[CURRENT]} == -* ]]; then
		# A description may go on in further lines.
		for line in ${(f)"$(print -r -- "$help" | awk -F '  +' '
			/^  -/ { if (o) print o ":" d; o = $2; sub(/[, ].*/, "", o); d = $3; next }
			/^    / && o { d = d (d ? " " : "") $2 }
			END { if (o) print o ":" d }')"}; do
			found+=("$line")
		done
		_describe option found
		return
	fi
	if [[ $before == --* ]]; then
		values=(${(s:|:)"$(print -r -- "$help" | sed -n "s/^  $before \([a-z0-9-]*|[a-z0-9|-]*\).*/\1/p")"})
	elif [[ $before == approve || $before == deny ]]; then
		values=(${(f)"$(cordon pending 2>/dev/null | sed -n 's/^\([0-9a-f]*-[0-9]*\)  .*/\1/p')"})
	elif (( CURRENT == 3 )); then # the words of its usage that are no option's value
		values=(${(f)"$(print -r -- "$help" | sed '/^$/,$d' | tr -s '\n ' ' ' |
			sed "s/^usage: //; s/cordon $sub//g; s/--[a-z-]*\( [^] ]*\)\{0,1\}//g" |
			tr '[]| ' '\n' | grep -x '[a-z][a-z]*' | grep -vx "$sub")"})
	fi
	(( $#values )) && compadd -a values
	_files
}
_cordon "$@"
