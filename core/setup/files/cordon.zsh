#compdef cordon
# zsh completion of cordon; the program's own --help is what it offers.
_cordon() {
	local sub=${words[2]} line
	local -a found
	if (( CURRENT == 2 )) && [[ ${words[2]} != -* ]]; then
		for line in ${(f)"$(cordon --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\([^ ].*\)/\1:\2/p')"}; do
			found+=("$line")
		done
		_describe command found
		_command_names -e
		return
	fi
	[[ $sub == -* ]] && sub=run
	if [[ ${words[CURRENT]} == -* ]]; then
		# A description may go on in further lines.
		for line in ${(f)"$(cordon $sub --help 2>/dev/null | awk -F '  +' '
			/^  -/ { if (o) print o ":" d; o = $2; sub(/[, ].*/, "", o); d = $3; next }
			/^    / && o { d = d (d ? " " : "") $2 }
			END { if (o) print o ":" d }')"}; do
			found+=("$line")
		done
		_describe option found
	else
		_files
	fi
}
_cordon "$@"
