# fish completion of cordon; the program's own --help is what it offers.
function __cordon_commands
	cordon --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\([^ ].*\)/\1\t\2/p'
end
function __cordon_options
	set -l words (commandline -opc)
	set -l sub run
	if set -q words[2]; and not string match -q -- '-*' $words[2]
		set sub $words[2]
	end
	# A description may go on in further lines.
	cordon $sub --help 2>/dev/null | awk -F '  +' '
		/^  -/ { if (o) print o "\t" d; o = $2; sub(/[, ].*/, "", o); d = $3; next }
		/^    / && o { d = d (d ? " " : "") $2 }
		END { if (o) print o "\t" d }'
end
complete -c cordon -n __fish_use_subcommand -f -a '(__cordon_commands)'
complete -c cordon -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__cordon_options)'
