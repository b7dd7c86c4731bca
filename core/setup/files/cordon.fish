# fish completion of cordon; the program's own --help is what it offers.
function __cordon_commands
	cordon --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\([^ ].*\)/\1\t\2/p'
end
# Prints the subcommand, which is `run` before there is one.
function __cordon_subcommand
	set -l words (commandline -opc)
	if set -q words[2]; and not string match -q -- '-*' $words[2]
		echo $words[2]
	else
		echo run
	end
end
# `cordon help` runs nothing; for a program, as in `cordon make`, it prints another usage.
function __cordon_help
	set -l sub (__cordon_subcommand)
	cordon help $sub 2>/dev/null | awk -v sub_="$sub" '
		NR == 1 && $3 != sub_ && sub_ != "run" { exit }
		{ print }'
end
function __cordon_options
	# A description may go on in further lines.
	__cordon_help | awk -F '  +' '
		/^  -/ { if (o) print o "\t" d; o = $2; sub(/[, ].*/, "", o); d = $3; next }
		/^    / && o { d = d (d ? " " : "") $2 }
		END { if (o) print o "\t" d }'
end
# The values of the option before the cursor; behind a subcommand the words of its usage.
function __cordon_words
	set -l words (commandline -opc)
	set -l sub (__cordon_subcommand)
	set -l last $words[-1]
	if string match -q -- '--*' $last
		__cordon_help | sed -n "s/^  $last \([a-z0-9-]*|[a-z0-9|-]*\).*/\1/p" | tr '|' '\n'
	else if contains -- $last approve deny
		cordon pending 2>/dev/null | sed -n 's/^\([0-9a-f]*-[0-9]*\)  .*/\1/p'
	else if test (count $words) = 2
		__cordon_help | sed '/^$/,$d' | tr -s '\n ' ' ' |
			sed "s/^usage: //; s/cordon $sub//g; s/--[a-z-]*\( [^] ]*\)\{0,1\}//g" |
			tr '[]| ' '\n' | grep -x '[a-z][a-z]*' | grep -vx "$sub"
	end
end
function __cordon_at_value
	string match -q -- '--*' (commandline -opc)[-1]
end
complete -c cordon -n '__fish_use_subcommand; and not __cordon_at_value' -f -a '(__cordon_commands)'
complete -c cordon -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__cordon_options)'
complete -c cordon -n '__cordon_at_value; or not __fish_use_subcommand' -a '(__cordon_words)'
